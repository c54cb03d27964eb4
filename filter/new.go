package filter

import (
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// New makes a filter of the built-in rules and the user's file over them; no
// path means no such file. It masks the credentials that are known without
// patterns of the user's own. The warnings name what of the file cannot be used,
// and why.
func New(path string) (*Filter, []string) {
	rules, warnings := load(path)
	return &Filter{rules: rules, scan: &redact.Scanner{}}, warnings
}

// Scanning gives a filter of the same rules that looks for credentials with s;
// nil looks for none.
func (f *Filter) Scanning(s *redact.Scanner) *Filter { return &Filter{rules: f.rules, scan: s} }

// Scanner is what f looks for credentials with; nil does not.
func (f *Filter) Scanner() *redact.Scanner { return f.scan }

// Segment gives the part of a script that rules are matched against, empty if
// none of it writes anything of its own. mixed says that other commands of the
// script may have written too.
func Segment(script string) (seg string, mixed bool) { return segment(script) }

// Rule is one rule of a filter, as people read it.
type Rule struct {
	Name     string
	Match    string // e.g. `prefix "make"`
	Strategy string // its type
}

// Rules lists the rules in the order in which they are applied.
func (f *Filter) Rules() []Rule {
	var list []Rule
	for _, r := range f.rules {
		list = append(list, Rule{r.name, r.match.String(), r.kind})
	}
	return list
}

// String gives the match as people read it.
func (m match) String() string {
	switch {
	case m.exact != "":
		return "exact " + strconv.Quote(m.exact)
	case m.prefix != "":
		return "prefix " + strconv.Quote(m.prefix)
	}
	return "regex " + strconv.Quote(m.regex.Regexp.String())
}
