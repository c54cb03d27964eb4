// Package executors is the contract of the tool system: tools, calls and their
// results, and the chain of links around them.
//
// Every tool and every link of the chain is an [Executor]. All facts about a
// call are in [Call] and [Result], so a link cannot lose a capability of the
// executor that it wraps. Start with [Executor], then [Chain].
//
// The package contains neither tools nor links with a policy; those are in its
// sub-packages. It promises that a call fails with a text for the model if the
// tool is unknown or the input does not fit its schema.
//
// Why is a failing tool not an error? Because the model can act on a failure,
// and the turn continues. An error ends the turn, so it is reserved for a
// cancel and for a broken store.
package executors

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

// Executor runs calls of the tools that it owns. All methods may be called
// concurrently.
type Executor interface {
	// Tools returns the tools that may currently be offered to the model.
	Tools() []Tool
	// Prepare returns a card of the call's effect, without the effect. An error
	// means that the call cannot run: wrong input, a path outside the roots, a
	// text to replace that does not occur. The card then holds the known part.
	Prepare(ctx context.Context, call *Call) (Card, error)
	// Execute runs the call. An error ends the turn; see the package doc.
	Execute(ctx context.Context, call *Call) (Result, error)
}

// Middleware puts one link around the rest of the chain.
type Middleware func(next Executor) Executor

// Chain puts links around inner; the first link is outermost. A nil link is skipped.
// Before the first link, the tool of each call is looked up, once for all links.
func Chain(inner Executor, links ...Middleware) Executor {
	for _, link := range slices.Backward(links) {
		if link != nil {
			inner = link(inner)
		}
	}
	return resolver{inner}
}

// resolver sets a call's Spec. A call that was prepared keeps it: if the tool is gone by then, its
// owner says so.
type resolver struct{ Executor }

func (r resolver) Prepare(ctx context.Context, call *Call) (Card, error) {
	call.Spec, _ = Find(r.Tools(), call.Tool)
	return r.Executor.Prepare(ctx, call)
}

func (r resolver) Execute(ctx context.Context, call *Call) (Result, error) {
	if call.Spec.Name != call.Tool {
		call.Spec, _ = Find(r.Tools(), call.Tool)
	}
	return r.Executor.Execute(ctx, call)
}

// Origin is the party that asked for a call.
type Origin uint8

// The origins.
const (
	Model Origin = iota // a language model asked for it
	User                // the user's own prompt contains the call
	Agent               // the agent's own housekeeping
)

// String returns the origin's name as the audit log writes it.
func (o Origin) String() string { return [...]string{"model", "user", "agent"}[o] }

// Phase is the part of a turn in which a call is made. The code that makes the
// call sets it; it is never inferred from the tool.
type Phase uint8

// The phases.
const (
	PhaseExecutor   Phase = iota // the model's answer asked for it
	PhasePlanner                 // before the first model call of the turn
	PhaseVerifier                // checks the work of the turn
	PhaseAutonomous              // internal operations, such as compressing the context
)

// String returns the phase's name as the audit log writes it.
func (p Phase) String() string {
	return [...]string{"executor", "planner", "verifier", "autonomous"}[p]
}

// Call is one request to run a tool, with all the data that the links need. Nothing about a call is
// kept elsewhere: a link that copies a call, such as for a further card, copies all of it.
type Call struct {
	// Whoever makes the call sets these. Links and tools read them.

	ID        string          // UUID; the toolCallId of the protocol
	Tool      string          // tool name
	Spec      Tool            // the tool of that name, set by Chain; zero if the session does not offer it
	Input     json.RawMessage // a JSON object; Prepare corrects it by the tool's schema
	Session   string          // the ACP session id
	Caller    string          // the session id; a sub-agent appends its own
	Origin    Origin
	Phase     Phase
	UserWords string // what the user typed in the prompt of this turn; "" if that is unknown
	Attempt   int    // 1 is the first

	// Card is the result of Prepare. The permission link and the client's user
	// check the call by it.
	Card Card
	// PrepareErr is the error of Prepare. Such a call cannot run. The permission
	// link fails it with this error, after the gates that may deny it without
	// revealing the contents of files.
	PrepareErr error
	// Record holds facts for the audit line. The link that learns a fact sets
	// it. It is never nil in a call that came through the chain.
	Record *Record
	// Notify reports progress to the client. It is never nil in a call that came
	// through the chain, and may be called from any goroutine until Execute
	// returns.
	Notify func(Event)

	Checking
	InTurn
	InSubturn
	OwnState
}

