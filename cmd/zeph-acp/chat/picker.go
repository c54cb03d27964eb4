package chat

import (
	"encoding/json"
	"fmt"
	"slices"
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
	current  string // the value in effect, which is marked; may be empty
	pick     func(i item) tea.Cmd
	unpicked func() // what happens if the person picks none; may be nil
}

// openPicker shows a list, with the current item selected.
func (m *model) openPicker(title string, items []item, current string, pick func(i item) tea.Cmd) {
	p := &picker{title: title, items: items, shown: items, current: current, pick: pick}
	p.selected = max(slices.IndexFunc(items, func(i item) bool { return i.value == current }), 0)
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
		return m.closePicker()
	case isAfterEsc(k):
		return tea.Batch(m.closePicker(), m.press(withoutEsc(k)))
	case name == "enter":
		if p.selected < len(p.shown) {
			return m.pick(p.shown[p.selected])
		}
	case name == "backspace":
		p.filter(withoutLast(p.typed))
	case p.typed == "" && k.Text >= "1" && k.Text <= "9" && len(k.Text) == 1:
		if i := int(k.Text[0] - '1'); i < len(p.shown) {
			return m.pick(p.shown[i])
		}
	default:
		p.filter(p.typed + k.Text)
	}
	return nil
}

// pick acts on the choice from the list.
func (m *model) pick(i item) tea.Cmd {
	p := m.picker
	m.picker = nil
	return tea.Batch(p.pick(i), m.askNext())
}

// closePicker closes the list without a choice.
func (m *model) closePicker() tea.Cmd {
	unpicked := m.picker.unpicked
	m.picker = nil
	if unpicked != nil {
		unpicked()
	}
	return m.askNext()
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
func (p *picker) view(columns, most int, st styles) (rows []string, cursor *tea.Position) {
	title := cut(p.title, columns/2) + ": "
	typed := tail(headless.OneLine(p.typed), max(columns-width(title)-1, 1))
	rows = append(rows, st.bold(title)+typed)
	rows = append(rows, list{p.shown, p.selected, p.typed == "", p.current}.rows(columns, most-2, st)...)
	hint := []string{"Arrows, a number, or type a part of it. Enter picks, Esc goes back.", "Enter picks, Esc goes back."}
	switch {
	case len(p.shown) > 0 && p.typed != "":
		hint[0] = "Arrows, or type more of it. Enter picks, Esc goes back."
	case len(p.shown) == 0:
		hint = []string{"Nothing matches. Backspace deletes, Esc goes back.", "Nothing matches. Esc goes back."}
	}
	return append(rows, st.dim(fitting(columns, hint...))), &tea.Position{X: width(title + typed)}
}

// list has items, one of them selected.
type list struct {
	items    []item
	selected int
	numbered bool
	current  string // the value in effect, which is marked; may be empty
}

// rows returns the rows around the selected item, at most so many.
func (l list) rows(columns, most int, st styles) (rows []string) {
	most = max(most, 1)
	more := ""
	if len(l.items) > most && most > 2 {
		most--
		more = st.dim(fmt.Sprintf("  %d of %d", l.selected+1, len(l.items)))
	}
	names, abouts := 0, 0
	for _, i := range l.items {
		names, abouts = max(names, width(i.name)), max(abouts, width(i.about))
	}
	room := columns - l.markWidth() - 2
	if names > columns/2 && abouts <= columns/2 {
		names = min(names, room-abouts)
	}
	names = min(names, max(columns/2, room-abouts))
	first := min(max(l.selected-most/2, 0), max(len(l.items)-most, 0))
	for n := first; n < min(first+most, len(l.items)); n++ {
		i, mark, paint := l.items[n], l.mark(n), func(text string) string { return text }
		if n == l.selected {
			paint = st.bold
		}
		rest := room - names
		if i.about == "" || rest < 12 {
			rows = append(rows, paint(mark+cut(i.name, max(columns-l.markWidth(), 1))))
			continue
		}
		name := cut(i.name, names)
		rows = append(rows, paint(mark+name)+strings.Repeat(" ", names-width(name)+2)+st.dim(cut(i.about, rest)))
	}
	if more != "" {
		rows = append(rows, more)
	}
	return rows
}

// markWidth returns the columns of what stands before each item.
func (l list) markWidth() int {
	n := 2
	if l.numbered {
		n += 2
	}
	if l.current != "" {
		n += 2
	}
	return n
}

// mark returns what stands before an item.
func (l list) mark(n int) string {
	mark := "  "
	if n == l.selected {
		mark = "❯ "
	}
	switch {
	case l.numbered && n < 9:
		mark += fmt.Sprintf("%d ", n+1)
	case l.numbered:
		mark += "  "
	}
	switch {
	case l.current != "" && l.items[n].value == l.current:
		mark += "✓ "
	case l.current != "":
		mark += "  "
	}
	return mark
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
		m.window.show(m.feed.add(&entry{kind: kindOwn, draw: m.help}))
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
				m.openPicker("Go back to before", turns, "", func(i item) tea.Cmd { return m.begin("/rewind " + i.value) })
				m.picker.selected = len(turns) - 1
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
