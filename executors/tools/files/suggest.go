package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// missing returns the failure for a path that does not exist. It suggests the
// most similar existing path.
func (t *tools) missing(tg target) *executors.Failure {
	dir, names := t.splitExisting(tg.abs)
	if meant, ok := t.similarPath(dir, names); ok {
		return executors.Failuref(executors.PermanentFailure, "no such file: %s (did you mean %s?)", tg.display, t.targetAt(meant).display).
			Hint("Use the path that exists, or find_path to search for the name.")
	}
	if _, err := t.roots.Lstat(dir); errors.Is(err, fs.ErrNotExist) { // a root, which somebody removed
		return executors.Failuref(executors.PermanentFailure, "no such file: %s, since the directory %s does not exist", tg.display, dir).
			Hint("Ask the user.")
	}
	return executors.Failuref(executors.PermanentFailure, "no such file: %s", tg.display).
		Hint("List %s with list_directory, or search for the name with find_path.", t.targetAt(dir).display)
}

// splitExisting splits abs into the deepest existing directory and the names below it.
func (t *tools) splitExisting(abs string) (dir string, names []string) {
	dir = abs
	for {
		parent := filepath.Dir(dir)
		if !t.roots.Contains(parent) || parent == dir {
			return dir, names
		}
		names = append([]string{filepath.Base(dir)}, names...)
		dir = parent
		if info, err := t.roots.Lstat(dir); err == nil && info.IsDir() {
			return dir, names
		}
	}
}

// similarPath follows names from dir, using the most similar entry at each step.
func (t *tools) similarPath(dir string, names []string) (string, bool) {
	for i, name := range names {
		entries := t.entries(dir)
		near := nearest(name, entries, i < len(names)-1)
		if near == "" {
			return "", false
		}
		dir = filepath.Join(dir, near)
	}
	return dir, len(names) > 0
}

// entries returns as many entries of a directory as a suggestion needs.
func (t *tools) entries(dir string) []fs.DirEntry {
	d, err := t.roots.Dir(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	const most = 10_000
	entries, _, _ := d.ReadDir(most) // the entries before an error suffice
	return entries
}

// nearest returns the entry whose name is most similar to name, "" if no name is
// similar. With dirs only directories count.
func nearest(name string, entries []fs.DirEntry, dirs bool) string {
	limit := (len([]rune(name)) + 2) / 3
	best, least := "", limit+1
	for _, e := range entries {
		switch d := executors.Distance(strings.ToLower(name), strings.ToLower(e.Name()), limit); {
		case dirs && !e.IsDir():
		case e.Name() == name:
			return name
		case d < least, d == least && best != "" && e.Name() < best:
			best, least = e.Name(), d
		}
	}
	return best
}
