// Package agent is the turn loop: it calls the model, runs the tool calls and sends the
// results back. The turn ends when the model makes no more calls, or at a limit.
//
// Start with [Agent.Turn]. The client is notified of each action of a turn before and after it.
// Every tool call in the history has its result. A failing tool never ends a turn, and a turn that
// ends without an error ends with a text. A turn gets the history from its caller and returns the
// new one. Between turns the agent keeps only a cache.
//
// Why does Direct answer a /TOOL prompt, regardless of the session's model? Such a prompt
// is the user's own call. It needs no model, and passes the same chain.
//
// Why is compaction in this package? Compaction and the loop change the same
// history, and each decides when the other continues.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Agent runs the turns of one session, one at a time. Its exported fields must
// not change after the first turn.
type Agent struct {
	Config  Config
	Session string // ACP session id
	Chain   executors.Executor
	NewID   func() string // returns UUIDs for tool calls and messages
	// Exit is applied to what reaches the model and the history, such as the inputs and results of
	// calls, but not to words of the user and the model.
	Exit texts.Change
	Log  *slog.Logger

	Client
	State
	Workspace
	Overflow
	Helpers

	// System and Project return the two parts of the system prompt; nil means no prompt. They
	// are called when a model first needs the prompt, which must stay the same until the
	// conversation is cleared. Project differs between projects.
	System, Project func() string
	// Toolset decides which tools the model is offered; nil offers all.
	Toolset Toolset
	// Ready is called, with the text that the user typed, before the tools of a turn are
	// listed. The tools stay the same until the end of the turn. A nil Ready means that
	// they never change.
	Ready func(ctx context.Context, typed string)
	// News returns the events since the last turn; nil means that there are never events.
	// direct means that no model sees the prompt.
	News func(ctx context.Context, direct bool) News
	// Hooks run at events of a turn; nil means no hooks.
	Hooks Hooks
	// Disabled are the names of the tools that the configuration disables.
	Disabled []string
	// Tracer records the turns; nil records nothing.
	Tracer *trace.Tracer

	cache llm.Cache // the encoded form of the conversation
	// writesCache reports that the provider counted tokens that it wrote to its cache.
	writesCache bool
	// These end parts of the work: subturns by their caller, calls and commands in the background by the id
	// of the call.
	subturns, calls, terminals cancels
	rounds                     roundQuestions
}

// Client holds the client's functions and capabilities.
type Client struct {
	Send func(context.Context, acp.SessionUpdate) error
	// Ask asks the user and returns the id of the chosen option, or "" if the
	// question was dismissed. An error means that no one answered. Nil means
	// that there is no user to ask.
	Ask func(context.Context, acp.ToolCall, []acp.PermissionOption) (string, error)
	// Elicit shows the user a form. Nil means that the client shows no forms, or that
	// there is no user.
	Elicit func(context.Context, acp.ElicitRequest) (acp.ElicitResult, error)
	// ContinueUnasked reports whether a turn continues after max_tool_iterations rounds
	// without a question; nil means that it asks.
	ContinueUnasked func() bool
	// RoundLimit replaces these questions where no one answers them.
	RoundLimit RoundLimit
	// SendAs sends an update of a child session; nil means that the client does not show
	// child sessions, and subturns are shown as steps of the call that began them.
	SendAs func(ctx context.Context, session string, u acp.SessionUpdate) error
	// ShowCompactions reports whether the client shows updates of kind
	// compaction_update, and Notices whether it shows notices.
	ShowCompactions, Notices bool
	// StreamTerminals reports that the client has no terminals but shows those
	// that an agent streams (_meta.terminal_output).
	StreamTerminals bool
	// TitlesTerminals reports that the client takes the header of a terminal from the title of the next update of its
	// call.
	TitlesTerminals bool
	// CancelsCalls reports that the client can cancel single tool calls.
	CancelsCalls bool
	// ShowsErrors reports that the client shows the error of a prompt. Otherwise the failure of a provider is also a
	// message.
	ShowsErrors bool
}

