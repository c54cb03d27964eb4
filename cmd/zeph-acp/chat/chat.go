// Package chat is the user's side of "zeph-acp chat": a prompt line below the turns of a
// conversation, which package headless shows and leads.
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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ergochat/readline"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// Chat is a conversation in a terminal. Turn, Screen and Input are required.
type Chat struct {
	Turn    *headless.Turn // without a prompt, a view and an approver, which Run sets
	Screen  func(w io.Writer) *headless.Screen
	Styled  bool      // the terminal has styles
	Input   io.Reader // the terminal
	History History   // of the prompts; the zero value keeps none
	// MaxBytes limits a prompt: the agent rejects a longer frame.
	MaxBytes int
	Facts    func(session string) string // shown at the end; may be nil

	line   *readline.Instance
	screen *headless.Screen
	call   headless.Call
	done   chan struct{} // closed when the user leaves
	leave  func()

	mu        sync.Mutex
	queue     []string      // prompts that wait
	added     chan struct{} // receives after an addition to queue
	interrupt chan struct{}
	running   bool // a turn runs
	begun     bool // the line has text
	pressed   bool // Ctrl-C was pressed at the empty prompt
	prompt    string
	steer     headless.Steer
	work      sync.WaitGroup // what typed has begun
	session   session
	folds     folds
	choosing  []choice // the user chooses a model
}

// Prompts of the line.
const (
	ready = "› "
	more  = "… "
)

// Run leads the conversation until the user leaves or ctx ends.
func (c *Chat) Run(ctx context.Context) error {
	c.done, c.added, c.interrupt = make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 1)
	c.leave = sync.OnceFunc(func() { close(c.done) })
	if err := c.openLine(); err != nil {
		return err
	}
	defer c.closeLine()
	c.screen = c.Screen(c.line)
	c.screen.Below = c.below
	c.screen.Idle("", "")
	defer c.screen.Spin()()

	keyboard := headless.NewLines(c.read)
	user := &headless.User{Keyboard: keyboard, Screen: c.screen}
	t := c.Turn
	t.View, t.Approver = view{c.screen, c}, user
	t.Opened, t.Next, t.Interrupt = c.opened, c.next, c.interrupt
	t.Listen = func(steer headless.Steer) func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.steer = steer
		return c.work.Wait
	}
	defer keyboard.Listen(c.typed)()
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

