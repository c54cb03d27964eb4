// Package transcript is the event log of a session: its messages, tool calls and
// updates, in order.
//
// Start with [Event]. The model's history ([History]) and the client's view ([Replay])
// are both derived from the events. [Encode] and [Decode] are their form in the store;
// [Salvage] replaces an event that cannot be read.
//
// It promises that a log of any version or origin never yields a frame that the protocol forbids,
// and that a history is repaired ([llm.Repair]). The package stores nothing, and does not depend on
// the turn loop.
package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Event is one entry of a session's log, of one of the types below. The model's history
// ([History]) and the client's view ([Replay]) can be derived from the log. An event is
// logged before a frame shows it as complete.
type Event interface {
	// Kind returns the event's name in the store.
	Kind() string
}

// Prompt begins a turn.
type Prompt struct {
	MessageID string             `json:"messageId"`
	Content   []acp.ContentBlock `json:"content" texts:"-"`
	// Mode is the line on the mode before the prompt; empty if the mode has not
	// changed.
	Mode string `json:"mode,omitempty"`
	// Memory is the line on saved memories before the prompt; empty if the model has read
	// it before, or if there are no memories.
	Memory string `json:"memory,omitempty"`
	// ModelText replaces the text of Content for the model.
	ModelText string `json:"instead,omitempty" texts:"-"`
	// ModelContent replaces all of Content for the model, if Content is a command for another
	// prompt.
	ModelContent []acp.ContentBlock `json:"expanded,omitempty" texts:"-"`
	// OmitContent says that the model gets only ModelText, without Content.
	OmitContent bool `json:"alone,omitempty"`
	// Context is a text of hooks for the model, below the prompt.
	Context string `json:"context,omitempty"`
	// NoModel says that no model sees the prompt, since it is a command.
	NoModel bool `json:"local,omitempty"`
	// Key is the client's name of the prompt, by which a retry finds it; empty if it has none.
	Key string `json:"key,omitempty" texts:"-"`
}

// Parts returns the content that the model gets.
func (p Prompt) Parts() []acp.ContentBlock {
	if len(p.ModelContent) > 0 {
		return p.ModelContent
	}
	return p.Content
}

// Preamble is a message that the model sees before the next prompt. It is a part of a
// command's prompt, so the client does not see it.
type Preamble struct {
	Assistant bool               `json:"assistant,omitempty"` // else the user
	Content   []acp.ContentBlock `json:"content" texts:"-"`
}

// Message returns the message for the model.
func (e Preamble) Message() llm.Message {
	m := llm.Message{Role: llm.User, Blocks: Prompt{Content: e.Content}.Blocks(nil)}
	if e.Assistant {
		m.Role = llm.Assistant
	}
	return m
}

// Attachment replaces an embedded resource of the prompt that is too long for the
// model.
type Attachment struct {
	Index int    `json:"index"` // in the prompt, from 1
	Text  string `json:"text" texts:"-"`
}

// Block is a complete piece of the model's answer. Texts and thoughts were shown to the
// client as a message. A call before a Cut, or without an Answer, was never made.
type Block struct {
	MessageID string    `json:"messageId,omitempty"`
	Block     llm.Block `json:"block"`
}

// Answer completes the blocks before it.
type Answer struct {
	Model string           `json:"model"`
	Usage *llm.Usage       `json:"usage,omitempty"`
	Shown *acp.UsageUpdate `json:"shown,omitempty"` // as shown to the client
}

// Cut reports that the answer broke off after the blocks before it. If they have text,
// the model was asked to continue, see llm.AskToContinue; otherwise they are discarded.
type Cut struct{}

// HookText is a text of a hook or of the agent with which the model continues its turn. The
// client does not see it.
type HookText struct {
	Text string `json:"text"`
}

// Note is a message of the agent itself to the user, which the model does not see.
type Note struct {
	MessageID string `json:"messageId"`
	Text      string `json:"text"`
	Warning   bool   `json:"warning,omitempty"` // about the session, at any time: it is no part of an answer
}

// Call is a tool call as announced to the client.
type Call struct {
	Shown acp.ToolCall `json:"shown"`
}

