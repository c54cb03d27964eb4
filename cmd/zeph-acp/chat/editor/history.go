package editor

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// search is a search in the history.
type search struct {
	query string
	at    int  // index of the entry that was found last; len(history) at the beginning
	found bool // the entry contains the query
}

// SetHistory replaces the history, oldest prompt first.
func (e *Editor) SetHistory(prompts []string) {
	e.endSearch()
	e.history = slices.Clone(prompts)
	e.entry, e.kept = len(e.history), nil
}

// AddHistory adds the latest prompt, unless it is empty or the same as the one before. It ends a
// walk through the history.
func (e *Editor) AddHistory(prompt string) {
	e.endSearch()
	if n := len(e.history); prompt != "" && (n == 0 || e.history[n-1] != prompt) {
		e.history = append(e.history, prompt)
	}
	e.entry, e.kept = len(e.history), nil
}

// walk shows the next entry of the history that differs from the text, and reports whether
// there is one.
func (e *Editor) walk(step int) bool {
	i := e.entry + step
	for i >= 0 && i < len(e.history) && e.history[i] == e.text {
		i += step
	}
	if i < 0 || i > len(e.history) {
		return false
	}
	e.show(i)
	e.last = walking
	return true
}

// show puts the text aside and shows an entry, or the draft below the last one.
func (e *Editor) show(entry int) {
	if e.kept == nil {
		e.kept = map[int]state{}
	}
	e.kept[e.entry] = e.state
	next, ok := e.kept[entry]
	if !ok && entry < len(e.history) {
		text := clean(e.history[entry])
		next = state{text: text, cursor: len(text)}
	}
	e.state, e.entry, e.rows = next, entry, nil
	e.endInsertion()
	e.stayInLine()
}

// Search returns the query of a search in the history, and the prompt that it has found, if any.
func (e *Editor) Search() (query, found string, on bool) {
	if e.search == nil {
		return "", "", false
	}
	if e.search.found {
		found = clean(e.history[e.search.at])
	}
	return e.search.query, found, true
}

func (e *Editor) startSearch() { e.search = &search{at: len(e.history)} }

// endSearch leaves a search. The text is as it was before.
func (e *Editor) endSearch() {
	if e.search != nil && e.search.query != "" {
		e.lastQuery = e.search.query
	}
	e.search = nil
}

// pressInSearch acts on a key during a search. A key that edits or moves takes the entry into
// the editor first.
func (e *Editor) pressInSearch(k tea.KeyPressMsg) bool {
	switch name := keyName(k); {
	case k.Text != "":
		e.narrow(clean(k.Text))
	case name == "ctrl+r", name == "up", name == "ctrl+p":
		e.again(-1)
	case name == "ctrl+s", name == "down", name == "ctrl+n":
		e.again(1)
	case name == "backspace", name == "shift+backspace", name == "ctrl+h":
		s := state{text: e.search.query}
		e.search = &search{query: s.text[:s.prev(len(s.text))], at: len(e.history)}
		e.find(len(e.history)-1, -1)
	case name == "esc", name == "ctrl+g", name == "ctrl+c":
		e.endSearch()
	case name == "enter":
		e.accept()
	case name == "pgup", name == "pgdown":
		return false
	default:
		e.accept()
		return e.Press(k)
	}
	return true
}

// accept ends the search and edits the prompt that it has found.
func (e *Editor) accept() {
	at, found := e.search.at, e.search.found
	e.endSearch()
	if found && e.history[at] != e.text {
		e.show(at)
		e.cursor = len(e.text)
		e.stayInLine()
	}
}

// narrow adds to the query. The entry that was found stays if it still fits.
func (e *Editor) narrow(text string) {
	e.search.query += strings.ReplaceAll(text, "\n", " ")
	e.find(min(e.search.at, len(e.history)-1), -1)
}

// again finds the next entry for the same query, or begins with the last query.
func (e *Editor) again(step int) {
	if e.search.query == "" {
		e.narrow(e.lastQuery)
		return
	}
	was := *e.search
	if !was.found {
		return
	}
	for i := was.at + step; i >= 0 && i < len(e.history); i += step {
		if e.history[i] != e.history[was.at] && e.matches(i) {
			e.search.at = i
			return
		}
	}
}

// find looks for the query from an entry on.
func (e *Editor) find(from, step int) {
	e.search.found = false
	for i := from; i >= 0 && i < len(e.history); i += step {
		if e.matches(i) {
			e.search.at, e.search.found = i, true
			return
		}
	}
}

// matches reports whether an entry contains the query. Small letters in the query match capital
// ones too.
func (e *Editor) matches(entry int) bool {
	query, text := e.search.query, e.history[entry]
	if query == "" {
		return false
	}
	if query == strings.ToLower(query) {
		text = strings.ToLower(text)
	}
	return strings.Contains(text, query)
}
