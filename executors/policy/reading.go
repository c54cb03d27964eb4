package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// readable returns the rules for reading, nil if there are none.
func (g judge) readable() *workspace.Readable {
	if r, ok := g.Roots.(*workspace.Roots); ok {
		return r.Readable()
	}
	return nil
}

// writable is the workspace of tools that change files, without the directories
// that are only readable.
func (g judge) writable() Workspace {
	if r, ok := g.Roots.(*workspace.Roots); ok {
		return r.Writing()
	}
	return g.Roots
}

// nonReaders are programs that print nothing of the contents of their operands.
var nonReaders = []string{"chgrp", "chmod", "chown", "mkdir", "rm", "rmdir", "touch", "truncate", "unlink"}

// reading judges the files of a script by the rules for reading. blocked is set
// for a file that is certainly read against the rules; for a directory, only if
// the command shows the contents of its files. The sandbox covers files that a
// program opens by itself.
func (g judge) reading(s *command.Script) (blocked *executors.Failure, ask []string) {
	r := g.readable()
	if r == nil {
		return nil, nil
	}
	l := reader{rules: r, home: g.Home, trail: follow.Trail{Lstat: g.now.Lstat}}
	for _, redirect := range s.Redirects {
		if redirect.Read {
			l.file(redirect.Path(), true, false)
		}
	}
	for _, c := range s.Commands {
		if slices.Contains(nonReaders, c.Program()) || len(c.Dirs) == 0 && c.Guess {
			continue
		}
		below, paths := showsOthers(c), c.Paths()
		if p := c.Program(); p == "find" || p == "gfind" { // its other operands are names to search for
			for _, dir := range findStarts(c) {
				l.file(dir, true, false)
			}
			continue
		}
		for _, p := range paths {
			l.file(p, p.Sure, below)
		}
		for _, p := range c.Mentions() {
			if !slices.ContainsFunc(paths, func(o command.Path) bool { return o.Text == p.Text }) {
				l.mentioned(p)
			}
		}
		if below {
			l.ask = append(l.ask, fmt.Sprintf("%s may reach files that must not be read ([tools.file] deny_read or allow_read)", quote(c.Text())))
		}
	}
	if l.refused != "" {
		return executors.Failuref(executors.PolicyBlocked, "the command reads %s: %s", l.refused, l.why).
			Hint("Do not try another way: the user's configuration keeps that file from you."), nil
	}
	slices.Sort(l.ask)
	return nil, slices.Compact(l.ask)
}

// showsOthers reports whether a command shows the contents of files that it does not
// name: all below a directory, those that xargs reads, or those of the history.
func showsOthers(c *command.Command) bool {
	if c.Program() != "git" {
		return c.Program() == "xargs" || takesContents(c)
	}
	one := slices.ContainsFunc(c.Args(), func(w command.Word) bool { return strings.Contains(w.Text, ":") }) // HEAD:a.go
	patch := hasOption(c, "cpuUW", "--patch", "--unified", "--word-diff", "--color-words", "--function-context", "--cc")
	switch first, _ := c.Subcommand(); first {
	case "cat-file":
		return !one
	case "show":
		return patch || !one && !hasOption(c, "s", "--no-patch", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary", "--raw")
	case "diff-tree", "log", "reflog", "stash", "whatchanged":
		return patch
	}
	return takesContents(c)
}

// reader searches one script for files that must not be read.
type reader struct {
	rules   *workspace.Readable
	home    string
	trail   follow.Trail
	refused string // the first word that certainly names one
	why     string
	ask     []string
}

// file judges a word that may name a file. below means that the command reads
// everything in a directory.
func (l *reader) file(p command.Path, sure, below bool) {
	for i, abs := range p.Abs {
		why := l.refuses(abs, p.Glob, below)
		switch {
		case why == "":
		case sure && i == 0:
			if l.refused == "" {
				l.refused, l.why = p.Text, why
			}
		default:
			l.ask = append(l.ask, fmt.Sprintf("%s may be a file that must not be read (%s)", p.Text, why))
		}
	}
}

// mentioned judges a word that may not be a file name at all. It counts if the
// file exists.
func (l *reader) mentioned(p command.Path) {
	if rest, ok := strings.CutPrefix(p.Text, "~/"); ok && l.home != "" {
		p.Abs = []string{filepath.Join(l.home, rest)}
	}
	for _, abs := range p.Abs {
		if info, err := os.Stat(abs); err == nil && !info.IsDir() {
			l.file(p, p.Sure, false)
			return
		}
	}
}

// refuses returns why a file must not be read, "" if it may be.
func (l *reader) refuses(abs string, glob, below bool) string {
	if harmlessDevice(abs) {
		return ""
	}
	found, _ := follow.Files(abs, glob, &l.trail) // a path that cannot be followed is judged elsewhere
	if glob {                                     // a file that the pattern matches later counts too
		dir := abs[:strings.IndexAny(abs+"*", "*?[")]
		found = append(found, filepath.Dir(dir+"x"))
	}
	for _, place := range found {
		pattern, refused := l.rules.Refuses(place)
		switch {
		case !refused:
		case pattern != "":
			return fmt.Sprintf("[tools.file] deny_read has %q", pattern)
		default:
			info, err := os.Lstat(place)
			if err != nil {
				continue // it does not exist
			}
			if _, outside := l.rules.RefusesDir(place); !info.IsDir() || below && outside {
				return "[tools.file] allow_read does not name it"
			}
		}
	}
	return ""
}