// State is the state of the session, which may change during a turn.
type State struct {
	// Model and Thought are called before each request to a model. Thought
	// returns one of llm.Levels, or "" for the model's default.
	Model   func() llm.Model
	Thought func() string
	// Learn asks the model's server for unknown facts about it, such as its window, and waits a
	// short time; nil asks nothing.
	Learn func(context.Context, llm.Model)
	// Mode returns the line that describes the session's mode to the model, or
	// ""; nil means no line.
	Mode func() string
	// Memory returns the line about saved memories for the model, or ""; nil means no line.
	// The model reads it once in a conversation.
	Memory func() string
	// Record records events. Client.Send stores them before it sends a frame, which may reveal
	// their results, and Stored waits until they are stored.
	Record func(...transcript.Event)
	Stored func(context.Context)
	// Spend counts an answer and returns the cost of the session so far; nil
	// means that prices are unknown.
	Spend func(llm.Model, llm.Usage) *acp.Cost
	// Background returns the commands in the background, one line each; nil means none.
	Background func() []string
	// Watch stops turns at their budget; nil if there is none.
	Watch *Watch
	// Suspected is called for each call with names that the model may have made
	// up.
	Suspected func()
}

// Workspace answers questions about absolute paths and URIs.
type Workspace struct {
	// Inside reports whether a path lies in the session's roots.
	Inside func(path string) bool
	// Exists reports whether a file exists at a path; nil means unknown.
	Exists func(path string) bool
	// IsProgram reports whether a name is a known program's; nil knows none.
	IsProgram func(name string) bool
	// Attached is called with each resource that a prompt embeds; nil ignores them.
	Attached func(context.Context, *acp.Resource)
	// Resource returns the call that reads a URI from an MCP server, or "" if no
	// server has it; nil means no servers.
	Resource func(uri string) (tool string, input map[string]string)
}

// Overflow stores texts that are too long for the model.
type Overflow struct {
	// Shorten stores a text if it is too long, and returns the text for the
	// model. Nil truncates it.
	Shorten func(ctx context.Context, text string) string
	// Keep stores a text and returns the line with which the model can read all
	// of it. It returns false if the text could not be stored completely. Nil
	// stores nothing.
	Keep func(ctx context.Context, text string) (line string, ok bool)
}

// Helpers are models for work outside the conversation.
type Helpers struct {
	// Reformat corrects inputs that do not fit their tool; nil leaves that to
	// the calling model.
	Reformat *Reformatter
	// Compactor summarizes the messages that a compaction removes; nil means
	// the session's model.
	Compactor llm.Model
	// OpenModel returns the model of a subturn by its name; nil means that subturns
	// have the session's model.
	OpenModel func(name string) (llm.Model, error)
}

// Toolset decides which tools the model is offered, and in which form. It is
// used by one turn at a time.
type Toolset interface {
	// Begin chooses from all tools, by the prompt that the user typed and by
	// the conversation so far.
	Begin(ctx context.Context, m llm.Model, prompt string, history []llm.Message, tools []llm.Tool)
	// Offer returns the tools for the next call of the model: the tools of the
	// previous call in this turn, byte for byte, then those that have become
	// available. It is nil before the first turn.
	Offer(m llm.Model) []llm.Tool
	// StripCall strips hidden fields from a model's call. bare reports that the call
	// had no other fields.
	StripCall(call llm.ToolCall) (stripped llm.ToolCall, bare bool)
}

// Bounds returns the failure of a prepared call that a prompt does not permit, or nil. A
// nil Bounds permits every call.
type Bounds func(*executors.Call) *executors.Failure

// Input is the prompt of a turn.
type Input struct {
	Content   []acp.ContentBlock
	ModelText string // if not empty, replaces the text of Content for the model
	// ModelContent, if not empty, replaces all of Content for the model, which also sees
	// the Preamble messages before it.
	ModelContent []acp.ContentBlock
	Preamble     []transcript.Preamble
	// Commands are commands of the shell, by the index of the part of ModelContent that their
	// output replaces. They are checked like calls of the model.
	Commands map[int]string
	Bounds   Bounds // on all calls of the turn but the user's own
	// Inbox has the texts that the user adds while the turn runs; nil means no texts.
	Inbox  *Inbox
	Caller acp.Trace // the client's span; empty if the prompt names none
	// Words are what the user said, for a prompt with which the session itself continues; empty
	// means the text of Content.
	Words string
	// Supervisor follows the turn; nil means that no one does.
	Supervisor Supervisor
}

