package permission

import (
	"cmp"
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

// nonReaders are programs that print nothing of the contents of their operands.
var nonReaders = []string{"chgrp", "chmod", "chown", "mkdir", "rm", "rmdir", "touch", "truncate", "unlink"}

// judgeReads judges the files of a script by the rules for reading. blocked is set
// for a file that is certainly read against the rules; for a directory, only if
// the command shows the contents of its files. The sandbox covers files that a
// program opens by itself.
func (g guardCheck) judgeReads(card executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	rules := g.readRules()
	if rules == nil {
		return nil, nil
	}
	inBox := g.runsInBox(card, g.formWithRules(card))
	search := readSearch{rules: rules, home: g.Home, trail: follow.Trail{Lstat: g.stats.Lstat}}
	for _, redirect := range s.Redirects {
		if redirect.Read {
			search.judgeFile(certain(redirect.Path()), fileOnly)
		}
	}
	for _, c := range s.Commands {
		if slices.Contains(nonReaders, c.Program()) || len(c.Dirs) == 0 && c.Guess {
			continue
		}
		showsOthers, r := showsUnnamedFiles(c), fileOnly
		if showsOthers {
			r = allBelow
		}
		if p := c.Program(); p == "find" || p == "gfind" { // its other operands are names to search for
			for _, dir := range findStarts(c) {
				search.judgeFile(certain(dir), fileOnly)
			}
		} else {
			search.judgeWords(c, r)
		}
		if showsOthers && (!inBox || c.Program() == "git") { // the box lacks those files, but not their texts in a repository
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
// name: all below a directory, those that xargs reads, or those of the history.
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
	case "git":
	default:
		return handlesContents(c)
	}
	// -S and -G report whether a text occurs in the files, and --check shows lines.
	patch := hasOption(c, "cpuUWSGL", "--patch-with-stat", "--patch-with-raw", "--unified", "--binary", "--word-diff-regex", "--color-words",
		"--function-context", "--cc", "--dd", "--remerge-diff", "--diff-merges", "--check", "--pickaxe-all", "--pickaxe-regex")
	switch first, _ := c.Subcommand(); first {
	case "cat-file":
		return !namesBlobs(c)
	case "show":
		return patch || !namesBlobs(c) && (!summarizes(c) || mayNameBlob(c))
	case "stash": // "stash show" with options prints a patch, unless one of them prints a summary
		return patch || isStashShow(c) && hasAnyOption(c) && !summarizes(c)
	case "diff-files", "diff-index", "diff-tree", "log", "reflog", "whatchanged":
		return patch
	}
	return handlesContents(c)
}

// summaryOptions are options of git with which it prints a summary of changes instead of a patch.
var summaryOptions = []string{"-s", "--no-patch", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary", "--raw"}

// summarizes reports whether a command of git certainly has one of summaryOptions. In a bundle
// of letters it may be a part of a number: "-n1s".
func summarizes(c *command.Command) bool {
	for i, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		if slices.Contains(summaryOptions, name) && !mayBeValue(c, i) {
			return true
		}
	}
	return false
}

// mayBeValue reports whether the argument i of git may be the value of the option before it, as in
// "--src-prefix -s".
func mayBeValue(c *command.Command, i int) bool {
	if i == 0 {
		return false
	}
	option := c.Args()[i-1].Text
	return strings.HasPrefix(option, "-") && !strings.Contains(option, "=") && !hasNoValue(option)
}

// hasNoValue reports whether a word is an option of git without a value that selects no further
// objects, as "--all" does.
func hasNoValue(word string) bool {
	return slices.Contains(summaryOptions, word) || slices.Contains([]string{"-e", "-p", "-t", "--no-color", "--oneline"}, word)
}

func isStashShow(c *command.Command) bool {
	return slices.ContainsFunc(c.Operands(), func(w command.Word) bool { return w.Text == "show" })
}

func hasAnyOption(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool { return strings.HasPrefix(w.Text, "-") })
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

// blobName matches the name of one file in a commit or in the index, such as "HEAD:a.go". The name
// of a commit can have a colon, too: ":/text", "HEAD^{/fix: text}".
var blobName = lazyregexp.New(`^([^:{}]+:|:([0-3]:)?[^/:!^(])`)

// namesBlobs reports whether each object that a command of git names is one file.
func namesBlobs(c *command.Command) bool {
	found := false
	for _, w := range c.Operands()[1:] {
		switch {
		case hasNoValue(w.Text), c.Operands()[0].Text == "cat-file" && w.Text == "blob":
		case strings.HasPrefix(w.Text, "-"), !blobName.MatchString(w.Text):
			return false
		default:
			found = true
		}
	}
	return found
}

// objectHash matches a name that git resolves to an object of any kind by its hash: "5d41402",
// "5d41402^{}", "x-1-g5d41402".
var objectHash = lazyregexp.New(`(?i)(^|-g)[0-9a-f]{4,64}(\^\{(blob|object)?\})?$`)

// mayNameBlob reports whether an operand of git may be the hash of a file. "git show" prints the
// text of such a file whatever its options are.
func mayNameBlob(c *command.Command) bool {
	return slices.ContainsFunc(c.Operands(), func(w command.Word) bool { return objectHash.MatchString(w.Text) })
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

// repositoryTop returns the top of the repository around a directory, "" if there is none.
func repositoryTop(dir string) string {
	real, err := filepath.EvalSymlinks(dir) // git searches upwards from there
	for below := ""; err == nil && real != below; real, below = filepath.Dir(real), real {
		if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
			return real
		}
	}
	return ""
}

// from returns a path as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// blobPaths returns the files that the words of a git command name in a commit or in the index,
// such as "HEAD:a.go". Their paths begin at the top of the repository, unless they begin with a dot.
// A file counts even if it is no longer in the working directory.
func blobPaths(c *command.Command) []command.Path {
	sub, _ := c.Subcommand()
	if c.Program() != "git" || !slices.Contains([]string{"cat-file", "diff", "show"}, sub) {
		return nil
	}
	dirs, operands := c.Dirs, c.Operands()
	global := c.Args()[:len(c.Args())-len(operands)]
	for i, w := range global[:max(0, len(global)-1)] {
		if w.Text == "-C" {
			dirs = slices.Clone(dirs)
			for j, dir := range dirs {
				dirs[j] = from(dir, global[i+1].Text)
			}
		}
	}
	var out []command.Path
	for _, w := range operands {
		_, name, ok := strings.Cut(w.Text, ":")
		for ; ok && !strings.HasPrefix(w.Text, "-"); _, name, ok = strings.Cut(name, ":") { // ":0:a.go"
			p := command.Path{Text: w.Text, Sure: true}
			for _, dir := range dirs {
				if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
					dir = cmp.Or(repositoryTop(dir), dir)
				}
				p.Abs = append(p.Abs, dir+string(filepath.Separator)+name)
			}
			out = append(out, p)
		}
	}
	return out
}

// judgeWords judges the words of a command that may name a file.
func (s *readSearch) judgeWords(c *command.Command, r reach) {
	for _, p := range blobPaths(c) {
		s.judgeFile(p, inCommit)
	}
	paths := c.Paths()
	for _, p := range paths {
		s.judgeFile(p, r)
	}
	for _, p := range c.Mentions() {
		if !slices.ContainsFunc(paths, func(o command.Path) bool { return o.Text == p.Text }) {
			s.judgeMention(p)
		}
	}
}

// judgeFile judges a word that names a file, or may name one.
func (s *readSearch) judgeFile(p command.Path, r reach) {
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

// judgeMention judges a word that may not be a file name at all. It counts if the
// file exists.
func (s *readSearch) judgeMention(p command.Path) {
	if rest, ok := strings.CutPrefix(p.Text, "~/"); ok && s.home != "" {
		p.Abs = []string{filepath.Join(s.home, rest)}
	}
	for _, abs := range p.Abs {
		if info, err := os.Stat(abs); err == nil && !info.IsDir() {
			s.judgeFile(p, fileOnly)
			return
		}
	}
}

// refusalReason returns why a file must not be read, "" if it may be.
func (s *readSearch) refusalReason(abs string, glob bool, r reach) string {
	if harmlessDevice(abs) {
		return ""
	}
	found, _ := follow.Files(abs, glob, &s.trail) // a path that cannot be followed is judged elsewhere
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
