package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatChunk is a chunk of a stream, or the answer of a server that does not stream.
// The SDK's own type would cost ten times as much for each chunk.
// https://developers.openai.com/api/reference/resources/chat
type chatChunk struct {
	Choices []struct {
		Index        int        `json:"index"`
		Delta        chatDelta  `json:"delta"`
		Message      *chatDelta `json:"message"`
		FinishReason string     `json:"finish_reason"`
	} `json:"choices"`
	Usage    *chatUsage      `json:"usage"`
	Progress *chatProgress   `json:"prompt_progress"`
	Object   string          `json:"object"`
	Error    json.RawMessage `json:"error"`
}

// chatProgress is how far llama.cpp has read a request. Done includes the tokens that were cached.
// https://github.com/ggml-org/llama.cpp/tree/master/tools/server
type chatProgress struct {
	Total   wire.TokenCount `json:"total"`
	Done    wire.TokenCount `json:"processed"`
	Elapsed wire.TokenCount `json:"time_ms"`
}

type chatDelta struct {
	Content          chatContent      `json:"content"`
	Refusal          string           `json:"refusal"`
	ReasoningContent chatContent      `json:"reasoning_content"`
	Reasoning        chatContent      `json:"reasoning"`
	ReasoningText    chatContent      `json:"reasoning_text"` // Copilot
	Thinking         chatContent      `json:"thinking"`
	ReasoningDetails []thoughtDetails `json:"reasoning_details"`
	ToolCalls        []chatCallDelta  `json:"tool_calls"`
	FunctionCall     *chatFunction    `json:"function_call"` // the API before it had tool_calls
	ExtraContent     struct {
		Google struct {
			Thought bool `json:"thought"`
		} `json:"google"`
	} `json:"extra_content"`
}

// chatContent is a text, which some servers send as a list of parts. Mistral's list
// includes the thoughts.
// https://docs.mistral.ai/capabilities/reasoning
type chatContent struct{ text, thought string }

