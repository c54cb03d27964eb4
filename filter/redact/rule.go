package redact

import (
	"bytes"
	"cmp"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/automaton"
)

// rule finds values by a keyword and an expression. The head of rules.toml describes its fields.
type rule struct {
	ID         string
	Kind       string
	Keywords   []string
	Inside     bool
	Find       string
	Expression string
	Most       int
	Before     string
	Commands   []string
	Check      string
	Class      string
	Start      string
	Value      string
	Skip       int
	By         string
	Attached   bool
	Quoted     bool
	After      string
	Until      string
	Name       string

	kind   credKind
	once   sync.Once
	match  *automaton.Automaton // of Expression, or nil
	exact  *regexp.Regexp       // of Expression, if match has no answer
	before *text.Pattern        // of Before and Commands, or nil
	start  byteRun              // of Start
}

// byteRun is a run of bytes of a set.
type byteRun struct {
	set         text.ByteSet
	least, most int
}

// compile compiles the expressions at the first call. A test compiles those of all rules.
func (r *rule) compile() {
	if r.Expression != "" {
		r.match = automaton.NewPrefix(parsed(r.Expression).Simplify())
		r.exact = regexp.MustCompile(`\A(?:` + r.Expression + `)`)
		r.exact.Longest()
	}
	before := r.Before
	if r.Commands != nil {
		before = "(?:^|[^0-9A-Za-z])(?:" + strings.Join(r.Commands, "|") + ")(?:[^|;`<>(){}]*[^|;`<>(){}0-9A-Za-z-])?"
	}
	if before != "" {
		r.before = mustCompile("(?:" + before + `)\z`)
	}
	if r.Start != "" {
		class := parsed(r.Start)
		r.start.least, r.start.most = class.Min, cmp.Or(max(class.Max, 0), maxValue)
		for ranges := class.Sub[0].Rune; len(ranges) > 0; ranges = ranges[2:] {
			for b := ranges[0]; b <= ranges[1]; b++ {
				r.start.set[b] = true
			}
		}
	}
}

func parsed(expression string) *syntax.Regexp {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return tree
}

// length returns the length of the match of Expression at the start of a text, or -1.
func (r *rule) length(l []byte) int {
	if n, known := r.match.Prefix(l); known {
		return n
	}
	if at := r.exact.FindIndex(l); at != nil {
		return at[1]
	}
	return -1
}

// Limits on the text in which the expressions of a rule are matched, in bytes.
const (
	maxBefore = 400
	maxAfter  = maxValue + 256
)

// find adds the value of the rule to the hits, if there is one. The keyword begins at from and
// ends at body.
func (r *rule) find(m *Stream, l []byte, from, body int) {
	if r.Start == "" && !r.Inside && !canBeginToken(l, from) {
		return
	}
	r.once.Do(r.compile)
	end := body
	if r.match != nil {
		n := r.length(l[from:min(len(l), from+maxAfter)])
		if n < 0 || r.Most > 0 && n > r.Most {
			return
		}
		end = from + n
	}
	c := candidate{rule: r, line: l, keyword: from, after: body}
	var ok bool
	if r.Value == "" {
		ok = c.takeMatch(end)
	} else {
		ok = c.takeValue(end)
	}
	if !ok || !checks[r.Check](&c) || r.before != nil && !r.before.Match(l[max(0, from-maxBefore):from]) {
		return
	}
	m.addHit(c.from, c.to, r.kind)
	if r.ID == "aws-access-key" {
		m.awsUntil = m.lineNumber + 3
	}
}

// candidate is a part of a line that may be the value of a rule.
type candidate struct {
	*rule
	line           []byte
	keyword, after int // the bounds of the keyword
	from, to       int // the bounds of the value
	quoted         bool
	value          []byte // what the check looks at: the value without the keyword
}

// takeMatch makes the match the value, and what precedes it.
func (c *candidate) takeMatch(end int) bool {
	c.from, c.to = c.keyword, end
	c.value = c.line[c.after:end]
	if c.Start == "" {
		return true
	}
	n := 0
	for n < c.from && n <= c.start.most && c.start.set[c.line[c.from-n-1]] {
		n++
	}
	if n < c.start.least || n > c.start.most && c.Inside {
		return false
	}
	c.from -= min(n, c.start.most)
	c.value = c.line[c.from:end]
	return c.Inside || canBeginToken(c.line, c.from)
}

// takeValue finds the value after the match of the rule, which ends at end.
func (c *candidate) takeValue(end int) bool {
	l, at := c.line, end
	if c.Skip > 0 {
		at = c.after
		for range c.Skip {
			if _, _, at = cellAt(l, at, cmp.Or(c.By, " ")[0]); at < 0 {
				return false
			}
		}
	}
	if c.Attached && (at == len(l) || l[at] == ' ') {
		return false
	}
	if c.Quoted && isQuote(l[at-1]) {
		at--
	}
	v := assignedValue{from: at}
	switch c.Value {
	case "match":
		v.from, v.to = c.after, end
	case "blank":
		v.to = at + len(l[at:])
		if i := bytes.IndexByte(l[at:], ' '); i >= 0 {
			v.to = at + i
		}
	case "line":
		v.to = at + len(withoutPunctuation(bytes.TrimRight(l[at:], " \t\r")))
	default:
		v = parseValue(l, at, c.Value == "data")
	}
	if c.Quoted && !v.quoted {
		return false
	}
	if value := l[v.from:v.to]; c.After != "" {
		i := bytes.Index(value, []byte(c.After))
		if i <= 0 || bytes.HasPrefix(value[i:], []byte("://")) || bytes.IndexByte(value[:i], '@') >= 0 && c.Until == "@" {
			return false
		}
		v.from += i + 1
		if i := bytes.LastIndex(l[v.from:v.to], []byte(c.Until)); i >= 0 && c.Until != "" {
			v.to = v.from + i
		}
		v.from, v.to = withoutQuotes(l, v.from, v.to)
	}
	c.from, c.to, c.quoted, c.value = v.from, v.to, v.quoted, l[v.from:v.to]
	return true
}

// name returns the bounds of the name by which the value is checked.
func (c *candidate) name() (from, to int) {
	if c.Name == "after" {
		return c.after, text.NameSet.RunEnd(c.line, c.after)
	}
	return nameStart(c.line, c.keyword), text.NameSet.RunEnd(c.line, c.keyword)
}

// class returns the class of the name, or the one that the rule sets.
func (c *candidate) class() nameClass {
	if c.Class != "" {
		return nameClasses[c.Class]
	}
	from, to := c.name()
	return classifyName(c.line[from:to])
}
