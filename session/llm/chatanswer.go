package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
)

// chatChunk is a chunk of a stream, or a whole answer of a server that streams
// none. See wireEvent for why it is not the SDK's.
// https://developers.openai.com/api/reference/resources/chat
type chatChunk struct {
	Choices []struct {
		Index        int        `json:"index"`
		Delta        chatDelta  `json:"delta"`
		Message      *chatDelta `json:"message"`
		FinishReason string     `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content          chatText         `json:"content"`
	Refusal          string           `json:"refusal"`
	ReasoningContent string           `json:"reasoning_content"`
	Reasoning        chatText         `json:"reasoning"`
	ReasoningDetails []thoughtDetails `json:"reasoning_details"`
	ToolCalls        []chatCallDelta  `json:"tool_calls"`
	ExtraContent     struct {
		Google struct {
			Thought bool `json:"thought"`
		} `json:"google"`
	} `json:"extra_content"`
}

// chatText is a text, which some servers send as a list of parts.
type chatText string

// UnmarshalJSON takes a string or a list of {"text": …}; anything else is none.
func (t *chatText) UnmarshalJSON(data []byte) error {
	var s string
	if len(data) > 0 && data[0] == '"' {
		err := json.Unmarshal(data, &s)
		*t = chatText(s)
		return err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &parts) == nil {
		for _, p := range parts {
			s += p.Text
		}
	}
	*t = chatText(s)
	return nil
}

// thoughtDetails is OpenRouter's form of what a model wants back of its thoughts.
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

// chatCallDelta is a piece of a call. Arguments are a string, or an object at some
// servers.
type chatCallDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// chatUsage counts tokens. Its total has the thoughts that Gemini leaves out of
// the answer's.
type chatUsage struct {
	Prompt     tokenCount `json:"prompt_tokens"`
	Completion tokenCount `json:"completion_tokens"`
	Total      tokenCount `json:"total_tokens"`
	Details    struct {
		Cached  tokenCount `json:"cached_tokens"`
		Written tokenCount `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit tokenCount `json:"prompt_cache_hit_tokens"` // DeepSeek
}

func (u chatUsage) event() Event {
	read := min(max(u.Details.Cached, u.CacheHit), u.Prompt)
	return Event{Usage: &Usage{
		Input: int(u.Prompt), Output: int(max(u.Completion, u.Total-u.Prompt)),
		CacheRead: int(read), CacheWrite: int(min(u.Details.Written, u.Prompt-read)),
	}}
}

// chatAnswer turns the chunks of one stream into Events. Calls come at the end,
// since only then is it known what belongs to them.
type chatAnswer struct {
	model   string // Name of the model
	names   toolNames
	calls   chatCalls
	tagged  tagged
	refused bool
	finish  string // the API's reason

	thoughts chatThoughts // to send back
}

// take reads one chunk.
func (a *chatAnswer) take(data []byte, emit func(Event) bool) (done bool, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		a.finish = cmp.Or(a.finish, "stop") // some name no reason
		return true, a.stop(emit)
	}
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return true, streamFault(data)
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
		if !a.delta(d, emit) {
			return true, nil
		}
		a.finish = cmp.Or(choice.FinishReason, a.finish)
	}
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		return !emit(c.Usage.event()), nil
	}
	return false, nil
}

// end completes an answer of a server that sends no [DONE].
func (a *chatAnswer) end(emit func(Event) bool) error {
	if a.finish == "" {
		return errBrokenOff
	}
	return a.stop(emit)
}

func (a *chatAnswer) delta(d *chatDelta, emit func(Event) bool) bool {
	details := ""
	for _, t := range d.ReasoningDetails {
		details += t.Text + t.Summary
		a.addDetails(t)
	}
	thought := cmp.Or(d.ReasoningContent, string(d.Reasoning), details)
	a.thoughts.ReasoningContent += d.ReasoningContent
	if d.ReasoningContent == "" {
		a.thoughts.Reasoning += string(d.Reasoning)
	}
	tagThought, text := a.tagged.take(string(d.Content))
	if d.ExtraContent.Google.Thought && text != "" { // Gemini's, without a tag
		tagThought, text = tagThought+text, ""
	}
	thought += tagThought
	if d.Refusal != "" {
		a.refused = true
		text += d.Refusal
	}
	for i := range d.ToolCalls {
		a.calls.add(&d.ToolCalls[i])
	}
	return (thought == "" || emit(Event{Thought: thought})) && (text == "" || emit(Event{Text: text}))
}

