// Package editor is the editor of a prompt: text, cursor, undo, kill ring and history, with the
// keys of emacs or vi.
//
// The textarea of bubbles has no undo, yank, history search or vi keys, and its import looks for
// clipboard programs in PATH at each start of the process, which serve would pay too.
//
// Start with [New]. The caller passes keys to [Editor.Press] and draws [Editor.Rows]. The
// package does no I/O. The cursor is always between grapheme clusters, and the text is always
// valid UTF-8.
package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"     // the keys of the terminal that chat reads
	"github.com/charmbracelet/x/ansi" // clusters and their columns, as bubbletea draws them
)

// Editor is the text of a prompt, and the cursor in it. Not safe for concurrent use.
type Editor struct {
	state

	Width ansi.Method // how the terminal measures clusters; zero means rune by rune

	previous, last action // kinds of the key before this one, and of this one

	kills            []string // oldest first
	yank             int      // index of the kill that was yanked last
	yankFrom, yankTo int      // bytes that hold it
	history          []string // oldest first
	entry            int      // the entry in the editor; len(history) is the draft
	kept             map[int]state
	search           *search // nil: no search
	lastQuery        string
	columns          int // of the last call of Rows
	goal             int // column of a cursor that moves up or down
	rows             []span
	rowsColumns      int // what rows were wrapped for
	rowsWidth        ansi.Method
	vi               *vi // nil: emacs keys
}

// action is the kind of a key, as far as the next key depends on it.
type action int

const (
	other   action = iota
	typing         // typed text
	erasing        // backspace or delete
	killing
	yanking
	vertical // up or down in the text
	walking  // up or down in the history
)

// state is what a draft keeps.
type state struct {
	text   string
	cursor int   // bytes
	bounds []int // consecutive boundaries of clusters before the last position of prev
	changes
}

// Draft is text with its cursor and its undo state, put aside. The zero value is an empty
// prompt.
type Draft struct{ state state }

// New returns an empty editor with the keys of emacs, or of vi in insert mode.
func New(viKeys bool) *Editor {
	e := &Editor{}
	if viKeys {
		e.vi = &vi{insert: true}
	}
	return e
}

// Text returns the text.
func (e *Editor) Text() string { return e.text }

// Before returns the text before the cursor.
func (e *Editor) Before() string { return e.text[:e.cursor] }

// SetText replaces the text and moves the cursor to the end. It can be undone.
func (e *Editor) SetText(text string) {
	e.endSearch()
	e.step()
	e.startChange(other)
	e.splice(0, len(e.text), clean(text))
	e.cursor = len(e.text)
	e.stayInLine()
}

// Insert inserts typed or pasted text at the cursor, or adds it to the query of a search. It
// removes control characters except tabs and line feeds. No part of the text acts as a key.
func (e *Editor) Insert(text string) {
	e.step()
	if text = clean(text); e.search != nil {
		e.narrow(text)
		return
	}
	e.startChange(other)
	e.record(event{text: text})
	e.insert(text)
	e.stayInLine()
}

// ReplaceBefore replaces the last n bytes before the cursor.
func (e *Editor) ReplaceBefore(n int, text string) {
	e.endSearch()
	e.step()
	e.startChange(other)
	e.splice(e.floor(max(0, e.cursor-n)), e.cursor, clean(text))
	e.stayInLine()
}

// Draft returns what is edited now. In a walk through the history it is the entry.
func (e *Editor) Draft() Draft { return Draft{e.copy()} }

// SetDraft replaces what is edited, ends a search or a walk through the history, and returns vi
// to insert mode.
func (e *Editor) SetDraft(d Draft) {
	e.endSearch()
	e.state = d.state.copy()
	e.entry, e.kept, e.rows, e.last = len(e.history), nil, nil, other
	if e.vi != nil {
		e.vi = &vi{insert: true, change: e.vi.change, find: e.vi.find, register: e.vi.register}
	}
}

// Mode returns "insert" or "normal" with vi keys, otherwise "".
func (e *Editor) Mode() string {
	switch {
	case e.vi == nil:
		return ""
	case e.vi.insert:
		return "insert"
	}
	return "normal"
}

// Press edits or moves by a key. It reports false for a key that is not the editor's, such as
// Enter, Ctrl-C, Tab, Esc with emacs keys and in normal mode, Ctrl-D without text, and up or
// down at the end of the history.
func (e *Editor) Press(k tea.KeyPressMsg) bool {
	e.step()
	switch {
	case e.search != nil:
		return e.pressInSearch(k)
	case e.vi != nil:
		return e.pressVi(k)
	}
	return e.press(k)
}

// step begins a key.
func (e *Editor) step() { e.previous, e.last = e.last, other }

// insert inserts text at the cursor.
func (e *Editor) insert(text string) { e.splice(e.cursor, e.cursor, text) }

// splice replaces a range of the text and moves the cursor after the new part.
func (e *Editor) splice(from, to int, text string) {
	e.note(edit{at: from, removed: strings.Clone(e.text[from:to]), inserted: text, before: e.cursor})
	e.replace(from, to, text)
	e.cursor = e.boundary(from + len(text))
	e.changes.noteCursor(e.cursor)
}

// replace replaces a range of the text, and wraps the changed lines again.
func (e *Editor) replace(from, to int, text string) {
	first, last := e.staleRows(from, to)
	e.text, e.bounds = e.text[:from]+text+e.text[to:], nil
	e.rewrap(first, last, len(text)-(to-from))
}

// copy returns a state that shares nothing that changes.
func (s state) copy() state {
	s.done, s.undone = slices.Clone(s.done), slices.Clone(s.undone)
	return s
}

// clean returns text without control characters other than tabs and line feeds, which it
// makes of other line breaks.
func clean(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
