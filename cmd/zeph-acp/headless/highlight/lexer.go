package highlight

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

const (
	root = "root" // the first state of every language
	// maxIdle is how many rules in a row may match nothing, before they are taken for a loop.
	maxIdle = 100
)

var rootStack = []string{root}

// reading is the work on one text. It does what the loop in chroma does, which has neither a limit
// nor a way to go on from the states at the end of a text.
type reading struct {
	builder
	*chroma.LexerState
	deadline time.Time
	broken   bool // a line ended in a state that goes no further
}

// read divides a text that begins in the states of a stack. What is left after the limit is plain.
func (l *lexer) read(stack []string, text string, limit time.Duration) *reading {
	r := &reading{builder: builder{text: text}, deadline: time.Now().Add(limit)}
	if !strings.HasSuffix(text, "\n") {
		text += "\n" // many rules end with a line
	}
	r.LexerState = &chroma.LexerState{
		Lexer: l.chroma, Registry: l.registry, Rules: l.compiled(),
		Text: []rune(text), Stack: slices.Clone(stack), MutatorContext: map[any]any{},
	}
	r.run()
	if r.text != "" {
		r.add(len(r.text), Plain)
		r.Stack = rootStack
	}
	return r
}

// run applies the rules up to the end of the text, or as far as they go.
func (r *reading) run() {
	// Rules that were written for well-formed text pop states that it never entered, or name a
	// state that does not exist. Chroma panics then.
	defer func() { _ = recover() }()
	for idle := 0; r.text != "" && len(r.Stack) > 0 && idle < maxIdle && time.Now().Before(r.deadline); idle++ {
		r.State = r.Stack[len(r.Stack)-1]
		rule, groups := r.match(r.Rules[r.State])
		if rule == nil && r.Text[r.Pos] == '\n' && r.State != root { // after a string without its end, for example
			r.Stack, r.broken = slices.Clone(rootStack), true
			continue
		}
		if rule == nil {
			idle = 0
			r.Pos++
			r.add(1, Plain)
			continue
		}
		n := utf8.RuneCountInString(groups[0])
		if n > 0 {
			idle = 0
		}
		r.Groups, r.Pos = groups, r.Pos+n
		if rule.Mutator != nil {
			if err := rule.Mutator.Mutate(r.LexerState); err != nil {
				return
			}
		}
		r.emit(rule.Type, groups, n)
	}
}

// emit adds the pieces of a match of n characters.
func (r *reading) emit(t chroma.Emitter, groups []string, n int) {
	if kind, ok := t.(chroma.TokenType); ok {
		r.add(n, classOf(kind))
		return
	}
	var tokens []chroma.Token
	var text strings.Builder
	if t != nil {
		next := t.Emit(groups, r.LexerState)
		for token := next(); token != chroma.EOF && time.Now().Before(r.deadline); token = next() {
			tokens = append(tokens, token)
			text.WriteString(token.Value)
		}
	}
	if text.String() != groups[0] { // some of it belongs to no group
		r.add(n, Plain)
		return
	}
	for _, token := range tokens {
		r.add(utf8.RuneCountInString(token.Value), classOf(token.Type))
	}
}

// match returns the first rule that matches at the position, and the groups of the match.
func (r *reading) match(rules []*chroma.CompiledRule) (*chroma.CompiledRule, []string) {
	for _, rule := range rules {
		if time.Now().After(r.deadline) {
			break
		}
		m, err := rule.Regexp.FindRunesMatchStartingAt(r.Text, r.Pos)
		if m == nil || err != nil {
			continue
		}
		if _, ok := rule.Type.(chroma.TokenType); ok {
			return rule, []string{m.String()}
		}
		var groups []string
		for _, g := range m.Groups() {
			groups = append(groups, g.String())
		}
		return rule, groups
	}
	return nil, nil
}
