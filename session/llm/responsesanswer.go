package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// responsesEvent is an event of the stream, as far as it is used, or the whole
// response of a server that streams none.
// https://developers.openai.com/api/reference/resources/responses
type responsesEvent struct {
	Type         string        `json:"type"`
	OutputIndex  int           `json:"output_index"`
	SummaryIndex int           `json:"summary_index"`
	Delta        string        `json:"delta"`
	Arguments    string        `json:"arguments"`
	Item         responsesItem `json:"item"`
	Response     response      `json:"response"`
	Object       string        `json:"object"`
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
	Content []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

type responsesUsage struct {
	Input   tokenCount `json:"input_tokens"`
	Output  tokenCount `json:"output_tokens"`
	Details struct {
		Cached  tokenCount `json:"cached_tokens"`
		Written tokenCount `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// responsesAnswer turns the events of one stream into Events.
type responsesAnswer struct {
	model   string // Name of the model
	names   toolNames
	ids     callIDs
	calls   []*responsesCall
	made    int // calls that were emitted
	done    int // items that were complete
	spoke   bool
	refused bool
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
		a.spoke = true
		return e.Delta != "" && !emit(Event{Text: e.Delta}), nil
	case "response.refusal.delta":
		a.spoke, a.refused = true, true
		return e.Delta != "" && !emit(Event{Text: e.Delta}), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":

		return e.Delta != "" && !emit(Event{Thought: e.Delta}), nil
	case "response.reasoning_summary_part.added":
		return e.SummaryIndex > 0 && !emit(Event{Thought: "\n\n"}), nil
	case "response.output_item.added":
		a.begin(e.OutputIndex, e.Item)
	case "response.function_call_arguments.delta":
		if c := a.call(e.OutputIndex); c != nil {
			c.args.WriteString(e.Delta)
		}
	case "response.function_call_arguments.done":
		if c := a.call(e.OutputIndex); c != nil && e.Arguments != "" {
			c.args.Reset()
			c.args.WriteString(e.Arguments)
		}
	case "response.output_item.done":
		return !a.item(e.OutputIndex, e.Item, emit), nil
	case "response.completed", "response.incomplete", "response.done":
		a.stop(e.Response, emit)
		return true, nil
	case "response.failed", "error":
		return true, responsesFault(data, e.Response.Error)
	case "":
		return a.whole(data, emit)
	}
	return false, nil // the beginnings of things, and what is yet to be invented
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

func (a *responsesAnswer) begin(index int, item responsesItem) {
	if item.Type == "function_call" {
		a.calls = append(a.calls, &responsesCall{index: index, item: item})
	}
}

func (a *responsesAnswer) call(index int) *responsesCall {
	for _, c := range a.calls {
		if c.index == index {
			return c
		}
	}
	return nil
}

// item takes a complete item; false if nobody listens any more.
func (a *responsesAnswer) item(index int, item responsesItem, emit func(Event) bool) bool {
	a.done++
	switch item.Type {
	case "function_call":
		args := item.Arguments
		for i, c := range a.calls {
			if c.index == index {
				if args == "" {
					args = c.args.String()
				}
				a.calls = append(a.calls[:i:i], a.calls[i+1:]...)
				break
			}
		}
		return a.emitCall(item, args, item.Status == "incomplete", emit)
	case "reasoning":
		if item.EncryptedContent == "" {
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
	return true
}

func (a *responsesAnswer) emitCall(item responsesItem, args string, cutOff bool, emit func(Event) bool) bool {
	input, ok := inputOf(args, cutOff)
	if !ok || item.Name == "" {
		return true
	}
	if a.ids == nil {
		a.ids = callIDs{}
	}
	a.made++
	return emit(Event{Call: &ToolCall{ID: a.ids.own(item.CallID), Name: a.names.from(item.Name), Input: input}})
}

// stop completes the answer.
func (a *responsesAnswer) stop(r response, emit func(Event) bool) {
	reason := StopReason("")
	switch r.Incomplete.Reason {
	case "max_output_tokens", "max_tokens":
		reason = StopMaxTokens
	case "content_filter":
		reason = StopRefusal
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
	case a.made > 0:
		reason = StopTools
	default:
		reason = StopEnd
	}
	emit(Event{Stop: reason})
}

// rest emits what came without its own events.
func (a *responsesAnswer) rest(r response, cutOff bool, emit func(Event) bool) bool {
	if a.done > 0 || len(r.Output) == 0 {
		for _, c := range a.calls {
			if !a.emitCall(c.item, c.args.String(), cutOff, emit) {
				return false
			}
		}
		return true
	}
	for i, item := range r.Output {
		for _, p := range item.Content {
			a.refused = a.refused || p.Refusal != ""
			if text := p.Text + p.Refusal; item.Type == "message" && !a.spoke && text != "" && !emit(Event{Text: text}) {
				return false
			}
		}
		if !a.item(i, item, emit) {
			return false
		}
	}
	return true
}
