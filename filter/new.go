package filter

import (
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// New makes a filter of the built-in rules and those of the user's file, which
// override them. An empty path means no file. The filter masks the kinds of
// [redact.Credentials]. The warnings name each part of the file that cannot be
// used, and why.
func New(path string) (*Filter, []string) {
	rules, warnings := loadRules(path)
	return &Filter{rules: rules, scan: &redact.Scanner{}}, warnings
}

// Scanning returns a filter with the same rules that finds credentials with s.
// A nil s finds none.
func (f *Filter) Scanning(s *redact.Scanner) *Filter { return &Filter{rules: f.rules, scan: s} }

// Scanner returns the scanner of f, or nil if f finds no credentials.
func (f *Filter) Scanner() *redact.Scanner { return f.scan }

// Rule describes a rule of a filter for people.
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

// String describes the match for people.
func (m matcher) String() string {
	switch {
	case m.exact != "":
		return "exact " + strconv.Quote(m.exact)
	case m.prefix != "":
		return "prefix " + strconv.Quote(m.prefix)
	}
	return "regex " + strconv.Quote(m.regex.Regexp.String())
}
