// Package executors holds the contract of the tool system: what a tool is, what
// a call of it carries, what comes back, and how links are put around it.
//
// Every tool and every link of the chain is an [Executor]. Nothing about a call
// lives outside [Call] and [Result], so a link cannot lose a capability of what
// it wraps. Start with [Executor], then [Chain].
//
// The package knows no tool and no link that needs a policy; those are its
// sub-packages. It promises that a call nobody owns, or whose input does not fit
// the tool's schema, fails with a text that the model can act on.
//
// Why is a failing tool not an error? Because a failure is for the model to act
// on, and the turn goes on. An error ends the turn, so it is kept for a cancel
// and for a broken store.
package executors

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// Executor answers calls of the tools that it owns. All methods may be called
// concurrently.
type Executor interface {
	// Tools tells what may be offered to the model now.
	Tools() []Tool
	// Prepare tells what the call would do, without doing it. An error means
	// that it cannot be done: wrong input, a path outside the roots, a text to
	// replace that is not there. The card beside it tells what is known.
	Prepare(ctx context.Context, call *Call) (Card, error)
	// Execute runs the call. An error ends the turn; see the package doc.
	Execute(ctx context.Context, call *Call) (Result, error)
}

// Middleware puts one link around the rest of the chain.
type Middleware func(next Executor) Executor

// Chain puts links around inner; the first link is outermost. Before it, the
// tool of each call is looked up, once for all links.
func Chain(inner Executor, links ...Middleware) Executor {
	for i := len(links) - 1; i >= 0; i-- {
		inner = links[i](inner)
	}
	return resolver{inner}
}

// resolver sets a call's Spec. The tools can change between Prepare and Execute.
type resolver struct{ Executor }

func (r resolver) Prepare(ctx context.Context, call *Call) (Card, error) {
	call.Spec, _ = Find(r.Tools(), call.Tool)
	return r.Executor.Prepare(ctx, call)
}

func (r resolver) Execute(ctx context.Context, call *Call) (Result, error) {
	call.Spec, _ = Find(r.Tools(), call.Tool)
	return r.Executor.Execute(ctx, call)
}

// Tool is one entry of the tool registry, as a model is told of it.
type Tool struct {
	Name        string          // the tool id: lower case, underscores
	Description string          // Markdown, for the model
	Schema      json.RawMessage // JSON Schema of the input, an object
	Effect      Effect
	Kind        Kind // of its calls, for a call whose card cannot tell
	Invocation  Invocation
	Phase       Phase // of the calls that the model makes; PhaseAutonomous for the agent's own housekeeping
}

// Effect says what running a tool can do outside of it. Modes, the cache, the
// retry link and the audit log decide by it, never by the tool's name.
type Effect uint8

// The effects; a tool has one or more. One that says none is asked about as if
// it mutated.
const (
	Reads      Effect = 1 << iota // looks at files or processes
	Mutates                       // may change files or processes
	Network                       // may leave the machine
	Idempotent                    // running it twice is running it once
	Internal                      // changes what the session itself holds, such as its plan
)

// Has reports whether all effects of f are in e.
func (e Effect) Has(f Effect) bool { return e&f == f }

// ReadOnly reports whether the tool only looks, so that it does not matter in
// which order such calls run.
func (e Effect) ReadOnly() bool { return e&^Idempotent == Reads }

// InternalOnly reports whether the tool touches nothing outside the session, so
// that there is nothing to ask about.
func (e Effect) InternalOnly() bool { return e&^Idempotent == Internal }

// Origin is who wants a call.
type Origin uint8

// The origins.
const (
	Model Origin = iota // a language model asked for it
	User                // the user's own prompt spells it out
	Agent               // the agent's own housekeeping
)

// String gives the origin's name as the audit log writes it.
func (o Origin) String() string { return [...]string{"model", "user", "agent"}[o] }

// Phase is when in a turn a call is made. It is set by who makes the call, never
// inferred from the tool.
type Phase uint8

