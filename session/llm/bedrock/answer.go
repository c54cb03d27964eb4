package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// streamEvent is the part of an event that we use. Exactly one member is set, or all members of an answer that is not streamed.
type streamEvent struct {
	ContentBlockStart *struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			ToolUse *toolUse `json:"toolUse"`
		} `json:"start"`
	} `json:"contentBlockStart"`
	ContentBlockDelta *struct {
		Index int `json:"contentBlockIndex"`
		Delta struct {
			Text    string `json:"text"`
			ToolUse struct {
				Input string `json:"input"`
			} `json:"toolUse"`
			Reasoning thoughtPiece `json:"reasoningContent"`
		} `json:"delta"`
	} `json:"contentBlockDelta"`
	ContentBlockStop *struct{} `json:"contentBlockStop"`
	MessageStop      *struct {
		StopReason string `json:"stopReason"`
	} `json:"messageStop"`
	Metadata *struct {
		Usage usage `json:"usage"`
	} `json:"metadata"`

	// Members of an answer that is not streamed.
	Output *struct {
		Message struct {
			Content []struct {
				Text      string   `json:"text"`
				ToolUse   *toolUse `json:"toolUse"`
				Reasoning struct {
					ReasoningText   reasoningText `json:"reasoningText"`
					RedactedContent []byte        `json:"redactedContent"`
				} `json:"reasoningContent"`
			} `json:"content"`
		} `json:"message"`
	} `json:"output"`
	StopReason string          `json:"stopReason"`
	Usage      usage           `json:"usage"`
	Message    json.RawMessage `json:"message"` // of an error
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type thoughtPiece struct {
	Text            string `json:"text"`
	Signature       string `json:"signature"`
	RedactedContent []byte `json:"redactedContent"`
}

type usage struct {
	Input      wire.TokenCount `json:"inputTokens"` // neither read from the cache nor written to it
	Output     wire.TokenCount `json:"outputTokens"`
	CacheRead  wire.TokenCount `json:"cacheReadInputTokens"`
	CacheWrite wire.TokenCount `json:"cacheWriteInputTokens"`
}

// answerReader turns the events of one stream into llm events.
type answerReader struct {
	model string // Name of the model
	names wire.ToolNames

	stop      string // the API's stop reason; empty until it came
	callCount int    // number of calls emitted
	ids       wire.CallIDs

	thinking, signature strings.Builder // of the thought in progress
	redacted            []byte
	calls               []*openCall // not emitted yet
	wire.ArgumentCount
}

// openCall is a call in progress. A call is held until the next block begins: only then is it certain that the output limit did
// not cut it off.
type openCall struct {
	index int
	call  llm.ToolCall
	args  strings.Builder
}

// ReadChunk reads one event; see wire.Answer.
func (a *answerReader) ReadChunk(data []byte, emit func(llm.Event) bool) (done bool, err error) {
	var e streamEvent
	if err := wire.Decode(data, &e); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	switch {
	case e.Output != nil:
		return true, a.readWhole(&e, emit)
	case e.ContentBlockStart != nil:
		if !a.endThought(emit) || !a.endCalls(emit) {
			return true, nil
		}
		if t := e.ContentBlockStart.Start.ToolUse; t != nil {
			a.startCall(e.ContentBlockStart.Index, t)
		}
		return false, nil
	case e.ContentBlockDelta != nil:
		return !a.readDelta(&e, emit), nil
	case e.ContentBlockStop != nil:
		return !a.endThought(emit), nil
	case e.MessageStop != nil:
		a.stop = cmp.Or(e.MessageStop.StopReason, "end_turn")
		return false, nil
	case e.Metadata != nil:
		if !emit(usageEvent(e.Metadata.Usage)) {
			return true, nil
		}
		if a.stop != "" { // nothing follows
			a.finish(emit)
			return true, nil
		}
		return false, nil
	case len(e.Message) > 0:
		return true, wire.ParseStreamError(data)
	}
	return false, nil // messageStart, and future events
}

