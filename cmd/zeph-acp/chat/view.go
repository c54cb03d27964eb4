package chat

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// styles paints text, unless the terminal has no styles. The terminal library leaves out the colours that a terminal
// does not have, or that NO_COLOR forbids.
type styles struct{ on bool }

func (s styles) paint(st lipgloss.Style, text string) string {
	if !s.on || text == "" {
		return text
	}
	return st.Render(text)
}

func (s styles) bold(text string) string { return s.paint(lipgloss.NewStyle().Bold(true), text) }
func (s styles) dim(text string) string  { return s.paint(lipgloss.NewStyle().Faint(true), text) }
func (s styles) warn(text string) string {
	return s.paint(lipgloss.NewStyle().Foreground(lipgloss.Yellow), text)
}

// cut returns the beginning of a text that fits in the columns.
func cut(text string, columns int) string { return ansi.Truncate(text, max(columns, 0), "…") }

// tail returns the end of a text that fits in the columns.
func tail(text string, columns int) string {
	if over := width(text) - columns; over > 0 {
		return ansi.TruncateLeft(text, over+1, "…")
	}
	return text
}

func width(text string) int { return ansi.StringWidth(text) }

// fitting returns the first text that fits in the columns. If none does, it cuts the last one.
func fitting(columns int, texts ...string) string {
	for _, t := range texts {
		if width(t) <= columns {
			return t
		}
	}
	return cut(texts[len(texts)-1], columns)
}

// wrapped returns a text in rows of so many columns; the last of most rows ends with "…" if there are more.
func wrapped(text string, columns, most int) []string {
	rows := strings.Split(ansi.Wrap(text, max(columns, 1), " "), "\n")
	if len(rows) > most {
		rows = append(rows[:most-1], cut(strings.Join(rows[most-1:], " "), columns))
	}
	return rows
}

// View implements [tea.Model].
func (m *model) View() tea.View {
	below, cursor := m.below()
	m.window.rows = max(m.height-len(below), 0)
	if m.question != nil {
		below, cursor = m.below() // again, since it is known now whether the question begins above the window
	}
	if len(below) >= m.height { // a tiny terminal
		drop := len(below) - m.height
		below = below[drop:]
		if cursor != nil {
			cursor.Y -= drop
		}
	}
	m.window.rows = max(m.height-len(below), 0)
	rows, _ := m.window.visible()
	for len(rows) < m.window.rows {
		rows = append(rows, "")
	}
	for i, r := range below {
		below[i] = cut(r, m.width)
	}
	v := tea.NewView(m.printable(strings.Join(append(rows, below...), "\n")))
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = m.windowTitle()
	if m.chat.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if cursor != nil && cursor.Y >= 0 {
		v.Cursor = tea.NewCursor(min(cursor.X, m.width-1), m.window.rows+cursor.Y)
		v.Cursor.Blink = false
		if m.editor.Mode() == "insert" {
			v.Cursor.Shape = tea.CursorBar
		}
	}
	return v
}

// printable returns a text as the terminal can show it.
func (m *model) printable(text string) string {
	if !m.chat.ASCII {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if i := slices.Index(drawn, r); i >= 0 {
			r = rune(drawnASCII[i])
		}
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Repeat("?", width(string(r)))) // as wide, so that the cursor is where it should be
	}
	return b.String()
}

// drawn are the characters that the screen is drawn with, and those that texts are often written with. drawnASCII are
// those in their place.
var drawn = []rune("›❯✓─·…╭│╰┄┊↓↑⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" + "−‐‑‒–—‘’‚“”„•◦▪▸▏→×☑☐○")

const drawnASCII = ">>*--.+|+-:v^" + `|/-\|/-\|/` + `------'',"""***>|>x*-o`

// windowTitle says in the terminal's title whether the turn waits for the person.
func (m *model) windowTitle() string {
	mark := ""
	switch {
	case m.question != nil:
		mark = "? "
	case m.running:
		mark = "… "
	}
	if m.title != "" {
		return mark + m.title
	}
	return mark + "zeph-acp · " + headless.OneLine(lastPart(m.chat.Dir))
}