// openLine opens the line editor. Pasted text arrives between marks.
func (c *Chat) openLine() error {
	line, err := readline.NewFromConfig(&readline.Config{
		Prompt: ready, Stdin: &pasteReader{in: c.Input, encode: c.folds.encode}, DisableAutoSaveHistory: true,
		InterruptPrompt: "\n", EOFPrompt: "\n", AutoComplete: completer{c}, Undo: true,
		Listener: func(line []rune, _ int, _ rune) ([]rune, int, bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.begun = len(line) > 0
			return nil, 0, false
		},
		FuncFilterInputRune: func(r rune) (rune, bool) {
			switch r {
			case readline.CharEnter, readline.CharEOT:
				c.entering()
			case readline.CharInterrupt:
				return r, !c.interrupted()
			}
			return r, true
		},
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.line = line
	c.mu.Unlock()
	for _, p := range c.History.Load() {
		_ = c.line.SaveToHistory(c.folds.encode(p)) // in memory only
	}
	_, err = io.WriteString(os.Stdout, "\x1b[?2004h")
	return err
}

// closeLine restores the terminal.
func (c *Chat) closeLine() {
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004l")
	_ = c.line.Close()
}

// Abort ends all processes of the conversation at once, and restores the terminal. It is for
// a user who does not want to wait for Run any longer.
func (c *Chat) Abort() {
	c.Turn.Abort()
	c.mu.Lock()
	line := c.line
	c.mu.Unlock()
	if line != nil {
		c.closeLine()
	}
}

// below shows the status or a hint in front of the typed text.
func (c *Chat) below(text string, asks bool) {
	switch {
	case asks:
		text = "│ " + text
	case text != "" && c.Styled:
		text = "\x1b[2m" + text + "\x1b[0m " + ready
	case text != "":
		text += " " + ready
	default:
		text = ready
	}
	c.mu.Lock()
	same := c.prompt == text
	c.prompt = text
	c.mu.Unlock()
	if !same {
		c.line.SetPrompt(text)
		c.line.Refresh()
	}
}

// entering removes the status from the line before it is left on the screen.
func (c *Chat) entering() {
	c.mu.Lock()
	status := strings.HasSuffix(c.prompt, " "+ready)
	c.mu.Unlock()
	if status {
		c.below("", false)
	}
}

// read returns the next text that the user types. A line that ends in a backslash goes on in
// the next one.
func (c *Chat) read() (string, error) {
	var before string
	for {
		line, err := c.line.ReadLine()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			before = ""
			continue
		case err != nil: // Ctrl-D at the empty line, or closed
			c.leave()
			return "", io.EOF
		}
		c.mu.Lock()
		c.pressed, c.begun = false, false
		c.mu.Unlock()
		text := before + c.folds.decode(line)
		if rest, goesOn := strings.CutSuffix(text, `\`); goesOn {
			before = rest + "\n"
			continue
		}
		return text + "\n", nil
	}
}

// interrupted acts on Ctrl-C: it cancels the turn, or leaves at the second time. It reports
// false if the line has a text, which the editor then clears.
func (c *Chat) interrupted() bool {
	c.mu.Lock()
	begun, running, again := c.begun, c.running, c.pressed
	c.begun, c.choosing = false, nil
	c.pressed = !begun && !running
	if running && !begun {
		c.queue = nil
	}
	c.mu.Unlock()
	switch {
	case begun:
		c.entering()
	case running:
		select {
		case c.interrupt <- struct{}{}:
		default:
		}
	case again:
		c.leave()
	default:
		c.screen.Say("Press Ctrl-C again to leave.")
	}
	return !begun
}

// typed acts on a text that answers no question. It does not block.
func (c *Chat) typed(text string) {
	text = strings.TrimSpace(text)
	if c.answersList(text) || text == "" {
		return
	}
	if c.MaxBytes > 0 && len(text) > c.MaxBytes {
		c.work.Go(func() {
			c.screen.Say(fmt.Sprintf("Not sent: the prompt has more than %d bytes (acp.max_line_bytes).", c.MaxBytes))
		})
		return
	}
	_ = c.line.SaveToHistory(c.folds.encode(text))
	c.History.Add(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	steer := c.steer
	switch {
	case text == "/exit" || text == "/quit":
		c.leave()
	case text == "/model" && !c.running && len(c.session.models()) > 0:
		c.choosing = c.session.models()
		listed := c.choosing
		c.work.Go(func() { c.listModels(listed) })
	case c.running && steer != nil && !strings.HasPrefix(text, "/"):
		c.work.Go(func() { c.steerTurn(steer, text) })
	default:
		if c.running {
			c.work.Go(func() { c.screen.Steered(text, "The next prompt") })
		}
		c.add(text)
	}
}

// answersList reports whether a text answers the list of models, and acts on it.
func (c *Chat) answersList(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := c.choosing
	if listed == nil {
		return false
	}
	c.choosing = nil
	c.work.Go(func() { c.choose(listed, text) })
	return true
}

// add queues a prompt. The caller holds mu.
func (c *Chat) add(text string) {
	c.queue = append(c.queue, text)
	select {
	case c.added <- struct{}{}:
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
	c.add(text)
	c.mu.Unlock()
	if running {
		c.screen.Steered(text, "The next prompt")
	}
}

// next waits for the next prompt after a turn.
func (c *Chat) next(stop acp.StopReason, err error) []acp.ContentBlock {
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
	failure := ""
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		failure = refused.Message
	} else if err != nil {
		return nil // the agent is gone
	}
	c.screen.Idle(stop, failure)
	for waited := false; ; waited = true {
		c.mu.Lock()
		if len(c.queue) > 0 {
			text := c.queue[0]
			c.queue, c.running = c.queue[1:], true
			select {
			case <-c.interrupt: // of an earlier turn
			default:
			}
			c.mu.Unlock()
			c.screen.Busy(waited)
			return c.blocks(text)
		}
		c.mu.Unlock()
		select {
		case <-c.added:
		case <-c.done:
			return nil
		}
	}
}

// blocks returns the prompt for a text. Each @FILE that exists is also a link to the file.
func (c *Chat) blocks(text string) []acp.ContentBlock {
	all := []acp.ContentBlock{acp.TextBlock(text)}
	if strings.HasPrefix(text, "/") {
		return all
	}
	var seen []string
	for word := range strings.FieldsSeq(text) {
		name, ok := strings.CutPrefix(word, "@")
		name = strings.TrimRight(name, ".,;:!?)")
		path := filepath.Join(c.Turn.Dir, filepath.FromSlash(name))
		if filepath.IsAbs(name) {
			path = name
		}
		if info, err := os.Stat(path); !ok || name == "" || err != nil || info.IsDir() || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		all = append(all, acp.ContentBlock{Type: "resource_link", URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), Name: name})
	}
	return all
}

// listModels shows the models to choose from.
func (c *Chat) listModels(models []choice) {
	var lines []string
	for i, m := range models {
		mark := " "
		if m.Current {
			mark = "*"
		}
		lines = append(lines, strconv.Itoa(i+1)+mark+" "+headless.Visible(m.Name))
	}
	c.screen.Say(strings.Join(append(lines, "Type a number, or Enter for no change."), "\n"))
}

// choose selects the model that the user chose.
func (c *Chat) choose(models []choice, text string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(models) {
		c.screen.Say("The model is not changed.")
		return
	}
	m := models[n-1]
	params := map[string]any{"sessionId": c.session.id(), "configId": m.Option, "value": m.Value}
	var result json.RawMessage
	if err := c.call("session/set_config_option", params, &result); err != nil {
		c.screen.Say("The model is not changed: " + err.Error())
		return
	}
	c.session.update(result)
	c.screen.Say("The model is " + headless.Visible(m.Name) + ".")
}
