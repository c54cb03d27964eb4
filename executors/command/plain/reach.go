package plain

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// Reach is which files a read-only command opens. It decides where the command may run without a
// question: what reaches further needs a box that keeps other files from it.
type Reach int

// The reaches. Each value includes the ones before it.
const (
	// ReachesLiterals means that the command opens only files whose names are literal words of it.
	ReachesLiterals Reach = iota
	// ReachesNamed means that it opens only files that its words name, also by a pattern, or lists
	// directories.
	ReachesNamed
	// ReachesOthers means that it may open files that it does not name: settings of a repository,
	// packages, or all files below a directory. It may also start further programs for these.
	ReachesOthers
)

// reach returns the reach of a read-only command in its plain form.
func (p *acceptedCommand) reach(c *Command) Reach {
	facts := programs.Of(c.Program())
	switch {
	case facts.Reach == "", slices.ContainsFunc(p.words, func(w string) bool { return isWide(facts, w) }), opensComputed(c):
		return ReachesOthers
	case facts.Reach != "literal", slices.ContainsFunc(c.words, func(w Word) bool { return w.Glob }):
		return ReachesNamed
	}
	return ReachesLiterals
}

// opensComputed reports whether an operand of a command may be a file whose name is computed.
func opensComputed(c *Command) bool {
	return !PrintsOnly(c.Program()) && slices.ContainsFunc(c.words, func(w Word) bool { return len(w.Values) == 0 && !w.pipe })
}

// isWide reports whether a word of the plain form of a program may be one of its wide options.
func isWide(facts *programs.Facts, word string) bool {
	option, _, _ := strings.Cut(strings.Trim(word, "'"), "=")
	return programs.Has(facts.Wide, option)
}

// note records the reach of a read-only command, and what it may print.
func (f *Form) note(c *Command, p *acceptedCommand) {
	c.Reach = p.reach(c)
	f.Reach = max(f.Reach, c.Reach)
	if f.Emits == "" {
		f.Emits = emits(c)
	}
}
