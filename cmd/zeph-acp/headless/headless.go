// Package headless is the editor for "zeph-acp run" and "zeph-acp chat": a real ACP client
// with buffers, terminals and a user, over a real pipe, for the turns of one session.
//
// [Screen] shows turns. For a terminal of known width it prints whole lines:
// wrapped words, folded results, Markdown laid out. Elsewhere it prints text as it comes.
//
// Start with a [Turn] with a [View], which shows the turn, and an [Approver], which
// answers permission requests, and call Run. All processes that the package starts
// are ended, and its output cannot control the user's terminal. The agent cannot
// distinguish it from another client. It speaks both versions of the protocol, but a View
// always gets updates in the form of version 1.
package headless

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// Turn is one prompt in a new session or in a stored one, and those that follow it. All
// fields except Protocol, Dirs, Mode, Model, Resume, Started, Opened, Ended, Next, Interrupt,
// Env, Elicitor, Listen, Scan and Reaper are required. Prompt may be nil if there is a Next.
type Turn struct {
	Server *acp.Server // fresh; Run serves it
	// Protocol is acp.Protocol1 or acp.Protocol2; empty means acp.Protocol1. In version 2, files
	// and commands are the agent's own.
	Protocol string
	Dir      string   // absolute path; the session's cwd
	Dirs     []string // absolute paths; the session's additional directories
	Mode     string   // empty means the configured one
	Model    string   // empty means the session's
	Resume   string   // the session to continue with; empty means a new one
	// Started is called with the id of the session before the prompt is sent. Its error
	// ends the turn.
	Started func(session string) error
	// Opened gets the state of the session, the result of session/new or session/resume,
	// and a function that sends a request about it.
	Opened func(state json.RawMessage, call Call)
	// Ended is called after the last turn with its end, before its processes are stopped.
	Ended  func(ctx context.Context, stop acp.StopReason, err error)
	Prompt []acp.ContentBlock
	// Next returns the prompt after a turn that ended with stop or err; nil ends the
	// conversation.
	Next      func(stop acp.StopReason, err error) []acp.ContentBlock
	Interrupt <-chan struct{} // each value cancels the running turn, but not the conversation
	Env       []string        // NAME=VALUE; the environment of the terminals
	View      View
	Approver  Approver
	Elicitor  Elicitor // asked in version 2 only; nil means that there are no forms
	// Listen calls steer with each text that the person adds to the turn, until stop is
	// called. Nil means that no one types.
	Listen func(steer Steer) (stop func())
	Scan   *redact.Scanner // masks the terminals' output for View; nil leaves it unmasked
	Reaper *process.Reaper // ends the terminals' processes if this process is killed; may be nil

	terminals terminals
}

// Call sends a request and waits for its result, which may be nil.
type Call func(method string, params, result any) error

// Steer adds a text to the running turn. It returns the outcome in words, and reports
// whether the turn no longer accepts text: then it could be the next prompt.
type Steer func(text string) (outcome string, isPrompt bool)

// View shows a turn. Its methods are called concurrently.
type View interface {
	// Update shows a session/update, whose params these are.
	Update(params json.RawMessage)
	// Output shows output of a terminal, in whole runes.
	Output(terminal string, text []byte)
	// End shows how the turn ended: with a stop reason, or without one. It is
	// the last call.
	End(stop acp.StopReason, err error)
}

// NoView is a View that shows nothing.
type NoView struct{}

func (NoView) Update(json.RawMessage)    {}
func (NoView) Output(string, []byte)     {}
func (NoView) End(acp.StopReason, error) {}

// Approver answers permission requests. It returns the chosen option, ctx's error if
// the question was withdrawn, or an error which reports that there is no one to ask.
type Approver interface {
	Approve(ctx context.Context, p acp.RequestPermissionRequest) (Choice, error)
}

// Choice is the answer to a permission request.
type Choice struct {
	OptionID string
	Reason   string // in the user's words, for the model; may be empty
}

// Elicitor answers questions with a form, or with an address to visit.
type Elicitor interface {
	Elicit(ctx context.Context, p acp.ElicitRequest) acp.ElicitResult
}

// ModeError reports that the session has no such mode.
type ModeError struct {
	Mode  string
	Known []string
}

// Error lists the available modes.
func (e *ModeError) Error() string {
	return fmt.Sprintf("unknown mode %q: want %s", e.Mode, strings.Join(e.Known, ", "))
}

