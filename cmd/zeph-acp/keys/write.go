package keys

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/executors"
)

// Save stores key for the named environment variable. A file that cannot be
// used stays unchanged.
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

// Remove deletes the keys of the named variables and returns the names of those
// that had one.
func (k *Keys) Remove(names ...string) (removed []string, err error) {
	return k.remove(func(name string) bool { return slices.Contains(names, name) })
}

// RemoveAll deletes all saved keys and returns the names of their variables.
func (k *Keys) RemoveAll() (removed []string, err error) {
	return k.remove(func(string) bool { return true })
}

// remove deletes each key whose name selected accepts, and returns the deleted names.
func (k *Keys) remove(selected func(name string) bool) (removed []string, err error) {
	if _, err := os.Stat(k.dir); k.dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever saved: create no directory
	}
	err = k.change(func(saved map[string]string) bool {
		for _, name := range slices.Sorted(maps.Keys(saved)) {
			if selected(name) {
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

// change rewrites the file if edit changes the saved keys. The file is read and
// written under a lock, so that no process overwrites another's change.
func (k *Keys) change(edit func(saved map[string]string) bool) error {
	if k.dir == "" {
		return errors.New("saved keys: no home directory: set HOME or ZEPH_HOME")
	}
	if err := k.Err(); err != nil {
		return fmt.Errorf("%w: repair or remove the file first", err)
	}
	err := EditFile(k.File(), func(old []byte) ([]byte, error) {
		saved, err := parseKeys(old)
		if err != nil {
			return nil, err
		}
		if err := k.removeTemporary(); err != nil {
			return nil, err
		}
		if !edit(saved) {
			return old, nil
		}
		if len(saved) == 0 {
			return nil, nil
		}
		return formatKeys(saved), nil
	})
	if err != nil {
		return fmt.Errorf("saved keys: %w", err)
	}
	return nil
}

// removeTemporary removes the files of a process that was killed while it wrote.
func (k *Keys) removeTemporary() error {
	left, _ := fs.Glob(os.DirFS(k.dir), Temporary(FileName)) // the pattern is valid
	for _, name := range left {
		if err := os.Remove(filepath.Join(k.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// formatKeys formats keys as the lines that parseKeys reads.
func formatKeys(saved map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Written by \"zeph-acp login\". A variable set in the environment takes precedence over its line here.\n")
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		fmt.Fprintf(&b, "%s = %s\n", toml.FormatKey(name), executors.TOMLString(saved[name]))
	}
	return []byte(b.String())
}
