package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// streamLine is the part of a stream's line that we use.
// https://docs.ollama.com/api/streaming
type streamLine struct {
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Input      wire.TokenCount `json:"prompt_eval_count"` // cached ones included, since 0.2
	Cached     wire.TokenCount `json:"prompt_eval_cached_count"`
	Output     wire.TokenCount `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// sentThought is the Data of an Opaque: the thoughts before a call.
type sentThought struct {
	Thinking string `json:"thinking"`
}

// answerReader turns the lines of one stream into events.
type answerReader struct {
	provider string
	estimate func() int // returns the tokens of the request

	tagged   textcalls.ThoughtSplitter // older servers leave the tags in the text, and so do servers that do not know that the model thinks
	thought  strings.Builder
	calls    int
	ids      wire.CallIDs
	answered bool
	wire.ArgumentCount
}

// errNothing is the answer to a request that only loaded or unloaded the model.
var errNothing = errors.New("it gave no answer, but loaded or unloaded the model")

// ReadChunk reads one line; see wire.Answer.
func (a *answerReader) ReadChunk(line []byte, emit func(llm.Event) bool) (done bool, err error) {
	var l streamLine
	if err := wire.Decode(line, &l); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if wire.HasError(l.Error) {
		kind, message := wire.ParseRefusal(line)
		return true, &wire.StreamError{Kind: kind, Message: cmp.Or(message, "an error without a message")}
	}
	m := &l.Message
	thought, text := a.tagged.ReadText(m.Content)
	if l.Done || len(m.ToolCalls) > 0 {
		heldThought, heldText := a.tagged.End()
		thought, text = thought+heldThought, text+heldText
	}
	if thought = m.Thinking + thought; thought != "" {
		a.thought.WriteString(thought)
		if !emit(llm.Event{Thought: thought}) {
			return true, nil
		}
	}
	if (text != "" || len(m.ToolCalls) > 0) && !a.endThought(emit) {
		return true, nil
	}
	if text != "" && !emit(llm.Event{Text: text}) {
		return true, nil
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		a.Add(len(c.Function.Arguments))
		a.calls++
		input, _ := wire.ParseInput(string(c.Function.Arguments), false)
		call := llm.ToolCall{ID: a.ids.Unique(c.ID), Name: c.Function.Name, Input: input}
		if !emit(llm.Event{Call: &call}) {
			return true, nil
		}
	}
	a.answered = a.answered || m.Content != "" || m.Thinking != "" || len(m.ToolCalls) > 0
	if !l.Done {
		return false, nil
	}
	return true, a.finish(&l, emit)
}

// End returns an error: a stream without a last line broke off.
func (a *answerReader) End(func(llm.Event) bool) error { return wire.ErrBrokenOff }

// endThought emits the thoughts that have to be sent back.
func (a *answerReader) endThought(emit func(llm.Event) bool) bool {
	if a.thought.Len() == 0 {
		return true
	}
	data := plainjson.MustMarshal(sentThought{a.thought.String()})
	a.thought.Reset()
	return emit(llm.Event{Opaque: &llm.Opaque{Provider: a.provider, Data: data}})
}

// finish reads the members of the last line.
func (a *answerReader) finish(l *streamLine, emit func(llm.Event) bool) error {
	if !a.answered && (l.DoneReason == "load" || l.DoneReason == "unload") {
		return errNothing
	}
	u := llm.Usage{Input: int(l.Input), Output: int(l.Output), CacheRead: int(min(l.Cached, l.Input))}
	if u.Input == 0 { // older servers omit it when all input was cached
		u.Input = a.estimate()
	}
	if !emit(llm.Event{Usage: &u}) {
		return nil
	}
	stop := llm.StopEnd
	switch {
	case l.DoneReason == "length":
		stop = llm.StopMaxTokens
	case a.calls > 0: // calls need results
		stop = llm.StopTools
	}
	emit(llm.Event{Stop: stop})
	return nil
}

// NewAnswer returns a reader of one answer for the model of that name. Estimate returns
// the size of the request in tokens, for servers that do not count it.
func NewAnswer(name string, estimate func() int) wire.Answer {
	return &answerReader{provider: name, estimate: estimate}
}
