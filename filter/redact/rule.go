package redact

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/pelletier/go-toml/v2" // the rules are data, which people read and extend

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/automaton"
)

//go:embed rules.toml
var rulesTOML []byte

// ruleSet is the content of rules.toml.
type ruleSet struct {
	Kinds []Credential `toml:"kind"`
	Rules []*rule      `toml:"rule"`
	masks [credKindCount]string
}

// rules returns the parsed rules. A test checks that they are valid. Their expressions are
// compiled when a line first has a keyword.
var rules = sync.OnceValue(func() *ruleSet {
	set := &ruleSet{}
	if err := toml.Unmarshal(rulesTOML, set); err != nil {
		panic(fmt.Sprintf("rules.toml: %v", err))
	}
	kinds := map[string]credKind{}
	for k, c := range set.Kinds {
		kinds[c.Kind] = credKind(k)
		set.masks[k] = maskBegin + ":" + c.Kind + "]"
	}
	for _, r := range set.Rules {
		r.kind = kinds[r.Kind]
	}
	return set
})

// rule finds values by a keyword and an expression. The head of rules.toml describes its fields.
type rule struct {
	ID         string
	Kind       string
	Keywords   []string
	Expression string
	Most       int
	Start      string
	Check      string
	Inside     bool

	kind  credKind
	once  sync.Once
	match *automaton.Automaton // of Expression
	exact *regexp.Regexp       // of Expression, if match has no answer
	start byteRun              // of Start
}

// byteRun is a run of bytes of a set.
type byteRun struct {
	set         text.ByteSet
	least, most int
}

// compile compiles the expressions at the first call. A test compiles those of all rules.
func (r *rule) compile() {
	tree, err := syntax.Parse(r.Expression, syntax.Perl)
	if err != nil {
		panic(fmt.Sprintf("rules.toml: %s: %v", r.ID, err))
	}
	r.match = automaton.NewPrefix(tree.Simplify())
	r.exact = regexp.MustCompile(`\A(?:` + r.Expression + `)`)
	r.exact.Longest()
	if r.Start == "" {
		return
	}
	if tree, err = syntax.Parse(r.Start, syntax.Perl); err != nil || tree.Op != syntax.OpRepeat || tree.Sub[0].Op != syntax.OpCharClass {
		panic(fmt.Sprintf("rules.toml: %s: start %s is not a repeated class: %v", r.ID, r.Start, err))
	}
	r.start.least, r.start.most = tree.Min, cmp.Or(max(tree.Max, 0), maxValue)
	class := tree.Sub[0].Rune
	for i := 0; i < len(class); i += 2 {
		for b := class[i]; b <= class[i+1]; b++ {
			r.start.set[b] = true
		}
	}
}

// length returns the length of the match of Expression at the start of a text, or -1.
func (r *rule) length(l []byte) int {
	r.once.Do(r.compile)
	if n, known := r.match.Prefix(l); known {
		return n
	}
	if at := r.exact.FindIndex(l); at != nil {
		return at[1]
	}
	return -1
}

// maxAfter bounds the text in which the expression of a rule is matched, in bytes.
const maxAfter = maxValue + 256

// find adds the value of the rule to the hits, if there is one. The keyword begins at from and
// ends at body.
func (r *rule) find(m *Stream, l []byte, from, body int) {
	if r.Start == "" && !r.Inside && !canBeginToken(l, from) {
		return
	}
	n := r.length(l[from:min(len(l), from+maxAfter)])
	if n < 0 || r.Most > 0 && n > r.Most {
		return
	}
	to := from + n
	if r.Start != "" {
		n := 0
		for n < from && n <= r.start.most && r.start.set[l[from-n-1]] {
			n++
		}
		if n < r.start.least || n > r.start.most && r.Inside {
			return
		}
		body = from - min(n, r.start.most)
		if from = body; !r.Inside && !canBeginToken(l, from) {
			return
		}
	}
	if !checks[r.Check](l[body:to], l[:from]) {
		return
	}
	m.addHit(from, to, r.kind)
	if r.ID == "aws-access-key" {
		m.awsUntil = m.lineNumber + 3
	}
}

// checks decide whether a value, without the keyword, can be a credential. before is the text
// before it.
var checks = map[string]func(value, before []byte) bool{
	"":               func(v, _ []byte) bool { return hasEntropy(v) },
	"random":         func(v, before []byte) bool { return hasEntropy(v) && isRandom(v) && !endsInHash(before) },
	"random or uuid": func(v, _ []byte) bool { return hasEntropy(v) && (isRandom(v) || len(v) > 36 && isUUID(v[:36])) },
}

// hasEntropy reports whether a value has enough different characters and does not call itself an
// example.
func hasEntropy(v []byte) bool {
	v = v[:min(len(v), 256)]
	return !isLowEntropy(v) && !exampleWords.Find(v)
}
