package command

import (
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// cd records where the shell may be after a cd.
func (w *walker) cd(c *Command) {
	target, ok := w.cdTarget(c)
	if !ok {
		w.dirs = nil
		w.dynamic("the directory of %q is computed at run time", c.Text())
		return
	}
	// It may fail, and the following commands then run in the previous
	// directory.
	w.dirs = union(w.dirsOf(target), w.dirs)
}

// dirsAfterCd returns the directories after a cd that has worked, nil if s is not a
// cd.
func (w *walker) dirsAfterCd(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || len(call.Args) == 0 || len(w.dirs) == 0 {
		return nil
	}
	var words []Word
	for _, a := range call.Args {
		words = append(words, w.words(a)...)
	}
	c := &Command{Words: words}
	if p := c.Program(); p != "cd" && p != "pushd" {
		return nil
	}
	if _, ok := w.cdTarget(c); !ok {
		return nil
	}
	return w.dirs[:1] // cd put the new directory first
}

// cdTarget returns the operand of a cd.
func (w *walker) cdTarget(c *Command) (string, bool) {
	if c.Program() == "popd" {
		return "", false
	}
	for _, a := range c.Args() {
		switch {
		case !a.Literal || a.Glob || a.Text == "-" || len(w.dirs) == 0:
			return "", false
		case a.Text == "--" || a.Text == "-L": // not -P, since links are not followed here
		default:
			return a.Text, a.Text != "" && a.Text[0] != '+' && a.Text[0] != '-'
		}
	}
	return w.shell.Home, w.shell.Home != ""
}

// dirsOf returns dir seen from each directory in which the shell may be.
func (w *walker) dirsOf(dir string) []string {
	if filepath.IsAbs(dir) {
		return []string{filepath.Clean(dir)}
	}
	var out []string
	for _, d := range w.dirs {
		out = union(out, []string{filepath.Join(d, dir)})
	}
	return out
}

// maxDirs is how many directories are distinguished.
const maxDirs = 64

// union adds the new elements of b to a; nil if the result is too large.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}