// Supervisor follows a turn that is one of several towards a goal. Its methods may be called
// concurrently.
type Supervisor interface {
	// Next is called before each request to the model, instead of asking the user whether the
	// turn continues. A stop reason ends the turn.
	Next() acp.StopReason
	// Ended is called with the message with which the agent itself, and not its model, ends the turn.
	Ended(message string)
	// Waits is called when a question to the user is opened, and when it is answered.
	Waits(open bool)
}

// isCommand reports whether a command stands for the prompt.
func (in Input) isCommand() bool { return in.ModelText != "" || len(in.ModelContent) > 0 }

// NoModel answers a command that only a model could carry out.
const NoModel = "No model is configured. Send any other text to see how to set one up."

// emptyAnswer asks a model again that neither answered nor made a call.
const emptyAnswer = "[Your answer was empty. Answer the user, or make a tool call.]"

// NoAnswer is the note about a turn in which the model said nothing.
const NoAnswer = "The model ended its turn without an answer."

// Turn runs one prompt. It returns the history with the prompt and everything that followed, even
// with an error. Every provider accepts that history. The error is a *acp.ParamsError for a prompt
// that cannot fit, or a *BlockedError, which are not recorded; one that wraps acp.ErrAuthRequired;
// ctx's cause after a cancel; or the provider's failure.
func (a *Agent) Turn(ctx context.Context, history []llm.Message, in Input) (_ []llm.Message, reason acp.StopReason, err error) {
	ctx, span := a.startSpan(ctx, in.Caller)
	defer func() { endTurn(ctx, span, reason, err) }()
	typed := cmp.Or(in.Words, transcript.TypedText(in.Content))
	if a.Ready != nil {
		a.Ready(ctx, typed)
	}
	tools := a.Chain.Tools()
	known := forModel(tools)
	t := &turn{
		Agent: a, model: a.Model(), tools: tools, known: known, offered: known, history: history, typed: typed, inbox: in.Inbox, bounds: in.Bounds,
		maskedTo: len(history), supervisor: in.Supervisor,
	}
	prompt := transcript.Prompt{MessageID: a.NewID(), Content: in.Content, ModelText: in.ModelText, ModelContent: in.ModelContent}
	if reply := t.unanswerable(in, typed); reply != "" {
		prompt.NoModel = true
		a.Record(prompt)
		return history, acp.StopEndTurn, a.Say(ctx, reply)
	}
	if !in.isCommand() && (isDirect(t.model) || local.IsToolCommand(typed, t.offered)) {
		// Only typed text counts as the user's call, never the text of an attached
		// file.
		t.model, t.direct, t.origin = local.Direct{}, true, executors.User
		prompt.ModelText, prompt.OmitContent = typed, true
	}
	if a.Learn != nil && !t.direct {
		a.Learn(ctx, t.model)
	}
	if len(in.Content) > 0 { // else the session continues a turn
		a.Watch.beginTurn()
	}
	if a.Mode != nil && !prompt.OmitContent {
		if line := a.Mode(); line != statedMode(history) {
			prompt.Mode = line
		}
	}
	if a.Memory != nil && !prompt.OmitContent {
		prompt.Memory = newMemoryLine(history, a.Memory())
	}
	if len(in.Content) > 0 { // else it is not a prompt of the user
		if err := a.runPromptHooks(ctx, &prompt); err != nil {
			return history, "", err
		}
	}
	if err := t.checkFits(prompt.Blocks(nil)); err != nil {
		return history, "", err
	}
	news := a.news(ctx, &prompt)
	prompt, news = texts.Map(prompt, a.Exit), texts.Map(news, a.Exit)
	a.Record(append(t.addPreamble(in.Preamble, prompt), news.Events...)...)
	if news.User != "" {
		if err := a.sayParagraph(ctx, news.User); err != nil {
			return llm.Repair(t.history), "", err
		}
	}
	reason, err = t.start(ctx, prompt, in.Commands)
	if failed, ok := errors.AsType[*llm.Error](err); ok {
		if !a.ShowsErrors { // some clients show only the messages of a turn, and others only its error
			if sayErr := a.Say(ctx, "\n\n"+failed.Error()); sayErr != nil {
				a.Log.Debug("failure", "err", sayErr)
			}
		}
		if failed.Auth {
			err = loginError{err}
		}
	}
	return llm.Repair(t.history), reason, err
}

