package filter

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// New returns a filter with the built-in rules, overridden by the rules in the
// user's file. An empty path means no file. The filter redacts the kinds of
// [redact.Credentials]. The warnings name each part of the file that cannot be
// used, and why.
//
// The built-in rules are compiled when they are first needed. With a file all
// rules are compiled immediately, because of the warnings.
func New(path string) (*Filter, []string) {
	if _, err := os.Stat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return &Filter{rules: sync.OnceValue(builtins), scan: &redact.Scanner{}}, nil
	}
	rules, warnings := loadRules(path)
	return &Filter{rules: compiledRules(rules...), scan: &redact.Scanner{}}, warnings
}

// builtins compiles the built-in rules, which takes some milliseconds. A test ensures
// that they cause no warnings.
func builtins() []rule {
	rules, _ := loadRules("")
	return rules
}

// compiledRules returns rules that are compiled already.
func compiledRules(rules ...rule) func() []rule { return func() []rule { return rules } }

// allRules returns the rules, which the first call compiles.
func (f *Filter) allRules() []rule {
	if f.rules == nil {
		return nil
	}
	return f.rules()
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
	for _, r := range f.allRules() {
		list = append(list, Rule{r.name, r.match.String(), r.strategyType})
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
