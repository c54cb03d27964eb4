// Package chat is the user's side of "zeph-acp chat": a full screen with the conversation, the prompt below it, and
// questions in the place of the prompt.
//
// Start with a [Chat] and call Run. The conversation runs in goroutines of its own and reaches the screen as events
// (bridge.go); the screen is a model of Bubble Tea, which changes with events and keys (model.go, keys.go) and is drawn
// as rows (view.go). What was said and done is a list of entries (feed.go), each drawn by a [headless.Screen], so that a
// conversation reads as a run does. The package speaks to the agent as any client does.
//
// Why a full screen? Calls change in their place, results unfold, and a new size of the terminal is simply drawn. At the
// end the conversation is printed, so that it stays in the terminal's own history.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/sessions"
)

// Chat is a conversation in a terminal. Open, Dir, Input and Output are required.
type Chat struct {
	// Open returns a turn in a new session, or in the stored one with that id. Run sets its prompts, its view and its
	// approver.
	Open func(ctx context.Context, resume string) (*headless.Turn, error)
	// Replay shows a stored session; may be nil.
	Replay  func(ctx context.Context, session string, view sessions.PastView) error
	Pick    bool   // the person picks the session to begin with
	First   string // the first prompt; may be empty
	Dir     string // the directory of the session
	DirName string // the same, as the person knows it
	Branch  string // of Dir; empty if there is none
	Version string // of the agent
	Hint    string // how to begin
	Styled  bool   // the terminal has styles
	// Colourless leaves out the colours, and ASCII all characters beyond it.
	Colourless, ASCII bool
	Vi                bool   // the prompt has the keys of vi
	Mouse             bool   // the wheel scrolls, and a click unfolds
	Notify            Notify // how to say that a turn has ended or a question waits
	Editor            string // the person's editor, a command; empty if none is set
	Rules             string // the file for permission rules, which hints name
	History           History
	// MaxBytes limits a prompt: the agent rejects a longer frame.
	MaxBytes int
	// Attach returns the block for an image.
	Attach func(path string) (acp.ContentBlock, error)
	// Jobs returns the number of commands in the background, Sandbox what confines commands, in a word or two, and
	// Unpriced whether a model without a known price has answered; each may be nil.
	Jobs     func() int
	Sandbox  func() string
	Unpriced func() bool
	// IsTool reports whether a session has a tool of that name; may be nil.
	IsTool func(session, name string) bool
	// Sessions and Turns return what /resume and /rewind offer; may be nil.
	Sessions func() ([]Choice, error)
	Turns    func(session string) []Choice
	// Facts returns a line that is printed at the end of a stored session; may be nil.
	Facts func(session string) string

	Input   io.Reader // the terminal
	Output  io.Writer
	Environ []string

	bridge    *bridge
	prompts   chan []acp.ContentBlock
	interrupt chan struct{} // each value cancels the running turn
	switched  chan string   // the session to go on with
	work      sync.WaitGroup
	now       func() time.Time
	later     func(time.Duration, tea.Msg) tea.Cmd

	mu    sync.Mutex
	turn  *headless.Turn // that runs
	plain *plain         // nil on a full screen
}

// Choice is a session or a turn to pick.
type Choice struct {
	ID    string
	Title string
	About string
}

// Run runs the conversation until the user leaves or ctx ends.
func (c *Chat) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.init()
	m := newModel(c)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.Input), tea.WithOutput(c.Output), tea.WithEnvironment(c.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(60))
	c.bridge.send = func(msg tea.Msg) {
		c.work.Go(func() { program.Send(msg) }) // waits while the person's editor has the terminal; the turn goes on
	}
	var talking sync.WaitGroup
	talking.Go(func() { c.bridge.add(conversationEnded{c.talk(ctx)}) })
	_, err := program.Run()
	cancel()
	talking.Wait()
	c.work.Wait()
	for _, e := range c.bridge.take() { // what the turn still said
		m.event(e)
	}
	if len(m.feed.entries) > 1 {
		_, _ = io.WriteString(c.Output, m.printable(m.window.text()))
	}
	if c.Facts != nil && m.session.ID != "" && m.hasTurns {
		_, _ = io.WriteString(c.Output, m.printable("\n"+m.st.dim(ansi.Wordwrap(c.Facts(m.session.ID), m.columns(), ""))+"\n"))
	}
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) {
		return err
	}
	return m.err
}

// init sets what Run needs.
func (c *Chat) init() {
	c.bridge = &bridge{}
	c.prompts, c.interrupt, c.switched = make(chan []acp.ContentBlock, 1), make(chan struct{}, 1), make(chan string, 1)
	c.now = time.Now
	c.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
}

// talk runs the turns of one session after the other.
func (c *Chat) talk(ctx context.Context) error {
	id := ""
	if c.Pick {
		select {
		case id = <-c.switched:
		case <-ctx.Done():
			return nil
		}
	}
	for {
		next, err := c.talkIn(ctx, id)
		if ctx.Err() != nil {
			return nil
		}
		if next == "" {
			return err
		}
		id = next
	}
}

// talkIn runs the turns of a session, and returns the id of the one to go on with; empty if the conversation has ended.
func (c *Chat) talkIn(ctx context.Context, id string) (next string, err error) {
	t, err := c.Open(ctx, id)
	if err != nil {
		return "", err
	}
	id = t.Resume
	if id != "" && c.Replay != nil {
		if err := c.Replay(ctx, id, c.bridge); err != nil {
			return "", err
		}
	}
	c.mu.Lock()
	c.turn = t
	c.mu.Unlock()
	t.View, t.Approver, t.Interrupt = c.bridge, c.bridge, c.interrupt
	t.Opened = func(state json.RawMessage, call headless.Call) { c.bridge.add(opened{id, state, call}) }
	t.Listen = func(steer headless.Steer) func() {
		c.bridge.add(listening{steer})
		return func() { c.bridge.add(listening{}) }
	}
	begun := false
	t.Next = func(stop acp.StopReason, err error) []acp.ContentBlock {
		if begun {
			failure := ""
			if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
				failure = refused.Message
			} else if err != nil {
				return nil // the agent has exited
			}
			c.bridge.add(turnEnded{stop, failure})
		}
		begun = true
		select {
		case blocks := <-c.prompts:
			return blocks
		case next = <-c.switched:
		case <-ctx.Done():
		}
		return nil
	}
	_, err = t.Run(ctx)
	if next != "" {
		err = nil
	}
	return next, err
}

// switchTo goes on with another session; with a new one if id is empty, which only the first session can be.
func (c *Chat) switchTo(id string) {
	select {
	case <-c.switched:
	default:
	}
	c.switched <- id
}

// Abort ends all processes of the conversation immediately. It is for a user who does not want to wait for Run any longer.
func (c *Chat) Abort() {
	c.mu.Lock()
	t := c.turn
	c.mu.Unlock()
	if t != nil {
		t.Abort()
	}
}

// sessionItems returns the sessions that the person can go on with.
func (c *Chat) sessionItems() ([]item, error) {
	if c.Sessions == nil {
		return nil, nil
	}
	all, err := c.Sessions()
	return itemsOf(all), err
}

// turnItems returns the turns of a session that the person can go back to.
func (c *Chat) turnItems(session string) []item {
	if c.Turns == nil {
		return nil
	}
	return itemsOf(c.Turns(session))
}

func itemsOf(all []Choice) (items []item) {
	for _, c := range all {
		items = append(items, item{c.ID, headless.OneLine(c.Title), headless.OneLine(c.About)})
	}
	return items
}

// lastPart returns the last part of a path.
func lastPart(path string) string { return filepath.Base(path) }
