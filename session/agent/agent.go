// Package agent is the turn loop: model, tool calls, results, model again, until
// the model has no more to ask for or a limit ends it.
//
// Start with [Agent.Turn]. It promises that everything a turn does is announced
// to the client before and after, that every tool call in the history has its
// result, that a failing tool never ends a turn, and that a turn which ends
// without an error says something. It keeps no state between turns but a cache:
// history in, history out.
//
// Why does Direct answer a /TOOL prompt whatever the model is? Such a prompt is
// the user's own call. It needs no model, and it goes through the same chain.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Agent runs the turns of one session, one at a time. Its exported fields do not change
// once it runs.
type Agent struct {
	Config  Config
	Session string // ACP session id
	Chain   executors.Executor
	NewID   func() string // returns UUIDs, for tool calls and messages
	Log     *slog.Logger

	Client
	State
	Workspace
	Overflow
	Helpers

	// System returns the system prompt, the same until the conversation is cleared;
	// nil means none. It is called when a model first needs it.
	System func() string
	// Toolset decides which tools the model is offered; nil offers all.
	Toolset Toolset
	// Off are the names of tools that the configuration switches off.
	Off []string

	cache llm.Cache // of the conversation
}

// Client is the client as a turn sees it.
type Client struct {
	Send func(context.Context, acp.SessionUpdate) error
	// Ask asks the user, and returns the id of the option that was chosen; empty if
	// the question was dismissed. Its error means that no one answered. Nil means
	// that no one can be asked.
	Ask func(context.Context, acp.ToolCall, []acp.PermissionOption) (string, error)
	// Unasked reports whether a turn goes on after max_tool_iterations rounds
	// without a question; nil means that it asks. StopAsking is called when the
	// user wants no more of these questions in this session.
	Unasked    func() bool
	StopAsking func()
	// ShowCompactions reports whether the client shows updates of kind
	// compaction_update, and Notices whether it shows notices.
	ShowCompactions, Notices bool
	// StreamTerminals reports that the client has no terminals but shows those
	// that an agent streams to it (_meta.terminal_output).
	StreamTerminals bool
}

// State is what the session keeps, and may change during a turn.
type State struct {
	// Model and Thought are called before each request to a model. Thought returns
	// a level of llm.Levels, or "" for the model's default.
	Model   func() llm.Model
	Thought func() string
	// Mode returns the line that tells the model of the session's mode, or ""; nil
	// means that it is not told.
	Mode func() string
	// Record keeps events. When it returns, a frame may reveal what they complete.
	Record func(...transcript.Event)
	// Spend counts an answer and returns what the session has cost so far; nil
	// where no prices are known.
	Spend func(llm.Model, llm.Usage) *acp.Cost
	// Suspected is called for each call that names what the model may have made up.
	Suspected func()
}

// Workspace answers questions about absolute paths.
type Workspace struct {
	// Inside reports whether a path lies in the session's roots.
	Inside func(path string) bool
	// Exists reports whether there is a file at a path; nil means that it is
	// unknown.
	Exists func(path string) bool
}

// Overflow keeps texts that are too long for the model.
type Overflow struct {
	// Shorten keeps a text if it is too long, and returns the text for the model;
	// nil cuts it.
	Shorten func(ctx context.Context, text string) string
	// Keep keeps a text, and returns the line by which the model can read all of
	// it; false if it could not be kept whole. Nil keeps nothing.
	Keep func(ctx context.Context, text string) (line string, ok bool)
}

// Helpers are models besides the one that answers.
type Helpers struct {
	// Reformat corrects inputs that do not fit their tool; nil leaves that to the
	// model that called it.
	Reformat *Reformatter
	// Compactor sums up what is compacted; nil means the session's model.
	Compactor llm.Model
}

// Toolset decides which tools the model is offered, and in which form. One turn at
// a time uses it.
type Toolset interface {
	// Begin chooses from all tools, by what the user typed and what the
	// conversation was so far.
	Begin(ctx context.Context, m llm.Model, prompt string, history []llm.Message, tools []llm.Tool)
	// Offer returns the tools for the next call of the model: those of the call
	// before in this turn, byte for byte, and after them the tools that have become
	// available. It is nil before the first turn.
	Offer(m llm.Model) []llm.Tool
	// Take strips hidden fields from a call of the model. Bare reports that the
	// call had no other fields.
	Take(call llm.ToolCall) (taken llm.ToolCall, bare bool)
}

// Input is what a turn begins with.
type Input struct {
	Content []acp.ContentBlock
	Instead string // what the model gets in place of the text of Content, if not empty
}

// budgetPercent is the share of the context at which a turn stops, so that an answer
// and its tool results still fit.
const budgetPercent = 80