// small is the number of rows under which a terminal has room for the most necessary only.
const small = 8

// below returns the rows below the conversation, and the place of the cursor in them.
func (m *model) below() (rows []string, cursor *tea.Position) {
	most := max(m.height/2, 4)
	if m.window.below() {
		rows = append(rows, m.st.dim(cut("↓ more below (Ctrl-End)", m.width)))
	}
	for _, t := range m.steering {
		rows = append(rows, m.st.dim(cut("After the running call: "+headless.OneLine(t), m.width)))
	}
	for _, q := range m.queue {
		rows = append(rows, m.st.dim(cut("Next: "+headless.OneLine(q), m.width)))
	}
	if s := m.status(); s != "" && (m.question == nil || m.height >= small) {
		rows = append(rows, s)
	}
	rows = append(rows, m.st.dim(strings.Repeat("─", m.width)))
	at := func(c *tea.Position) {
		if c != nil {
			cursor = &tea.Position{X: c.X, Y: c.Y + len(rows)}
		}
	}
	switch {
	case m.picker != nil:
		p, c := m.picker.view(m.width, most, m.st)
		at(c)
		rows = append(rows, p...)
	case m.question != nil && m.question.ready:
		q, c := m.question.view(m.width, max(min(m.height/2, m.height-4), 2), m.st)
		at(c)
		rows = append(rows, q...)
		if m.editor.Text() != "" && m.height >= small {
			rows = append(rows, m.st.dim(fitting(m.width, "Your prompt is kept until you have answered.", "Your prompt is kept.")))
		}
	default:
		if m.question != nil {
			q, _ := m.question.view(m.width, max(min(m.height/2, m.height-4), 2), m.st)
			rows = append(rows, q...)
		}
		prompt, c := m.promptRows(most)
		at(c)
		rows = append(rows, prompt...)
		if m.menu.open() {
			rows = append(rows, list{items: m.menu.items, selected: m.menu.selected}.rows(m.width, min(most, 10), m.st)...)
		}
	}
	return append(rows, m.footer()...), cursor
}

// promptRows returns the rows of the prompt, at most so many, and the place of the cursor.
func (m *model) promptRows(most int) (rows []string, cursor *tea.Position) {
	const mark = "› "
	if query, found, on := m.editor.Search(); on {
		return m.searchRows(query, found, most)
	}
	all, row, column := m.editor.Rows(max(m.width-width(mark)-1, 1))
	first := min(max(row-most+1, 0), max(len(all)-most, 0))
	for i, r := range all[first:min(first+most, len(all))] {
		before := "  "
		switch {
		case first+i == 0:
			before = mark
		case i == 0:
			before = "… "
		}
		rows = append(rows, before+r)
	}
	if m.editor.Text() == "" && !m.running && !m.hasTurns && m.question == nil {
		rows[0] = mark + m.st.dim(fitting(m.width-width(mark), "Type a prompt, / for commands, @ for files", "Type a prompt, or / for commands", "Type a prompt"))
	}
	cursor = &tea.Position{X: width(mark) + column, Y: row - first}
	return rows, cursor
}

// searchRows returns the rows of a search in the earlier prompts: what is found, and what is searched.
func (m *model) searchRows(query, found string, most int) (rows []string, cursor *tea.Position) {
	mark := "› "
	for _, row := range wrapped(headless.OneLine(found), m.width-width(mark), max(most-1, 1)) {
		rows = append(rows, mark+row)
		mark = "  "
	}
	search := "Search: " + tail(headless.OneLine(query), max(m.width-width("Search: ")-1, 1))
	cursor = &tea.Position{X: width(search), Y: len(rows)}
	switch {
	case found != "":
		search += m.st.dim(fitting(m.width-width(search), "   Ctrl-R goes further back, Enter takes it, Esc goes back", "   Enter takes it, Esc goes back", "  Enter, Esc", ""))
	case query != "":
		search += m.st.dim(fitting(m.width-width(search), "   nothing found, Esc goes back", "  nothing found", ""))
	}
	return append(rows, search), cursor
}

