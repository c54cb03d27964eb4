package chat

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat/editor"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// keyHelp lists the keys for /help.
var keyHelp = [][2]string{
	{"Enter", "send; during a turn, add to it"},
	{"Alt-Enter, Ctrl-J, or \\ and Enter", "new line"},
	{"/  @  !", "commands, files and images, a shell command of yours"},
	{"Tab", "complete"},
	{"Shift-Tab", "next mode"},
	{"Up, Down, Ctrl-R", "earlier prompts; Ctrl-R searches them"},
	{"Ctrl-G", "edit the prompt in $VISUAL or $EDITOR"},
	{"Ctrl-O", "unfold or fold the last long result; so does a click"},
	{"PgUp, PgDn, wheel", "scroll; Ctrl-End goes to the end"},
	{"Esc", "interrupt the turn"},
	{"Ctrl-C", "clear the prompt, else interrupt the turn; twice: leave"},
	{"Ctrl-D", "leave, at an empty prompt"},
	{"Ctrl-Z", "suspend"},
	{"Ctrl-_", "undo; Ctrl-Y yanks what was cut"},
}

// press acts on a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	m.pressed = m.now()
	if name != "ctrl+c" {
		m.leaving = false
	}
	m.hint = ""
	atQuestion := m.question != nil && m.question.ready
	if _, _, searching := m.editor.Search(); searching && !atQuestion && m.picker == nil && m.editor.Press(k) {
		m.drafted = m.now()
		return nil
	}
	switch name {
	case "ctrl+c":
		return m.interruptOrLeave()
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "pgup":
		m.window.scroll(-max(m.window.rows-2, 1))
		return nil
	case "pgdown":
		m.window.scroll(max(m.window.rows-2, 1))
		return nil
	case "ctrl+end":
		m.window.top = nil
		return nil
	case "ctrl+home":
		m.window.top, m.window.row = m.feed.entries[0], 0
		return nil
	case "ctrl+o":
		m.unfoldLast()
		return nil
	}
	switch {
	case atQuestion:
		if name == "esc" && m.question.reason == nil {
			return m.interruptAtQuestion()
		}
		m.answered = m.now()
		return m.pressAtQuestion(k)
	case m.question != nil && m.editor.Text() == "" && m.now().Sub(m.answered) < silence:
		return nil // meant for the question before
	case m.picker != nil:
		return m.pressAtPicker(k)
	case m.menu.open() && m.pressAtMenu(k):
		return nil
	}
	return m.pressInPrompt(k)
}

// pressInPrompt acts on a key in the prompt.
func (m *model) pressInPrompt(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case m.editor.Press(k):
		m.drafted = m.now()
		m.browsing = slices.Contains([]string{"up", "down", "ctrl+p", "ctrl+n"}, name)
		return m.fillMenu()
	case name == "enter" && m.question != nil: // no prompt leaves before the question is read
	case name == "enter":
		text := m.editor.Text()
		m.editor.SetDraft(editor.Draft{})
		m.menu = menu{}
		return m.submit(text)
	case name == "esc":
		m.interruptTurn()
	case name == "shift+tab":
		return m.nextMode()
	case name == "ctrl+g":
		return m.editOutside()
	case name == "ctrl+d":
		if m.editor.Text() == "" {
			return m.leave()
		}
	case isAfterEsc(k):
		m.interruptTurn()
		return m.pressInPrompt(withoutEsc(k))
	}
	return nil
}

// isAfterEsc reports whether a key may be an Esc and a key that arrived together: terminals send the same for Alt.
func isAfterEsc(k tea.KeyPressMsg) bool { return k.Mod == tea.ModAlt && k.Code >= ' ' && k.Code < 0x7f }

// withoutEsc returns the key after an Esc.
func withoutEsc(k tea.KeyPressMsg) tea.KeyPressMsg {
	k.Mod, k.Text = 0, string(k.Code)
	return k
}

// interruptOrLeave acts on Ctrl-C.
func (m *model) interruptOrLeave() tea.Cmd {
	switch {
	case m.leaving:
		return m.leave()
	case m.question != nil && m.question.reason != nil:
		m.question.reason = nil
		return nil
	case m.picker != nil:
		return m.closePicker()
	case m.editor.Text() != "" && m.question == nil:
		m.editor.SetText("")
		m.menu = menu{}
		return nil
	}
	m.leaving = true
	m.hint = "Press Ctrl-C again to leave."
	if m.running {
		m.hint = "Interrupted. Press Ctrl-C again to leave."
		m.interruptTurn()
	}
	return nil
}

// leave ends the conversation.
func (m *model) leave() tea.Cmd {
	m.ended = true
	return tea.Quit
}

// paste adds pasted text to the prompt. It never answers a question.
func (m *model) paste(text string) tea.Cmd {
	if q := m.question; q != nil && q.reason != nil {
		*q.reason += strings.Join(strings.Fields(headless.Clean(text)), " ")
		return nil
	}
	if m.picker != nil {
		return nil
	}
	m.drafted = m.now()
	m.editor.Insert(text)
	return m.fillMenu()
}

// wheel scrolls.
func (m *model) wheel(msg tea.MouseWheelMsg) {
	switch msg.Button {
	case tea.MouseWheelUp:
		m.window.scroll(-3)
	case tea.MouseWheelDown:
		m.window.scroll(3)
	}
}

// click unfolds or folds the entry under the mouse.
func (m *model) click(msg tea.MouseClickMsg) {
	_, of := m.window.visible()
	if msg.Button == tea.MouseLeft && msg.Y >= 0 && msg.Y < len(of) && of[msg.Y] != nil && of[msg.Y].canFold {
		m.unfold(of[msg.Y])
	}
}

// toggle unfolds or folds an entry.
func (e *entry) toggle() {
	if e.canFold && e.question == nil {
		e.unfolded, e.drawn, e.picture = !e.unfolded, nil, nil
	}
}

// unfold unfolds or folds an entry. What is above stays where it is.
func (m *model) unfold(e *entry) {
	at := m.window.start()
	m.window.top, m.window.row = m.feed.entries[at.entry], at.row
	e.toggle()
	m.window.scroll(0)
}

// unfoldLast unfolds the last folded entry that is visible, or folds the last unfolded one.
func (m *model) unfoldLast() {
	_, of := m.window.visible()
	var last *entry
	for _, e := range of {
		if e != nil && e.canFold {
			last = e
		}
	}
	if last == nil {
		m.hint = "Nothing here is folded."
		return
	}
	m.unfold(last)
}

// nextMode selects the mode after the current one.
func (m *model) nextMode() tea.Cmd {
	modes := m.session.Modes.Available
	for i, mode := range modes {
		if mode.ID == m.session.Modes.Current {
			return m.setMode(modes[(i+1)%len(modes)].ID)
		}
	}
	m.hint = "The session is being opened."
	return nil
}

func tooLong(limit int) string {
	return fmt.Sprintf("Not sent: the prompt has more than %s (acp.max_line_bytes).", quantity.Count(limit, "byte"))
}
