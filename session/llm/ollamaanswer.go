package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ollamaLine is a line of the stream, as far as it is used.
// https://docs.ollama.com/api/streaming
type ollamaLine struct {
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
	Input      tokenCount      `json:"prompt_eval_count"` // cached ones included, since 0.2
	Cached     tokenCount      `json:"prompt_eval_cached_count"`
	Output     tokenCount      `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// ollamaThought is the Data of an Opaque: the thoughts before a call.
type ollamaThought struct {
	Thinking string `json:"thinking"`
}

// ollamaAnswer turns the lines of one stream into Events.
type ollamaAnswer struct {
	provider string
	estimate func() int // how many tokens the request was

	tagged  tagged // older servers, and models that they don't know to think, leave the tags in the text
	thought strings.Builder
	calls   int
	ids     callIDs
	spoken  bool
	argumentCount
}

// errNothing is an answer to a request that the server takes for no more than to
// load the model, or to unload it.
var errNothing = errors.New("it gave no answer, but loaded or unloaded the model")

// take reads one line.
func (a *ollamaAnswer) take(line []byte, emit func(Event) bool) (done bool, err error) {
	var l ollamaLine
	if err := decode(line, &l); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if isFault(l.Error) {
		kind, message := refusal(line)
		return true, streamError{kind: kind, message: cmp.Or(message, "an error without a message")}
	}
	m := &l.Message
	thought, text := a.tagged.take(m.Content)
	if l.Done || len(m.ToolCalls) > 0 {
		heldThought, heldText := a.tagged.end()
		thought, text = thought+heldThought, text+heldText
	}
	if thought = m.Thinking + thought; thought != "" {
		a.thought.WriteString(thought)
		if !emit(Event{Thought: thought}) {
			return true, nil
		}
	}
	if (text != "" || len(m.ToolCalls) > 0) && !a.endThought(emit) {
		return true, nil
	}
	if text != "" && !emit(Event{Text: text}) {
		return true, nil
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		a.add(len(c.Function.Arguments))
		a.calls++
		input, _ := inputOf(string(c.Function.Arguments), false)
		call := ToolCall{ID: a.ids.own(c.ID), Name: c.Function.Name, Input: input}
		if !emit(Event{Call: &call}) {
			return true, nil
		}
	}
	a.spoken = a.spoken || m.Content != "" || m.Thinking != "" || len(m.ToolCalls) > 0
	if !l.Done {
		return false, nil
	}
	return true, a.finish(&l, emit)
}

// end is for a stream that ends without a last line.
func (a *ollamaAnswer) end(func(Event) bool) error { return errBrokenOff }

// endThought emits what the model wants back of its thoughts.
func (a *ollamaAnswer) endThought(emit func(Event) bool) bool {
	if a.thought.Len() == 0 {
		return true
	}
	data, err := json.Marshal(ollamaThought{a.thought.String()})
	if err != nil {
		panic(err) // strings always encode
	}
	a.thought.Reset()
	return emit(Event{Opaque: &Opaque{Provider: a.provider, Data: data}})
}

// finish reads what only the last line has.
func (a *ollamaAnswer) finish(l *ollamaLine, emit func(Event) bool) error {
	if !a.spoken && (l.DoneReason == "load" || l.DoneReason == "unload") {
		return errNothing
	}
	u := Usage{Input: int(l.Input), Output: int(l.Output), CacheRead: int(min(l.Cached, l.Input))}
	if u.Input == 0 { // older servers leave it out where all of it was cached
		u.Input = a.estimate()
	}
	if !emit(Event{Usage: &u}) {
		return nil
	}
	stop := StopEnd
	switch {
	case l.DoneReason == "length":
		stop = StopMaxTokens
	case a.calls > 0: // they want results
		stop = StopTools
	}
	emit(Event{Stop: stop})
	return nil
}

// NewOllamaAnswer returns a reader of one answer of Ollama's own, for the model of that
// name. Estimate returns the size of the request in tokens, for servers that do not
// count it.
func NewOllamaAnswer(name string, estimate func() int) answer {
	return &ollamaAnswer{provider: name, estimate: estimate}
}
