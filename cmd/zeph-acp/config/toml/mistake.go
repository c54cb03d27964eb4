package toml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// MaxMistakes limits how many mistakes of one file are reported.
const MaxMistakes = 100

// Mistake is one error in the configuration.
type Mistake struct {
	Where string // a file, an environment variable or "command line"
	Line  int    // 1-based line of the file; 0 means unknown
	Key   string // dotted, with indexes; empty if it concerns no key
	Text  string // the error; never a value that may be secret
}

// Error formats the mistake on one line: FILE:LINE: key "KEY": error.
func (m Mistake) Error() string {
	var b strings.Builder
	b.WriteString(Printable(m.Where))
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d", m.Line)
	}
	b.WriteString(": ")
	if m.Key != "" {
		fmt.Fprintf(&b, "key %s: ", quoteKey(m.Key))
	}
	b.WriteString(OneLine(m.Text))
	return b.String()
}

// OneLine truncates a text that may hold foreign values, and escapes characters
// that a line cannot show.
func OneLine(s string) string {
	s = line.TruncateRunes(s, 400)
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Mistakes are all errors, sorted by line within a file.
type Mistakes []Mistake

// Error returns the first mistake, and how to see the others.
func (ms Mistakes) Error() string {
	switch len(ms) {
	case 0:
		return "no mistakes"
	case 1:
		return ms[0].Error()
	}
	return fmt.Sprintf("%s (%d more: zeph-acp config check)", ms[0].Error(), len(ms)-1)
}

// In returns the mistakes with Where set, sorted by line. If a line has a mistake
// with a key, its mistakes without a key are left out: they repeat it.
func (ms Mistakes) In(where string) Mistakes {
	ms = slices.Clone(ms)
	for i := range ms {
		ms[i].Where = where
	}
	slices.SortFunc(ms, func(a, b Mistake) int {
		return cmp.Or(a.Line-b.Line, cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
	keyed := map[int]bool{}
	for _, m := range ms {
		keyed[m.Line] = keyed[m.Line] || m.Key != ""
	}
	return slices.DeleteFunc(ms, func(m Mistake) bool { return m.Key == "" && keyed[m.Line] })
}

// quoteKey quotes a key and truncates it, since keys come from untrusted files.
func quoteKey(key string) string {
	return fmt.Sprintf("%q", line.TruncateRunes(key, 100))
}

// Printable returns s, quoted if it holds characters that would break a line.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	return strconv.Quote(s)
}

// Nearest returns the name most similar to s, or "" if no name is similar.
func Nearest(s string, names []string) string {
	const longest = 64 // the time is quadratic
	if len(s) > longest {
		return ""
	}
	best, bestAt := "", 1+max(1, len(s)/3)
	for _, n := range names {
		if strings.EqualFold(strings.ReplaceAll(s, "-", "_"), n) {
			return n
		}
		if d := executors.Distance(s, n, bestAt); d < bestAt {
			best, bestAt = n, d
		}
	}
	if best == "" && len(s) >= 3 {
		for _, n := range names { // api_key for api_key_env, rather than for api or for api_key_cmd_ttl_secs
			longer := strings.HasPrefix(n, s)
			if longer && (!strings.HasPrefix(best, s) || len(n) < len(best)) || best == "" && strings.HasPrefix(s, n) {
				best = n
			}
		}
	}
	return best
}