// turn is one run of the loop.
type turn struct {
	*Agent
	model   llm.Model // of the next call
	direct  bool      // the user's own calls: the model stays Direct
	origin  executors.Origin
	tools   []executors.Tool
	offered []llm.Tool
	history []llm.Message
	message message // the message that chunks belong to
	doom    doom
	meter   llm.Meter // of history
	spoke   bool      // the last answer had text

	mayRun                 int  // rounds that the user allowed, beyond max_tool_iterations
	summaries, compactions int  // so far
	gaveUp                 bool // a summary failed
	wasRefused             bool // the provider refused a request as too long
	// bare are the calls of the last answer that had nothing but thoughts in them.
	bare map[string]bool
	// reflected is that the model was asked to think about a call of its own.
	reflected atomic.Bool
}

// Turn runs one prompt. It returns the history with the prompt and all that
// came of it, also with an error; the history is then one that every provider
// takes. Errors: a *acp.ParamsError for a prompt that cannot fit, of which
// nothing is recorded; one that wraps acp.ErrAuthRequired, ctx's cause after a
// cancel, else the provider's failure.
func (a *Agent) Turn(ctx context.Context, history []llm.Message, in Input) ([]llm.Message, acp.StopReason, error) {
	t := &turn{Agent: a, model: a.Model(), tools: a.Chain.Tools(), offered: a.Tools(), history: history}
	prompt := transcript.Prompt{MessageID: a.NewID(), Content: in.Content, Instead: in.Instead}
	if name, _ := local.Slash(strings.TrimSpace(transcript.Typed(in.Content))); in.Instead == "" && slices.Contains(a.Off, name) {
		prompt.Local = true
		a.Record(prompt)
		return history, acp.StopEndTurn, a.Say(ctx, fmt.Sprintf("/%s does nothing: all tools are switched off. Set enabled = true in [tools] of the configuration and open the session anew.", name))
	}
	if typed := transcript.Typed(in.Content); in.Instead == "" && (isDirect(t.model) || local.Spells(typed, t.offered)) {
		// Only what the user typed is a call of the user's, not what is in an
		// attached file.
		t.model, t.direct, t.origin = local.Direct{}, true, executors.User
		prompt.Instead, prompt.Alone = typed, true
	}
	if a.Mode != nil && !prompt.Alone {
		if line := a.Mode(); line != toldMode(history) {
			prompt.Mode = line
		}
	}
	if err := t.fits(prompt.Blocks(nil)); err != nil {
		return history, "", err
	}
	a.Record(prompt)
	reason, err := t.begin(ctx, prompt)
	var failed *llm.Error
	if errors.As(err, &failed) && failed.Auth && failed.Status == 0 {
		err = fmt.Errorf("%w: %w", acp.ErrAuthRequired, err)
	}
	return llm.Repair(t.history), reason, err
}

// Tools lists what the model is offered.
func (a *Agent) Tools() []llm.Tool {
	var out []llm.Tool
	for _, tool := range a.Chain.Tools() {
		out = append(out, llm.Tool{
			Name: tool.Name, Description: tool.Description, Schema: tool.Offered(), Invocation: llm.Invocation(tool.Invocation),
		})
	}
	return out
}

// Typed lists the tools that a person would call as /TOOL: those that do something
// outside the session and need at most one text, and no id of something.
func (a *Agent) Typed() []llm.Tool {
	var out []llm.Tool
	internal := map[string]bool{}
	for _, tool := range a.Chain.Tools() {
		internal[tool.Name] = tool.Effect.InternalOnly()
	}
	for _, tool := range a.Tools() {
		if !internal[tool.Name] && local.Short(tool) {
			out = append(out, tool)
		}
	}
	return out
}

// offers lists what the model is offered with the next call.
func (a *Agent) offers(m llm.Model) []llm.Tool {
	if a.Toolset != nil {
		if tools := a.Toolset.Offer(m); tools != nil {
			return tools
		}
	}
	return a.Tools()
}

// Say shows the user a message that is not the model's, and that no model sees.
func (a *Agent) Say(ctx context.Context, text string) error {
	id := a.NewID()
	a.Record(transcript.Note{MessageID: id, Text: text})
	return a.Send(ctx, acp.MessageChunk{Update: acp.UpdateAgentMessage, Content: acp.TextBlock(text), MessageID: id})
}

// system is the system prompt for a model: what is built in needs none.
func (a *Agent) system(m llm.Model) string {
	if a.System == nil || isDirect(m) {
		return ""
	}
	return a.System()
}

func isDirect(m llm.Model) bool {
	_, ok := m.(local.Direct)
	return ok
}