// status returns the row that says what the turn waits for; empty if no turn runs.
func (m *model) status() string {
	if !m.running || m.ended {
		return ""
	}
	if m.question != nil {
		const waiting = "Waiting for you"
		if m.window.beginsAbove(m.question) {
			return m.st.bold(waiting) + m.st.dim("  ↑ more above (PgUp)")
		}
		return m.st.bold(waiting)
	}
	if len(m.questions) > 0 {
		return m.st.bold(cut("A question waits until the list is closed", m.width))
	}
	what, others := "waiting for the model", ""
	if m.call == nil {
		what = "opening the session"
	}
	if calls := m.feed.running(); len(calls) > 0 {
		what = calls[0].title
		if n := len(calls) - 1; n > 0 {
			others = " and " + quantity.Count(n, "other call")
		}
	} else if e := m.feed.last(); e != nil {
		switch e.kind {
		case acp.UpdateAgentMessage:
			what = "writing"
		case acp.UpdateAgentThought:
			what = "thinking"
		}
	}
	frames := spinner.MiniDot.Frames
	text := fmt.Sprintf("%s %s  ", frames[m.frame%len(frames)], headless.Elapsed(m.now().Sub(m.began)))
	end := "  Esc interrupts"
	if width(text+what+others+end) > m.width && m.width < 60 {
		end = ""
	}
	return m.st.dim(cut(text+cut(what, m.width-width(text+others+end))+others+end, m.width))
}

// banner draws the first lines of the conversation.
func (m *model) banner(p paint) string {
	st := m.st
	about := m.chat.Version
	if model := m.session.current("model"); model != "" {
		about += factSeparator + fittingModel(headless.OneLine(model), p.columns-width("zeph-acp "+about+factSeparator))
		if mode := factSeparator + m.session.Modes.Current + " mode"; width("zeph-acp "+about+mode) <= p.columns {
			about += mode
		}
	}
	where := headless.OneLine(m.chat.DirName)
	if m.chat.Branch != "" {
		where += " on " + headless.OneLine(m.chat.Branch)
	}
	rows := []string{
		st.bold("zeph-acp") + " " + cut(about, p.columns-9),
		cut(where, p.columns),
	}
	if m.chat.Hint != "" {
		rows = append(rows, strings.Split(ansi.Wordwrap(m.chat.Hint, p.columns, ""), "\n")...)
	}
	return strings.Join(rows, "\n")
}

// help draws the commands and the keys.
func (m *model) help(p paint) string {
	rows := []string{m.st.bold("Commands")}
	rows = append(rows, table(p.columns, m.commandHelp(), m.st)...)
	rows = append(rows, "", m.st.bold("Keys"))
	return strings.Join(append(rows, table(p.columns, keyHelp, m.st)...), "\n")
}

// commandHelp lists the commands.
func (m *model) commandHelp() (all [][2]string) {
	for _, c := range m.commands() {
		name := c.name
		for _, known := range m.session.Commands {
			if known.Name == c.value && known.Input != nil {
				name += " " + headless.OneLine(known.Input.Hint)
			}
		}
		all = append(all, [2]string{name, c.about})
	}
	return all
}

// table returns rows of two columns; the second one is wrapped.
func table(columns int, all [][2]string, st styles) (rows []string) {
	left := 0
	for _, r := range all {
		left = max(left, width(r[0]))
	}
	left = min(left, columns*2/5)
	for _, r := range all {
		name := r[0]
		if width(name) > left {
			rows = append(rows, "  "+cut(name, columns-2))
			name = ""
		}
		for _, line := range strings.Split(ansi.Wordwrap(r[1], max(columns-left-4, 10), ""), "\n") {
			rows = append(rows, "  "+name+strings.Repeat(" ", left-width(name)+2)+st.dim(line))
			name = ""
		}
	}
	return rows
}