// The phases.
const (
	PhaseExecutor   Phase = iota // the model's answer asked for it
	PhasePlanner                 // before the first model call of the turn
	PhaseVerifier                // checks what the turn did
	PhaseAutonomous              // internal operations, such as compressing the context
)

// String gives the phase's name as the audit log writes it.
func (p Phase) String() string {
	return [...]string{"executor", "planner", "verifier", "autonomous"}[p]
}

// Call is one request to run a tool, with all that a link may want to know.
type Call struct {
	ID      string          // UUID; the toolCallId of the protocol
	Tool    string          // tool name
	Spec    Tool            // the tool of that name, set by Chain; zero if the session does not offer it
	Input   json.RawMessage // a JSON object; Prepare corrects it by the tool's schema
	Session string          // the ACP session id
	Caller  string          // the session id; a sub-agent appends its own
	Origin  Origin
	Phase   Phase
	Attempt int   // 1 is the first
	Slot    int64 // the call's number in its session, from 1; set by the quota link

	// Card is what Prepare told of the call. The permission link and the
	// client's user judge the call by it.
	Card Card
	// Unfit is why Prepare failed. Such a call cannot run; the permission link
	// fails it with this, after the gates that may have to deny it without a
	// word of what the files hold.
	Unfit error
	// Ask holds reasons to ask the user, added by gates. The permission link
	// asks if there are any, even where it would remember an "always".
	Ask []string
	// Judged is set by the permission link, and only by it, where it allows a
	// command without asking. A shell then runs Judged.Script, and in a read-only
	// place if Judged.ReadOnly says so; nil means that it runs the command as it
	// was written.
	Judged *Judged
	// Notes are lines for the model about the call itself, such as parameters that
	// were ignored. The link that adds them writes them below the result.
	Notes []string
	// Record holds facts for the audit line, written by the link that knows
	// them. It is never nil in a call that came through the chain.
	Record *Record
	// Notify tells the client of progress. It is never nil in a call that came
	// through the chain, and may be called from any goroutine until Execute
	// returns.
	Notify func(Event)
	// Admit judges a further card of a call that runs already, such as the next page
	// of a redirect, as the first card was judged; it may ask the user. An error
	// refuses it: a *Failure, or ctx's cause where the turn ends. The links that
	// judge calls set it; nil admits nothing. One goroutine at a time calls it.
	Admit func(ctx context.Context, card Card) error
	// Compress puts a summary in the place of the conversation before this call,
	// and tells what came of it. An error means that all is as it was. It is nil
	// where there is no conversation.
	Compress func(ctx context.Context, focus string) (string, error)
}

