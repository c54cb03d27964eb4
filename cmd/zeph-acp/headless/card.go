package headless

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/acp"
)

const (
	maxTextLines = 10 // of a result that is text
	maxDiffLines = 60 // of a diff that nobody is asked about
)

// card shows one tool call: a headline, what it does while it does it, and how
// it ended. Its methods are called with the screen's mutex held.
type card struct {
	id     string
	title  string
	screen *Screen
	out    bytes.Buffer // what is not printed yet
	gutter gutter
	diffs  string // as shown last
	cut    []acp.ToolContent
	spoke  bool // its terminal wrote something
	runs   bool // what it has to show is a command's output
	ended  bool

	onlyAsked bool // opened for a question: its call is shown elsewhere
}

func newCard(s *Screen, t acp.ToolCall) *card {
	c := &card{id: t.ToolCallID, title: label(t.Title), screen: s, gutter: gutter{prefix: s.paint(dim, "│ ")}}
	c.runs = t.Kind == "execute"
	kind := label(t.Kind)
	if kind == "" {
		kind = "other"
	}
	c.out.WriteString(s.paint(dim, "╭ ") + s.paint(cyan, kind) + "  " + s.paint(bold, c.title) + "\n")
	return c
}

// update shows what is new in an update of the call.
func (c *card) update(t acp.ToolCall) {
	var texts []string
	var diffs []acp.ToolContent
	for _, content := range t.Content {
		switch {
		case content.Type == "terminal":
			c.attach(content.TerminalID)
		case content.Type == "diff":
			diffs = append(diffs, content)
		case content.Content != nil:
			texts = append(texts, inWords(*content.Content))
		}
	}
	c.showDiffs(diffs, maxDiffLines)
	switch t.Status {
	case acp.ToolCompleted:
		if !c.spoke {
			c.preview(strings.Join(texts, "\n"), map[bool]style{false: dim}[c.runs])
		}
		c.end("completed", green)
	case acp.ToolFailed:
		c.fail(strings.Join(texts, "\n"))
	}
}

// attach gives the card what a terminal wrote and will write.
func (c *card) attach(terminal string) {
	o := c.screen.output(terminal)
	if o.card == nil {
		o.card = c
		c.live(o.early)
		o.early = ""
	}
}

// live shows output of the call's terminal.
func (c *card) live(text string) {
	c.spoke = c.spoke || text != ""
	c.print(plainText, text)
}

func (c *card) print(st style, text string) {
	c.gutter.format(&c.out, text, func(t string) string { return c.screen.paint(st, t) }, c.screen.styled)
}

// line prints whole lines, on a line of their own.
func (c *card) line(st style, text string) {
	c.breakLine()
	c.print(st, text+"\n")
}

func (c *card) breakLine() {
	if c.gutter.mid {
		c.out.WriteByte('\n')
	}
	c.gutter.mid, c.gutter.cr = false, false
}

// preview shows the beginning of a text, and all that a command wrote.
func (c *card) preview(text string, st style) {
	var clean cleaner
	text = strings.Trim(clean.clean(text), "\r\n")
	if text == "" {
		return
	}
	all := strings.Split(text, "\n")
	if more := len(all) - maxTextLines; more > 1 && !c.runs {
		all = append(all[:maxTextLines], fmt.Sprintf("… %d more lines", more))
	}
	for _, l := range all {
		c.line(st, strings.TrimRight(l, "\r"))
	}
}

// fail shows why a call failed. Its text is what the model gets: the block
// [tool_error], the output, and a last line as "[exit 1]".
func (c *card) fail(text string) {
	var how []string
	fault, text := cutFault(text)
	if category := fault["category"]; category != "" {
		how = append(how, strings.ReplaceAll(category, "_", " "))
	}
	text = strings.TrimRight(text, "\n")
	last := strings.LastIndexByte(text, '\n') + 1
	if mark := text[last:]; len(mark) > 2 && mark[0] == '[' && mark[len(mark)-1] == ']' {
		how = append(how, mark[1:len(mark)-1])
		text = text[:last]
	}
	if !c.spoke {
		c.preview(text, plainText)
	}
	for _, key := range []string{"error", "suggestion"} {
		if fault[key] != "" {
			c.line(map[string]style{"error": red}[key], label(fault[key]))
		}
	}
	c.end(strings.Join(append([]string{"failed"}, how...), " · "), red)
}

// cutFault takes the block [tool_error] off the beginning of a text.
func cutFault(text string) (fault map[string]string, rest string) {
	rest, ok := strings.CutPrefix(text, "[tool_error]\n")
	if !ok {
		return nil, text
	}
	fault = map[string]string{}
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		key, value, ok := strings.Cut(line, ": ")
		if _, again := fault[key]; !ok || again || len(fault) == 4 {
			break
		}
		fault[key], rest = value, after
	}
	return fault, rest
}

// end closes the card.
func (c *card) end(how string, st style) {
	c.breakLine()
	c.out.WriteString(c.screen.paint(dim, "╰ ") + c.screen.paint(st, label(how)) + "\n")
	c.ended = true
}

// showDiffs shows what would change, or changed, unless it is on the screen
// already.
func (c *card) showDiffs(diffs []acp.ToolContent, limit int) {
	var lines []string
	for _, d := range diffs {
		if !strings.Contains(c.title, filepath.Base(d.Path)) {
			lines = append(lines, label(d.Path))
		}
		lines = append(lines, unified(d)...)
	}
	all := strings.Join(lines, "\n")
	if len(lines) == 0 || all == c.diffs && limit > 0 {
		return
	}
	c.diffs, c.cut = all, nil
	if more := len(lines) - limit; limit > 0 && more > 1 {
		lines = append(lines[:limit], fmt.Sprintf("… %d more lines", more))
		c.cut = diffs
	}
	for _, l := range lines {
		c.line(map[byte]style{'+': green, '-': red, '@': cyan}[(l + " ")[0]], l)
	}
}

// unified gives the hunks of a diff. What the user judges by has nothing taken
// out.
func unified(d acp.ToolContent) []string {
	var before, after string
	if d.OldText != nil {
		before = *d.OldText
	}
	if d.NewText != nil {
		after = *d.NewText
	}
	text := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	for range 3 { // diff, ---, +++
		_, text, _ = strings.Cut(text, "\n")
	}
	if text == "" {
		return nil
	}
	return strings.Split(Visible(strings.TrimSuffix(text, "\n")), "\n")
}
