package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chunk is the part of a GenerateContentResponse that we use. Each chunk of a stream is one.
// https://ai.google.dev/api/generate-content#generatecontentresponse
type chunk struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage usage           `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []answerPart `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type answerPart struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	Signature    string `json:"thoughtSignature"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// usage counts tokens. The prompt includes the cached ones.
type usage struct {
	Prompt     wire.TokenCount `json:"promptTokenCount"`
	Cached     wire.TokenCount `json:"cachedContentTokenCount"`
	ToolUse    wire.TokenCount `json:"toolUsePromptTokenCount"`
	Candidates wire.TokenCount `json:"candidatesTokenCount"`
	Thoughts   wire.TokenCount `json:"thoughtsTokenCount"`
}

func (u usage) event() llm.Event {
	return llm.Event{Usage: &llm.Usage{
		Input: int(u.Prompt + u.ToolUse), Output: int(u.Candidates + u.Thoughts), CacheRead: int(min(u.Cached, u.Prompt)),
	}}
}

// answerReader turns the chunks of one stream into events. A call is always complete.
type answerReader struct {
	model   string // Name of the model
	names   wire.ToolNames
	usage   usage
	finish  string // the API's reason
	message string // beside it
	signed  opaque // the end of the text so far; without a signature, there is none
	ids     wire.CallIDs
	said    bool // the answer has text or a call
	called  bool // the answer has a call
	wire.ArgumentCount
}

// ReadChunk reads one chunk; see wire.Answer. The stream has no mark at its end: see End.
func (a *answerReader) ReadChunk(data []byte, emit func(llm.Event) bool) (done bool, err error) {
	if strings.TrimSpace(string(data)) == "[DONE]" { // some gateways end as in Chat Completions
		return true, a.End(emit)
	}
	var c chunk
	if err := wire.Decode(data, &c); err != nil {
		return true, fmt.Errorf("reading its stream: %w", err)
	}
	if wire.HasError(c.Error) {
		return true, wire.ParseStreamError(data)
	}
	if reason := c.PromptFeedback.BlockReason; reason != "" && reason != "BLOCKED_REASON_UNSPECIFIED" {
		a.finish = reason
	}
	for i := range c.Candidates {
		candidate := &c.Candidates[i]
		if candidate.Index != 0 { // only one was asked for
			continue
		}
		for j := range candidate.Content.Parts {
			if !a.readPart(&candidate.Content.Parts[j], emit) {
				return true, nil
			}
		}
		if r := candidate.FinishReason; r != "" && r != "FINISH_REASON_UNSPECIFIED" {
			a.finish, a.message = r, candidate.FinishMessage
		}
	}
	if c.Usage.Prompt > 0 && c.Usage != a.usage {
		a.usage = c.Usage
		return !emit(a.usage.event()), nil
	}
	return false, nil
}

// readPart emits a part of the answer, and the data that has to be sent back with it.
func (a *answerReader) readPart(p *answerPart, emit func(llm.Event) bool) bool {
	switch {
	case p.FunctionCall != nil:
		return a.readCall(p, emit)
	case p.Thought:
		return (p.Text == "" || emit(llm.Event{Thought: p.Text})) &&
			(p.Signature == "" || emit(a.opaque(opaque{Thought: p.Text, Signature: p.Signature})))
	case p.Signature == "" && a.signed.Signature != "" && p.Text != "": // unsigned text does not belong to the signed one
		if !a.endText(emit) {
			return false
		}
	case p.Signature != "":
		if !a.endText(emit) {
			return false
		}
		a.signed = opaque{Bytes: len(p.Text), Signature: p.Signature}
	}
	a.said = a.said || p.Text != ""
	return p.Text == "" || emit(llm.Event{Text: p.Text})
}

// endText emits the signature of the text so far, if it has one.
func (a *answerReader) endText(emit func(llm.Event) bool) bool {
	o := a.signed
	a.signed = opaque{}
	return o.Signature == "" || emit(a.opaque(o))
}

// readCall emits a call after its signature.
func (a *answerReader) readCall(p *answerPart, emit func(llm.Event) bool) bool {
	args := string(p.FunctionCall.Args)
	a.Add(len(args))
	input, _ := wire.ParseInput(args, false)
	call := llm.ToolCall{ID: a.ids.Unique(p.FunctionCall.ID), Name: a.names.FromWire(p.FunctionCall.Name), Input: input}
	a.said, a.called = true, true
	return a.endText(emit) && (p.Signature == "" || emit(a.opaque(opaque{Call: call.ID, Signature: p.Signature}))) && emit(llm.Event{Call: &call})
}

func (a *answerReader) opaque(o opaque) llm.Event {
	return llm.Event{Opaque: &llm.Opaque{Provider: a.model, Data: plainjson.MustMarshal(o)}}
}

// stopReasons translates the reasons for the end of an answer, and those for which a prompt is blocked. A continuation could only
// follow if one was asked for.
var stopReasons = map[string]llm.StopReason{
	"STOP": llm.StopEnd, "MAX_TOKENS": llm.StopMaxTokens, "CONTINUATION": llm.StopMaxTokens,
	"SAFETY": llm.StopRefusal, "RECITATION": llm.StopRefusal, "LANGUAGE": llm.StopRefusal, "BLOCKLIST": llm.StopRefusal,
	"PROHIBITED_CONTENT": llm.StopRefusal, "SPII": llm.StopRefusal, "MODEL_ARMOR": llm.StopRefusal, "JAILBREAK": llm.StopRefusal,
	"IMAGE_SAFETY": llm.StopRefusal, "IMAGE_PROHIBITED_CONTENT": llm.StopRefusal, "IMAGE_RECITATION": llm.StopRefusal,
}

// failures are the reasons that mean a failure, with the messages for them.
var failures = map[string]string{
	"MALFORMED_FUNCTION_CALL":   "the model wrote a tool call that cannot be read",
	"UNEXPECTED_TOOL_CALL":      "the model called a tool where it has none",
	"MALFORMED_RESPONSE":        "the model wrote an answer that cannot be read",
	"TOO_MANY_TOOL_CALLS":       "the model called too many tools in a row, so Google stopped it",
	"MISSING_THOUGHT_SIGNATURE": "a tool call of the conversation lacks its signature",
	"OTHER":                     "the answer ended for a reason that Google does not name",
}

// End completes the answer. Without a reason for its end it broke off.
func (a *answerReader) End(emit func(llm.Event) bool) error {
	if a.finish == "" {
		return wire.ErrBrokenOff
	}
	reason, known := stopReasons[a.finish]
	switch message, failed := failures[a.finish]; {
	case failed:
		return &wire.StreamError{Kind: a.finish, Message: message}
	case !known && !a.said: // a new reason
		return &wire.StreamError{Kind: a.finish, Message: strings.TrimSuffix("the answer ended with "+a.finish+": "+a.message, ": ")}
	case !known:
		reason = llm.StopEnd
	}
	if reason == llm.StopEnd && a.called { // calls need results
		reason = llm.StopTools
	}
	if a.endText(emit) {
		emit(llm.Event{Stop: reason})
	}
	return nil
}

// NewAnswer returns a reader of one answer, for the model of that name.
func NewAnswer(name string) wire.Answer { return &answerReader{model: name} }
