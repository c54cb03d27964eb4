package chat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// picture is an entry on a screen of its own. It grows with the entry: what was shown once is not shown again, so that a
// long message costs no more than a short one while it is streamed.
type picture struct {
	paint  paint
	screen *headless.Screen
	out    bytes.Buffer // what the screen has printed since the last complete row
	rows   []string     // complete rows

	text   int // bytes of the text that are shown
	parts  int // parts that are shown
	output int // bytes of the output of the last of them
	ended  bool
}

// newPicture returns the picture of an entry before its first part.
func newPicture(p paint, unfolded bool) *picture {
	pic := &picture{paint: p}
	s := headless.NewScreen(&pic.out, p.styled)
	s.Columns = func() int { return p.columns }
	s.Unfolded, s.Config, s.More = unfolded, p.rules, " (Ctrl-O shows them)"
	s.Colourless = p.colourless
	pic.screen = s
	return pic
}

// lines returns the rows of an entry.
func (e *entry) lines(p paint) []string {
	if e.drawn != nil && e.with == p {
		return e.drawn
	}
	pic := e.picture
	if pic == nil || pic.paint != p || !e.grows() {
		pic = newPicture(p, e.unfolded)
	}
	pic.show(e)
	if e.picture = nil; e.grows() {
		e.picture = pic
	}
	rest, folded := pic.screen.Rest()
	e.canFold = e.unfolded && e.canFold || folded
	pic.rows = append(pic.rows, rowsOf(pic.takeRows(), p.columns)...)
	e.drawn, e.with = trimmed(append(pic.rows[:len(pic.rows):len(pic.rows)], rowsOf(pic.out.String()+rest, p.columns)...)), p
	if e.kind == acp.UpdateUserMessage {
		e.foldPrompt()
	}
	return e.drawn
}

// maxPromptRows is the number of rows of a prompt that are shown: of a longer one, which is mostly pasted, the beginning
// and the end.
const maxPromptRows = 30

// foldPrompt folds what is drawn of a long prompt.
func (e *entry) foldPrompt() {
	if e.canFold = len(e.drawn) > maxPromptRows; !e.canFold || e.unfolded {
		return
	}
	const head, tail = maxPromptRows * 2 / 3, maxPromptRows / 3
	more := fmt.Sprintf("… %s more lines (Ctrl-O shows them)", quantity.Grouped(int64(len(e.drawn)-head-tail)))
	more = styles{e.with.styled}.dim(cut(more, e.with.columns))
	e.drawn = slices.Concat(e.drawn[:head], []string{more}, e.drawn[len(e.drawn)-tail:])
}

// grows reports whether more may follow what is shown of an entry now.
func (e *entry) grows() bool {
	switch e.kind {
	case acp.UpdateUserMessage, acp.UpdateAgentMessage, acp.UpdateAgentThought:
		return true
	}
	return e.running && e.question == nil
}

// takeRows returns the complete rows that the screen has printed.
func (p *picture) takeRows() string {
	n := bytes.LastIndexByte(p.out.Bytes(), '\n') + 1
	return string(p.out.Next(n))
}

// rowsOf returns the rows of a text, none longer than the columns.
func rowsOf(text string, columns int) (rows []string) {
	if text == "" {
		return nil
	}
	for row := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if ansi.StringWidth(row) > columns {
			rows = append(rows, strings.Split(ansi.Hardwrap(row, columns, true), "\n")...)
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// trimmed returns rows without the empty ones around them, but at least one.
func trimmed(rows []string) []string {
	for len(rows) > 1 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	for len(rows) > 1 && rows[0] == "" {
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return []string{""}
	}
	return rows
}

// show shows what an entry has got since the last time.
func (p *picture) show(e *entry) {
	s := p.screen
	switch e.kind {
	case kindOwn:
		p.out.WriteString(e.draw(p.paint))
	case kindOutcome:
		s.Outcome(e.text.String(), e.failed)
	case kindQuestion:
		s.Question(e.question.request)
	case acp.UpdateUserMessage, acp.UpdateAgentMessage, acp.UpdateAgentThought:
		text := e.text.String()[p.text:]
		p.text += len(text)
		chunk := acp.MessageChunk{Update: e.kind, MessageID: e.id, Content: acp.TextBlock(text)}
		params, _ := plainjson.Marshal(map[string]any{"update": chunk})
		s.Update(params)
	default:
		p.showParts(e)
	}
}

// showParts shows the new parts of a call or a plan.
func (p *picture) showParts(e *entry) {
	if p.parts > 0 && p.parts <= len(e.parts) {
		if last := e.parts[p.parts-1]; last.update == nil { // the last output may have grown
			p.screen.Output(last.terminal, last.output[p.output:])
			p.output = len(last.output)
		}
	}
	for _, part := range e.parts[p.parts:] {
		if p.parts, p.output = p.parts+1, len(part.output); part.update != nil {
			p.screen.Update(part.update)
		} else {
			p.screen.Output(part.terminal, part.output)
		}
	}
	if e.question != nil {
		p.screen.Question(e.question.request)
	}
	if e.kind == acp.UpdateToolCall && !e.running && !p.ended {
		p.ended = true
		p.screen.Ended(acp.StopEndTurn, "") // a call without a result is not finished
	}
}
