package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// streamEvent is the part of a stream's event that we use. The SDK's own type
// has every field of every variant: each chunk would cost 10 µs and 8 KB instead
// of 1.5 µs and 0.7 KB.
// https://platform.claude.com/docs/en/build-with-claude/streaming
type streamEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage streamUsage `json:"usage"`
	} `json:"message"`
	ContentBlock streamBlock `json:"content_block"`
	Delta        struct {
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage streamUsage     `json:"usage"`
	Error json.RawMessage `json:"error"`

	// Members of an answer that is not streamed.
	Content    []streamBlock `json:"content"`
	StopReason string        `json:"stop_reason"`
}

type streamBlock struct {
	thoughtBlock
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type streamUsage struct {
	Input      wire.TokenCount `json:"input_tokens"` // neither read from the cache nor written to it
	CacheRead  wire.TokenCount `json:"cache_read_input_tokens"`
	CacheWrite wire.TokenCount `json:"cache_creation_input_tokens"`
	Output     wire.TokenCount `json:"output_tokens"`
}

// answerReader turns the events of one stream into llm events.
type answerReader struct {
	provider  string
	unsigned  bool // servers other than Anthropic need unsigned thoughts back
	usage     streamUsage
	stop      string // the API's stop reason
	callCount int    // number of calls emitted
	ids       wire.CallIDs

	thought             thoughtBlock // the thought in progress; Type is empty if there is none
	thinking, signature strings.Builder
	calls               []*openCall // not emitted yet
	wire.ArgumentCount
}

// openCall is a call in progress. Blocks follow one another, but not from all servers.
type openCall struct {
	index int
	call  llm.ToolCall
	args  strings.Builder
	whole json.RawMessage // input that came with the start of the block
	ended bool
}

// ReadChunk reads one event; see wire.Answer.
func (a *answerReader) ReadChunk(data []byte, emit func(llm.Event) bool) (done bool, err error) {
	if string(data) == "[DONE]" { // some gateways end as in Chat Completions
		return true, a.End(emit)
	}
	var e streamEvent
	if err := wire.Decode(data, &e); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	switch {
	case e.Type == "error", wire.HasError(e.Error):
		return true, wire.ParseStreamError(data)
	case e.Type == "message":
		return true, a.readMessage(&e, emit)
	case e.Type == "message_start":
		a.usage = e.Message.Usage
		return !emit(a.usageEvent()), nil
	case e.Type == "content_block_start":
		return !a.endThought(emit) || !a.endCalls(emit) || !a.startBlock(e.Index, &e.ContentBlock, emit), nil
	case e.Type == "content_block_delta":
		return !a.readDelta(&e, emit), nil
	case e.Type == "content_block_stop":
		if c := a.findCall(e.Index); c != nil {
			c.ended = true
		}
		return !a.endThought(emit), nil
	case e.Type == "message_delta":
		a.stop = cmp.Or(e.Delta.StopReason, a.stop)
		a.usage.add(e.Usage)
		return !emit(a.usageEvent()), nil
	case e.Type == "message_stop":
		a.finish(emit)
		return true, nil
	}
	return false, nil // ping, and future events
}

// End completes an answer that lacks only message_stop.
func (a *answerReader) End(emit func(llm.Event) bool) error {
	if a.stop == "" {
		return wire.ErrBrokenOff
	}
	a.finish(emit)
	return nil
}

func (a *answerReader) finish(emit func(llm.Event) bool) {
	for _, c := range a.calls {
		c.ended = true
	}
	if a.endThought(emit) && a.endCalls(emit) {
		emit(llm.Event{Stop: a.stopReason()})
	}
}

// readMessage reads an answer that is not streamed.
func (a *answerReader) readMessage(e *streamEvent, emit func(llm.Event) bool) error {
	a.usage, a.stop = e.Usage, e.StopReason
	for i := range e.Content {
		if !a.startBlock(i, &e.Content[i], emit) || !a.endThought(emit) {
			return nil
		}
	}
	if !emit(a.usageEvent()) {
		return nil
	}
	return a.End(emit)
}

// startBlock begins a block of the answer, and emits the text that it begins with.
func (a *answerReader) startBlock(index int, b *streamBlock, emit func(llm.Event) bool) bool {
	switch b.Type {
	case "text":
		return b.Text == "" || emit(llm.Event{Text: b.Text})
	case "thinking", "redacted_thinking":
		a.thought = b.thoughtBlock
		a.thinking.WriteString(b.Thinking)
		a.signature.WriteString(b.Signature)
		return b.Thinking == "" || emit(llm.Event{Thought: b.Thinking})
	case "tool_use":
		a.Add(len(b.Input))
		a.calls = append(a.calls, &openCall{index: index, call: llm.ToolCall{ID: b.ID, Name: b.Name}, whole: b.Input})
	}
	return true
}

// readDelta adds a piece to the block in progress.
func (a *answerReader) readDelta(e *streamEvent, emit func(llm.Event) bool) bool {
	d := &e.Delta
	switch {
	case d.Text != "":
		return emit(llm.Event{Text: d.Text})
	case d.Thinking != "":
		a.thought.Type = cmp.Or(a.thought.Type, "thinking")
		a.thinking.WriteString(d.Thinking)
		return emit(llm.Event{Thought: d.Thinking})
	case d.Signature != "":
		a.signature.WriteString(d.Signature)
	case d.PartialJSON != "":
		if c := a.findCall(e.Index); c != nil {
			c.args.WriteString(d.PartialJSON)
			a.AddPiece(d.PartialJSON)
		}
	}
	return true
}

// findCall returns the open call of a block, or nil.
func (a *answerReader) findCall(index int) *openCall {
	for _, c := range slices.Backward(a.calls) {
		if c.index == index && !c.ended {
			return c
		}
	}
	return nil
}

// endThought emits the part of a thought that has to be sent back.
func (a *answerReader) endThought(emit func(llm.Event) bool) bool {
	t := a.thought
	t.Thinking, t.Signature = a.thinking.String(), a.signature.String()
	a.thought = thoughtBlock{}
	a.thinking.Reset()
	a.signature.Reset()
	if t.Signature == "" && t.Data == "" && (!a.unsigned || t.Thinking == "") {
		return true // without a signature it would be refused
	}
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings always encode
	}
	return emit(llm.Event{Opaque: &llm.Opaque{Provider: a.provider, Data: data}})
}

