package chat

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// plain is a conversation in plain lines: nothing on the screen changes after it was printed, and the terminal itself
// edits the line.
type plain struct {
	chat   *Chat
	screen *headless.Screen

	mu      sync.Mutex
	steer   headless.Steer
	running bool
	// interrupted is whether the person has interrupted the running turn.
	interrupted bool
	queue       []string
	added       chan struct{} // receives after an addition to queue
	ended       chan struct{} // closed at the end of the input
}

// runPlain runs the conversation in plain lines until the input or ctx ends.
func (c *Chat) runPlain(ctx context.Context) error {
	c.init()
	p := &plain{chat: c, screen: headless.NewScreen(c.Output, false), added: make(chan struct{}, 1), ended: make(chan struct{})}
	p.screen.Config = c.Rules
	c.mu.Lock()
	c.plain = p
	c.mu.Unlock()
	if c.First != "" {
		p.queue = append(p.queue, c.First)
	}
	if c.Pick {
		return errPick
	}
	t, err := c.Open(ctx, "")
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.turn = t
	c.mu.Unlock()
	if t.Resume != "" && c.Replay != nil {
		if err := c.Replay(ctx, t.Resume, p.screen); err != nil {
			return err
		}
	}
	p.screen.Say(c.Hint)
	in := bufio.NewReader(c.Input)
	leave := sync.OnceFunc(func() { close(p.ended) })
	keyboard := headless.NewLines(func() (string, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			leave()
		}
		return line, err
	})
	user := &headless.User{Keyboard: keyboard, Screen: p.screen}
	id := t.Resume
	t.View, t.Approver, t.Interrupt, t.Next = p.screen, user, c.interrupt, p.next
	t.Opened = func(state json.RawMessage, _ headless.Call) {
		if id == "" {
			id = sessionOf(state)
		}
	}
	t.Listen = func(steer headless.Steer) func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.steer = steer
		return c.work.Wait
	}
	defer keyboard.Listen(func(line string) { p.typed(line, leave) })()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, leave)()
	go func() { // a user who leaves cancels the turn
		<-p.ended
		cancel()
	}()
	_, err = t.Run(ctx)
	if c.Facts != nil && id != "" {
		p.screen.Say(c.Facts(id))
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// interruptPlain cancels the running turn of a conversation in plain lines, once. It reports whether there was one.
func (c *Chat) interruptPlain() bool {
	c.mu.Lock()
	p := c.plain
	c.mu.Unlock()
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running || p.interrupted {
		return false
	}
	p.interrupted, p.queue = true, nil
	select {
	case c.interrupt <- struct{}{}:
	default:
	}
	return true
}

// errPick reports that a list cannot be shown.
var errPick = errors.New("--plain shows no list to pick from: name the session (zeph-acp sessions list)")

// typed acts on a line that answers no question. It does not block.
func (p *plain) typed(line string, leave func()) {
	text := strings.TrimSpace(line)
	switch text {
	case "":
		return
	case "/exit", "/quit":
		leave()
		return
	}
	p.chat.History.Add(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if steer := p.steer; p.running && steer != nil && (!isTyped(text) || controlsGoal(text)) {
		p.chat.work.Go(func() {
			outcome, isPrompt := steer(text)
			if !isPrompt {
				p.screen.Steered(text, outcome)
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.add(text)
		})
		return
	}
	p.add(text)
}

// add queues a prompt. The caller holds mu.
func (p *plain) add(text string) {
	p.queue = append(p.queue, text)
	select {
	case p.added <- struct{}{}:
	default:
	}
}

// next waits for the next prompt after a turn. It returns nil when the conversation ends.
func (p *plain) next(stop acp.StopReason, err error) []acp.ContentBlock {
	p.mu.Lock()
	p.running = false
	p.mu.Unlock()
	failure := ""
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		failure = refused.Message
	} else if err != nil {
		return nil // the agent has exited
	}
	p.screen.Idle(stop, failure)
	_, _ = io.WriteString(p.chat.Output, "> ")
	for {
		p.mu.Lock()
		if len(p.queue) > 0 {
			text := p.queue[0]
			p.queue, p.running, p.interrupted = p.queue[1:], true, false
			select {
			case <-p.chat.interrupt: // of an earlier turn
			default:
			}
			p.mu.Unlock()
			p.screen.Busy(true)
			blocks, problems := p.chat.promptBlocks(text)
			for _, problem := range problems {
				p.screen.Say(problem)
			}
			return blocks
		}
		p.mu.Unlock()
		select {
		case <-p.added:
		case <-p.ended:
			return nil
		}
	}
}
