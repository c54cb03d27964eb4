package editor

import "slices"

// maxEdits is the number of edits that can be undone.
const maxEdits = 2000

// edit is a replaced range. Edits of one group are undone together.
type edit struct {
	at                int
	removed, inserted string
	before, after     int // the cursor
	group             int
}

// changes are the edits that can be undone and done again.
type changes struct {
	done, undone []edit // the latest is last
	group        int
}

// startChange begins a change of a kind. A run of typed or erased characters is one change, up
// to the next word. With vi keys an insertion is one change.
func (e *Editor) startChange(kind action) {
	e.last = kind
	switch {
	case e.vi != nil && e.vi.insert:
		if !e.vi.inserting {
			e.group++
		}
		e.vi.inserting = true
	case kind == e.previous && (kind == erasing || kind == typing && !e.beginsWord()):
	default:
		e.group++
	}
}

// beginsWord reports whether the cursor is after a space.
func (e *Editor) beginsWord() bool { return e.cursor > 0 && isSpace(e.text[e.cursor-1]) }

// note remembers an edit. What was undone is lost.
func (c *changes) note(n edit) {
	if n.removed == n.inserted {
		return
	}
	c.undone, n.group = nil, c.group
	if i := len(c.done) - 1; i >= 0 && c.done[i].joins(n) {
		c.done[i].inserted += n.inserted
		return
	}
	if len(c.done) >= maxEdits {
		c.done = slices.Delete(c.done, 0, maxEdits/10)
	}
	c.done = append(c.done, n)
}

// joins reports whether an edit continues insertion d.
func (d edit) joins(n edit) bool {
	return d.group == n.group && d.removed == "" && n.removed == "" && n.at == d.at+len(d.inserted)
}

// noteCursor sets the cursor after the last edit.
func (c *changes) noteCursor(cursor int) {
	if i := len(c.done) - 1; i >= 0 {
		c.done[i].after = cursor
	}
}

// undo reverts the last change.
func (e *Editor) undo() {
	e.endInsertion()
	for i := len(e.done) - 1; i >= 0; i-- {
		d := e.done[i]
		e.done, e.undone = e.done[:i], append(e.undone, d)
		e.replace(d.at, d.at+len(d.inserted), d.removed)
		if e.cursor = d.before; e.vi != nil && !e.vi.insert {
			e.cursor = e.boundary(d.at)
		}
		if i == 0 || e.done[i-1].group != d.group {
			return
		}
	}
}

// redo does the last change again that was taken back.
func (e *Editor) redo() {
	e.endInsertion()
	for i := len(e.undone) - 1; i >= 0; i-- {
		d := e.undone[i]
		e.done, e.undone = append(e.done, d), e.undone[:i]
		e.replace(d.at, d.at+len(d.removed), d.inserted)
		if e.cursor = d.after; e.vi != nil && !e.vi.insert {
			e.cursor = e.boundary(d.at)
		}
		if i == 0 || e.undone[i-1].group != d.group {
			return
		}
	}
}
