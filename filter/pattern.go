package filter

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
)

// maxPattern is the longest regular expression of a rule, in characters.
const maxPattern = 512

// pattern is a regular expression over one line.
type pattern struct {
	re   *regexp.Regexp
	tree *syntax.Regexp
	auto func() *automaton // of it alone
}

// compile makes a pattern. The error says what is wrong with the expression.
func compile(expr string) (*pattern, error) {
	if n := len([]rune(expr)); n > maxPattern {
		return nil, fmt.Errorf("the pattern has %d characters, and %d is the most", n, maxPattern)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is no regular expression: %w", expr, err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is no regular expression: %w", expr, err)
	}
	p := &pattern{re: re, tree: tree.Simplify()}
	p.auto = sync.OnceValue(func() *automaton { return newAutomaton([]*syntax.Regexp{p.tree}) })
	return p, nil
}

// match reports whether the expression is found in the line.
func (p *pattern) match(line []byte) bool {
	if a := p.auto(); a != nil {
		if found, known := a.match(line); known {
			return found
		}
	}
	return p.re.Match(line)
}

// submatch gives the first match and its groups, nil if there is none.
func (p *pattern) submatch(line []byte) [][]byte {
	if !p.match(line) {
		return nil
	}
	return p.re.FindSubmatch(line)
}

// patterns is a set of patterns, of which any may match.
type patterns struct {
	list []*pattern
	auto func() *automaton
}

// compileAll makes a set; the error is that of the first that is wrong.
func compileAll(exprs []string) (*patterns, error) {
	set := &patterns{}
	for _, expr := range exprs {
		p, err := compile(expr)
		if err != nil {
			return nil, err
		}
		set.add(p)
	}
	return set, nil
}

func (s *patterns) add(p *pattern) {
	s.list = append(s.list, p)
	s.auto = sync.OnceValue(func() *automaton {
		trees := make([]*syntax.Regexp, len(s.list))
		for i, p := range s.list {
			trees[i] = p.tree
		}
		return newAutomaton(trees)
	})
}

// match reports whether any of the set is found in the line.
func (s *patterns) match(line []byte) bool {
	if s == nil || len(s.list) == 0 {
		return false
	}
	if a := s.auto(); a != nil {
		if found, known := a.match(line); known {
			return found
		}
	}
	for _, p := range s.list {
		if p.match(line) {
			return true
		}
	}
	return false
}

// compiledOnce compiles expressions that are known to be right, when they are
// first needed.
func compiledOnce(exprs ...string) func() *patterns {
	return sync.OnceValue(func() *patterns {
		set, err := compileAll(exprs)
		if err != nil {
			panic(err)
		}
		return set
	})
}
