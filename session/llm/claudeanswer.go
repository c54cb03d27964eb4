package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// wireEvent is an event of the stream, as far as it is used. The SDK's own type
// has every field of every variant: each chunk would cost 10 µs and 8 KB instead
// of 1.5 µs and 0.7 KB.
// https://platform.claude.com/docs/en/build-with-claude/streaming
type wireEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage wireUsage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		thoughtBlock
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage wireUsage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type wireUsage struct {
	Input      tokenCount `json:"input_tokens"` // neither read from the cache nor written to it
	CacheRead  tokenCount `json:"cache_read_input_tokens"`
	CacheWrite tokenCount `json:"cache_creation_input_tokens"`
	Output     tokenCount `json:"output_tokens"`
}

// claudeAnswer turns the events of one stream into Events.
type claudeAnswer struct {
	provider string
	usage    wireUsage
	stop     string // the API's stop reason
	calls    int

	// The block that is being sent; blocks come one after the other.
	index   int
	thought thoughtBlock // Type is empty if it is no thought
	think   strings.Builder
	call    *ToolCall // nil if it is no tool call
	args    strings.Builder
	whole   json.RawMessage // input that came with the start of the block
}

// take reads one event. Done means that nothing is to be read any more: the
// answer is complete, or emit gave false.
func (a *claudeAnswer) take(data []byte, emit func(Event) bool) (done bool, err error) {
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	switch e.Type {
	case "error":
		return true, streamError{kind: e.Error.Type, message: e.Error.Message}
	case "message_start":
		a.usage = e.Message.Usage
		return !emit(a.usageEvent()), nil
	case "content_block_start":
		if !a.endCall(emit) {
			return true, nil
		}
		return !a.startBlock(&e, emit), nil
	case "content_block_delta":
		if e.Index != a.index {
			return true, errors.New("reading its stream: blocks are out of order")
		}
		return !a.delta(&e, emit), nil
	case "content_block_stop":
		return !a.endThought(emit), nil
	case "message_delta":
		a.stop = e.Delta.StopReason
		a.usage.add(e.Usage)
		return !emit(a.usageEvent()), nil
	case "message_stop":
		if a.endThought(emit) && a.endCall(emit) {
			emit(Event{Stop: a.reason()})
		}
		return true, nil
	}
	return false, nil // ping, and what is yet to be invented
}

// end tells of a stream without message_stop.
func (a *claudeAnswer) end(func(Event) bool) error { return errBrokenOff }

func (a *claudeAnswer) startBlock(e *wireEvent, emit func(Event) bool) bool {
	b := &e.ContentBlock
	a.index = e.Index
	switch b.Type {
	case "text":
		return b.Text == "" || emit(Event{Text: b.Text})
	case "thinking", "redacted_thinking":
		a.thought = b.thoughtBlock
		a.think.Reset()
		a.think.WriteString(b.Thinking)
		return b.Thinking == "" || emit(Event{Thought: b.Thinking})
	case "tool_use":
		a.call = &ToolCall{ID: b.ID, Name: b.Name}
		a.args.Reset()
		a.whole = b.Input
	}
	return true
}

func (a *claudeAnswer) delta(e *wireEvent, emit func(Event) bool) bool {
	d := &e.Delta
	switch {
	case d.Text != "":
		return emit(Event{Text: d.Text})
	case d.Thinking != "":
		a.think.WriteString(d.Thinking)
		return emit(Event{Thought: d.Thinking})
	case d.Signature != "":
		a.thought.Signature += d.Signature
	case d.PartialJSON != "" && a.call != nil:
		a.args.WriteString(d.PartialJSON)
	}
	return true
}

// endThought emits what the provider wants back of a thought.
func (a *claudeAnswer) endThought(emit func(Event) bool) bool {
	t := a.thought
	a.thought = thoughtBlock{}
	if t.Signature == "" && t.Data == "" {
		return true // without a signature it would be refused
	}
	t.Thinking = a.think.String()
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings always encode
	}
	return emit(Event{Opaque: &Opaque{Provider: a.provider, Data: data}})
}

// endCall emits the tool call that was sent last. It waits for what comes after
// the call, since only then is it known whether the output limit cut it off.
func (a *claudeAnswer) endCall(emit func(Event) bool) bool {
	call := a.call
	if call == nil {
		return true
	}
	a.call = nil
	args := a.args.String()
	if strings.TrimSpace(args) == "" {
		args = string(a.whole)
	}
	input, ok := inputOf(args, stopReasons[a.stop] == StopMaxTokens)
	if !ok {
		return true
	}
	call.Input = input
	a.calls++
	if call.ID == "" { // some that speak the protocol leave it out
		call.ID = fmt.Sprintf("call_%d", a.calls)
	}
	return emit(Event{Call: call})
}

// stopReasons translates the API's. A pause_turn ends the answer: it comes only
// with tools that run at the provider, which are never offered.
var stopReasons = map[string]StopReason{
	"max_tokens":                    StopMaxTokens,
	"model_context_window_exceeded": StopMaxTokens,
	"refusal":                       StopRefusal,
}

func (a *claudeAnswer) reason() StopReason {
	if r, ok := stopReasons[a.stop]; ok {
		return r
	}
	if a.calls > 0 { // whatever it says, they want results
		return StopTools
	}
	return StopEnd
}

func (a *claudeAnswer) usageEvent() Event {
	u := a.usage
	return Event{Usage: &Usage{
		Input:  int(u.Input + u.CacheRead + u.CacheWrite),
		Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite),
	}}
}

// add takes over the counts of a later event, which are totals; what it leaves
// out stays.
func (u *wireUsage) add(later wireUsage) {
	u.Input = max(u.Input, later.Input)
	u.CacheRead = max(u.CacheRead, later.CacheRead)
	u.CacheWrite = max(u.CacheWrite, later.CacheWrite)
	u.Output = max(u.Output, later.Output)
}