// UnmarshalJSON accepts a string or a list of {"text": …} and {"thinking": […]}; other
// values become empty.
func (c *chatContent) UnmarshalJSON(data []byte) error {
	*c = chatContent{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct {
		Text     string      `json:"text"`
		Thinking chatContent `json:"thinking"`
	}
	if wire.Decode(data, &parts) == nil {
		for _, p := range parts {
			c.text += p.Text
			c.thought += p.Thinking.text
		}
	}
	return nil
}

// thoughtDetails is OpenRouter's form of the thoughts that have to be sent back.
type thoughtDetails struct {
	Type      string          `json:"type"`
	ID        string          `json:"id,omitempty"`
	Format    string          `json:"format,omitempty"`
	Index     json.RawMessage `json:"index,omitempty"`
	Text      string          `json:"text,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Data      string          `json:"data,omitempty"`
	Signature string          `json:"signature,omitempty"`
}

// chatCallDelta is a piece of a call. Arguments are a string, or at some servers an
// object.
type chatCallDelta struct {
	Index        *int            `json:"index"`
	ID           string          `json:"id"`
	Function     chatFunction    `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

type chatFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// chatUsage counts tokens. Its total includes the thoughts that Gemini leaves out of
// the answer's.
type chatUsage struct {
	Prompt     wire.TokenCount `json:"prompt_tokens"`
	Completion wire.TokenCount `json:"completion_tokens"`
	Total      wire.TokenCount `json:"total_tokens"`
	Details    struct {
		Cached  wire.TokenCount `json:"cached_tokens"`
		Written wire.TokenCount `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit wire.TokenCount `json:"prompt_cache_hit_tokens"` // DeepSeek
}

func (u chatUsage) event() llm.Event {
	read := min(max(u.Details.Cached, u.CacheHit), u.Prompt)
	return llm.Event{Usage: &llm.Usage{
		Input: int(u.Prompt), Output: int(max(u.Completion, u.Total-u.Prompt)),
		CacheRead: int(read), CacheWrite: int(min(u.Details.Written, u.Prompt-read)),
	}}
}

// chatReader turns the chunks of one stream into events. Calls are emitted at the end,
// since their pieces may arrive until then.
type chatReader struct {
	model   string // Name of the model
	names   wire.ToolNames
	calls   chatCalls
	tagged  textcalls.ThoughtSplitter
	refused bool
	finish  string // the API's reason
	wire.ArgumentCount

	// Thoughts to send back. Builders, since appending to strings takes quadratic time.
	content, reasoning strings.Builder
	details            []*openDetails
}

// openDetails are details in progress.
type openDetails struct {
	thoughtDetails // its texts are set at the end
	text, summary  strings.Builder
}

// ReadChunk reads one chunk; see wire.Answer.
func (a *chatReader) ReadChunk(data []byte, emit func(llm.Event) bool) (done bool, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		a.finish = cmp.Or(a.finish, "stop") // some servers name no reason
		return true, a.complete(emit)
	}
	var c chatChunk
	if err := wire.Decode(data, &c); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if c.Object == "error" || wire.HasError(c.Error) {
		return true, wire.ParseStreamError(data)
	}
	if p := c.Progress; p != nil && !emit(llm.Event{Progress: &llm.Progress{
		Done: int(p.Done), Total: int(p.Total), Elapsed: time.Duration(p.Elapsed) * time.Millisecond,
	}}) {
		return true, nil
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 { // only one was asked for
			continue
		}
		d := &choice.Delta
		if choice.Message != nil {
			d = choice.Message
		}
		if !a.readDelta(d, emit) {
			return true, nil
		}
		a.finish = cmp.Or(choice.FinishReason, a.finish)
	}
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		return !emit(c.Usage.event()), nil
	}
	return false, nil
}

// End completes an answer of a server that sends no [DONE].
func (a *chatReader) End(emit func(llm.Event) bool) error {
	if a.finish == "" {
		return wire.ErrBrokenOff
	}
	return a.complete(emit)
}

// readDelta reads a piece of the answer, and emits its texts and thoughts.
func (a *chatReader) readDelta(d *chatDelta, emit func(llm.Event) bool) bool {
	details := ""
	for _, t := range d.ReasoningDetails {
		details += t.Text + t.Summary
		a.addDetails(t)
	}
	content, reasoning := d.ReasoningContent.text, d.Reasoning.text
	thought := cmp.Or(content, reasoning, details, d.ReasoningText.text, d.Thinking.text) + d.Content.thought
	a.content.WriteString(content)
	if content == "" {
		a.reasoning.WriteString(reasoning)
	}
	part := a.tagged.ReadText
	if d.ExtraContent.Google.Thought {
		part = a.tagged.ReadThought
	}
	tagThought, text := part(d.Content.text)
	thought += tagThought
	if d.Refusal != "" {
		a.refused = true
		text += d.Refusal
	}
	if d.FunctionCall != nil && len(d.ToolCalls) == 0 {
		d.ToolCalls = []chatCallDelta{{Function: *d.FunctionCall}}
	}
	for i := range d.ToolCalls {
		a.AddPiece(a.calls.add(&d.ToolCalls[i], a.names))
	}
	return (thought == "" || emit(llm.Event{Thought: thought})) && (text == "" || emit(llm.Event{Text: text}))
}

// addDetails joins the pieces of one detail, which arrive in order; encrypted ones
// arrive whole.
func (a *chatReader) addDetails(t thoughtDetails) {
	if n := len(a.details); n > 0 && t.Data == "" && a.details[n-1].Type == t.Type && bytes.Equal(a.details[n-1].Index, t.Index) {
		last := a.details[n-1]
		last.text.WriteString(t.Text)
		last.summary.WriteString(t.Summary)
		last.ID, last.Format, last.Signature = cmp.Or(t.ID, last.ID), cmp.Or(t.Format, last.Format), cmp.Or(t.Signature, last.Signature)
		return
	}
	next := &openDetails{thoughtDetails: t}
	next.text.WriteString(t.Text)
	next.summary.WriteString(t.Summary)
	a.details = append(a.details, next)
}

// reason returns the first word of the reason: Gemini writes "content_filter: SAFETY".
func (a *chatReader) reason() string {
	word, _, _ := strings.Cut(strings.ToLower(a.finish), ":")
	return word
}

// chatFailures are stop reasons that mean a failure: OpenRouter's, GLM's, DeepSeek's
// and vLLM's.
var chatFailures = []string{"error", "network_error", "insufficient_system_resource", "abort"}

// complete emits the rest of an answer: held back texts, the calls and the stop reason.
func (a *chatReader) complete(emit func(llm.Event) bool) error {
	word := a.reason()
	if slices.Contains(chatFailures, word) {
		return &wire.StreamError{Kind: "error", Message: "the provider failed in the middle of the answer"}
	}
	finish := strings.ToLower(a.finish)
	if strings.Contains(finish, "malformed_function_call") || strings.Contains(finish, "unexpected_tool_call") { // Gemini
		return &wire.StreamError{Kind: word, Message: "the model wrote a tool call that cannot be read"}
	}
	thought, text := a.tagged.End()
	if thought != "" && !emit(llm.Event{Thought: thought}) || text != "" && !emit(llm.Event{Text: text}) {
		return nil
	}
	reason, ok := wire.StopReasons[word]
	if !ok && a.refused {
		reason, ok = llm.StopRefusal, true
	}
	calls := a.calls.end(a.names, reason == llm.StopMaxTokens)
	if len(calls) > 0 && !a.emitReturned(emit) {
		return nil
	}
	for _, c := range calls {
		if c.extra != nil && !emit(a.opaque(chatOpaque{Call: c.call.ID, Extra: c.extra})) || !emit(llm.Event{Call: &c.call}) {
			return nil
		}
	}
	switch {
	case ok:
	case len(calls) > 0: // calls need results, regardless of the reason
		reason = llm.StopTools
	default:
		reason = llm.StopEnd
	}
	emit(llm.Event{Stop: reason})
	return nil
}

// emitReturned emits the thoughts that have to be sent back with the calls.
func (a *chatReader) emitReturned(emit func(llm.Event) bool) bool {
	t := chatThoughts{Reasoning: a.reasoning.String(), ReasoningContent: a.content.String()}
	for _, d := range a.details {
		d.Text, d.Summary = d.text.String(), d.summary.String()
		t.ReasoningDetails = append(t.ReasoningDetails, d.thoughtDetails)
		t.Reasoning, t.ReasoningContent = "", "" // they say the same
	}
	if t.ReasoningDetails == nil && t.Reasoning == "" && t.ReasoningContent == "" {
		return true
	}
	return emit(a.opaque(chatOpaque{chatThoughts: t}))
}

func (a *chatReader) opaque(data chatOpaque) llm.Event {
	return llm.Event{Opaque: &llm.Opaque{Provider: a.model, Data: plainjson.MustMarshal(data)}}
}

// NewChatAnswer returns a reader of one answer in Chat Completions, for the model of
// that name.
func NewChatAnswer(name string) wire.Answer { return &chatReader{model: name} }