// Correction replaces the shown form of a tool call: its input did not fit, and
// was corrected before it ran.
type Correction struct {
	Shown acp.ToolCall `json:"shown"`
}

// Result is the end of a tool call, for the model and for the client.
type Result struct {
	Result llm.ToolResult    `json:"result"`
	Shown  acp.ToolCall      `json:"shown"`
	Exit   *acp.TerminalExit `json:"exit,omitempty"` // of the terminal that Shown embeds
	// Link is the 1-based index of the part of the prompt that the result replaces, such as
	// a resource link. It is 0 for a call of the model, and NoPart for a call of the session itself,
	// which is not a part of the conversation.
	Link int `json:"link,omitempty"`
}

// NoPart is a value of Result.Link.
const NoPart = -1

// sharedFrom is the length from which share replaces a text, in bytes.
const sharedFrom = 1 << 10

// share replaces the texts of Shown that repeat the one for the model. So a decoded log
// holds a long output once and not three times.
func (r Result) share() {
	text := r.Result.Text
	if len(text) < sharedFrom {
		return
	}
	for _, c := range r.Shown.Content {
		if c.Content != nil && c.Content.Text != nil && *c.Content.Text == text {
			*c.Content.Text = text
		}
	}
	raw, _ := r.Shown.RawOutput.(map[string]any)
	for name, v := range raw {
		if s, ok := v.(string); ok && len(s) >= sharedFrom && strings.HasPrefix(text, s) {
			raw[name] = text[:len(s)]
		}
	}
}

// Step is one line about the progress of a call that delegated a task. The result of the
// call replaces its steps. A call without a result keeps them, so that model and client
// see its progress.
type Step struct {
	ToolCallID string `json:"toolCallId"` // of the client
	ID         string `json:"id"`         // of the model
	Text       string `json:"text"`       // empty for the end of a call that failed or was cancelled
	// Caller is the id of the child session, and Shown the call in it without its content;
	// nil in older logs.
	Caller string        `json:"caller,omitempty"`
	Shown  *acp.ToolCall `json:"shown,omitempty"`
}

func (s Step) line() string {
	if s.Text == "" {
		return ""
	}
	return "- " + s.Text + "\n"
}

// Child is the child session of a call that delegated a task. Its calls are recorded as
// steps, and ChildEnd is its end. Replays show the same ids as the client saw.
type Child struct {
	ToolCallID string `json:"toolCallId"` // of the client
	Caller     string `json:"caller"`     // the id of the child session
	MessageID  string `json:"messageId"`  // of the task
	Task       string `json:"task"`
}

// ChildEnd ends the work of a child session.
type ChildEnd struct {
	ToolCallID string             `json:"toolCallId"`
	Caller     string             `json:"caller"`
	MessageID  string             `json:"messageId,omitempty"` // of the report
	Report     string             `json:"report,omitempty"`    // empty after a cancel or a failure
	Reason     acp.StopReason     `json:"reason,omitempty"`
	Error      *acp.SubagentError `json:"error,omitempty"` // instead of Reason
}

// Message returns the views of the message with the task.
func (e Child) Message(parent, child string) (sent, received acp.SessionMessage) {
	return acp.NewSessionMessage(e.MessageID, parent, child, e.Task[:FittingLen(e.Task)])
}

// Message returns the views of the message with the report.
func (e ChildEnd) Message(child, parent string) (sent, received acp.SessionMessage) {
	return acp.NewSessionMessage(e.MessageID, child, parent, e.Report[:FittingLen(e.Report)])
}

// Question is a question of the agent itself to the user, shown as a tool call: first
// its announcement, later its end. No model sees it.
type Question struct {
	Shown acp.ToolCall `json:"shown"`
}

// Plan is the model's plan from here on.
type Plan struct {
	Entries []acp.PlanEntry `json:"entries"`
}

// Update returns the update that shows the plan.
func (e Plan) Update() acp.PlanUpdate {
	return acp.PlanUpdate{PlanID: acp.PlanSteps, Entries: e.Entries}
}

