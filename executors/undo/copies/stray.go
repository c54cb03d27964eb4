package copies

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stray is a file of the copy that git add leaves out. A patch can hold small texts and
// binary files; for other strays, a reason says why not.
type stray struct {
	path    string // relative to the top directory, with slashes
	noPatch string // why no patch holds it; empty if one does
}

// why returns the reason why the stray cannot be brought back.
func (s stray) why() string {
	if s.noPatch == "" {
		return "git cannot store it in this repository"
	}
	return s.noPatch
}

// strays returns the files of the copy that git add leaves out: those in the directories
// of submodules, in repositories that the sub-agent made, and with names that git
// reserves.
func (c *Copy) strays(ctx context.Context) ([]stray, error) {
	others, err := c.runMeta(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	tracked, err := c.runMeta(ctx, nil, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	places := strings.Split(strings.TrimSuffix(string(others), "\x00"), "\x00")
	for entry := range strings.SplitSeq(string(tracked), "\x00") {
		if facts, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(facts, modeModule+" ") {
			places = append(places, name)
		}
	}
	found := strayCollector{root: c.Root, room: maxTotal}
	for _, place := range places {
		if place != "" && ctx.Err() == nil {
			found.add(place)
		}
	}
	return found.strays, ctx.Err()
}

// strayCollector collects strays.
type strayCollector struct {
	root   string
	room   int64 // bytes that a patch may still hold
	strays []stray
}

// add adds the files in a place of the copy, except git's own files. An unreadable directory
// counts as a file.
func (w *strayCollector) add(place string) {
	_ = filepath.WalkDir(filepath.Join(w.root, filepath.FromSlash(place)), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && strings.EqualFold(e.Name(), ".git"):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err == nil && e.IsDir():
			return nil
		}
		if rel, outside := filepath.Rel(w.root, path); outside == nil {
			w.strays = append(w.strays, stray{filepath.ToSlash(rel), w.noPatch(e, err)})
		}
		return nil
	})
}

// noPatch returns why a patch cannot hold a file, given the error of reading it; "" if it
// can.
func (w *strayCollector) noPatch(e fs.DirEntry, failed error) string {
	if failed != nil {
		return "it cannot be read"
	}
	info, err := e.Info()
	switch {
	case err != nil:
		return "it cannot be read"
	case info.Mode()&fs.ModeSymlink != 0:
		return "it is a symbolic link"
	case !info.Mode().IsRegular():
		return "it is not a regular file"
	case info.Size() > min(maxFile, w.room):
		return "it is too large"
	case len(w.strays) >= maxChanges:
		return "there are too many changes"
	}
	w.room -= info.Size()
	return ""
}

// setAside moves the strays that no patch holds out of the copy, and returns the directory
// that has them; "" if there are none. Directories of the copy may have become links to
// other places, which os.Root does not follow.
func (c *Copy) setAside(strays []stray) (string, error) {
	root, err := os.OpenRoot(c.options.State)
	if err != nil {
		return "", err
	}
	defer root.Close()
	from, err := filepath.Rel(c.options.State, c.Root)
	if err != nil {
		return "", err
	}
	to := c.options.Name + "-" + c.id + filesEnd
	for _, s := range strays {
		name := filepath.Join(to, filepath.FromSlash(s.path))
		e := root.MkdirAll(filepath.Dir(name), 0o700)
		if e == nil {
			e = ignoreMissing(root.Rename(filepath.Join(from, filepath.FromSlash(s.path)), name))
		}
		err = errors.Join(err, e)
	}
	return filepath.Join(c.options.State, to), err
}