// addDetails joins the pieces of one detail, which come in turn.
func (a *chatAnswer) addDetails(t thoughtDetails) {
	all := a.thoughts.ReasoningDetails
	if n := len(all); n > 0 && all[n-1].Type == t.Type && bytes.Equal(all[n-1].Index, t.Index) {
		last := &all[n-1]
		last.Text += t.Text
		last.Summary += t.Summary
		last.Data += t.Data
		last.ID, last.Format, last.Signature = cmp.Or(t.ID, last.ID), cmp.Or(t.Format, last.Format), cmp.Or(t.Signature, last.Signature)
		return
	}
	a.thoughts.ReasoningDetails = append(all, t)
}

// chatReasons translates the API's finish reasons, and what servers make of them.
var chatReasons = map[string]StopReason{
	"length": StopMaxTokens, "max_tokens": StopMaxTokens, "max_output_tokens": StopMaxTokens,
	"content_filter": StopRefusal, "refusal": StopRefusal, "safety": StopRefusal, "sensitive": StopRefusal,
}

// reason gives the word that counts: Gemini writes "content_filter: SAFETY".
func (a *chatAnswer) reason() string {
	word, _, _ := strings.Cut(strings.ToLower(a.finish), ":")
	return word
}

func (a *chatAnswer) stop(emit func(Event) bool) error {
	word := a.reason()
	if word == "error" {
		return streamError{kind: "error", message: "the provider failed in the middle of the answer"}
	}
	if strings.Contains(strings.ToLower(a.finish), "malformed_function_call") { // Gemini
		return streamError{kind: word, message: "the model wrote a tool call that cannot be read"}
	}
	thought, text := a.tagged.end()
	if thought != "" && !emit(Event{Thought: thought}) || text != "" && !emit(Event{Text: text}) {
		return nil
	}
	reason, ok := chatReasons[word]
	if !ok && a.refused {
		reason, ok = StopRefusal, true
	}
	calls := a.calls.end(a.names, reason == StopMaxTokens)
	if len(calls) > 0 && !a.sendBack(emit) {
		return nil
	}
	for _, c := range calls {
		if c.extra != nil && !emit(a.opaque(chatOpaque{Call: c.call.ID, Extra: c.extra})) || !emit(Event{Call: &c.call}) {
			return nil
		}
	}
	switch {
	case ok:
	case len(calls) > 0: // whatever it says, they want results
		reason = StopTools
	default:
		reason = StopEnd
	}
	emit(Event{Stop: reason})
	return nil
}

// sendBack emits what the server wants back with the calls.
func (a *chatAnswer) sendBack(emit func(Event) bool) bool {
	t := a.thoughts
	if t.ReasoningDetails != nil { // they say the same
		t.Reasoning, t.ReasoningContent = "", ""
	}
	if t.ReasoningDetails == nil && t.Reasoning == "" && t.ReasoningContent == "" {
		return true
	}
	return emit(a.opaque(chatOpaque{chatThoughts: t}))
}

func (a *chatAnswer) opaque(data chatOpaque) Event {
	raw, err := wireJSON(data)
	if err != nil {
		panic(err) // strings always encode, and what was JSON
	}
	return Event{Opaque: &Opaque{Provider: a.model, Data: bytes.TrimSpace(raw)}}
}

// streamFault reads an error in a stream.
func streamFault(data []byte) error {
	f := streamError{}
	f.kind, f.message = refusal(data)
	var e struct {
		Error struct {
			Code   int `json:"code"`
			Status int `json:"status"`
		} `json:"error"`
	}
	_ = json.Unmarshal(data, &e) // what is no number stays 0
	if code := cmp.Or(e.Error.Code, e.Error.Status); code >= 400 && code < 600 {
		f.status = code
	}
	if f.message == "" {
		f.message = string(data)
	}
	return f
}

// maxAnswer bounds an answer that comes as one piece, in bytes.
const maxAnswer = 32 << 20

// jsonOrSSE gives the chunks of a stream, or the whole answer of a server that
// streams none.
func jsonOrSSE(res *http.Response) iter.Seq2[[]byte, error] {
	kind := res.Header.Get("Content-Type")
	if !strings.Contains(kind, "json") && !strings.Contains(kind, "html") {
		return sseChunks(res)
	}
	return func(yield func([]byte, error) bool) {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		var members map[string]json.RawMessage
		known := func(key string) bool { return members[key] != nil }
		switch {
		case err != nil:
			yield(nil, err)
		case json.Unmarshal(body, &members) != nil, !slices.ContainsFunc([]string{"choices", "output", "error"}, known):
			yield(nil, notAStream{kind})
		default:
			yield(body, nil)
		}
	}
}
