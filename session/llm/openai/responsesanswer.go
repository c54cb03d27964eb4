package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// responsesEvent is the part of a stream's event that we use, or the whole
// response of a server that does not stream.
// https://developers.openai.com/api/reference/resources/responses
type responsesEvent struct {
	Type         string        `json:"type"`
	ItemID       string        `json:"item_id"`
	OutputIndex  int           `json:"output_index"`
	SummaryIndex int           `json:"summary_index"`
	Delta        string        `json:"delta"`
	Text         string        `json:"text"`
	Refusal      string        `json:"refusal"`
	Arguments    string        `json:"arguments"`
	Item         responsesItem `json:"item"`
	Response     response      `json:"response"`
}

type response struct {
	Status     string          `json:"status"`
	Output     []responsesItem `json:"output"`
	Usage      *responsesUsage `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type responsesItem struct {
	Type      string `json:"type"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	thoughtItem
}

// textPart is a part of an item's content, or of a summary.
type textPart struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type responsesUsage struct {
	Input   wire.TokenCount `json:"input_tokens"`
	Output  wire.TokenCount `json:"output_tokens"`
	Details struct {
		Cached  wire.TokenCount `json:"cached_tokens"`
		Written wire.TokenCount `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// responsesReader turns the events of one stream into llm events. Some servers stream a
// text or a call that others send only with an item or with the response. Each text and
// call is emitted once.
type responsesReader struct {
	model   string // Name of the model
	plain   bool   // the server wants plain thoughts back
	names   wire.ToolNames
	ids     wire.CallIDs
	calls   []*responsesCall // not emitted yet
	emitted map[string]bool  // IDs of the emitted calls
	refused bool

	itemText    bool // text of the current message was emitted
	anyText     bool // text of any message was emitted
	itemThought bool // text of the current thought was emitted
	anyThought  bool // text of any thought was emitted
	wire.ArgumentCount
}

// responsesCall is a call in progress.
type responsesCall struct {
	index int
	item  responsesItem
	args  strings.Builder
}

// ReadChunk reads one event; see wire.Answer.
func (a *responsesReader) ReadChunk(data []byte, emit func(llm.Event) bool) (done bool, err error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" { // some servers end as in Chat Completions
		return true, wire.ErrBrokenOff
	}
	var e responsesEvent
	if err := wire.Decode(data, &e); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	switch e.Type {
	case "response.output_text.delta":
		return !a.emitText(textPart{Text: e.Delta}, emit), nil
	case "response.refusal.delta":
		return !a.emitText(textPart{Refusal: e.Delta}, emit), nil
	case "response.output_text.done", "response.refusal.done":
		return !a.itemText && !a.emitText(textPart{e.Text, e.Refusal}, emit), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return !a.emitThought(e.Delta, emit), nil
	case "response.reasoning_summary_part.added":
		return e.SummaryIndex > 0 && !emit(llm.Event{Thought: "\n\n"}), nil
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			a.calls = append(a.calls, &responsesCall{index: e.OutputIndex, item: e.Item})
		}
	case "response.function_call_arguments.delta":
		if i := a.findCall(e.ItemID, e.OutputIndex); i >= 0 {
			a.calls[i].args.WriteString(e.Delta)
			a.AddPiece(e.Delta)
		}
	case "response.function_call_arguments.done":
		if i := a.findCall(e.ItemID, e.OutputIndex); i >= 0 && e.Arguments != "" {
			a.Add(len(e.Arguments) - a.calls[i].args.Len())
			a.calls[i].args.Reset()
			a.calls[i].args.WriteString(e.Arguments)
		}
	case "response.output_item.done":
		return !a.readItem(e.OutputIndex, e.Item, emit), nil
	case "response.completed", "response.incomplete", "response.done":
		if wire.HasError(e.Response.Error) {
			return true, streamError(data, e.Response.Error)
		}
		a.finish(e.Response, emit)
		return true, nil
	case "response.failed", "error":
		return true, streamError(data, e.Response.Error)
	case "":
		return a.readWhole(data, emit)
	}
	return false, nil // beginnings of items, and future events
}

// emitText emits a text; like all emitting methods, it returns false if the consumer has stopped.
func (a *responsesReader) emitText(p textPart, emit func(llm.Event) bool) bool {
	a.refused = a.refused || p.Refusal != ""
	text := p.Text + p.Refusal
	if text == "" {
		return true
	}
	a.itemText, a.anyText = true, true
	return emit(llm.Event{Text: text})
}

func (a *responsesReader) emitThought(text string, emit func(llm.Event) bool) bool {
	if text == "" {
		return true
	}
	a.itemThought, a.anyThought = true, true
	return emit(llm.Event{Thought: text})
}

// readWhole reads the response of a server that does not stream, or an error.
func (a *responsesReader) readWhole(data []byte, emit func(llm.Event) bool) (bool, error) {
	var r response
	if err := wire.Decode(data, &r); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if wire.HasError(r.Error) {
		return true, wire.ParseStreamError(data)
	}
	if r.Status == "" && r.Output == nil {
		return false, nil
	}
	a.finish(r, emit)
	return true, nil
}

// End returns an error: a stream that gets here ended too early.
func (a *responsesReader) End(func(llm.Event) bool) error { return wire.ErrBrokenOff }

func streamError(data []byte, inner json.RawMessage) error {
	if wire.HasError(inner) {
		data = []byte(`{"error":` + string(inner) + `}`)
	}
	return wire.ParseStreamError(data)
}

// findCall returns the index of an open call, or -1. Copilot uses another item ID in each
// event.
func (a *responsesReader) findCall(id string, index int) int {
	if i := slices.IndexFunc(a.calls, func(c *responsesCall) bool { return id != "" && c.item.ID == id }); i >= 0 {
		return i
	}
	return slices.IndexFunc(a.calls, func(c *responsesCall) bool { return c.index == index })
}

// readItem reads a complete item; it returns false if the consumer has stopped.
func (a *responsesReader) readItem(index int, item responsesItem, emit func(llm.Event) bool) bool {
	switch item.Type {
	case "message":
		ok := a.itemText || a.emitAllText(item, emit)
		a.itemText = false
		return ok
	case "function_call":
		a.Add(len(item.Arguments))
		if i := a.findCall(item.ID, index); i >= 0 {
			a.Add(-min(len(item.Arguments), a.calls[i].args.Len())) // counted before
			item.Arguments = cmp.Or(item.Arguments, a.calls[i].args.String())
			item.Name = cmp.Or(item.Name, a.calls[i].item.Name)
			a.calls = slices.Delete(a.calls, i, i+1)
		}
		return a.emitCall(item, item.Status == "incomplete", emit)
	case "reasoning":
		ok := a.itemThought || a.emitAllThoughts(item, emit)
		a.itemThought = false
		return ok && a.emitReturned(item, emit)
	}
	return true
}

func (a *responsesReader) emitAllText(item responsesItem, emit func(llm.Event) bool) bool {
	for _, p := range partsOf(item.Content) {
		if !a.emitText(p, emit) {
			return false
		}
	}
	return true
}

func (a *responsesReader) emitAllThoughts(item responsesItem, emit func(llm.Event) bool) bool {
	var texts []string
	for _, p := range slices.Concat(partsOf(item.Summary), partsOf(item.Content)) {
		texts = append(texts, p.Text)
	}
	return a.emitThought(strings.Join(texts, "\n\n"), emit)
}

func partsOf(raw json.RawMessage) (parts []textPart) {
	_ = wire.Decode(raw, &parts) // other values than lists have no parts
	return parts
}

// emitReturned emits the thoughts that have to be sent back.
func (a *responsesReader) emitReturned(item responsesItem, emit func(llm.Event) bool) bool {
	switch {
	case item.EncryptedContent != "":
		item.Content = nil
	case !a.plain || len(partsOf(item.Content)) == 0:
		return true // unreadable without data stored at the provider
	}
	if item.Summary == nil {
		item.Summary = json.RawMessage("[]") // the API requires it
	}
	return emit(llm.Event{Opaque: &llm.Opaque{Provider: a.model, Data: plainjson.MustMarshal(item.thoughtItem)}})
}

// emitCall emits a call, unless the end of the answer cut it off.
func (a *responsesReader) emitCall(item responsesItem, cutOff bool, emit func(llm.Event) bool) bool {
	input, ok := wire.ParseInput(item.Arguments, cutOff)
	if !ok || item.Name+item.CallID+item.Arguments == "" {
		return true
	}
	if a.emitted == nil {
		a.emitted = map[string]bool{}
	}
	a.emitted[item.CallID] = true
	return emit(llm.Event{Call: &llm.ToolCall{ID: a.ids.Unique(item.CallID), Name: a.names.FromWire(item.Name), Input: input}})
}

// finish completes the answer.
func (a *responsesReader) finish(r response, emit func(llm.Event) bool) {
	reason := llm.StopReason("")
	switch r.Incomplete.Reason {
	case "content_filter":
		reason = llm.StopRefusal
	case "max_output_tokens", "max_tokens":
		reason = llm.StopMaxTokens
	default:
		if r.Status == "incomplete" {
			reason = llm.StopMaxTokens
		}
	}
	if !a.emitRest(r, reason == llm.StopMaxTokens, emit) {
		return
	}
	if u := r.Usage; u != nil && !emit(llm.Event{Usage: &llm.Usage{Input: int(u.Input), Output: int(u.Output),
		CacheRead: int(min(u.Details.Cached, u.Input)), CacheWrite: int(min(u.Details.Written, u.Input))}}) {
		return
	}
	switch {
	case reason != "":
	case a.refused:
		reason = llm.StopRefusal
	case len(a.emitted) > 0:
		reason = llm.StopTools
	default:
		reason = llm.StopEnd
	}
	emit(llm.Event{Stop: reason})
}

// emitRest emits content that did not arrive as complete items: calls in progress, and
// items that only the response has.
func (a *responsesReader) emitRest(r response, cutOff bool, emit func(llm.Event) bool) bool {
	items := map[string]bool{} // IDs of the calls in the response
	for _, item := range r.Output {
		items[item.CallID] = item.Type == "function_call" && item.Arguments != ""
	}
	for _, c := range a.calls {
		c.item.Arguments = c.args.String()
		if !items[c.item.CallID] && !a.emitCall(c.item, cutOff, emit) {
			return false
		}
	}
	a.calls = nil
	anyText, anyThought, made := a.anyText, a.anyThought, maps.Clone(a.emitted) // copied first, since two of these may lack an ID
	for i, item := range r.Output {
		if item.Type == "message" && anyText || item.Type == "reasoning" && anyThought ||
			item.Type == "function_call" && made[item.CallID] {
			continue
		}
		if !a.readItem(i, item, emit) {
			return false
		}
	}
	return true
}

// NewResponsesAnswer returns a reader of one answer in the Responses API, for the model
// of that name.
func NewResponsesAnswer(name string) wire.Answer { return &responsesReader{model: name} }