// begin adds the prompt to the history, with the texts of its links, and runs the
// loop.
func (t *turn) begin(ctx context.Context, prompt transcript.Prompt) (acp.StopReason, error) {
	at := len(t.history)
	t.history = append(t.history[:at:at], llm.Message{Role: llm.User, Blocks: prompt.Blocks(nil)})
	if err := t.leftOut(ctx, prompt); err != nil {
		return "", err
	}
	if a := t.Toolset; a != nil && !t.direct {
		a.Begin(ctx, t.model, cmp.Or(prompt.Instead, transcript.Typed(prompt.Content)), t.history[:at], t.offered)
	}
	if !prompt.Alone {
		instead := t.shorten(ctx, prompt.Content)
		linked, err := t.follow(ctx, prompt.Content)
		maps.Copy(instead, linked)
		t.history[at].Blocks = prompt.Blocks(instead)
		if err != nil {
			return "", err
		}
	}
	return t.run(ctx)
}

// run goes round the loop.
func (t *turn) run(ctx context.Context) (acp.StopReason, error) {
	for iteration := 0; ; iteration++ {
		if !t.direct {
			t.model = t.Model()
			if t.Toolset != nil {
				t.offered = t.offers(t.model)
			}
		}
		if err := t.makeRoom(ctx); err != nil {
			return "", err
		}
		switch full, size := t.overBudget(); {
		case full > 0:
			more := "raise agent.context_budget_tokens"
			if size == t.model.Window() { // a higher budget changes nothing
				more = "pick a model with a larger window"
			}
			return t.stop(ctx, acp.StopMaxTokens, "Stopped: the conversation takes about %d of %d tokens of context. Type /compact to make room, start a new session, or %s.", full, size, more)
		}
		if why, err := t.overRounds(ctx, iteration); err != nil {
			return "", err
		} else if why != "" {
			return t.stop(ctx, acp.StopMaxTurnRequests, "Stopped after %s of tool calls%s. Send another prompt to go on.", numberOf(iteration), why)
		}
		answer, err := t.ask(ctx)
		if err != nil {
			again, err := t.refused(ctx, err)
			if again {
				answer, err = t.ask(ctx)
			}
			if err != nil {
				return "", err
			}
		}
		switch answer.stop {
		case llm.StopMaxTokens:
			return t.end(ctx, acp.StopMaxTokens, "The model came to its limit of tokens before it answered (max_tokens of the provider).")
		case llm.StopRefusal:
			// The prompt and what followed is dropped from the history:
			// https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons
			t.history = t.history[:t.promptAt()]
			return t.end(ctx, acp.StopRefusal, "The model refused to answer.")
		}
		if len(answer.calls) == 0 {
			return t.end(ctx, acp.StopEndTurn, "The model ended its turn without an answer.")
		}
		outcomes, err := t.runCalls(ctx, answer.calls)
		if err != nil {
			return "", err
		}
		if why := t.doom.observe(outcomes); why != "" && t.origin == executors.Model {
			return t.stop(ctx, acp.StopMaxTurnRequests, "%s", why)
		}
	}
}

// end ends the turn. If the model's last answer had no text, the user gets ours:
// some clients show a turn without a last word as still running.
func (t *turn) end(ctx context.Context, reason acp.StopReason, ours string) (acp.StopReason, error) {
	if t.spoke {
		return reason, nil
	}
	return t.stop(ctx, reason, "%s", ours)
}

// stop ends the turn with a word to the user. The word is not the model's, so
// it stays out of the history.
func (t *turn) stop(ctx context.Context, reason acp.StopReason, format string, args ...any) (acp.StopReason, error) {
	t.message.end()
	return reason, t.Say(ctx, fmt.Sprintf(format, args...))
}

// promptAt is the index of the message that began this turn.
func (t *turn) promptAt() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		if isPrompt(t.history[i]) {
			return i
		}
	}
	return 0
}

// size is how many tokens the turn may fill; 0 means unknown.
func (t *turn) size() int {
	size := t.model.Window()
	if b := t.Config.ContextBudgetTokens; b > 0 && (size == 0 || b < size) {
		size = b
	}
	return size
}

// overBudget returns the tokens of the next request if they exceed the budget,
// and the size that the budget is a share of. The user's own calls need no room.
func (t *turn) overBudget() (full, size int) {
	size = t.size()
	if size == 0 || t.direct {
		return 0, 0
	}
	if n := t.tokens(); n*100 > size*budgetPercent {
		return n, size
	}
	return 0, size
}

// fits refuses a prompt that is larger than the model's window.
func (t *turn) fits(blocks []llm.Block) error {
	window := t.model.Window()
	n := llm.Tokens(llm.Request{Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}})
	if window > 0 && n > window {
		return &acp.ParamsError{Field: "prompt", Reason: fmt.Sprintf("takes about %d tokens, and the window of %s has %d: send less, or pick a model with a larger window", n, t.model.Name(), window)}
	}
	return nil
}