// readDelta adds a piece to the block in progress.
func (a *answerReader) readDelta(e *streamEvent, emit func(llm.Event) bool) bool {
	d := &e.ContentBlockDelta.Delta
	switch {
	case d.Text != "":
		// A block of text has no start.
		return a.endThought(emit) && a.endCalls(emit) && emit(llm.Event{Text: d.Text})
	case d.Reasoning.Text != "":
		a.thinking.WriteString(d.Reasoning.Text)
		return a.endCalls(emit) && emit(llm.Event{Thought: d.Reasoning.Text})
	case d.Reasoning.Signature != "":
		a.signature.WriteString(d.Reasoning.Signature)
	case len(d.Reasoning.RedactedContent) > 0:
		a.redacted = append(a.redacted, d.Reasoning.RedactedContent...)
	case d.ToolUse.Input != "":
		for _, c := range a.calls {
			if c.index == e.ContentBlockDelta.Index {
				c.args.WriteString(d.ToolUse.Input)
				a.AddPiece(d.ToolUse.Input)
			}
		}
	}
	return true
}

func (a *answerReader) startCall(index int, t *toolUse) {
	a.calls = append(a.calls, &openCall{index: index, call: llm.ToolCall{ID: t.ID, Name: a.names.FromWire(t.Name)}})
}

// readWhole reads an answer that is not streamed.
func (a *answerReader) readWhole(e *streamEvent, emit func(llm.Event) bool) error {
	for i, b := range e.Output.Message.Content {
		r := b.Reasoning
		a.thinking.WriteString(r.ReasoningText.Text)
		a.signature.WriteString(r.ReasoningText.Signature)
		a.redacted = r.RedactedContent
		if r.ReasoningText.Text != "" && !emit(llm.Event{Thought: r.ReasoningText.Text}) || !a.endThought(emit) {
			return nil
		}
		if b.Text != "" && !emit(llm.Event{Text: b.Text}) {
			return nil
		}
		if b.ToolUse != nil {
			a.startCall(i, b.ToolUse)
			a.calls[len(a.calls)-1].args.Write(b.ToolUse.Input)
			a.Add(len(b.ToolUse.Input))
		}
	}
	a.stop = e.StopReason
	if !emit(usageEvent(e.Usage)) {
		return nil
	}
	return a.End(emit)
}

// End completes an answer that lacks only its usage.
func (a *answerReader) End(emit func(llm.Event) bool) error {
	if a.stop == "" {
		return wire.ErrBrokenOff
	}
	a.finish(emit)
	return nil
}

func (a *answerReader) finish(emit func(llm.Event) bool) {
	if a.endThought(emit) && a.endCalls(emit) {
		emit(llm.Event{Stop: a.stopReason()})
	}
}

// endThought emits the part of a thought that has to be sent back. Without a signature it would be refused.
func (a *answerReader) endThought(emit func(llm.Event) bool) bool {
	t := thought{a.thinking.String(), a.signature.String(), a.redacted}
	a.thinking.Reset()
	a.signature.Reset()
	a.redacted = nil
	if t.Signature == "" && len(t.Redacted) == 0 {
		return true
	}
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings always encode
	}
	return emit(llm.Event{Opaque: &llm.Opaque{Provider: a.model, Data: data}})
}

// endCalls emits the calls so far.
func (a *answerReader) endCalls(emit func(llm.Event) bool) bool {
	for len(a.calls) > 0 {
		c := a.calls[0]
		a.calls = a.calls[1:]
		input, ok := wire.ParseInput(c.args.String(), len(a.calls) == 0 && a.stopReason() == llm.StopMaxTokens)
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

// stopReason translates the API's stop reason.
func (a *answerReader) stopReason() llm.StopReason {
	switch a.stop {
	case "guardrail_intervened", "content_filtered":
		return llm.StopRefusal
	}
	if r, ok := wire.StopReasons[a.stop]; ok {
		return r
	}
	if a.callCount > 0 { // calls need results, regardless of the reason
		return llm.StopTools
	}
	return llm.StopEnd
}

func usageEvent(u usage) llm.Event {
	return llm.Event{Usage: &llm.Usage{
		Input:  int(u.Input + u.CacheRead + u.CacheWrite),
		Output: int(u.Output), CacheRead: int(u.CacheRead), CacheWrite: int(u.CacheWrite),
	}}
}

// NewAnswer returns a reader of one answer, for the model of that name.
func NewAnswer(name string) wire.Answer { return &answerReader{model: name} }
