package text

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/automaton"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxPatternLength is the longest regular expression, in characters.
const maxPatternLength = 512

// maxInstructions is the largest regular expression, in instructions of its compiled
// form. Matching a line takes its length times that.
const maxInstructions = 5000

// Pattern is a regular expression that is matched against one line.
type Pattern struct {
	Regexp    *regexp.Regexp
	tree      *syntax.Regexp
	automaton func() *automaton.Automaton // of this expression alone
}

// Compile compiles an expression. The error names its fault.
func Compile(expr string) (*Pattern, error) {
	if n := len([]rune(expr)); n > maxPatternLength {
		return nil, fmt.Errorf("the pattern has %s; the limit is %d", quantity.Count(n, "character"), maxPatternLength)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is not a regular expression: %w", expr, err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is not a regular expression: %w", expr, err)
	}
	p := &Pattern{Regexp: re, tree: tree.Simplify()}
	if strings.Contains(expr, "{") { // only repetitions are larger than they look
		if prog, err := syntax.Compile(p.tree); err != nil || len(prog.Inst) > maxInstructions {
			return nil, fmt.Errorf(
				"the pattern %q is too large: counted with its repetitions it has more than %d steps",
				expr,
				maxInstructions,
			)
		}
	}
	p.automaton = sync.OnceValue(func() *automaton.Automaton { return automaton.New(p.tree) })
	return p, nil
}

// Match reports whether the expression occurs in the line.
func (p *Pattern) Match(line []byte) bool {
	if a := p.automaton(); a != nil {
		if found, known := a.Match(line); known {
			return found
		}
	}
	return p.Regexp.Match(line)
}

// Submatch returns the first match and its groups, or nil.
func (p *Pattern) Submatch(line []byte) [][]byte {
	if !p.Match(line) {
		return nil
	}
	return p.Regexp.FindSubmatch(line)
}

// Patterns is a set of patterns.
type Patterns struct {
	list      []*Pattern
	automaton func() *automaton.Automaton
}

// CompileAll compiles a set. It returns the error of the first invalid expression.
func CompileAll(exprs []string) (*Patterns, error) {
	set := &Patterns{}
	for _, expr := range exprs {
		p, err := Compile(expr)
		if err != nil {
			return nil, err
		}
		set.Add(p)
	}
	return set, nil
}

// Add adds a pattern to the set, which must not be in use yet.
func (s *Patterns) Add(p *Pattern) {
	s.list = append(s.list, p)
	s.automaton = sync.OnceValue(func() *automaton.Automaton {
		trees := make([]*syntax.Regexp, len(s.list))
		for i, p := range s.list {
			trees[i] = p.tree
		}
		return automaton.New(trees...)
	})
}

// Match reports whether any of the patterns occurs in the line.
func (s *Patterns) Match(line []byte) bool {
	if s == nil || len(s.list) == 0 {
		return false
	}
	if a := s.automaton(); a != nil {
		if found, known := a.Match(line); known {
			return found
		}
	}
	for _, p := range s.list {
		if p.Match(line) {
			return true
		}
	}
	return false
}

// CompileOnce compiles valid expressions when they are first needed.
func CompileOnce(exprs ...string) func() *Patterns {
	return sync.OnceValue(func() *Patterns {
		set, err := CompileAll(exprs)
		if err != nil {
			panic(err)
		}
		return set
	})
}
