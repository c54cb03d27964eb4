package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// fakeModel is a model that counts tokens by a rule of its own and refuses
// requests that do not fit. It answers each prompt after a tool call with a
// long output, and writes summaries.
type fakeModel struct {
	name     string
	window   int
	output   int // of the output of each look
	rounds   int // of looks in a turn; 0 means 1
	parallel int // looks in a round; 0 means 1
	silent   bool
	sameIDs  bool                                                   // the ids of calls restart with each answer
	refuses  bool                                                   // refuses at the end instead of answering
	sum      func(ctx context.Context, text string) (string, error) // nil: "S"
	each     func(req llm.Request, tokens int)                      // called for each request that is not for a summary
	compress string                                                 // a prompt to which the model calls compress_context

	largest, refused, summaries, calls int

	prompt string // being answered
	done   int    // rounds of the prompt
}

func (m *fakeModel) Name() string { return "fake:" + m.name }

func (m *fakeModel) Window() int { return m.window }

// words counts four letters of a word as one token, and any other character
// alone.
func words(s string) int {
	n, run := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			if run++; run%4 == 1 {
				n++
			}
			continue
		}
		run = 0
		if r != ' ' {
			n++
		}
	}
	return n
}

func (m *fakeModel) count(req llm.Request) int {
	n := words(req.System)
	for _, t := range req.Tools {
		n += words(t.Name + t.Description + string(t.Schema))
	}
	for _, message := range req.Messages {
		n += 4
		for _, b := range message.Blocks {
			n += words(b.Text)
			if b.Call != nil {
				n += words(b.Call.Name + string(b.Call.Input))
			}
			if b.Result != nil {
				n += words(b.Result.Text)
			}
		}
	}
	return n
}

func (m *fakeModel) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := m.count(req)
		if n > m.window && m.window > 0 {
			m.refused++
			yield(llm.Event{}, &llm.Error{Provider: "fake", Status: 400, Message: "prompt is too long", TooLong: true})
			return
		}
		m.largest = max(m.largest, n)
		last := req.Messages[len(req.Messages)-1]
		if strings.HasPrefix(req.System, "You summarize") {
			m.summaries++
			text, err := "S", error(nil)
			if m.sum != nil {
				text, err = m.sum(ctx, last.Blocks[0].Text)
			}
			if err != nil {
				yield(llm.Event{}, err)
				return
			}
			_ = yield(llm.Event{Text: text}, nil) && yield(llm.Event{Usage: &llm.Usage{Input: n, Output: words(text)}}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
			return
		}
		if m.each != nil {
			m.each(req, n)
		}
		events := m.answer(req.Messages)
		if !m.silent {
			out := 0
			for _, ev := range events {
				out += words(ev.Text)
				if ev.Call != nil {
					out += words(ev.Call.Name + string(ev.Call.Input))
				}
			}
			events = append(events[:len(events)-1:len(events)-1], llm.Event{Usage: &llm.Usage{Input: n, Output: out}}, events[len(events)-1])
		}
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (m *fakeModel) answer(messages []llm.Message) []llm.Event {
	last := messages[len(messages)-1]
	for i := len(messages) - 1; i >= 0; i-- {
		if !isPrompt(messages[i]) {
			continue
		}
		if p := messages[i].Blocks[0].Text; p != m.prompt || last.Role == llm.User && i == len(messages)-1 {
			m.prompt, m.done = p, 0
		}
		break
	}
	before := m.calls
	call := func(name, input string) llm.Event {
		m.calls++
		id := m.calls
		if m.sameIDs {
			id -= before
		}
		return llm.Event{Call: &llm.ToolCall{ID: fmt.Sprint("c", id), Name: name, Input: json.RawMessage(input)}}
	}
	prompt := last.Blocks[len(last.Blocks)-1].Text
	if m.compress != "" && isPrompt(last) && prompt == m.compress {
		return []llm.Event{call("compress_context", `{"focus":"the bug"}`), call("say", `{"text":"beside"}`), {Stop: llm.StopTools}}
	}
	if m.done++; m.done > max(m.rounds, 1) {
		if m.refuses {
			return []llm.Event{{Text: "no"}, {Stop: llm.StopRefusal}}
		}
		return []llm.Event{{Text: fmt.Sprint("done ", m.calls)}, {Stop: llm.StopEnd}}
	}
	var events []llm.Event
	for range max(m.parallel, 1) {
		events = append(events, call("say", fmt.Sprintf(`{"text":"output %d ","words":%d}`, m.calls, m.output/5)))
	}
	return append(events, llm.Event{Stop: llm.StopTools})
}

// compacting returns an agent with that model, which stores texts.
func compacting(t testing.TB, m *fakeModel, c *client) (*Agent, map[string]string) {
	a := newAgent(t, "", c)
	a.Model = func() llm.Model { return m }
	kept := map[string]string{}
	a.Keep = func(_ context.Context, text string) (string, bool) {
		id := fmt.Sprintf("overflow:%d", len(kept))
		kept[id] = text
		return "[full output: read_overflow " + id + "]", true
	}
	return a, kept
}

func requestText(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, block := range m.Blocks {
			b.WriteString(block.Text + "\n")
		}
	}
	return b.String()
}
