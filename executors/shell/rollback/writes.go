package rollback

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// writersOfNamedFiles are programs that write only the files that they name, unless an
// option asks for backups.
var writersOfNamedFiles = []string{"chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "tee", "touch", "truncate", "unlink"}

// Writes returns the files that a script may write, as absolute paths that are
// not cleaned. all reports that it may write any file, as every unknown program
// may. A wrong guess only costs time.
func Writes(script string, sh command.Shell) (paths []string, all bool) {
	s, err := command.Parse(script, sh)
	if err != nil || len(s.Dynamic) > 0 || len(s.Assigns) > 0 {
		return nil, true
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
		switch {
		case len(c.Assigns) > 0:
			all = true
		case c.ReadOnly():
		case !slices.Contains(writersOfNamedFiles, c.Program()) || !literalWithoutBackups(c.Args()):
			all = true
		default:
			for _, p := range c.Paths() {
				add(p)
			}
		}
	}
	for _, p := range paths { // ".." depends on the links before it
		all = all || slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
	}
	return paths, all
}

// literalWithoutBackups reports whether the words are literal and request no backups.
func literalWithoutBackups(args []command.Word) bool {
	return !slices.ContainsFunc(args, func(a command.Word) bool {
		short := strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--")
		return !a.Literal || short && strings.ContainsAny(a.Text, "bS") ||
			strings.HasPrefix(a.Text, "--b") || strings.HasPrefix(a.Text, "--su")
	})
}
