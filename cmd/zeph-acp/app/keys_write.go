package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Save keeps key for the environment variable of that name. A file that cannot
// be used is left as it is.
func (k *Keys) Save(name, key string) error {
	key, err := CheckKey(key)
	if err != nil {
		return err
	}
	return k.change(func(saved map[string]string) bool {
		saved[name] = key
		return true
	})
}

// Remove forgets the keys saved for those variables and gives the names of those
// that there were.
func (k *Keys) Remove(names ...string) (removed []string, err error) {
	return k.remove(func(name string) bool { return slices.Contains(names, name) })
}

// RemoveAll forgets all saved keys and gives their names.
func (k *Keys) RemoveAll() (removed []string, err error) {
	return k.remove(func(string) bool { return true })
}

func (k *Keys) remove(which func(name string) bool) (removed []string, err error) {
	if _, err := os.Stat(k.dir); k.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever saved: make no directory
	}
	err = k.change(func(saved map[string]string) bool {
		for _, name := range slices.Sorted(maps.Keys(saved)) {
			if which(name) {
				removed = append(removed, name)
				delete(saved, name)
			}
		}
		return len(removed) > 0
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// change writes what edit makes of the saved keys, if edit says so. The file is
// read and written under a lock, so that no process undoes what another did.
func (k *Keys) change(edit func(saved map[string]string) bool) (err error) {
	if k.dir == "" {
		return errors.New("saved keys: no home directory: set HOME or ZEPH_HOME")
	}
	if err := MakeDir(k.dir); err != nil {
		return fmt.Errorf("saved keys: %w", err)
	}
	unlock, err := lockDir(k.dir)
	if err != nil {
		return fmt.Errorf("saved keys: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	saved, err := k.read()
	if err != nil {
		return fmt.Errorf("%w: repair or remove the file first", err)
	}
	if saved == nil {
		saved = map[string]string{}
	}
	// A process that was killed while it wrote may have left these.
	left, _ := fs.Glob(os.DirFS(k.dir), temporary(keysFile))
	for _, name := range left {
		if err := os.Remove(filepath.Join(k.dir, name)); err != nil {
			return fmt.Errorf("saved keys: %w", err)
		}
	}
	if !edit(saved) {
		return nil
	}
	if len(saved) == 0 {
		err = os.Remove(k.File())
	} else {
		err = replaceFile(k.File(), formatKeys(saved), 0o600)
	}
	if err != nil {
		return fmt.Errorf("saved keys: %w", err)
	}
	return nil
}

// formatKeys writes the lines that parseKeys reads.
func formatKeys(saved map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Written by \"zeph-acp login\". A variable of the environment goes before its line here.\n")
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		fmt.Fprintf(&b, "%s = %s\n", bareOrQuoted(name), quote(saved[name]))
	}
	return []byte(b.String())
}

// temporary is the pattern of the names under which replaceFile writes.
func temporary(name string) string { return "." + name + ".tmp-*" }

// replaceFile writes a file anew, such that it has either its old or its new
// content, whatever happens, and that nobody reads it who may not.
func replaceFile(file string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), temporary(filepath.Base(file))) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode.Perm()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	// So that the rename outlives a power cut, where a directory can be synced.
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}