// loginError is a failure, in its own words, for which clients offer a login: a key is missing or refused.
type loginError struct{ error }

func (e loginError) Unwrap() []error { return []error{e.error, acp.ErrAuthRequired} }

// unanswerable returns the reply to a prompt that neither a tool nor a model can answer,
// or "".
func (t *turn) unanswerable(in Input, typed string) string {
	name, _ := local.SplitCommand(strings.TrimSpace(typed))
	switch {
	case !in.isCommand() && slices.Contains(t.Disabled, name):
		return fmt.Sprintf("/%s does nothing: all tools are switched off. "+
			"Set enabled = true in [tools] of the configuration and open the session again.", name)
	case in.isCommand() && isDirect(t.model): // it would run calls that other people's text contains, such as an attached file
		return NoModel
	}
	return ""
}

// addPreamble appends the earlier messages to the history, and returns the events of the
// prompt with them.
func (t *turn) addPreamble(earlier []transcript.Preamble, prompt transcript.Prompt) []transcript.Event {
	var events []transcript.Event
	t.history = slices.Clip(t.history)
	for _, e := range earlier {
		events = append(events, e)
		t.history = append(t.history, e.Message())
	}
	return append(events, prompt)
}

// Tools returns the tools that the model is offered.
func (a *Agent) Tools() []llm.Tool { return forModel(a.Chain.Tools()) }

// forModel returns tools as models get them.
func forModel(tools []executors.Tool) []llm.Tool {
	out := make([]llm.Tool, len(tools))
	for i, tool := range tools {
		out[i] = llm.Tool{
			Name: tool.Name, Description: tool.Description, Schema: tool.Offered(), Invocation: llm.Invocation(tool.Invocation),
			Foreign: tool.Server != "", Aliases: tool.Names.Aliases(), Seldom: tool.Is(executors.Seldom),
		}
	}
	return out
}

// Typed returns the tools that a user would call as /TOOL: those that act
// outside the session, take at most one text, and need no id.
func (a *Agent) Typed() []llm.Tool {
	var out []llm.Tool
	tools := a.Chain.Tools()
	for i, tool := range forModel(tools) {
		if !tools[i].Effect.InternalOnly() && local.NeedsNoJSON(tool) {
			out = append(out, tool)
		}
	}
	return out
}

// offeredTools returns the tools for the model's next call.
func (a *Agent) offeredTools(m llm.Model) []llm.Tool {
	if a.Toolset != nil {
		if tools := a.Toolset.Offer(m); tools != nil {
			return tools
		}
	}
	return a.Tools()
}

// unlisted returns our own tools that are not offered now, and run nevertheless.
func (t *turn) unlisted() []llm.Tool {
	return slices.DeleteFunc(slices.Clone(t.known), func(tool llm.Tool) bool {
		return tool.Foreign || slices.ContainsFunc(t.offered, func(o llm.Tool) bool { return o.Name == tool.Name })
	})
}

// Say shows the user a message of the agent that no model sees.
func (a *Agent) Say(ctx context.Context, text string) error {
	return a.sendNote(ctx, transcript.Note{MessageID: a.NewID(), Text: text})
}

// Warn is Say for a warning about the session.
func (a *Agent) Warn(ctx context.Context, text string) error {
	return a.sendNote(ctx, transcript.Note{MessageID: a.NewID(), Text: text, Warning: true})
}

func (a *Agent) sendNote(ctx context.Context, n transcript.Note) error {
	a.Record(n)
	return a.Send(ctx, acp.MessageChunk{Update: acp.UpdateAgentMessage, Content: acp.TextBlock(n.Text), MessageID: n.MessageID})
}

// sayParagraph is Say for a message that other messages follow. Some clients join the messages of a
// turn, so it ends a paragraph.
func (a *Agent) sayParagraph(ctx context.Context, text string) error { return a.Say(ctx, text+"\n\n") }

// structuredCalls is a part of the system prompt for models that call tools natively.
const structuredCalls = "Call tools by structured calls, never in text."

func isDirect(m llm.Model) bool {
	_, ok := m.(local.Direct)
	return ok
}