// Run starts the server, runs the turn and stops everything that was started.
// When ctx ends, the turn is cancelled as an editor does it, and Run waits for
// the agent's answer.
//
// Its error is a *jsonrpc2.Error if the agent answered with one, a *ModeError,
// or ctx's cause if ctx ended before there was a turn.
func (t *Turn) Run(ctx context.Context) (acp.StopReason, error) {
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	t.Server.Config.Protocol = cmp.Or(t.Protocol, acp.Protocol1)
	var serving sync.WaitGroup
	serving.Go(func() {
		// The client hangs up in any case, so the server needs no context.
		_ = agentOut.CloseWithError(t.Server.Serve(context.WithoutCancel(ctx), agentIn, agentOut))
	})
	c := &client{Turn: t, inFlight: map[jsonrpc2.ID]context.CancelFunc{}}
	c.dialect = version1{c}
	if t.Server.Config.Protocol == acp.Protocol2 {
		c.dialect = newVersion2(c)
	}
	stream := &lineStream{in: bufio.NewReader(fromAgent), out: toAgent}
	c.stream = stream
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), stream, c, jsonrpc2.SetLogger(discard{}))

	stop, err := c.turn(ctx, conn)
	if t.Ended != nil {
		t.Ended(ctx, stop, err)
	}
	_ = toAgent.Close() // as an editor ends its agent
	serving.Wait()
	<-conn.DisconnectNotify() // by then all output of the agent is read
	c.work.Wait()
	t.terminals.close()
	t.View.End(stop, err)
	return stop, err
}

// Abort ends all processes of the turn immediately and returns when they have
// exited. It is for a user who does not want to wait for Run any longer.
func (t *Turn) Abort() { t.terminals.close() }

// turn is the client's side of one prompt, from the start to the end.
func (c *client) turn(ctx context.Context, conn *jsonrpc2.Conn) (acp.StopReason, error) {
	call := func(method string, params, result any) error {
		err := conn.Call(ctx, method, params, result)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	if err := call("initialize", c.dialect.initialize(), nil); err != nil {
		return "", err
	}
	session, state, err := c.openSession(call)
	if err != nil {
		return "", err
	}
	if err := c.configure(call, session, state); err != nil {
		return "", err
	}
	if c.Started != nil {
		if err := c.Started(session); err != nil {
			return "", err
		}
	}
	if c.Opened != nil {
		c.Opened(state, call)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return c.prompts(ctx, conn, session)
}

// openSession opens a new session, or the one to resume. state is the result of the request.
func (c *client) openSession(call Call) (session string, state json.RawMessage, err error) {
	method, params := "session/new", map[string]any{"cwd": c.Dir, "mcpServers": []string{}}
	if len(c.Dirs) > 0 {
		params["additionalDirectories"] = c.Dirs
	}
	if c.Resume != "" {
		method, params["sessionId"] = "session/resume", c.Resume
	}
	if err := call(method, params, &state); err != nil {
		return "", nil, err
	}
	opened := acp.NewSessionResponse{SessionID: c.Resume} // the result of session/resume has no id
	err = json.Unmarshal(state, &opened)
	return opened.SessionID, state, err
}

// configure sets the model and the mode of a session, if the turn names them.
func (c *client) configure(call Call, session string, state json.RawMessage) error {
	modes, err := c.dialect.opened(session, state)
	if err != nil {
		return err
	}
	if c.Model != "" {
		if err := c.dialect.set(call, session, acp.CategoryModel, c.Model); err != nil {
			return err
		}
	}
	switch {
	case c.Mode == "":
		return nil
	case !slices.Contains(modes, c.Mode):
		return &ModeError{Mode: c.Mode, Known: modes}
	}
	return c.dialect.set(call, session, acp.CategoryMode, c.Mode)
}

// prompts sends the prompt, and then those that Next returns.
func (c *client) prompts(ctx context.Context, conn *jsonrpc2.Conn, session string) (stop acp.StopReason, err error) {
	// From here on only the agent ends the turn, so ctx no longer cancels requests.
	background := context.WithoutCancel(ctx)
	if c.Listen != nil {
		defer c.Listen(func(text string) (string, bool) { return c.dialect.steer(background, conn, session, text) })()
	}
	for prompt := c.Prompt; ; {
		if prompt != nil {
			stop, err = c.prompt(ctx, conn, session, prompt)
		}
		if prompt = nil; c.Next != nil && ctx.Err() == nil {
			prompt = c.Next(stop, err)
		}
		if prompt == nil {
			return stop, err
		}
	}
}

// prompt sends one prompt and waits for the end of its turn.
func (c *client) prompt(ctx context.Context, conn *jsonrpc2.Conn, session string, prompt []acp.ContentBlock) (acp.StopReason, error) {
	background := context.WithoutCancel(ctx)
	cancelled := make(chan struct{})
	c.mu.Lock()
	c.cancelled = cancelled
	c.mu.Unlock()
	wait, err := c.dialect.begin(background, conn, session, prompt)
	if err != nil {
		return "", err
	}
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ctx.Done():
		case <-c.Interrupt:
		case <-ended:
			return
		}
		_ = conn.Notify(background, "session/cancel", map[string]any{"sessionId": session})
		close(cancelled) // after the cancel: open questions are now answered "cancelled"
	})
	defer watching.Wait()
	defer close(ended)
	return wait()
}