// Judged is a command in the form in which it was judged.
type Judged struct {
	Script   string // for bash; replaces the command of the call's input
	ReadOnly bool   // every command only reads; false where a rule or an answer for good allowed one
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

// Card is what a call would do: known before anybody is asked.
type Card struct {
	Title     string // one line for people; a command is shown whole
	Kind      Kind   // empty means KindOther
	Locations []Location
	Paths     []string // absolute, cleaned, symlinks resolved: what rules are matched against; both ends of a move
	Entries   bool     // Paths are of entries of directories: a link there is meant itself, not what it leads to
	Diffs     []Diff   // what a write or an edit would change
	Command   string   // the script a shell would run; empty for other tools
	Dir       string   // absolute; where Command would run
	// FullAccess reports that Command ran read-only before and failed because of
	// that. That it looks read-only is then no reason to allow it again.
	FullAccess bool
	URL        string // what would be asked on the web, in one form for all spellings; empty for other tools
}

// Location is a place in a file that the client may follow.
type Location struct {
	Path string // absolute
	Line int    // 1-based; 0 means the file as a whole
}

// Diff is a change of one file.
type Diff struct {
	Path string  // absolute
	Old  *string // nil means that the file is new
	New  string
}

// Image is a picture in a result.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// Content is one piece of what a client shows of a call: exactly one field is
// set.
type Content struct {
	Diff     *Diff
	Terminal string // terminal id at the client
	Image    *Image
}

// Result is what a call came to.
type Result struct {
	Text     string   // what model and editor get: filtered, masked, bounded; UTF-8
	Failed   bool     // the model should act on it; see the package doc
	Category Category // of the error taxonomy; empty for an ordinary exit code
	Said     string   // what people read instead of the [tool_error] block; empty: its error
	// RetryAfter is how long to wait before a failed call is made again, as the
	// other side asks; 0 means that it did not.
	RetryAfter time.Duration
	// Full is the full text where Text holds less, nil where Text is all: raw
	// as it leaves a tool; masked, and of a command the output alone, as it leaves
	// the filter. The overflow link stores and closes it.
	Full      *Spool
	Output    *Output // nil: Text is not what a command wrote
	Raw       any     // rawOutput; masked and bounded like Text; marshals to JSON
	Content   []Content
	Locations []Location
	// Valid reports whether the same call would give the same result now: a
	// file that was read still is what it was. The result cache asks it before
	// it gives a result again; nil means that it never may.
	Valid func() bool
	// ValidSize is how much memory Valid holds, in bytes, roughly.
	ValidSize int
	// Done, if not nil, is called once after the final update was sent, also
	// where it comes beside an error; it releases what the client still had to
	// show, such as a terminal.
	Done func()
}

// Below adds a line to a result, that is none of a command's output.
func (r *Result) Below(line string) {
	r.Text = JoinLines(r.Text, line)
	if r.Output != nil {
		r.Output.After = JoinLines(r.Output.After, line)
	}
	if r.Full != nil {
		_, _ = io.WriteString(r.Full, "\n"+line) // the text has it too
	}
}

// Output says where in a result the output of a command is: Text and Full have
// Before, the output and After, each beginning on a line of its own.
type Output struct {
	Before, After string // what the tool says of how the command ended; may be empty
	Partial       bool   // the command still runs, or an earlier result has the beginning
	Lost          bool   // more was written than was kept
}

// Texts is a Raw whose texts can be changed, to mask them.
type Texts interface {
	// WithTexts gives a copy whose texts went through change.
	WithTexts(change func(text string) string) any
}

// Status is a state of a call that links may announce.
type Status string

// The states between pending and the result.
const (
	InProgress Status = "in_progress"
)

// Event is progress of a call, for the client: exactly one field is set.
type Event struct {
	Status   Status // the call was allowed and starts
	Terminal string // a terminal of the client runs it from now on; its id there
	Output   []byte // more output of a command that runs here, as it came
	Exit     *Exit  // the command that runs here ended
	Plan     *Plan  // the agent's plan from now on
}

// Exit is how a command ended: one of its fields is set.
type Exit struct {
	Code   *int
	Signal string // e.g. "SIGKILL"
}

// Plan is what the agent is about to do: always the whole list, which replaces
// the one before. No entries clear what the client shows.
type Plan struct {
	Entries []PlanEntry
}

// PlanEntry is one step of a plan, in the protocol's words:
// https://agentclientprotocol.com/protocol/v1/agent-plan
type PlanEntry struct {
	Content  string // one line, for people
	Priority string // high, medium or low
	Status   string // pending, in_progress or completed
}

// Record collects facts for the audit line of one call. The link that knows a
// fact writes it; only one call uses a Record.
type Record struct {
	Decision string // allow, ask or deny
	Rule     string // why: the rule, mode or default that decided
	Answer   string // the option that the user chose, empty if not asked

	ClaimSource string    // where the content comes from, such as "mcp"; empty means by the call's kind
	ExitCode    *int      // of the command that ran; nil where none ran, or a signal ended it
	Truncated   bool      // the output is not all there was
	Cached      bool      // it was not run: the result of an earlier call still holds
	Before      int       // bytes of the output before it was filtered and cut; 0 means as many as came out
	Suspect     string    // what a reasoning model may have made up in the call; only a warning
	Rollback    *Rollback // a failed command was undone
}

// Rollback counts what was put back as it had been.
type Rollback struct {
	Restored int `json:"restored"` // files
	Deleted  int `json:"deleted"`  // files that were not there before
}
