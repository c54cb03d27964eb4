package redact

import (
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

//go:generate go test -run TestData . -update

// content is the content of rules.toml. The file data.go has it as Go values, since decoding the
// file would take most of the time of a start.
type content struct {
	Kinds  []Credential
	Rules  []*rule
	Words  []namedList
	Shapes []namedShape
}

// namedList is a list of words.
type namedList struct {
	Name  string
	Words []string
}

// namedShape is an expression that matches whole values.
type namedShape struct{ Name, Expression string }

// ruleSet is what the scan needs of the content.
type ruleSet struct {
	Kinds  []Credential
	Rules  []*rule
	Words  map[string][]string
	Shapes map[string]*shape

	masks           [credKindCount]string
	lists           map[string]wordList
	example, madeUp *text.Words     // parts of values
	nameParts       [1 << 10]uint32 // parts of names: a bit for each third letter, by pairIndex of the first two
}

// wordList is a set of the lists in which a word is.
type wordList uint32

// The lists of words in rules.toml, by wordListNames. nounWord<<n is the list of the nouns of names
// of class n.
const (
	nounWord wordList = 1 << iota
	_
	_
	_
	_
	qualifierWord
	harmlessWord
	placeWord
	keyWord
	accountWord
	forgeWord
	propertyWord
	typeWord
	sentenceWord
	dummyWord
)

var wordListNames = [...]string{
	"", "", "token", "secret", "password", "qualifier", "harmless", "place", "key", "account", "forge", "property", "type", "sentence", "dummy",
}

// nounNames are the lists of the nouns of names by their class.
var nounNames = wordListNames[:passwordName+1]

// isWord reports whether a word is in a list.
func isWord(w []byte, list wordList) bool { return rules().lists[string(w)]&list != 0 }

// rules returns the rules. A test checks that they are valid. Their expressions are compiled when a
// line first has a keyword.
var rules = sync.OnceValue(func() *ruleSet {
	set := &ruleSet{Kinds: data.Kinds, Rules: data.Rules, Words: map[string][]string{}, Shapes: map[string]*shape{}}
	for _, list := range data.Words {
		set.Words[list.Name] = list.Words
	}
	for _, s := range data.Shapes {
		set.Shapes[s.Name] = &shape{expression: s.Expression}
	}
	kinds := map[string]credKind{}
	for k, c := range set.Kinds {
		kinds[c.Kind] = credKind(k)
		set.masks[k] = maskBegin + ":" + c.Kind + "]"
	}
	set.lists = map[string]wordList{}
	for i, name := range wordListNames {
		for _, w := range set.Words[name] {
			set.lists[w] |= 1 << i
		}
	}
	for _, part := range set.Words["part"] {
		third := ^uint32(0)
		if len(part) > 2 {
			third = 1 << (part[2] & 31)
		}
		set.nameParts[pairIndex(part[0], part[1])] |= third
	}
	set.example, set.madeUp = text.NewWords(set.Words["example"]...), text.NewWords(set.Words["made-up"]...)
	for _, r := range set.Rules {
		r.kind = kinds[r.Kind]
	}
	return set
})

// shape is an expression that matches whole values, compiled when it is first used.
type shape struct {
	expression string
	once       sync.Once
	pattern    *text.Pattern
}

func (s *shape) match(v []byte) bool {
	s.once.Do(func() { s.pattern = mustCompile(`\A(?:` + s.expression + `)\z`) })
	return s.pattern.Match(v)
}

// hasShape reports whether a value has a shape of rules.toml.
func hasShape(v []byte, name string) bool { return rules().Shapes[name].match(v) }

func mustCompile(expression string) *text.Pattern {
	p, err := text.Compile(expression)
	if err != nil {
		panic(err) // a test compiles all
	}
	return p
}
