package permission

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
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// readRules returns the rules for reading, nil if there are none.
func (g guardCheck) readRules() *workspace.Readable {
	if r, ok := g.Roots.(*workspace.Roots); ok {
		return r.Readable()
	}
	return nil
}

// writable is the workspace of tools that change files, without the directories
// that are only readable.
func (g guardCheck) writable() Workspace {
	if r, ok := g.Roots.(*workspace.Roots); ok {
		return r.Writing()
	}
	return g.Roots
}

// checkReads checks the files of a script by the rules for reading. blocked is set
// for a file that is certainly read against the rules; for a directory, only if
// the command shows the contents of its files. The sandbox covers files that a
// program opens by itself.
func (g guardCheck) checkReads(card executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	rules := g.readRules()
	if rules == nil {
		return nil, nil
	}
	inBox := g.runsInBox(card, g.formWithRules(card))
	search := readSearch{rules: rules, home: g.Home, trail: follow.Trail{Lstat: g.stats.Lstat}}
	for _, redirect := range s.Redirects {
		if redirect.Read {
			search.checkFile(certain(redirect.Path()), fileOnly)
		}
	}
	for _, c := range s.Commands {
		if c.Facts().OpensNothing || len(c.Dirs) == 0 && c.Guess {
			continue
		}
		showsOthers, r := showsUnnamedFiles(c), fileOnly
		if showsOthers {
			r = allBelow
		}
		if p := c.Program(); p == "find" || p == "gfind" { // its other operands are names to search for
			for _, dir := range findStarts(c) {
				search.checkFile(certain(dir), fileOnly)
			}
		} else {
			search.checkWords(c, r)
		}
		if showsOthers && (!inBox || isGit(c)) { // the box lacks those files, but not their texts in a repository
			search.ask = append(search.ask, fmt.Sprintf("%s may reach files that must not be read ([tools.file] deny_read or allow_read)", quote(c.Text())))
		}
	}
	if search.refusedWord != "" {
		return executors.Failuref(executors.PolicyBlocked, "the command reads %s: %s", search.refusedWord, search.why).
			Hint("Do not try another way: the user's configuration keeps that file from you."), nil
	}
	slices.Sort(search.ask)
	return nil, slices.Compact(search.ask)
}

// showsUnnamedFiles reports whether a command shows the contents of files that it does not
// name: all files below a directory, files that xargs reads, or files in the history.
func showsUnnamedFiles(c *command.Command) bool {
	switch c.Program() {
	case "find", "gfind":
		return slices.ContainsFunc(c.Args(), func(w command.Word) bool { return w.Text == "-exec" || w.Text == "-execdir" })
	case "ack", "ag", "rgrep", "ug", "ugrep", "xargs":
		return true
	case "fd", "fdfind":
		return hasOption(c, "xX", "--exec", "--exec-batch")
	case "go":
		return goShowsSource(c)
	case "gofmt": // with -l it lists names
		isDir := func(w command.Word) bool { return !strings.HasPrefix(w.Text, "-") && !strings.HasSuffix(w.Text, ".go") }
		return (hasOption(c, "d", "--d") || !hasOption(c, "l", "--l")) && slices.ContainsFunc(c.Args(), isDir)
	}
	if isGit(c) {
		return gitShowsUnnamedFiles(c)
	}
	return handlesContents(c)
}

// listsSource matches a format of go list that may show comments of packages: the field Doc, or a
// whole value.
var listsSource = lazyregexp.New(`Doc|\$|[{( ]\.[)} ]`)

// goShowsSource reports whether a command of go shows texts of packages that it does not name as files.
func goShowsSource(c *command.Command) bool {
	switch first, _ := c.Subcommand(); first {
	case "doc":
		return true
	case "list":
		for i, w := range c.Args() {
			name, value, glued := strings.Cut(strings.TrimPrefix(w.Text, "-"), "=")
			switch strings.TrimPrefix(name, "-") {
			case "json":
				if !glued || listsSource.MatchString(value) {
					return true
				}
			case "f":
				if !glued && i+1 < len(c.Args()) {
					value = c.Args()[i+1].Text
				}
				if listsSource.MatchString(value) {
					return true
				}
			}
		}
	}
	return false
}

// readSearch searches one script for files that must not be read.
type readSearch struct {
	rules       *workspace.Readable
	home        string
	trail       follow.Trail
	refusedWord string // the first word that certainly names one
	why         string
	ask         []string
}

// reach is the part that a command reads of a directory among its operands.
type reach int

const (
	fileOnly reach = iota // no files in it
	allBelow              // all files below it
	inCommit              // no files in it, and a file may exist only in a commit
)

// from returns a path as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// checkWords checks the words of a command that may name a file.
func (s *readSearch) checkWords(c *command.Command, r reach) {
	for _, p := range blobPaths(c) {
		s.checkFile(p, inCommit)
	}
	paths := c.Paths()
	for _, p := range paths {
		s.checkFile(p, r)
	}
	for _, p := range c.Mentions() {
		if !slices.ContainsFunc(paths, func(o command.Path) bool { return o.Text == p.Text }) {
			s.checkMention(p)
		}
	}
}

// checkFile checks a word that names a file, or may name one.
func (s *readSearch) checkFile(p command.Path, r reach) {
	for i, abs := range p.Abs {
		why := s.refusalReason(abs, p.Glob, r)
		switch {
		case why == "":
		case p.Sure && i == 0:
			if s.refusedWord == "" {
				s.refusedWord, s.why = p.Text, why
			}
		default:
			s.ask = append(s.ask, fmt.Sprintf("%s may be a file that must not be read (%s)", p.Text, why))
		}
	}
}

// checkMention checks a word that may not be a file name at all. It counts if the
// file exists.
func (s *readSearch) checkMention(p command.Path) {
	if rest, ok := strings.CutPrefix(p.Text, "~/"); ok && s.home != "" {
		p.Abs = []string{filepath.Join(s.home, rest)}
	}
	for _, abs := range p.Abs {
		if info, err := os.Stat(abs); err == nil && !info.IsDir() {
			s.checkFile(p, fileOnly)
			return
		}
	}
}

// refusalReason returns why a file must not be read, "" if it may be.
func (s *readSearch) refusalReason(abs string, glob bool, r reach) string {
	if harmlessDevice(abs) {
		return ""
	}
	found, _ := follow.Files(abs, glob, &s.trail) // a path that cannot be followed is checked elsewhere
	if glob {                                     // a file that the pattern matches later counts too
		dir := abs[:strings.IndexAny(abs+"*", "*?[")]
		found = append(found, filepath.Dir(dir+"x"))
	}
	for _, place := range found {
		pattern, refused := s.rules.Refuses(place)
		switch {
		case !refused:
		case pattern != "":
			return fmt.Sprintf("[tools.file] deny_read has %q", pattern)
		default:
			info, err := os.Lstat(place)
			if err != nil && r != inCommit {
				continue // it does not exist
			}
			if _, outside := s.rules.RefusesDir(place); err != nil || !info.IsDir() || r == allBelow && outside {
				return "[tools.file] allow_read does not name it"
			}
		}
	}
	return ""
}
