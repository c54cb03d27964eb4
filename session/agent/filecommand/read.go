package filecommand

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// Limits on the files that are read.
const (
	maxFiles   = 100      // commands of one directory
	maxEntries = 1000     // files and directories below it
	maxDepth   = 4        // directories inside one another
	maxBytes   = 16 << 10 // of a file: an approval shows all of it
	maxPlugin  = 64 << 10 // of a plug-in's file, which was shown in a terminal
	maxLines   = 10       // commands of the shell in a file
)

// extension is the ending of the files.
const extension = ".md"

// read returns the commands of all directories, sorted by directory and name. Of several
// with one name only the first is used.
func (s *Set) read() []file {
	var all []file
	for _, source := range s.options.Sources {
		names, err := list(source.FS)
		if err != nil {
			path, cause := source.Problem(err)
			s.warn(source, fmt.Sprintf("Some commands in %s are left out: %v", path, cause))
		}
		for _, name := range names {
			f, err := s.file(source, name)
			if err != nil {
				s.warn(source, fmt.Sprintf("The command %q of %s is left out: %v", name, source.Name, err))
				continue
			}
			if !slices.ContainsFunc(all, func(other file) bool { return other.Name == f.Name }) {
				all = append(all, f)
			}
		}
	}
	return all
}

// file reads the file of a command.
func (s *Set) file(source skills.Source, name string) (file, error) {
	limit := int64(maxBytes)
	if source.Prefix != "" {
		limit = maxPlugin
	}
	data, more, err := skills.ReadFile(source.FS, name, limit)
	if err == nil && more {
		err = fmt.Errorf("it has more than %d KiB", limit>>10)
	}
	if err != nil {
		return file{}, err
	}
	return s.parse(source, name, data)
}

// warn warns the user once about a source.
func (s *Set) warn(source skills.Source, text string) {
	if source.Prefix != "" {
		source.Noted(executors.Shown(text))
		return
	}
	s.mu.Lock()
	before := s.warned[text]
	s.warned[text] = true
	s.mu.Unlock()
	if !before {
		s.options.Warn(executors.Shown(text))
	}
}

// list returns the names of the files of commands below a directory, sorted. It follows
// no link to a directory. The error is the first reason why some are missing.
func list(fsys fs.FS) (names []string, err error) {
	if _, err := fs.Stat(fsys, "."); errors.Is(err, fs.ErrNotExist) { // costs less than opening it
		return nil, nil
	}
	skip := func(why error) {
		if err == nil {
			err = why
		}
	}
	found := 0
	var visit func(dir string, depth int)
	visit = func(dir string, depth int) {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			skip(err)
		}
		for _, e := range entries {
			if found++; found > maxEntries {
				skip(fmt.Errorf("more than %d files and directories", maxEntries))
				return
			}
			name := path.Join(dir, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), "."):
			case e.IsDir() && depth == maxDepth:
				skip(fmt.Errorf("more than %d directories inside one another", maxDepth))
			case e.IsDir():
				visit(name, depth+1)
			case path.Ext(name) != extension || strings.EqualFold(e.Name(), "README.md"):
			case len(names) == maxFiles:
				skip(fmt.Errorf("more than %d commands", maxFiles))
			default:
				names = append(names, name)
			}
		}
	}
	visit(".", 0)
	return names, err
}
