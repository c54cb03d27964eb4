package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// responsesEvent is an event of the stream, as far as it is used, or the whole
// response of a server that streams none.
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
	Input   tokenCount `json:"input_tokens"`
	Output  tokenCount `json:"output_tokens"`
	Details struct {
		Cached  tokenCount `json:"cached_tokens"`
		Written tokenCount `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// responsesAnswer turns the events of one stream into Events. What servers stream,
// and what they only send with an item or with the whole response, differs; each
// text and call is emitted once.
type responsesAnswer struct {
	model   string // Name of the model
	plain   bool   // wants thoughts back that are not encrypted
	names   toolNames
	ids     callIDs
	calls   []*responsesCall // that are not emitted yet
	made    map[string]bool  // IDs of those that are
	spoke   bool             // text of the message at hand was emitted
	said    bool             // and that of any
	thought bool             // thoughts of the item at hand were emitted
	mused   bool             // and those of any
	refused bool
	argumentCount
}

// responsesCall is a call that is being sent.
type responsesCall struct {
	index int
	item  responsesItem
	args  strings.Builder
}

// take reads one event.
func (a *responsesAnswer) take(data []byte, emit func(Event) bool) (done bool, err error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" { // of servers that know Chat Completions better
		return true, errBrokenOff
	}
	var e responsesEvent
	if err := decode(data, &e); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	switch e.Type {
	case "response.output_text.delta":
		return !a.say(textPart{Text: e.Delta}, emit), nil
	case "response.refusal.delta":
		return !a.say(textPart{Refusal: e.Delta}, emit), nil
	case "response.output_text.done", "response.refusal.done":
		return !a.spoke && !a.say(textPart{e.Text, e.Refusal}, emit), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return !a.think(e.Delta, emit), nil
	case "response.reasoning_summary_part.added":
		return e.SummaryIndex > 0 && !emit(Event{Thought: "\n\n"}), nil
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			a.calls = append(a.calls, &responsesCall{index: e.OutputIndex, item: e.Item})
		}
	case "response.function_call_arguments.delta":
		if i := a.call(e.ItemID, e.OutputIndex); i >= 0 {
			a.calls[i].args.WriteString(e.Delta)
			a.add(len(e.Delta))
		}
	case "response.function_call_arguments.done":
		if i := a.call(e.ItemID, e.OutputIndex); i >= 0 && e.Arguments != "" {
			a.add(len(e.Arguments) - a.calls[i].args.Len())
			a.calls[i].args.Reset()
			a.calls[i].args.WriteString(e.Arguments)
		}
	case "response.output_item.done":
		return !a.item(e.OutputIndex, e.Item, emit), nil
	case "response.completed", "response.incomplete", "response.done":
		if isFault(e.Response.Error) {
			return true, responsesFault(data, e.Response.Error)
		}
		a.stop(e.Response, emit)
		return true, nil
	case "response.failed", "error":
		return true, responsesFault(data, e.Response.Error)
	case "":
		return a.whole(data, emit)
	}
	return false, nil // the beginnings of things, and what is yet to be invented
}

func (a *responsesAnswer) say(p textPart, emit func(Event) bool) bool {
	a.refused = a.refused || p.Refusal != ""
	text := p.Text + p.Refusal
	if text == "" {
		return true
	}
	a.spoke, a.said = true, true
	return emit(Event{Text: text})
}

func (a *responsesAnswer) think(text string, emit func(Event) bool) bool {
	if text == "" {
		return true
	}
	a.thought, a.mused = true, true
	return emit(Event{Thought: text})
}

// whole reads the response of a server that streams none, or an error.
func (a *responsesAnswer) whole(data []byte, emit func(Event) bool) (bool, error) {
	var r response
	if err := decode(data, &r); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if isFault(r.Error) {
		return true, streamFault(data)
	}
	if r.Status == "" && r.Output == nil {
		return false, nil
	}
	a.stop(r, emit)
	return true, nil
}

// end tells of a stream that ended too early.
func (a *responsesAnswer) end(func(Event) bool) error { return errBrokenOff }

func responsesFault(data []byte, inner json.RawMessage) error {
	if isFault(inner) {
		data = []byte(`{"error":` + string(inner) + `}`)
	}
	return streamFault(data)
}

// call gives the index of an open call; -1 if there is none. Copilot gives an item
// another ID in each event.
func (a *responsesAnswer) call(id string, index int) int {
	if i := slices.IndexFunc(a.calls, func(c *responsesCall) bool { return id != "" && c.item.ID == id }); i >= 0 {
		return i
	}
	return slices.IndexFunc(a.calls, func(c *responsesCall) bool { return c.index == index })
}

// item takes a complete item; false if nobody listens any more.
func (a *responsesAnswer) item(index int, item responsesItem, emit func(Event) bool) bool {
	switch item.Type {
	case "message":
		ok := a.spoke || a.sayAll(item, emit)
		a.spoke = false
		return ok
	case "function_call":
		a.add(len(item.Arguments))
		if i := a.call(item.ID, index); i >= 0 {
			a.add(-min(len(item.Arguments), a.calls[i].args.Len())) // the same
			item.Arguments = cmp.Or(item.Arguments, a.calls[i].args.String())
			a.calls = slices.Delete(a.calls, i, i+1)
		}
		return a.emitCall(item, item.Status == "incomplete", emit)
	case "reasoning":
		ok := a.thought || a.thinkAll(item, emit)
		a.thought = false
		return ok && a.sendBack(item, emit)
	}
	return true
}

func (a *responsesAnswer) sayAll(item responsesItem, emit func(Event) bool) bool {
	for _, p := range partsOf(item.Content) {
		if !a.say(p, emit) {
			return false
		}
	}
	return true
}

func (a *responsesAnswer) thinkAll(item responsesItem, emit func(Event) bool) bool {
	var texts []string
	for _, p := range slices.Concat(partsOf(item.Summary), partsOf(item.Content)) {
		texts = append(texts, p.Text)
	}
	return a.think(strings.Join(texts, "\n\n"), emit)
}

func partsOf(raw json.RawMessage) (parts []textPart) {
	_ = decode(raw, &parts) // what is no list is none
	return parts
}

// sendBack emits what the model wants back of its thoughts.
func (a *responsesAnswer) sendBack(item responsesItem, emit func(Event) bool) bool {
	switch {
	case item.EncryptedContent != "":
		item.Content = nil
	case !a.plain || len(partsOf(item.Content)) == 0:
		return true // could not be read without what the provider stored
	}
	if item.Summary == nil {
		item.Summary = json.RawMessage("[]") // the API insists on it
	}
	raw, err := wireJSON(item.thoughtItem)
	if err != nil {
		panic(err) // strings always encode, and what was JSON
	}
	return emit(Event{Opaque: &Opaque{Provider: a.model, Data: bytes.TrimSpace(raw)}})
}

func (a *responsesAnswer) emitCall(item responsesItem, cutOff bool, emit func(Event) bool) bool {
	input, ok := inputOf(item.Arguments, cutOff)
	if !ok || item.Name == "" {
		return true
	}
	if a.made == nil {
		a.made = map[string]bool{}
	}
	a.made[item.CallID] = true
	return emit(Event{Call: &ToolCall{ID: a.ids.own(item.CallID), Name: a.names.from(item.Name), Input: input}})
}

// stop completes the answer.
func (a *responsesAnswer) stop(r response, emit func(Event) bool) {
	reason := StopReason("")
	switch r.Incomplete.Reason {
	case "content_filter":
		reason = StopRefusal
	case "max_output_tokens", "max_tokens":
		reason = StopMaxTokens
	default:
		if r.Status == "incomplete" {
			reason = StopMaxTokens
		}
	}
	if !a.rest(r, reason == StopMaxTokens, emit) {
		return
	}
	if u := r.Usage; u != nil && !emit(Event{Usage: &Usage{Input: int(u.Input), Output: int(u.Output),
		CacheRead: int(min(u.Details.Cached, u.Input)), CacheWrite: int(min(u.Details.Written, u.Input))}}) {
		return
	}
	switch {
	case reason != "":
	case a.refused:
		reason = StopRefusal
	case len(a.made) > 0:
		reason = StopTools
	default:
		reason = StopEnd
	}
	emit(Event{Stop: reason})
}

// rest emits what did not come as a complete item before: calls that were only
// begun, and what stands in the response alone.
func (a *responsesAnswer) rest(r response, cutOff bool, emit func(Event) bool) bool {
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
	said, mused, made := a.said, a.mused, maps.Clone(a.made) // before these: two of them may lack an ID
	for i, item := range r.Output {
		if item.Type == "message" && said || item.Type == "reasoning" && mused || item.Type == "function_call" && made[item.CallID] {
			continue
		}
		if !a.item(i, item, emit) {
			return false
		}
	}
	return true
}

// NewResponsesAnswer returns a reader of one answer in the Responses API, for the model
// of that name.
func NewResponsesAnswer(name string) answer { return &responsesAnswer{model: name} }
