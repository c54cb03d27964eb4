// Package chat is the user's side of "zeph-acp chat": a prompt line below the turns of a
// conversation, which package headless shows and drives.
//
// Start with a [Chat] and call Run. The line can be edited while a turn runs: then a text
// is added to the turn, or waits as the next prompt. Ctrl-C cancels the turn. The package
// speaks to the agent as any client does.
//
// Why a line editor and no full-screen program? The conversation stays in the terminal's
// own history, where it can be searched and copied, and output needs no second renderer.
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/ergochat/readline"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Chat is a conversation in a terminal. Turn, Screen and Input are required.
type Chat struct {
	Turn    *headless.Turn                     // Run sets its prompt, its view and its approver
	Screen  func(w io.Writer) *headless.Screen // returns a screen that writes to w
	Styled  bool                               // the terminal has styles
	Input   io.Reader                          // the terminal
	History History                            // of the prompts; the zero value stores nothing
	Hint    string                             // how to begin, shown at the start; empty shows nothing
	// MaxBytes limits a prompt: the agent rejects a longer frame.
	MaxBytes int
	// Facts returns a line that is shown at the end of a stored session; may be nil.
	Facts func(session string) string

	line   *readline.Instance
	raw    rawMode
	screen *headless.Screen
	call   headless.Call
	done   chan struct{} // closed when the user leaves
	leave  func()

	setting sync.Mutex // one change of the prompt at a time

	enqueued  chan struct{}  // receives after an addition to queue
	interrupt chan struct{}  // each value cancels the running turn
	work      sync.WaitGroup // goroutines that onText has started
	session   session        // has its own lock
	pasted    pastedTexts    // has its own lock

	mu              sync.Mutex
	queue           []string // prompts that wait
	steer           headless.Steer
	running         bool     // a turn runs
	stored          bool     // the session is in the store, since it had a prompt or a setting
	lineHasText     bool     // the user has typed text into the line
	typedColumns    int      // the width of that text
	interruptedOnce bool     // Ctrl-C was pressed at the empty prompt
	shownPrompt     string   // the prompt before the line
	wantedPrompt    string   // differs from shownPrompt while that cannot be changed
	offeredModels   []choice // the models that the user chooses from; nil if there is no choice
}

// Run runs the conversation until the user leaves or ctx ends.
func (c *Chat) Run(ctx context.Context) error {
	c.done, c.enqueued, c.interrupt = make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 1)
	c.leave = sync.OnceFunc(func() { close(c.done) })
	if err := c.openLine(); err != nil {
		return err
	}
	defer c.closeLine()
	c.screen = c.Screen(c.line)
	c.screen.Below = c.showStatus
	if c.Hint != "" {
		c.screen.Say(c.Hint)
	}
	c.screen.Idle("", "")
	defer c.screen.Spin()()

	keyboard := headless.NewLines(c.readText)
	user := &headless.User{Keyboard: keyboard, Screen: c.screen}
	t := c.Turn
	t.View, t.Approver = view{c.screen, c}, user
	t.Opened, t.Next, t.Interrupt = c.onOpened, c.nextPrompt, c.interrupt
	t.Listen = func(steer headless.Steer) func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.steer = steer
		return c.work.Wait
	}
	defer keyboard.Listen(c.onText)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, c.leave)()
	go func() { // a user who leaves cancels the turn
		<-c.done
		cancel()
	}()
	_, err := t.Run(ctx)
	select {
	case <-c.done: // failures of turns are on the screen
		return nil
	default:
		return err
	}
}

// onText acts on a text that answers no question. It does not block.
func (c *Chat) onText(text string) {
	text = strings.TrimSpace(text)
	if c.chooseListed(text) || text == "" {
		return
	}
	if c.MaxBytes > 0 && len(text) > c.MaxBytes {
		c.work.Go(func() {
			c.screen.Say(fmt.Sprintf("Not sent: the prompt has more than %s (acp.max_line_bytes).", quantity.Count(c.MaxBytes, "byte")))
		})
		return
	}
	_ = c.line.SaveToHistory(c.pasted.encode(text))
	c.History.Add(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	steer := c.steer
	switch {
	case text == "/exit" || text == "/quit":
		c.leave()
	case text == "/model" && !c.running && len(c.session.models()) > 0:
		c.offeredModels = c.session.models()
		listed := c.offeredModels
		c.work.Go(func() { c.listModels(listed) })
	case c.running && steer != nil && (!strings.HasPrefix(text, "/") || controlsGoal(text)):
		c.work.Go(func() { c.steerTurn(steer, text) })
	default:
		if c.running {
			c.work.Go(func() { c.screen.Steered(text, "The next prompt") })
		}
		c.enqueue(text)
	}
}

// controlsGoal reports whether a text is a command that the agent answers during the turn of a goal.
// During any other turn it answers that the text is a prompt.
func controlsGoal(text string) bool { return text == "/goal" || strings.HasPrefix(text, "/goal ") }

// enqueue queues a prompt. The caller holds mu.
func (c *Chat) enqueue(text string) {
	c.queue = append(c.queue, text)
	select {
	case c.enqueued <- struct{}{}:
	default:
	}
}

// steerTurn adds a text to the running turn, or makes it the next prompt.
func (c *Chat) steerTurn(steer headless.Steer, text string) {
	outcome, isPrompt := steer(text)
	if !isPrompt {
		c.screen.Steered(text, outcome)
		return
	}
	c.mu.Lock()
	running := c.running
	c.enqueue(text)
	c.mu.Unlock()
	if running {
		c.screen.Steered(text, "The next prompt")
	}
}

// nextPrompt waits for the next prompt after a turn. It returns nil when the conversation
// ends.
func (c *Chat) nextPrompt(stop acp.StopReason, err error) []acp.ContentBlock {
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
	failure := ""
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		failure = refused.Message
	} else if err != nil {
		return nil // the agent has exited
	}
	c.screen.Idle(stop, failure)
	for waited := false; ; waited = true {
		c.mu.Lock()
		if len(c.queue) > 0 {
			text := c.queue[0]
			c.queue, c.running, c.stored = c.queue[1:], true, true
			select {
			case <-c.interrupt: // of an earlier turn
			default:
			}
			c.mu.Unlock()
			c.screen.Busy(waited)
			return c.promptBlocks(text)
		}
		c.mu.Unlock()
		select {
		case <-c.enqueued:
		case <-c.done:
			return nil
		}
	}
}
