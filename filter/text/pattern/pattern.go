// Package pattern runs regular expressions from a model or a user, and can stop
// a search early.
//
// Start with [Compile]. Package regexp takes time proportional to the length of the text times the
// size of the pattern, and cannot be interrupted. Compile refuses patterns of more than [maxSize]
// steps, and [Pattern.Find] calls stopped about once a second or more often, regardless of the
// length of the text.
package pattern

import (
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/automaton"
)

// maxSize is the largest pattern, in steps of its compiled form: about one for
// each character, class or alternative, times the count of a repetition.
const maxSize = 5000

// Pattern is a compiled regular expression. It may be used concurrently.
type Pattern struct {
	re   *regexp.Regexp
	size int
	// afterRune, if not nil, matches one character and the text after it up to the end
	// of the leftmost match of re; its first group ends where that match begins. It
	// is set if the text before a match counts: for ^ and \b.
	afterRune func() *regexp.Regexp
	// auto reports whether there is a match, but not where; nil if there is no automaton
	// for the pattern.
	auto      func() *automaton.Automaton
	undecided atomic.Int32 // matches for which auto had no answer
}

// TooLargeError reports that a pattern has more than maxSize steps.
type TooLargeError struct{}

// Error names the limit.
func (*TooLargeError) Error() string {
	return fmt.Sprintf("it is too large: expanded with its repetitions it has more than %d steps", maxSize)
}

// Compile parses a pattern in RE2 syntax. The error is a *TooLargeError, or one of
// [regexp.Compile].
func Compile(expr string) (*Pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := sizeOf(tree)
	if size > maxSize {
		return nil, &TooLargeError{}
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	p := &Pattern{re: re, size: size, auto: sync.OnceValue(func() *automaton.Automaton { return automaton.New(tree.Simplify()) })}
	if looksBack(tree) {
		p.afterRune = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?s:.)((?s:.*?))(?:` + expr + `)`) })
	}
	return p, nil
}

// sizeOf counts the steps of a pattern, up to a little more than maxSize. It does
// not compile the pattern, which may take much memory.
func sizeOf(re *syntax.Regexp) int {
	size := max(1, len(re.Rune))
	if re.Op == syntax.OpCharClass {
		size = 1 + len(re.Rune)/32 // the ranges of one step are tried one after the other
	}
	for _, sub := range re.Sub {
		if size += sizeOf(sub); size > maxSize {
			return maxSize + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		size = (size - 1) * max(re.Min, re.Max, 1)
	}
	return min(size, maxSize+1)
}

func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpBeginLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksBack)
}

// stepsBetweenStops is the number of steps between two calls of stopped. They need less
// than a second.
const stepsBetweenStops = 1 << 25

// Cost returns the approximate number of steps of a search of n bytes.
func (p *Pattern) Cost(n int) int { return n * p.size }

// slow reports whether a search of n bytes calls stopped, and is slower for that.
func (p *Pattern) slow(n int) bool { return p.Cost(n) > stepsBetweenStops }

// Find returns the start and the end of the leftmost match, nil if there is no
// match or the search was stopped.
func (p *Pattern) Find(text []byte, stopped func() bool) []int {
	loc := p.find(p.re, text, stopped)
	if loc == nil {
		return nil
	}
	return loc[:2]
}

// find is [regexp.Regexp.FindSubmatchIndex], or FindIndex, that can be stopped.
func (p *Pattern) find(re *regexp.Regexp, text []byte, stopped func() bool) []int {
	switch {
	case p.slow(len(text)):
		r := &reader{text: text, stopped: stopped, interval: max(1, stepsBetweenStops/8/p.size)}
		loc := re.FindReaderSubmatchIndex(r)
		if r.wasStopped { // the match belongs to a text that ends here
			return nil
		}
		return loc
	case re == p.re:
		return re.FindIndex(text)
	}
	return re.FindSubmatchIndex(text)
}

// maxUndecided is how often an automaton may have no answer before it is no longer used.
const maxUndecided = 8

// Match reports whether there is a match; false also if the search was stopped. It
// is several times faster than Find.
func (p *Pattern) Match(text []byte, stopped func() bool) bool {
	if a := p.auto(); a != nil && p.undecided.Load() < maxUndecided {
		if found, known := a.Match(text); known {
			return found
		}
		p.undecided.Add(1)
	}
	if !p.slow(len(text)) {
		return p.re.Match(text)
	}
	return p.Find(text, stopped) != nil
}

// FindFrom returns the start of the leftmost match at or after from, -1 if
// there is no match or the search was stopped. The text before from affects ^
// and \b.
func (p *Pattern) FindFrom(text []byte, from int, stopped func() bool) int {
	if from == 0 || p.afterRune == nil {
		if loc := p.Find(text[from:], stopped); loc != nil {
			return from + loc[0]
		}
		return -1
	}
	_, size := utf8.DecodeLastRune(text[:from])
	if loc := p.find(p.afterRune(), text[from-size:], stopped); loc != nil {
		return from - size + loc[3]
	}
	return -1
}

// reader reads a text rune by rune until it is stopped.
type reader struct {
	text       []byte
	stopped    func() bool
	interval   int // runes between two calls of stopped
	n          int
	wasStopped bool
}

func (r *reader) ReadRune() (rune, int, error) {
	if r.n++; r.n >= r.interval {
		r.n, r.wasStopped = 0, r.wasStopped || r.stopped()
	}
	if r.wasStopped || len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	if c := r.text[0]; c < utf8.RuneSelf {
		r.text = r.text[1:]
		return rune(c), 1, nil
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
