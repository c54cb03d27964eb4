package editor

import (
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// vi is the state of the vi keys.
type vi struct {
	insert    bool     // insert mode; otherwise normal mode
	inserting bool     // the next change belongs to the insertion before it
	keys      []string // of a command that is not complete

	register register
	find     command // the last of f F t T
	change   change  // what "." does again
	begun    command // what began the insertion
	recorded []event // of the insertion
	playing  bool    // events of change, which are not recorded
}

// register is the text that p and P insert.
type register struct {
	text  string
	lines bool // whole lines, without the last line feed
}

// change is a command that changed the text, and what was typed after it in insert mode.
type change struct {
	command command
	events  []event
}

// event is a key, or pasted text.
type event struct {
	key  tea.KeyPressMsg
	text string
}

// pressVi acts on a key in insert or normal mode.
func (e *Editor) pressVi(k tea.KeyPressMsg) bool {
	name := keyName(k)
	escape := name == "esc" || name == "ctrl+["
	if !e.vi.insert {
		return e.pressNormal(k, name, escape)
	}
	if after, ok := afterEscape(k); ok { // alt: the terminal sends Esc and the next key at once
		e.toNormal()
		return e.pressNormal(after, keyName(after), false)
	}
	if escape {
		e.toNormal()
		return true
	}
	was := e.text
	ok := e.press(k)
	if e.text != was && e.last != walking {
		e.record(event{key: k})
	} else if ok {
		e.endInsertion()
	}
	return ok
}

// afterEscape returns the character of a key that was pressed with Alt.
func afterEscape(k tea.KeyPressMsg) (tea.KeyPressMsg, bool) {
	const others = tea.ModCtrl | tea.ModMeta | tea.ModHyper | tea.ModSuper
	if k.Text != "" || k.Mod&(tea.ModAlt|others) != tea.ModAlt || !unicode.IsPrint(k.Code) {
		return k, false
	}
	r := k.Code
	if k.Mod&tea.ModShift != 0 {
		if r = unicode.ToUpper(r); k.ShiftedCode != 0 {
			r = k.ShiftedCode
		}
	}
	return tea.KeyPressMsg{Code: r, Text: string(r)}, true
}

// pressNormal acts on a key in normal mode.
func (e *Editor) pressNormal(k tea.KeyPressMsg, name string, escape bool) bool {
	v := e.vi
	pending := len(v.keys) > 0
	if after, ok := afterEscape(k); ok {
		k, pending, v.keys = after, false, nil
	}
	text := clean(k.Text)
	switch {
	case name == "enter" && pending && v.keys[len(v.keys)-1] == "r":
		text = "\n"
	case name == "backspace", name == "ctrl+h":
		text = "h"
	case name == "delete" && !pending:
		text = "x"
	case text == "":
		v.keys = nil
		return e.specialKey(k, name, escape, pending)
	}
	v.keys = append(v.keys, text)
	c, state := parse(v.keys)
	if state != incomplete {
		v.keys = nil
	}
	if state == complete {
		e.run(c)
		e.stayInLine()
	}
	return true
}

// specialKey acts on a key that is no character, in normal mode.
func (e *Editor) specialKey(k tea.KeyPressMsg, name string, escape, pending bool) bool {
	ok := pending
	switch {
	case escape, name == "enter":
	case name == "ctrl+r":
		e.redo()
		ok = true
	default:
		ok = e.press(k)
	}
	e.stayInLine()
	return ok
}

// run executes a command, and remembers a change for ".".
func (e *Editor) run(c command) {
	v := e.vi
	if c.key == "." {
		if v.change.command.key == "" {
			return
		}
		if c.count > 0 {
			v.change.command.count = c.count
		}
		e.execute(v.change.command)
		if v.insert {
			e.play(v.change.events)
			v.begun, v.recorded = v.change.command, v.change.events
			e.toNormal()
		}
		return
	}
	e.execute(c)
	switch {
	case v.insert:
		v.begun, v.recorded = c, nil
	case c.changes():
		v.change = change{command: c}
	}
}

// toInsert enters insert mode. What is typed belongs to the change that has begun.
func (e *Editor) toInsert() {
	e.vi.insert, e.vi.inserting, e.vi.recorded = true, true, nil
}

// toNormal ends an insertion: it repeats the typed text for a count, and moves the cursor onto
// the last character.
func (e *Editor) toNormal() {
	v := e.vi
	if v.begun.key == "" && len(v.recorded) > 0 {
		v.begun.key = "i"
	}
	if v.begun.key != "" {
		v.change = change{v.begun, v.recorded}
	}
	if v.begun.op == "" && one("iaIA", v.begun.key) {
		for range max(v.begun.count, 1) - 1 {
			e.play(v.recorded)
		}
	}
	v.insert = false
	e.endInsertion()
	if e.cursor > e.lineStart(e.cursor) {
		e.cursor = e.prev(e.cursor)
	}
}

// endInsertion ends the change of an insertion, after which another one may begin.
func (e *Editor) endInsertion() {
	if v := e.vi; v != nil && !v.playing {
		v.inserting, v.recorded, v.begun = false, nil, command{}
	}
}

// record remembers what was typed for ".".
func (e *Editor) record(ev event) {
	if v := e.vi; v != nil && v.inserting && !v.playing {
		v.recorded = append(v.recorded, ev)
	}
}

// play types recorded events again.
func (e *Editor) play(events []event) {
	e.vi.playing = true
	for _, ev := range events {
		if ev.text != "" {
			e.insert(ev.text)
		} else {
			e.press(ev.key)
		}
	}
	e.vi.playing = false
}

// stayInLine moves the cursor of normal mode onto a character, if the line has one.
func (e *Editor) stayInLine() {
	if e.vi == nil || e.vi.insert || e.search != nil {
		return
	}
	if e.cursor == e.lineEnd(e.cursor) && e.cursor > e.lineStart(e.cursor) {
		e.cursor = e.prev(e.cursor)
	}
}
