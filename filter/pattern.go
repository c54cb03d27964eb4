package filter

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// maxPattern is the longest regular expression of a rule, in characters.
const maxPattern = 512

// pattern is a regular expression over one line. A regular expression that is
// run on every line costs more than all the rest of a filter, so it is run only
// where the line has a text that every match has.
type pattern struct {
	re      *regexp.Regexp
	indent  bool     // what begins, may be indented
	begins  [][]byte // a match is at the begin of the line, with one of these; nil if unknown
	needs   [][]byte // a match has one of these; nil if unknown
	fold    bool     // begins and needs are in lower case, and case does not matter
	decided bool     // what begins so, matches
}

// compile makes a pattern. The error says what is wrong with the expression.
func compile(expr string) (*pattern, error) {
	if n := len([]rune(expr)); n > maxPattern {
		return nil, fmt.Errorf("the pattern has %d characters, and %d is the most", n, maxPattern)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is no regular expression: %w", expr, err)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is no regular expression: %w", expr, err)
	}
	p := &pattern{re: re}
	tree = tree.Simplify()
	p.fold = folds(tree)
	if rest, in, ok := anchored(tree); ok {
		if set, exact := starts(rest); shortest(set) > 0 {
			p.begins, p.indent = p.texts(set), in != noIndent
			p.decided = exact && !p.fold && in != oddIndent
			return p, nil
		}
	}
	p.needs = p.texts(needed(tree))
	return p, nil
}

// match reports whether the expression is found in the line.
func (p *pattern) match(line []byte) bool { return p.may(line) && (p.decided || p.re.Match(line)) }

// submatch gives the first match and its groups, nil if there is none.
func (p *pattern) submatch(line []byte) [][]byte {
	if !p.may(line) {
		return nil
	}
	return p.re.FindSubmatch(line)
}

// may reports whether the line has what a match needs.
func (p *pattern) may(line []byte) bool {
	switch {
	case p.begins != nil:
		if p.indent {
			line = unindent(line)
		}
		for _, b := range p.begins {
			if p.fold && hasFold(line, b) || !p.fold && bytes.HasPrefix(line, b) {
				return true
			}
		}
		return false
	case p.needs != nil:
		for _, n := range p.needs {
			if p.fold && containsFold(line, n) || !p.fold && bytes.Contains(line, n) {
				return true
			}
		}
		return false
	}
	return true
}

// unindent cuts off what \s matches in ASCII.
func unindent(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	return line
}

// containsFold looks for text, which is in lower case.
func containsFold(line, text []byte) bool {
	last := len(line) - len(text)
	for i := 0; i <= last; i++ {
		if c := line[i]; (c == text[0] || c == upper(text[0])) && hasFold(line[i:], text) {
			return true
		}
	}
	return false
}

// patterns is a set of patterns, of which any may match.
type patterns struct {
	byFirst  [256][]*pattern // those that begin with this byte
	indented [256][]*pattern // the same after an indent
	others   []*pattern
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
	if p.begins == nil {
		s.others = append(s.others, p)
		return
	}
	table := &s.byFirst
	if p.indent {
		table = &s.indented
	}
	firsts := map[byte]bool{}
	for _, b := range p.begins {
		firsts[b[0]] = true
		if p.fold {
			firsts[upper(b[0])] = true
		}
	}
	for first := range firsts {
		table[first] = append(table[first], p)
	}
}

// match reports whether any of the set is found in the line.
func (s *patterns) match(line []byte) bool {
	if s == nil || len(line) == 0 && len(s.others) == 0 {
		return false
	}
	if len(line) > 0 {
		for _, p := range s.byFirst[line[0]] {
			if p.match(line) {
				return true
			}
		}
		if inner := unindent(line); len(inner) > 0 {
			for _, p := range s.indented[inner[0]] {
				if p.match(line) {
					return true
				}
			}
		}
	}
	for _, p := range s.others {
		if p.match(line) {
			return true
		}
	}
	return false
}

// folds reports whether any part of an expression ignores case.
func folds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	for _, sub := range re.Sub {
		if folds(sub) {
			return true
		}
	}
	return false
}

// indent is what an expression says of blanks at the begin of a line.
type indent uint8

const (
	noIndent  indent = iota
	anyIndent        // any number of blanks and tabs
	oddIndent        // some, of which the expression itself has to judge
)

// anchored gives what follows the begin of the text, and an indent, in an
// expression.
func anchored(re *syntax.Regexp) (rest *syntax.Regexp, in indent, ok bool) {
	if re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText {
		return nil, 0, false
	}
	subs := re.Sub[1:]
	if len(subs) > 0 && (subs[0].Op == syntax.OpStar || subs[0].Op == syntax.OpPlus) && blanks(subs[0].Sub[0]) {
		in = oddIndent
		if subs[0].Op == syntax.OpStar && subs[0].Sub[0].Op == syntax.OpCharClass && slices.Contains(subs[0].Sub[0].Rune, ' ') && slices.Contains(subs[0].Sub[0].Rune, '\t') {
			in = anyIndent
		}
		subs = subs[1:]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}, in, true
}

// blanks reports whether an expression is for blanks: \s or a part of it.
func blanks(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 1 && (re.Rune[0] == ' ' || re.Rune[0] == '\t')
	case syntax.OpCharClass: // pairs of bounds
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if !strings.ContainsRune(" \t\n\v\f\r", r) {
					return false
				}
			}
		}
		return len(re.Rune) > 0
	}
	return false
}

// maxTexts bounds the texts that stand for one expression.
const maxTexts = 64

// starts gives texts of which each match begins with one; exact says that each
// of them is a match.
func starts(re *syntax.Regexp) (set []string, exact bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCapture:
		return starts(re.Sub[0])
	case syntax.OpQuest:
		set, exact = starts(re.Sub[0])
		return append(set, ""), exact
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(set) == 8 {
					return []string{""}, false
				}
				set = append(set, string(r))
			}
		}
		return set, true
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			more, ok := starts(sub)
			set, exact = append(set, more...), exact && ok
		}
		if len(set) > maxTexts {
			return []string{""}, false
		}
		return set, exact
	case syntax.OpConcat:
		set, exact = []string{""}, true
		for _, sub := range re.Sub {
			more, ok := starts(sub)
			if len(set)*len(more) > maxTexts {
				return set, false
			}
			var longer []string
			for _, a := range set {
				for _, b := range more {
					longer = append(longer, a+b)
				}
			}
			set = longer
			if !ok {
				return set, false
			}
		}
		return set, true
	}
	return []string{""}, false
}

// needed gives texts of which each match has one, nil if there are none.
func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			more := needed(sub)
			if more == nil {
				return nil
			}
			all = append(all, more...)
		}
		if len(all) <= maxTexts {
			return all
		}
	case syntax.OpConcat: // the part whose shortest text is longest tells most
		var best []string
		for i, sub := range re.Sub {
			texts := needed(sub)
			if set, exact := starts(&syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[i:]}); !exact && shortest(set) > shortest(texts) {
				texts = set
			}
			if shortest(texts) > shortest(best) {
				best = texts
			}
		}
		return best
	}
	return nil
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// texts gives what may looks for, nil if that tells nothing.
func (p *pattern) texts(set []string) [][]byte {
	if shortest(set) == 0 {
		return nil
	}
	out := make([][]byte, len(set))
	for i, s := range set {
		if p.fold {
			s = strings.ToLower(s)
		}
		out[i] = []byte(s)
	}
	return out
}