// ApprovedPlan is the document that the user approved, which stands beside the Plan.
type ApprovedPlan struct {
	Content string `json:"content"` // Markdown
}

// Update returns the update that shows the plan.
func (e ApprovedPlan) Update() acp.PlanUpdate {
	return acp.PlanUpdate{PlanID: acp.PlanApproved, Markdown: e.Content}
}

// RemovedPlans returns the updates that remove the plans which the client was shown so far.
func RemovedPlans(events []Event) []acp.SessionUpdate {
	var steps, approved bool
	for _, e := range events {
		switch e := e.(type) {
		case Plan:
			steps = len(e.Entries) > 0
		case ApprovedPlan:
			approved = true
		case Cleared:
			steps, approved = false, false
		}
	}
	var out []acp.SessionUpdate
	for _, p := range []struct {
		shown bool
		id    string
	}{{steps, acp.PlanSteps}, {approved, acp.PlanApproved}} {
		if p.shown {
			out = append(out, acp.PlanRemoved{Update: acp.UpdatePlanRemoved, PlanID: p.id})
		}
	}
	return out
}

// TurnEnd ends a turn. After a refusal the model forgets the prompt and everything
// after it.
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
	Title string `json:"title" texts:"-"`
}

// State is the state that a part of the tools keeps across restarts, from here on.
type State struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value" texts:"-"`
}

// Cleared makes the model forget everything before it.
type Cleared struct{}

// The kinds of events.
func (Prompt) Kind() string { return "prompt" }

func (Preamble) Kind() string { return "earlier" }

func (Attachment) Kind() string { return "attachment" }

func (Block) Kind() string { return "block" }

func (Answer) Kind() string { return "answer" }

func (Cut) Kind() string { return "cut" }

func (HookText) Kind() string { return "hook" }

func (Note) Kind() string { return "note" }

func (Call) Kind() string { return "tool_call" }

func (Correction) Kind() string { return "tool_correction" }

func (Result) Kind() string { return "tool_result" }

func (Step) Kind() string { return "step" }

func (Child) Kind() string { return "child" }

func (ChildEnd) Kind() string { return "child_end" }

func (Question) Kind() string { return "question" }

func (Plan) Kind() string { return "plan" }

func (ApprovedPlan) Kind() string { return "approved_plan" }

func (TurnEnd) Kind() string { return "turn_end" }

func (Setting) Kind() string { return "setting" }

func (Title) Kind() string { return "title" }

func (State) Kind() string { return "state" }

func (Cleared) Kind() string { return "cleared" }

// kinds maps the name of each kind to its type.
var kinds = sync.OnceValue(func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, e := range []Event{
		Prompt{}, Preamble{}, Block{}, Answer{}, Cut{}, HookText{}, Steer{}, Note{},
		Call{}, Attachment{}, Correction{}, Result{}, Step{}, Child{}, ChildEnd{}, Question{}, Plan{}, ApprovedPlan{}, TurnEnd{},
		Setting{}, Title{}, State{}, Cleared{}, Compaction{}, Rewound{}, FilesRewound{},
	} {
		types[e.Kind()] = reflect.TypeOf(e)
	}
	return types
})

// unmarshal is json.Unmarshal with an error that names the field in the words of JSON.
func unmarshal(data []byte, event any) error {
	err := json.Unmarshal(data, event)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s must not be of type %s", cmp.Or(wrong.Field, "the event"), wrong.Value)
	}
	return err
}

// Decode is the inverse of Encode. It returns nil for an unknown kind, which is of a later
// version.
func Decode(kind string, data []byte) (Event, error) {
	eventType, ok := kinds()[kind]
	if !ok {
		return nil, nil
	}
	decoded := reflect.New(eventType)
	err := unmarshal(data, decoded.Interface())
	e := decoded.Elem().Interface().(Event)
	if err == nil {
		err = checkEvent(e)
	}
	if err != nil {
		return nil, fmt.Errorf("event of kind %s: %w", kind, err)
	}
	if r, ok := e.(Result); ok {
		r.share()
	}
	return e, nil
}