// Checking is what the links that check a call say about it. Each attempt begins with an empty one.
type Checking struct {
	// Ask holds reasons to ask the user, added by gates. The permission link
	// asks if there are any, even where it would remember an "always".
	Ask []string
	// Plain is set by the permission link alone, when it allows a command without
	// asking. A shell then runs Plain.Script, in the box if
	// Plain.ReadOnly is set. If Plain is nil, it runs the command as written.
	Plain *Plain
	// Notes are lines for the model about the call itself, such as parameters that
	// were ignored. The link that adds them writes them below the result.
	Notes []string
	// Rewrite is set by the hooks gate together with a denial: the input that replaces
	// Input in a new attempt, which every link checks. Nil means that the denial is
	// final.
	Rewrite json.RawMessage
	// Admit checks a further card of a running call, such as the next page of a
	// redirect, by the same rules as the first card. It may ask the user. An
	// error refuses the card: a *Failure, or ctx's cause if the turn ends. The
	// links that check calls set it; nil admits nothing. At most one goroutine
	// calls it at a time.
	Admit func(ctx context.Context, card Card) error
	// BoxError returns why the command cannot run in the box, nil if it can. The first gate that asks
	// sets it, so that all gates of a call agree; nil means that none has asked.
	BoxError func() error
}

// InTurn is what the turn loop offers to the tools of its calls.
type InTurn struct {
	Rewrites int // attempts that began with [Checking.Rewrite]
	// Skipped, if not nil, means that the call is only checked. A gate that would run
	// a program or ask a model does not. It calls Skipped with a description of the
	// skipped work, such as "the hook lint.sh", and returns an empty verdict.
	Skipped func(what string)
	// Steered is closed when the user adds a text to the turn: a call that only waits
	// then returns. Nil means that the turn accepts no further texts.
	Steered <-chan struct{}
	// Compress replaces the conversation before this call by a summary, and
	// returns a report for the model. After an error nothing has changed. It is nil
	// if there is no conversation.
	Compress func(ctx context.Context, focus string) (string, error)
	// Delegate runs a task in a subturn; see [Delegation]. It is nil if there is no
	// model, or if the caller is a subturn itself.
	Delegate func(ctx context.Context, d Delegation) (Report, error)
	// Question asks the user; see [Question]. The error is for the model, or ctx's cause.
	// It is nil if the call does not come from a model, or comes from a subturn.
	Question func(ctx context.Context, q Question) (Reply, error)
}

// InSubturn is what a subturn sets for the calls of its sub-agent or skill; empty for the session's own calls.
type InSubturn struct {
	// Bounds returns the failure of a call that the subturn may not make, or nil. The gate
	// "delegation" enforces it.
	Bounds func(call *Call) *Failure
	// Precondition returns a failure if a condition of the call no longer holds: for instance,
	// the file has changed while the user was asked. It is called right before the effect. Nil
	// means that the call has no condition.
	Precondition func(ctx context.Context) *Failure
	InCopy       bool // the call acts in a copy of the project, and not in the project
	// Env are secrets for the command of the call, as NAME=value. Only the shell on this
	// machine gets them; they are neither shown nor recorded.
	Env []string
}

// OwnState is what single links keep while the call runs. Each field has one owner, and no other link
// reads it.
type OwnState struct {
	Slot    int64 // of the quota: the call's number in its session, from 1
	Rules   any   // of package permission: the rules that check the call, even if they change meanwhile
	Edit    any   // of package lsp: the files that the call changes, or whose change it checks
	fitting fitting
}

// Server returns the MCP server that the call asks; "" if it asks none.
func (c *Call) Server() string { return cmp.Or(c.Spec.Server, c.Card.Server) }

// Plain is the plain form of a command, in which it runs.
type Plain struct {
	Script   string // for bash; replaces the command of the call's input
	ReadOnly bool   // every command only reads; false if a rule or an "always" allowed one
}

// Kind is the category of a call that the client shows, in the protocol's words:
// https://agentclientprotocol.com/protocol/v1/tool-calls#creating
type Kind string

// The kinds.
const (
	KindRead       Kind = "read"
	KindEdit       Kind = "edit"
	KindDelete     Kind = "delete"
	KindMove       Kind = "move"
	KindSearch     Kind = "search"
	KindExecute    Kind = "execute"
	KindThink      Kind = "think"
	KindFetch      Kind = "fetch"
	KindSwitchMode Kind = "switch_mode"
	KindOther      Kind = "other"
)

// Card describes the effect of a call before it runs, for the rules and the user.
type Card struct {
	Title     string // one line for people; a command is shown whole
	Kind      Kind   // empty means KindOther
	Locations []Location
	Paths     []string            // absolute, cleaned, symlinks resolved: rules are matched against these; both ends of a move
	Source    string              // the one of Paths that the call only reads: the source of a copy; empty if it changes all of them or none
	NoFollow  bool                // Paths are of entries of directories: a symlink stands for itself, not for its target
	Changes   []filechange.Change // of files, as far as they are known; empty but not nil if the call would change nothing
	Said      string              // Markdown that the agent says before the call, which then does not repeat it, such as a plan; may be empty
	Asked     string              // Markdown that only a question about the call shows, such as the files that it deletes; may be empty
	// Script is what a shell would run, parsed by the tool's Prepare; nil for other tools. Whoever
	// checks, undoes or filters the command reads it here and does not parse it again.
	Script *command.Script
	// FullAccess reports that Script failed before because of its read-only
	// sandbox. It must then not be allowed again on the ground that it only
	// reads.
	FullAccess bool
	URL        string // the address of a web request, normalised; empty for other tools
	Server     string // the MCP server that is asked, if the tool itself belongs to no server
	Deferred   bool   // it acts later, while no user watches: no "always" covers it
}