// endCalls emits the complete calls. A call is held until the next block begins: only then
// is it certain that the output limit did not cut it off.
func (a *answerReader) endCalls(emit func(llm.Event) bool) bool {
	for len(a.calls) > 0 && a.calls[0].ended {
		c := a.calls[0]
		a.calls = a.calls[1:]
		args := c.args.String()
		if strings.TrimSpace(args) == "" {
			args = string(c.whole)
		}
		input, ok := wire.ParseInput(args, len(a.calls) == 0 && a.stopReason() == llm.StopMaxTokens)
		if !ok {
			continue
		}
		a.callCount++
		c.call.ID, c.call.Input = a.ids.Unique(c.call.ID), input
		if !emit(llm.Event{Call: &c.call}) {
			return false
		}
	}
	return true
}

// stopReason translates the API's stop reason. A pause_turn ends the answer: it comes only
// with tools that run at the provider, which are never offered.
func (a *answerReader) stopReason() llm.StopReason {
	if r, ok := wire.StopReasons[a.stop]; ok {
		return r
	}
	if a.callCount > 0 { // calls need results, regardless of the reason
		return llm.StopTools
	}
	return llm.StopEnd
}

func (a *answerReader) usageEvent() llm.Event {
	u := a.usage
	return llm.Event{Usage: &llm.Usage{
		Input:  int(u.Input + u.CacheRead + u.CacheWrite),
		Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite),
	}}
}

// add merges the counts of a later event. They are totals; missing ones keep their
// value.
func (u *streamUsage) add(later streamUsage) {
	u.Input = max(u.Input, later.Input)
	u.CacheRead = max(u.CacheRead, later.CacheRead)
	u.CacheWrite = max(u.CacheWrite, later.CacheWrite)
	u.Output = max(u.Output, later.Output)
}

// NewAnswer returns a reader of one answer of Anthropic itself, for the model of that
// name.
func NewAnswer(name string) wire.Answer { return &answerReader{provider: name} }
