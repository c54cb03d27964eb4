// Package transcript is the event log of a session: what was said, called and shown,
// in order.
//
// Start with [Event]. The model's history ([History]) and what a client was shown
// ([Replay]) are both derived from the events. [Encode] and [Decode] are their form in
// the store; [Salvage] replaces an event that cannot be read.
//
// It promises that a log of any version, or of foreign origin, never yields a frame
// that the protocol forbids, and that a history is repaired ([llm.Repair]). It stores
// nothing, and does not know the turn loop.
package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Event is one entry of a session's log, of one of the types below. From the log
// both the model's history ([History]) and what the client was shown ([Replay])
// can be had again. What is complete is in the log before a frame tells the
// client so.
type Event interface {
	// Kind is the event's name in the store.
	Kind() string
}

// Prompt begins a turn.
type Prompt struct {
	MessageID string             `json:"messageId"`
	Content   []acp.ContentBlock `json:"content"`
	// Mode is what the model is told of the mode before it reads the prompt; empty
	// where that has not changed.
	Mode string `json:"mode,omitempty"`
	// Instead is what the model gets in place of the text of Content.
	Instead string `json:"instead,omitempty"`
	// Alone says that the model gets nothing of Content but Instead.
	Alone bool `json:"alone,omitempty"`
	// Local says that no model sees the prompt: it is a command.
	Local bool `json:"local,omitempty"`
}

// Attachment is what the model gets of an embedded resource of the prompt that
// is too long for it.
type Attachment struct {
	Index int    `json:"index"` // in the prompt, from 1
	Text  string `json:"text"`
}

// Block is a complete piece of the model's answer. Texts and thoughts were shown
// to the client as a message; a call before a Cut or in no Answer was never made.
type Block struct {
	MessageID string    `json:"messageId,omitempty"`
	Block     llm.Block `json:"block"`
}

// Answer completes the blocks before it.
type Answer struct {
	Model string           `json:"model"`
	Usage *llm.Usage       `json:"usage,omitempty"`
	Shown *acp.UsageUpdate `json:"shown,omitempty"` // to the client
}

// Cut tells that the answer broke off after the blocks before it. If they have
// text, the model was asked to go on, see llm.GoOn; else they count for nothing.
type Cut struct{}

// Note is a word of ours to the user, which the model doesn't see.
type Note struct {
	MessageID string `json:"messageId"`
	Text      string `json:"text"`
}

// Call is a tool call as it was announced.
type Call struct {
	Shown acp.ToolCall `json:"shown"`
}

// Correction is what a tool call is from here on: its input did not fit, and was
// put right before it ran.
type Correction struct {
	Shown acp.ToolCall `json:"shown"`
}

// Result is how a tool call ended: for the model, and for the client.
type Result struct {
	Result llm.ToolResult    `json:"result"`
	Shown  acp.ToolCall      `json:"shown"`
	Exit   *acp.TerminalExit `json:"exit,omitempty"` // of the terminal that Shown embeds
	// Link is the 1-based index in the prompt of the resource link that was read;
	// 0 for a call that the model asked for.
	Link int `json:"link,omitempty"`
}

// Question is a question of the agent's own to the user, shown as a tool call:
// first its announcement, later how it ended. No model sees it.
type Question struct {
	Shown acp.ToolCall `json:"shown"`
}

// Plan is the model's plan from here on.
type Plan struct {
	Entries []acp.PlanEntry `json:"entries"`
}

// TurnEnd ends a turn. After a refusal the model forgets its prompt and all that
// followed.
type TurnEnd struct {
	Reason acp.StopReason `json:"reason,omitempty"`
	Error  string         `json:"error,omitempty"` // instead of Reason
}

// Setting is the value of a config option from here on.
type Setting struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// Title is the session's title from here on.
type Title struct {
	Title string `json:"title"`
}

// Cleared makes the model forget all that came before.
type Cleared struct{}

// The kinds of events.
func (Prompt) Kind() string { return "prompt" }

func (Attachment) Kind() string { return "attachment" }

func (Block) Kind() string { return "block" }

func (Answer) Kind() string { return "answer" }

func (Cut) Kind() string { return "cut" }

func (Note) Kind() string { return "note" }

func (Call) Kind() string { return "tool_call" }

func (Correction) Kind() string { return "tool_correction" }

func (Result) Kind() string { return "tool_result" }

func (Question) Kind() string { return "question" }

func (Plan) Kind() string { return "plan" }

func (TurnEnd) Kind() string { return "turn_end" }

func (Setting) Kind() string { return "setting" }

func (Title) Kind() string { return "title" }

func (Cleared) Kind() string { return "cleared" }

// decoders are the events by kind.
var decoders = map[string]func([]byte) (Event, error){
	Prompt{}.Kind():     decode[Prompt],
	Block{}.Kind():      decode[Block],
	Answer{}.Kind():     decode[Answer],
	Cut{}.Kind():        decode[Cut],
	Note{}.Kind():       decode[Note],
	Call{}.Kind():       decode[Call],
	Attachment{}.Kind(): decode[Attachment],
	Correction{}.Kind(): decode[Correction],
	Result{}.Kind():     decode[Result],
	Question{}.Kind():   decode[Question],
	Plan{}.Kind():       decode[Plan],
	TurnEnd{}.Kind():    decode[TurnEnd],
	Setting{}.Kind():    decode[Setting],
	Title{}.Kind():      decode[Title],
	Cleared{}.Kind():    decode[Cleared],
	Compaction{}.Kind(): decode[Compaction],
}

func decode[E Event](data []byte) (Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s must not be of type %s", cmp.Or(wrong.Field, "the event"), wrong.Value)
	}
	return e, err
}

// DecodeEvent is the inverse of json.Marshal of an event of that kind. A kind
// that is not known, of a version to come, gives nil.
func Decode(kind string, data []byte) (Event, error) {
	d, ok := decoders[kind]
	if !ok {
		return nil, nil
	}
	e, err := d(data)
	if err == nil {
		err = sound(e)
	}
	if err != nil {
		return nil, fmt.Errorf("event of kind %s: %w", kind, err)
	}
	return e, nil
}