// Command returns the script that a shell would run, as written; empty for other tools.
func (c Card) Command() string {
	if c.Script == nil {
		return ""
	}
	return c.Script.Text
}

// Dir returns the absolute directory in which Command would run; empty for other tools.
func (c Card) Dir() string {
	if c.Script == nil {
		return ""
	}
	return c.Script.Shell.Dir
}

// Location is a place in a file that the client may follow.
type Location struct {
	Path string // absolute
	Line int    // 1-based; 0 means the file as a whole
}

// Image is a picture in a result.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// Content is one item that a client shows for a call: exactly one field is set.
type Content struct {
	Change   *filechange.Change
	Terminal string // terminal id at the client
	Image    *Image
}

// Result is the result of a call. ForModel and ForPeople return its whole text.
type Result struct {
	Failed  bool     // the model should act on it; see the package doc
	Failure *Failure // precedes Text; nil for an ordinary exit code
	Text    string   // the tool's own text or the output of a command: filtered, masked, bounded; UTF-8
	// Long is the text in place of Text if it is too long for a string, else nil. Bound replaces it.
	Long  *Spool
	Notes []string // lines below Text, such as "[exit 1]"; Below adds one
	// Full is the full text if Text or Long holds only a part of it, else nil. A tool
	// returns it raw, and the filter masks it. The overflow link stores and closes it.
	Full *Spool
	// Shorten returns at most limit characters of the masked text. It is called if the text is too long.
	// Nil means that its head and tail stay.
	Shorten func(whole *io.SectionReader, limit int) string
	// Excerpt returns the masked text in about budget characters: the names and places of everything in
	// it, and the details that are worth most. It reports false if the text has no such parts. Nil means
	// that its parts are unknown.
	Excerpt   func(whole *io.SectionReader, budget int) (string, bool)
	Output    *Output // nil: Text is not the output of a command
	Raw       any     // rawOutput; masked and bounded like Text; marshals to JSON
	Content   []Content
	Locations []Location
	// Valid reports whether the same call would have the same result now,
	// because the files that it read are unchanged. The result cache calls it
	// before it returns a result again. Nil means that the result must not be
	// cached.
	Valid func() bool
	// ValidSize is roughly how much memory Valid holds, in bytes.
	ValidSize int
	// Unchanged reports that a call that could have changed something found nothing to change.
	Unchanged bool
	// Done, if not nil, is called once after the final update was sent, even if
	// Execute returned an error. It releases resources that the client still had
	// to show, such as a terminal.
	Done func()
}

// Output describes the output of a command in the Text of a result.
type Output struct {
	Partial  bool // the command is still running, or an earlier result has the beginning
	Lost     bool // more was written than was kept
	Open     bool // the output does not end in a line feed, but Long does
	Filtered bool // the last of the Notes reports how many lines a filter removed
}

// Status is a state of a call that links may announce.
type Status string

// The states between pending and the result.
const (
	InProgress     Status = "in_progress"
	QuestionOpen   Status = "question open"   // the user is asked about the call
	QuestionClosed Status = "question closed" // the answer is there, or nobody waits for it
)

// Event is progress of a call, for the client: exactly one field is set.
type Event struct {
	Status   Status // InProgress: the call was allowed and starts
	Terminal string // a terminal of the client runs it from now on; its id there
	Output   []byte // more output of a command that runs here, unchanged
	Progress string // a line about how far the call has come
	Exit     *Exit  // the command that runs here ended
	// Background, if not nil, says that the command goes on after its call: its output and its exit follow.
	// The function ends it, and waits a short time for the end.
	Background func()
	Plan       *Plan // the agent's plan from now on, or the plan that the user approved
}

// Exit is how a command ended: one of its fields is set.
type Exit struct {
	Code   *int
	Signal string // e.g. "SIGKILL"
}

// Plan is the plan of the agent: always the whole list, which replaces the one
// before. An empty plan clears the client's view. With Approved it is a document instead,
// which stands beside the list.
type Plan struct {
	Entries  []PlanEntry
	Approved string // Markdown
}

// PlanEntry is one step of a plan, in the protocol's words:
// https://agentclientprotocol.com/protocol/v1/agent-plan
type PlanEntry struct {
	Content  string // one line, for people
	Priority string // high, medium or low
	Status   string // pending, in_progress or completed
}
