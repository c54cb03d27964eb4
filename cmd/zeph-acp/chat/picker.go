package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// picker is a list from which the person picks one, by the arrows, by its number, or by typing a part of it.
type picker struct {
	title    string
	items    []item
	typed    string
	shown    []item // the items that fit to typed
	selected int
	pick     func(i item) tea.Cmd
}

// openPicker shows a list, with the current item selected.
func (m *model) openPicker(title string, items []item, current string, pick func(i item) tea.Cmd) {
	p := &picker{title: title, items: items, shown: items, pick: pick}
	for i, it := range items {
		if it.value == current {
			p.selected = i
		}
	}
	m.picker = p
}

// pressAtPicker acts on a key while a list is shown.
func (m *model) pressAtPicker(k tea.KeyPressMsg) tea.Cmd {
	p := m.picker
	n := max(len(p.shown), 1)
	switch name := k.String(); {
	case name == "up" || name == "ctrl+p" || name == "shift+tab":
		p.selected = (p.selected + n - 1) % n
	case name == "down" || name == "ctrl+n" || name == "tab":
		p.selected = (p.selected + 1) % n
	case name == "esc" || name == "ctrl+g":
		m.picker = nil
	case name == "enter":
		if p.selected < len(p.shown) {
			m.picker = nil
			return p.pick(p.shown[p.selected])
		}
	case name == "backspace":
		p.filter(withoutLast(p.typed))
	case p.typed == "" && k.Text >= "1" && k.Text <= "9" && len(k.Text) == 1:
		if i := int(k.Text[0] - '1'); i < len(p.shown) {
			m.picker = nil
			return p.pick(p.shown[i])
		}
	default:
		p.filter(p.typed + k.Text)
	}
	return nil
}

// filter shows the items that fit to a text.
func (p *picker) filter(typed string) {
	if typed == p.typed {
		return
	}
	p.typed, p.selected = typed, 0
	p.shown = matching(typed, p.items, func(i item) string { return i.name + " " + i.value })
}

// view returns the rows of the list, at most so many.
func (p *picker) view(columns, most int, st styles) []string {
	rows := []string{st.bold(cut(p.title+"  "+p.typed, columns))}
	rows = append(rows, itemRows(p.shown, p.selected, columns, most-2, true, st)...)
	if len(p.shown) == 0 {
		rows = append(rows, st.dim("Nothing fits."))
	}
	return append(rows, st.dim(cut("Arrows or a number, or type a part of it. Enter picks, Esc goes back.", columns)))
}

// itemRows returns the rows of items around the selected one.
func itemRows(items []item, selected, columns, most int, numbered bool, st styles) (rows []string) {
	most = max(most, 1)
	first := min(max(selected-most/2, 0), max(len(items)-most, 0))
	names := 0
	for _, i := range items[first:min(first+most, len(items))] {
		names = max(names, width(i.name))
	}
	names = min(names, columns/2)
	for n, i := range items[first:min(first+most, len(items))] {
		mark := "  "
		if first+n == selected {
			mark = "❯ "
		}
		if numbered && first+n < 9 {
			mark += fmt.Sprintf("%d ", first+n+1)
		} else if numbered {
			mark += "  "
		}
		text := mark + cut(i.name, max(columns-width(mark), 1))
		if first+n == selected {
			text = st.bold(text)
		}
		if rest := columns - width(mark) - names - 2; i.about != "" && rest >= 12 {
			pad := strings.Repeat(" ", max(names-width(i.name), 0)+2)
			text = mark + cut(i.name, names)
			if first+n == selected {
				text = st.bold(text)
			}
			text += pad + st.dim(cut(i.about, rest))
		}
		rows = append(rows, text)
	}
	return rows
}

