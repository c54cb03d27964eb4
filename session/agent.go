package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Agent runs a session's turns; *agent.Agent implements it.
type Agent interface {
	// Turn runs one prompt. It returns the history that follows, even with an
	// error.
	Turn(ctx context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error)
	// Compact returns a shorter history with a summary of the given one. Focus
	// names the most important topic.
	Compact(ctx context.Context, history []llm.Message, focus string) ([]llm.Message, error)
	// Check asks the model a question about the end of a conversation; see agent.Agent.
	Check(ctx context.Context, history []llm.Message, c agent.Check) (answer string, reason acp.StopReason, err error)
	// RunScript runs a script of the shell between two turns.
	RunScript(ctx context.Context, words, script string) (agent.ScriptResult, error)
	// Say shows the user a message that no model sees.
	Say(ctx context.Context, text string) error
	// Warn is Say for a warning about the session.
	Warn(ctx context.Context, text string) error
	// CancelSubturn cancels the subturn of that caller id, if it runs.
	CancelSubturn(caller string)
	// CallCancel returns the function that cancels a tool call, and TerminalCancel the one that ends a
	// command in the background, by the id of its terminal. Each is nil if there is no such work.
	CallCancel(id string) func()
	TerminalCancel(id string) func()
	// Tools returns the tools that are offered to the model.
	Tools() []llm.Tool
	// Typed returns those tools that a user would call by a command.
	Typed() []llm.Tool
}

// Host is what a session offers to its agent. Its functions return current
// values.
type Host struct {
	ID         string
	Client     *acp.Client
	CWD        string   // absolute
	Dirs       []string // additional roots, absolute
	MCPServers []acp.MCPServer
	Resumed    bool           // the session is a stored one
	Unattended bool           // there is no user
	MCPWait    *time.Duration // how long the first prompt waits for the MCP servers; nil means as configured
	Mode       func() string
	SetMode    func(ctx context.Context, id string) error // also shows the client the change
	Model      func() llm.Model
	Thought    func() string
	// SystemPrompt returns the client's instructions; nil if it sent none.
	SystemPrompt func() *acp.SystemPrompt
	Record       func(...transcript.Event)
	Stored       func(ctx context.Context) // waits until the recorded events are stored
	// Update sends an update during a turn, after the events that it may reveal were stored. id
	// is the ID of the session or of a child session.
	Update   func(ctx context.Context, id string, u acp.SessionUpdate) error
	State    func(name string) json.RawMessage // the value of the last transcript.State of that name; nil if there is none
	Spend    func(llm.Model, llm.Usage) *acp.Cost
	Spent    func(ctx context.Context, store bool) agent.Spending // see agent.Watch
	Warn     func(text string)                                    // queues a warning for the user
	Withdraw func(text string)                                    // drops a warning that no longer applies
	Announce func()                                               // sends the commands again soon, if they have changed
}

// AgentSession is the agent of a session with its settings and warnings.
type AgentSession struct {
	Agent      Agent
	Tools      Tools    // nil if the tools have no state
	Mode       string   // the mode of a new session
	Warnings   []string // for the user
	Hint       string   // shown once by a new session to a client with notices; may be empty
	BeforeTurn func()   // called before each turn; it may call Warn. May be nil
	// AwaitStart waits, before the first turn shows its warnings, for what still starts, so that its
	// failures are among them; nil waits for nothing.
	AwaitStart func(context.Context)
}

// Tools is the state that a session's tools keep across turns.
type Tools interface {
	// Reset drops all state that a new conversation must not see.
	Reset()
	// Status returns the lines for /status, each a name, a colon and a text.
	Status() []string

	// Builtins returns the built-in commands that the tools answer.
	Builtins() []Builtin
	// Commands returns the commands of MCP servers and of files.
	Commands() []Command
	// Expand returns the prompt for one of these commands. It returns false if there is
	// no command of that name. An error ends the turn.
	Expand(ctx context.Context, name, rest string) (Expansion, bool, error)
	// Files restores the files that turns changed.
	Files() Files
	// Confirm asks the user a question with a text in Markdown below it. It returns false
	// if there is no user to ask.
	Confirm(ctx context.Context, question, text string) bool
	// Close ends background commands and waits for them.
	Close()
}

// Builtin is a built-in command.
type Builtin struct {
	Name, Description string
	Hint              string // for the text after the name; empty if it takes none
	// Run carries out the command with the text after its name, and returns the reply in
	// Markdown. It may ask the user.
	Run func(ctx context.Context, rest string) string
}

// Command is a command from an MCP server, "SERVER:PROMPT", or from a file, "DIR:NAME".
type Command struct {
	Name, Description string
	Hint              string // for its arguments; empty if it has none
}

// Expansion is the prompt that a command stands for.
type Expansion struct {
	Reply    string // for the user, instead of a prompt; empty if there is a prompt
	Preamble []transcript.Preamble
	Content  []acp.ContentBlock
	// Commands and Bounds are copied to agent.Input.
	Commands map[int]string
	Bounds   agent.Bounds
}
