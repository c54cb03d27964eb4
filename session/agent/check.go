package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Limits on the part of a conversation that a check gets, in bytes.
const (
	maxChecked       = 16 << 10
	maxCheckedParts  = 60 // messages
	maxCheckedText   = 3 << 10
	maxCheckedResult = 2 << 10
)

// Check is a short question about the end of a conversation, which is asked outside of it.
type Check struct {
	Instructions string
	Question     func(work string) string // returns the question with a text of that end
	Accept       func(answer string) bool // a model whose answer is not accepted is asked once more
	Supervisor   Supervisor               // of the turns
}

// Check asks the model a question about the end of a conversation, and returns its last answer. A stop
// reason means that the budget does not permit the question.
func (a *Agent) Check(ctx context.Context, history []llm.Message, c Check) (answer string, reason acp.StopReason, err error) {
	t := &turn{Agent: a, model: a.Model(), supervisor: c.Supervisor}
	if isDirect(t.model) {
		return "", "", ErrNoModel
	}
	limit := maxChecked
	if w := t.model.Window(); w > 0 { // a third of it at the most
		limit = min(limit, w)
	}
	history = history[max(0, len(history)-maxCheckedParts):]
	work := strings.Join(formatMessages(history, maxCheckedText, maxCheckedResult), "")
	if len(work) > limit {
		work = "[…]\n" + strings.ToValidUTF8(work[len(work)-limit:], "")
	}
	question := c.Question(work)
	for again := false; ; again = true {
		if reason, err := t.checkBudget(ctx); err != nil || reason != "" {
			return "", reason, err
		}
		got, err := askAside(ctx, t.model, 0, c.Instructions, question)
		if got.usage != nil {
			a.Spend(got.model, *got.usage)
		}
		if err != nil || again || c.Accept(got.text) {
			return got.text, "", err
		}
		question += "\n\nYour answer had another form. Answer with that one line alone."
	}
}

// ScriptResult is the outcome of a script of the shell.
type ScriptResult struct {
	Text    string // for the model
	Stable  string // Text without times and the like, which differ from run to run
	Refused string // why it was not allowed to run; empty if it was
	Exit    *int   // nil if it did not end by itself
}

// RunScript runs a script of the shell that the user has set for the session, between two turns. It is
// announced, and checked like a call of the model. words are what the user said.
func (a *Agent) RunScript(ctx context.Context, words, script string) (ScriptResult, error) {
	t := &turn{Agent: a, model: a.Model(), tools: a.Chain.Tools(), typed: words, origin: executors.Agent, phase: executors.PhaseVerifier}
	shell, ok := executors.FindBy(t.tools, executors.Tool.RunsScripts)
	if !ok {
		return ScriptResult{Refused: "there is no tool that runs commands"}, nil
	}
	args := map[string]any{shell.Subject.Param: script}
	if most := longestTimeout(shell); most > 0 {
		args[timeoutParam] = most
	}
	input, err := json.Marshal(args)
	if err != nil {
		return ScriptResult{}, err
	}
	r, err := t.announce(ctx, llm.ToolCall{ID: a.NewID(), Name: shell.Name, Input: input})
	if err != nil {
		return ScriptResult{}, err
	}
	r.link = transcript.NoPart
	res, err := a.Chain.Execute(ctx, r.call)
	res, err = r.repeatRewritten(ctx, res, err)
	refused := ""
	if err == nil && res.Denied() {
		refused = res.ForPeople()
	}
	result, err := r.finish(ctx, res, err)
	if err != nil {
		return ScriptResult{}, err
	}
	return ScriptResult{Text: result.Text, Stable: withoutVolatile(result.Text), Refused: refused, Exit: r.call.Record.ExitCode}, nil
}

// timeoutParam is the parameter of a tool that runs scripts for the time that a call may take.
const timeoutParam = "timeout"

// longestTimeout returns the longest time, in seconds, that a call of a tool may request; 0 if it
// has no such parameter.
func longestTimeout(tool executors.Tool) int {
	var schema struct {
		Properties map[string]struct{ Maximum int }
	}
	_ = json.Unmarshal(tool.Schema, &schema) // else there is none
	return schema.Properties[timeoutParam].Maximum
}

// waits tells the supervisor of the turn that a question to the user was opened or answered.
func (t *turn) waits(open bool) {
	if s := t.sessionTurn().supervisor; s != nil {
		s.Waits(open)
	}
}