// ownCommand carries out a command of the screen itself, and reports whether the text is one. A text that looks like a
// command but is none is not sent either.
func (m *model) ownCommand(text string) (cmd tea.Cmd, done bool) {
	name, rest, _ := strings.Cut(text, " ")
	if rest = strings.TrimSpace(rest); !strings.HasPrefix(name, "/") {
		return nil, false
	}
	switch name {
	case "/exit", "/quit":
		return m.leave(), true
	case "/help":
		m.feed.add(&entry{kind: kindOwn, draw: m.help})
		return nil, true
	case "/resume":
		if rest != "" {
			return m.resume(rest), true
		}
		m.openSessions()
		return nil, true
	}
	if rest == "" && m.question == nil {
		switch {
		case name == "/model" && len(m.session.optionItems("model")) > 0:
			m.openPicker("Model", m.session.optionItems("model"), m.session.current("model"), func(i item) tea.Cmd { return m.setModel(i) })
			return nil, true
		case name == "/mode" && len(m.session.Modes.Available) > 0:
			m.openPicker("Mode", m.session.modeItems(), m.session.Modes.Current, func(i item) tea.Cmd { return m.setMode(i.value) })
			return nil, true
		case name == "/rewind" && !m.running:
			if turns := m.chat.turnItems(m.session.ID); len(turns) > 0 {
				m.openPicker("Go back to before", turns, turns[len(turns)-1].value, func(i item) tea.Cmd { return m.begin("/rewind " + i.value) })
				return nil, true
			}
		}
	}
	if near, unknown := m.unknownCommand(name[1:]); unknown {
		m.editor.SetText(text)
		m.hint = "There is no command " + headless.OneLine(name) + ": /help lists them."
		if near != "" {
			m.hint = "There is no command " + headless.OneLine(name) + ": did you mean /" + near + "?"
		}
		return nil, true
	}
	return nil, false
}

// openSessions shows the sessions of the directory.
func (m *model) openSessions() {
	sessions, err := m.chat.sessionItems()
	switch {
	case err != nil:
		m.hint = "The sessions cannot be read: " + err.Error()
	case len(sessions) == 0:
		m.hint = "No session of this directory is stored yet."
	default:
		m.openPicker("Go on with a session", sessions, m.session.ID, func(i item) tea.Cmd { return m.resume(i.value) })
	}
}

// resume goes on with another session.
func (m *model) resume(id string) tea.Cmd {
	if m.running {
		m.hint = "Interrupt the turn first (Esc)."
		return nil
	}
	if id == m.session.ID {
		m.hint = "That is the session on the screen."
		return nil
	}
	m.feed = feed{paint: m.feed.paint}
	m.window.top = nil
	m.usage, m.call, m.session, m.title = acp.UsageUpdate{}, nil, state{}, ""
	m.feed.add(&entry{kind: kindOwn, draw: m.banner})
	m.chat.switchTo(id)
	return nil
}

// setMode selects a mode of the session.
func (m *model) setMode(id string) tea.Cmd {
	return m.set("mode", "session/set_mode", map[string]any{"sessionId": m.session.ID, "modeId": id})
}

// setModel selects a model of the session.
func (m *model) setModel(i item) tea.Cmd {
	id := ""
	for _, o := range m.session.Options {
		if o.Category == acp.CategoryModel {
			id = o.ID
		}
	}
	m.hasTurns = true
	return m.set("model", "session/set_config_option", map[string]any{"sessionId": m.session.ID, "configId": id, "value": i.value})
}

// set changes an option of the session.
func (m *model) set(what, method string, params map[string]any) tea.Cmd {
	call, b := m.call, m.chat.bridge
	if call == nil {
		m.hint = "The session is being opened."
		return nil
	}
	m.chat.work.Go(func() {
		var result json.RawMessage
		err := call(method, params, &result)
		mode, _ := params["modeId"].(string)
		b.add(optionSet{what, mode, result, err})
	})
	return nil
}

// showOption shows what became of a change.
func (m *model) showOption(e optionSet) {
	if e.err != nil {
		m.feed.say("The "+e.what+" is not changed: "+e.err.Error(), true)
		return
	}
	_ = json.Unmarshal(e.state, &m.session)
	m.redrawOwn()
	if e.mode != "" {
		m.session.Modes.Current = e.mode
	}
	if e.what == "model" {
		m.feed.say("The model is "+headless.OneLine(m.session.name("model"))+".", false)
	}
}
