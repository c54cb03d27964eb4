package headless

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
)

// maxPartial is the length in bytes at which a streamed line counts as complete: one that
// never ends must not fill the memory.
const maxPartial = 64 << 10

// partialLine is the end of a streamed text after its last complete line.
type partialLine string

// add appends a text, and returns the lines that are complete now.
func (p *partialLine) add(text string) (lines []string) {
	*p += partialLine(text)
	for {
		line, rest, ended := strings.Cut(string(*p), "\n")
		if !ended && len(*p) < maxPartial {
			return lines
		}
		lines = append(lines, line)
		*p = partialLine(rest)
	}
}

// card shows one tool call: a headline, its output while it runs, and its outcome.
// Its methods are called with the screen's mutex held.
type card struct {
	id        string
	title     string
	screen    *Screen
	isCommand bool // the call runs a command
	onlyAsked bool // opened only for a question; its call is shown elsewhere
	ended     bool

	out    bytes.Buffer // output that is not printed yet
	gutter gutter
	fold   fold // of the terminal's output

	hasOutput  bool        // the terminal wrote something
	partial    partialLine // of the terminal's output
	outputTail string      // the end of the terminal's output, for comparisons

	shownDiffs  string // the diffs that were last shown
	diffsFolded bool   // a part of them was left out
}

// newCard returns a card with the headline of a call.
func newCard(s *Screen, t acp.ToolCall) *card {
	c := &card{id: t.ToolCallID, title: PlainTitle(t.Title), screen: s, gutter: s.gutter("│ ", dim)}
	c.isCommand, c.fold.extent = t.Kind == "execute", s.extent(foldCommand)
	spans := []layout.Span{{Text: c.title, Style: bold}}
	if kind := executors.WholeLine(t.Kind); kind != "" && kind != "other" && kind != "think" { // the title says more
		spans = append([]layout.Span{{Text: kind, Style: cyan}, {Text: "  "}}, spans...)
	}
	c.out.WriteString(s.rows(layout.Span{Text: "╭ ", Style: dim}, c.gutter.edge, spans...))
	return c
}

// clone returns a copy of a card on another screen.
func (c *card) clone(s *Screen) *card {
	other := *c
	other.screen, other.out = s, *bytes.NewBuffer(slices.Clone(c.out.Bytes()))
	other.fold.kept = slices.Clone(c.fold.kept)
	return &other
}

// withoutCodeMarks removes the code span marks at the beginning of a title: a
// terminal shows no Markdown.
func withoutCodeMarks(title string) string {
	rest := strings.TrimLeft(title, "`")
	fence := title[:len(title)-len(rest)]
	code, after, closed := strings.Cut(rest, fence)
	if fence == "" || !closed || strings.HasPrefix(after, "`") {
		return title
	}
	if strings.HasPrefix(code, " `") || strings.HasSuffix(code, "` ") {
		code = strings.TrimSuffix(strings.TrimPrefix(code, " "), " ")
	}
	return code + after
}

// update shows the changes in an update of the call.
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
			texts = append(texts, BlockText(*content.Content))
		}
	}
	c.showDiffs(diffs, !c.screen.Full)
	switch t.Status {
	case acp.ToolCompleted:
		st := plainText
		if !c.isCommand {
			st = dim
		}
		c.preview(linesOf(strings.Join(texts, "\n")), st)
		c.end("completed", green)
	case acp.ToolFailed:
		c.fail(strings.Join(texts, "\n"))
	}
}

// attach shows a terminal's past and future output in the card.
func (c *card) attach(terminal string) {
	o := c.screen.terminal(terminal)
	if o.card == nil {
		o.card = c
		c.showOutput(o.pending)
		o.pending = ""
	}
}

// showOutput shows a piece of output of the call's terminal.
func (c *card) showOutput(text string) {
	c.hasOutput = c.hasOutput || text != ""
	c.outputTail = tailOf(c.outputTail + text)
	if c.screen.Full {
		c.print(plainText, text)
		return
	}
	for _, line := range c.partial.add(text) {
		c.output(line)
	}
}

// output shows a complete line of the terminal's output, or keeps it for the end.
func (c *card) output(line string) {
	if line = overwritten(line); c.fold.add(line) {
		c.line(plainText, line)
	}
}

// endOutput shows the end of the terminal's output.
func (c *card) endOutput() {
	if c.partial != "" {
		c.output(string(c.partial))
		c.partial = ""
	}
	missing, last := c.fold.rest()
	if missing > 0 {
		c.line(dim, c.screen.leftOut(missing))
	}
	for _, l := range last {
		c.line(plainText, l)
	}
	c.fold = fold{extent: c.screen.extent(foldCommand)}
}

// print prints a text as it comes, after the gutter of each line.
func (c *card) print(st style, text string) {
	c.gutter.format(&c.out, text, func(t string) string { return c.screen.paint(st, t) })
}

// line prints complete lines, starting on a new line.
func (c *card) line(st style, text string) {
	c.breakLine()
	for l := range strings.SplitSeq(text, "\n") {
		if c.screen.Full {
			c.print(st, l+"\n")
		} else {
			c.spans(layout.Span{Text: layout.ExpandTabs(shortened(overwritten(l))), Style: st})
		}
	}
}

// spans prints a line that is laid out.
func (c *card) spans(line ...layout.Span) {
	c.breakLine()
	c.out.WriteString(c.screen.rows(c.gutter.edge, c.gutter.edge, line...))
}

