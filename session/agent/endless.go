package agent

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// maxCalls is the number of calls of one answer that run. Small models make hundreds.
const maxCalls = 32

// answerCheck looks at the events of one answer for what small models do wrong: text without
// end, calls without end, and the same change twice.
type answerCheck struct {
	text, thought llm.Repetition
	calls         map[string]string // the id of the first call, by name and input
	count         int
	more          bool // there are more than maxCalls calls
	last          string
}

// isEndless reports whether the text or the thought of an answer repeats itself without end.
func (c *answerCheck) isEndless(ev llm.Event) bool {
	return ev.Text != "" && c.text.Add(ev.Text) || ev.Thought != "" && c.thought.Add(ev.Thought)
}

// endlessError returns the failure of an answer that repeats itself.
func (t *turn) endlessError() error {
	return &llm.Error{
		Provider: t.model.Name(), Message: "the model repeats the same text without end, so its answer was stopped",
		Hint: "ask again in other words, or pick another model",
	}
}

// accepts reports whether a call of the answer runs. A repeated change does not, nor what comes
// after maxCalls calls; the model gets a note.
func (t *turn) accepts(c *answerCheck, call *llm.ToolCall) bool {
	if c.calls == nil {
		c.calls = map[string]string{}
	}
	key := call.Name + "\x00" + string(plainjson.Canonical(call.Input))
	tool, _ := executors.Find(t.tools, call.Name)
	if first, ok := c.calls[key]; ok && tool.Effect.Has(executors.Mutates) {
		t.notes[first] = "\n\n[repeat] Your answer made this call more than once; it ran once."
		return false
	}
	if c.count == maxCalls {
		c.more = true
		t.notes[c.last] += fmt.Sprintf("\n\n[limit] Only the first %s of an answer run. Make the others again if you still need them.",
			quantity.Count(maxCalls, "call"))
		return false
	}
	c.count++
	c.calls[key], c.last = call.ID, call.ID
	return true
}
