package lsp

import (
	"path/filepath"
	"slices"
)

// entryFor returns the entry of a file, with the path of its program and the folder of its
// project. program is "" if no installed server serves the file.
func (s *Session) entryFor(path string) (e Entry, program, folder string) {
	s.initOnce.Do(s.initialize)
	for _, e := range s.entries {
		if !e.Enabled || !e.serves(path) {
			continue
		}
		if program := s.lookPath(e.Command); program != "" {
			if folder := s.projectFolder(e, path); folder != "" {
				return e, program, folder
			}
		}
	}
	return Entry{}, "", ""
}

// lookPath returns the path of a program; "" if it is not installed.
func (s *Session) lookPath(command string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ok := s.found[command]
	if !ok {
		var err error
		if path, err = s.options.Find(command); err != nil || !filepath.IsAbs(path) {
			path = ""
		}
		s.found[command] = path
	}
	return path
}

// projectFolder returns the directory of the project of a file: the session's directory that
// holds the file, or the nearest one below it with a marker. It returns "" if no
// directory has a marker.
func (s *Session) projectFolder(e Entry, path string) string {
	marked := func(dir string) bool {
		return slices.ContainsFunc(e.Markers, func(name string) bool {
			_, err := s.options.Roots.Lstat(filepath.Join(dir, name))
			return err == nil
		})
	}
	nearest := ""
	for dir := filepath.Dir(path); s.options.Roots.Contains(dir); dir = filepath.Dir(dir) {
		if nearest == "" && marked(dir) {
			nearest = dir
		}
		if slices.Contains(s.options.Roots.Dirs(), dir) && (len(e.Markers) == 0 || marked(dir)) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nearest
}
