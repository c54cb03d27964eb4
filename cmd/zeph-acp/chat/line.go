package chat

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ergochat/readline"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// readyPrompt is the prompt of the line.
const readyPrompt = "› "

// dim and undim are the escape sequences before and after the status in the prompt.
const dim, undim = "\x1b[2m", "\x1b[0m"

// promptColumns returns the number of columns of a prompt.
func promptColumns(prompt string) int {
	return layout.Columns(strings.NewReplacer(dim, "", undim, "").Replace(prompt))
}

// roomForAnswer is the number of columns that a hint leaves for the answer.
const roomForAnswer = 4

// openLine opens the line editor. Pasted text arrives between marks.
func (c *Chat) openLine() error {
	line, err := readline.NewFromConfig(&readline.Config{
		Prompt: readyPrompt, Stdin: &pasteReader{in: c.Input, encode: c.pasted.encode}, DisableAutoSaveHistory: true,
		InterruptPrompt: "\n", EOFPrompt: "\n", AutoComplete: completer{c}, Undo: true,
		Listener: func(line []rune, _ int, _ rune) ([]rune, int, bool) {
			c.mu.Lock()
			c.lineHasText, c.typedColumns = len(line) > 0, layout.Columns(string(line))
			c.mu.Unlock()
			c.setPrompt()
			return nil, 0, false
		},
		FuncFilterInputRune: func(r rune) (rune, bool) {
			switch r {
			case readline.CharEnter:
				c.onEnter()
			case readline.CharEOT:
				return r, !c.onEOF()
			case readline.CharInterrupt:
				return r, !c.onInterrupt()
			case readline.CharCtrlZ:
				c.raw.Stop()
			}
			return r, true
		},
	})
	if err != nil {
		return err
	}
	config := line.GetConfig()
	c.raw.out, c.raw.enter, c.raw.exit = os.Stdout, config.FuncMakeRaw, config.FuncExitRaw
	config.FuncMakeRaw, config.FuncExitRaw = c.raw.Enter, c.raw.Exit
	if err := line.SetConfig(config); err != nil {
		return err
	}
	c.mu.Lock()
	c.line = line
	c.mu.Unlock()
	for _, p := range c.History.Load() {
		_ = c.line.SaveToHistory(c.pasted.encode(p)) // in memory only
	}
	return nil
}

// closeLine restores the terminal, and erases the row of the prompt.
func (c *Chat) closeLine() {
	_ = c.line.Close()
	_ = c.raw.Close()
	_, _ = io.WriteString(os.Stdout, "\r\x1b[K")
}

// Abort ends all processes of the conversation immediately, and restores the terminal. It is
// for a user who does not want to wait for Run any longer.
func (c *Chat) Abort() {
	c.Turn.Abort()
	c.mu.Lock()
	line := c.line
	c.mu.Unlock()
	if line != nil {
		c.closeLine()
	}
}

// showStatus shows the status or a hint in front of the typed text.
func (c *Chat) showStatus(line headless.BelowLine) {
	text := line.Text
	switch {
	case line.Asks:
		text = "│ " + text
		if limit := c.screen.Columns() - roomForAnswer; layout.Columns(text) > limit {
			text = layout.Cut(text, limit) + " "
		}
	case text != "" && c.Styled:
		text = dim + text + undim + " " + readyPrompt
	case text != "":
		text += " " + readyPrompt
	default:
		text = readyPrompt
	}
	c.mu.Lock()
	c.wantedPrompt = text
	c.mu.Unlock()
	c.setPrompt()
}

// setPrompt changes the prompt of the line to the wanted one. It leaves the change for later
// while the line has more than one row: the editor would erase as many rows as the line has
// with the new prompt.
func (c *Chat) setPrompt() {
	c.setting.Lock()
	defer c.setting.Unlock()
	c.mu.Lock()
	text, was := c.wantedPrompt, c.shownPrompt
	wraps := func(prompt string) bool {
		return c.typedColumns > 0 && promptColumns(prompt)+c.typedColumns >= c.screen.Columns()
	}
	change := text != was && !wraps(text) && !wraps(was)
	if change {
		c.shownPrompt = text
	}
	c.mu.Unlock()
	if change {
		c.line.SetPrompt(text)
		c.redraw(promptColumns(was))
	}
}

// redraw draws the line after a prompt of that many columns. In a terminal that has become
// narrower, that prompt has several rows; the editor erases only the last.
func (c *Chat) redraw(columns int) {
	width := c.screen.Columns()
	if width <= 0 || columns <= width {
		c.line.Refresh()
		return
	}
	up := fmt.Sprintf("\x1b[%dA\x1b[J", (columns-1)/width)
	_, _ = io.WriteString(c.line, up+"\x1b[m") // the editor counts no columns up to an "m"
}

// onEnter removes the status from the line before it is left on the screen.
func (c *Chat) onEnter() {
	c.mu.Lock()
	status := strings.HasSuffix(c.shownPrompt, " "+readyPrompt)
	c.mu.Unlock()
	if status {
		c.showStatus(headless.BelowLine{})
	}
}

// readText returns the next text that the user types. A line that ends in a backslash continues
// in the next one.
func (c *Chat) readText() (string, error) {
	var before string
	for {
		line, err := c.line.ReadLine()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			before = ""
			continue
		case err != nil: // closed
			c.leave()
			return "", io.EOF
		}
		c.mu.Lock()
		c.interruptedOnce, c.lineHasText, c.typedColumns = false, false, 0
		c.mu.Unlock()
		text := before + c.pasted.decode(line)
		if rest, goesOn := strings.CutSuffix(text, `\`); goesOn {
			before = rest + "\n"
			continue
		}
		return text + "\n", nil
	}
}

// onEOF acts on Ctrl-D: it leaves, and reports whether it does. In a line with a text the
// editor deletes a character. The editor itself would leave the prompt on the screen.
func (c *Chat) onEOF() bool {
	c.mu.Lock()
	hasText := c.lineHasText
	c.mu.Unlock()
	if !hasText {
		c.leave()
	}
	return !hasText
}

// onInterrupt acts on Ctrl-C: it cancels the turn, or leaves at the second time. It reports
// false if the line has a text, which the editor then clears.
func (c *Chat) onInterrupt() bool {
	c.mu.Lock()
	hasText, running, again := c.lineHasText, c.running, c.interruptedOnce
	c.lineHasText, c.offeredModels = false, nil
	c.interruptedOnce = !hasText && !running
	if running && !hasText {
		c.queue = nil
	}
	c.mu.Unlock()
	switch {
	case hasText:
		c.onEnter()
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
	return !hasText
}
