package failover

import (
	"context"
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// resumer lets a model continue, once, an answer that broke off. No text is repeated.
type resumer struct{ llm.Model }

// Unwrap returns the model that is asked.
func (r *resumer) Unwrap() llm.Model { return r.Model }

// Stream asks the model, and once more if its answer breaks off.
func (r *resumer) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		var said partial
		cut := false
		for ev, err := range r.Model.Stream(ctx, req) {
			if err != nil && ctx.Err() == nil && said.begun {
				if e, ok := errors.AsType[*llm.Error](err); ok && e.Retryable {
					cut = true
					break
				}
			}
			said.add(ev)
			if !yield(ev, err) {
				return
			}
		}
		if cut && yield(llm.Event{Cut: true}, nil) {
			req.Messages = llm.AskToContinue(req.Messages, said.end())
			r.resume(ctx, req, &said, yield)
		}
	}
}

// resume relays the text after the cut, without the text before it.
func (r *resumer) resume(ctx context.Context, req llm.Request, said *partial, yield func(llm.Event, error) bool) {
	text, thought := newTrimmer(said.text()), newTrimmer(said.thoughts.String())
	// Text that was held back is emitted before an event of another kind.
	flush := func(ev llm.Event) bool {
		if held := thought.flushIfEnded(ev.Thought == ""); held != "" && !yield(llm.Event{Thought: held}, nil) {
			return false
		}
		held := text.flushIfEnded(ev.Text == "")
		return held == "" || yield(llm.Event{Text: held}, nil)
	}
	for ev, err := range r.Model.Stream(ctx, req) {
		if (err != nil || ev.IsContent()) && !flush(ev) {
			return
		}
		switch {
		case err != nil && len(said.blocks) > 0:
			err = withKeptHint(err)
		case ev.Text != "":
			ev.Text = text.trim(ev.Text)
		case ev.Thought != "":
			ev.Thought = thought.trim(ev.Thought)
		}
		if (ev != (llm.Event{}) || err != nil) && !yield(ev, err) {
			return
		}
	}
}

// withKeptHint adds to the error that the answer so far is kept.
func withKeptHint(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err
	}
	last := *e
	hint := strings.TrimSuffix(strings.TrimSuffix(e.Hint, "try again"), "; ") // another prompt does the same
	last.Hint = joinHints("the answer so far is kept: send another prompt to continue", hint)
	return &last
}

// partial collects the text of an answer.
type partial struct {
	begun    bool
	blocks   []llm.Block
	piece    strings.Builder // the last block, until it ends
	thoughts strings.Builder
}

// add adds an event of the answer.
func (p *partial) add(ev llm.Event) {
	p.begun = p.begun || ev.IsContent()
	switch {
	case ev.Text != "":
		p.piece.WriteString(ev.Text)
	case ev.Thought != "":
		p.end()
		p.thoughts.WriteString(ev.Thought)
	case ev.Opaque != nil, ev.Call != nil:
		p.end()
	case ev.Reasoned:
		p.piece.Reset()
	}
}

// end completes the last block and returns all.
func (p *partial) end() []llm.Block {
	if p.piece.Len() > 0 {
		p.blocks = append(p.blocks, llm.Block{Text: p.piece.String()})
		p.piece.Reset()
	}
	return p.blocks
}

// text returns the text of all blocks.
func (p *partial) text() string {
	var all strings.Builder
	for _, b := range p.end() {
		all.WriteString(b.Text)
	}
	return all.String()
}

const (
	// minRestart is how many bytes of an answer's beginning must come again to count as
	// a repetition; minRepeated, how many of its end.
	minRestart  = 3
	minRepeated = 16
	// maxCompared bounds the text that is compared, in bytes.
	maxCompared = 32 << 10
)

// trimmer removes repeated text from the beginning of a continued answer: models that are
// asked to continue may repeat their last words, or begin again.
type trimmer struct {
	earlier string // the text before the break; empty once the new text is found
	held    string // text received so far, which may repeat it
}

func newTrimmer(earlier string) *trimmer {
	for len(earlier) > maxCompared {
		_, n := utf8.DecodeRuneInString(earlier[len(earlier)-maxCompared:])
		earlier = earlier[len(earlier)-maxCompared+n:]
	}
	return &trimmer{earlier: earlier}
}

// trim returns the new text in a piece.
func (t *trimmer) trim(text string) string {
	if len(t.earlier) < minRestart {
		return text
	}
	t.held += text
	for i := range t.earlier {
		end := t.earlier[i:]
		switch {
		case i > 0 && len(end) < minRepeated:
			return t.flush()
		case strings.HasPrefix(t.held, end):
			t.held, t.earlier = t.held[len(end):], ""
			return t.flush()
		case strings.HasPrefix(end, t.held):
			return "" // the next pieces decide
		}
	}
	return t.flush()
}

// flushIfEnded returns the text that was held back, if the text has ended.
func (t *trimmer) flushIfEnded(ended bool) string {
	if !ended || t.held == "" {
		return ""
	}
	return t.flush()
}

// flush returns the text that was held back, unless it repeats the beginning.
func (t *trimmer) flush() string {
	held := t.held
	if len(held) >= minRestart && t.earlier != "" && strings.HasPrefix(t.earlier, held) {
		held = ""
	}
	t.held, t.earlier = "", ""
	return held
}