// breakLine ends an unfinished line.
func (c *card) breakLine() {
	if c.gutter.midLine {
		c.out.WriteByte('\n')
	}
	c.gutter.midLine, c.gutter.afterCR = false, false
}

// preview shows a text, folded in a terminal. It shows output once: if a terminal showed
// it, only the tool's own notes remain.
func (c *card) preview(text []string, st style) {
	switch {
	case c.hasOutput:
		c.endOutput()
		if text = unshownNotes(text, c.outputTail); !c.screen.Full {
			text = forPeople(text)
		}
	case !c.screen.Full:
		notes := toolNotes(text)
		e := foldText
		if c.isCommand {
			e = foldCommand
		}
		text = append(foldLines(text[:len(text)-len(notes)], c.screen.extent(e), c.screen.leftOut), forPeople(notes)...)
	}
	for _, l := range text {
		c.line(st, l)
	}
}

// fail shows why a call failed: a sentence, the output, and the tool's own lines
// such as "[exit 1]".
func (c *card) fail(text string) {
	how := []string{"failed"}
	rest := linesOf(text)
	reason, stopped := reasonOf(rest)
	own := len(rest) - len(toolNotes(rest))
	for i := len(rest) - 1; i >= own; i-- {
		if end := endNote.FindStringSubmatch(rest[i]); end != nil {
			how, rest = append(how, end[1]), slices.Delete(rest, i, i+1)
			break
		}
	}
	if c.hasOutput && stopped {
		c.endOutput()
		c.line(plainText, reason)
	}
	c.explain(rest)
	c.end(strings.Join(how, " · "), red)
}

// needsPermission is the prefix of the message about a call that was not allowed.
const needsPermission = "This needs your permission "

// explain shows the text of a failed call. For rules that would allow the call, it
// names the file that they belong in, and shows them in full, to be copied.
func (c *card) explain(lines []string) {
	if len(lines) == 0 || !strings.HasPrefix(lines[0], needsPermission) {
		c.preview(lines, plainText)
		return
	}
	file := cmp.Or(c.screen.Config, "config.toml")
	c.line(red, executors.WholeLine(strings.Replace(lines[0], " to config.toml", " to "+file, 1)))
	for _, l := range lines[1:] {
		c.line(plainText, l)
	}
}

// end closes the card.
func (c *card) end(how string, st style) {
	c.endOutput()
	c.breakLine()
	first, rest := layout.Span{Text: "╰ ", Style: dim}, layout.Span{Text: "  "}
	c.out.WriteString(c.screen.rows(first, rest, layout.Span{Text: executors.WholeLine(how), Style: st}))
	c.ended = true
}

// showDiffs shows proposed or completed changes, unless they are already on the
// screen.
func (c *card) showDiffs(diffs []acp.ToolContent, folded bool) {
	var lines []diffLine
	all := ""
	for _, d := range diffs {
		text := unified(d)
		if !strings.Contains(c.title, filepath.Base(d.Path)) {
			text = append([]string{executors.WholeLine(d.Path)}, text...)
		}
		language := highlight.ForFile(d.Path)
		for _, l := range text {
			lines = append(lines, diffLine{text: layout.ExpandTabs(l), language: language})
			all += l + "\n"
		}
	}
	isShown := all == c.shownDiffs && (folded || !c.diffsFolded)
	if len(lines) == 0 || isShown {
		return
	}
	c.shownDiffs = all
	n := len(lines)
	if folded {
		lines = foldLines(lines, c.screen.extent(foldDiff), func(missing int) diffLine { return diffLine{text: c.screen.leftOut(missing)} })
	}
	c.diffsFolded = len(lines) < n
	for i, spans := range diffSpans(lines) {
		edge := c.gutter.edge
		if l := lines[i]; highlight.IsDiffCode(l.text) && l.text[0] != ' ' {
			edge.Style = l.style()
		}
		c.breakLine()
		c.out.WriteString(c.screen.rows(edge, edge, spans...))
	}
}

// unified returns the hunks of a diff. No line is omitted, since the user decides by
// it. If all lines of both texts end in \r\n, it says so once.
func unified(d acp.ToolContent) []string {
	var before, after string
	if d.OldText != nil {
		before = *d.OldText
	}
	if d.NewText != nil {
		after = *d.NewText
	}
	var all []string
	if n := strings.Count(before+after, "\n"); n > 0 && n == strings.Count(before, "\r\n")+strings.Count(after, "\r\n") {
		all = append(all, `(lines end in \r\n)`)
		before, after = strings.ReplaceAll(before, "\r\n", "\n"), strings.ReplaceAll(after, "\r\n", "\n")
	}
	text := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	for range 3 { // diff, ---, +++
		_, text, _ = strings.Cut(text, "\n")
	}
	if text == "" {
		return nil
	}
	for _, line := range strings.Split(Visible(strings.TrimSuffix(text, "\n")), "\n") {
		all = append(all, shiftedHunk(line, d))
	}
	return all
}

// shiftedHunk corrects the line numbers in the header of a hunk if the diff begins in the middle of the file. Other
// lines stay as they are.
func shiftedHunk(line string, d acp.ToolContent) string {
	var from, before, to, after int
	if d.OldLine <= 1 && d.NewLine <= 1 {
		return line
	}
	if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &from, &before, &to, &after); err != nil {
		return line
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", from+max(d.OldLine-1, 0), before, to+max(d.NewLine-1, 0), after)
}
