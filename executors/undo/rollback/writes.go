package rollback

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Writes returns the files that a script may write, as absolute paths that are
// not cleaned. trees is the subset of paths that are whole trees. all reports that it
// could write anything, like every unknown program. A wrong guess only costs time.
func Writes(s *command.Script) (paths, trees []string, all bool) {
	if s.Err != nil || len(s.Dynamic) > 0 || len(s.Assigns) > 0 {
		return nil, nil, true
	}
	add := func(p command.Path) {
		all = all || p.Glob || len(p.Abs) == 0
		paths = append(paths, p.Abs...)
	}
	for _, r := range s.Redirects {
		if r.Write {
			add(r.Path())
		}
	}
	for _, c := range s.Commands {
		writes := c.Facts().Writes
		switch {
		case len(c.Assigns) > 0:
			all = true
		case c.ReadOnly():
		case writes == "" || !literalWithoutBackups(c.Args()):
			all = true
		default:
			for _, p := range c.Paths() {
				add(p)
				if writes == "below" {
					trees = append(trees, p.Abs...)
				}
			}
		}
	}
	for _, p := range paths { // ".." depends on the links before it
		all = all || slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
	}
	return paths, trees, all
}

// literalWithoutBackups reports whether the words are literal and request no backups.
func literalWithoutBackups(args []command.Word) bool {
	return !slices.ContainsFunc(args, func(a command.Word) bool {
		short := strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--")
		return !a.Literal || short && strings.ContainsAny(a.Text, "bS") ||
			strings.HasPrefix(a.Text, "--b") || strings.HasPrefix(a.Text, "--su")
	})
}
