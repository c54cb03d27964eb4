package chat

import (
	"slices"
	"strings"
)

// window is the part of the feed that the screen has room for. It draws the entries that it shows, and no others: a
// long conversation costs no more than a short one.
type window struct {
	feed *feed
	rows int // height
	// The first row shown is this row of this entry. Nil means that the end of the feed is shown, and is followed.
	top *entry
	row int
}

// roomy is the number of rows from which there is room for an empty row after the last entry.
const roomy = 8

// position is a row of an entry of the feed.
type position struct{ entry, row int }

func (p position) before(other position) bool {
	return p.entry < other.entry || p.entry == other.entry && p.row < other.row
}

// height returns the number of rows of an entry, with the empty row after it.
func (w *window) height(i int) int { return len(w.feed.entries[i].lines(w.feed.paint)) + 1 }

// start returns the position of the first row that is shown. A window that has come to the end follows it.
func (w *window) start() position {
	end := w.end()
	if w.top == nil {
		return end
	}
	if i := slices.Index(w.feed.entries, w.top); i >= 0 {
		if p := (position{i, min(w.row, w.height(i)-1)}); p.before(end) {
			return p
		}
	}
	w.top = nil
	return end
}

// end returns the position of the first row that is shown if the last one is.
func (w *window) end() position {
	rows := w.rows
	if rows < roomy {
		rows++ // without the empty row after the last entry
	}
	return w.up(position{entry: len(w.feed.entries)}, rows)
}

// up returns the position so many rows above another one, or the first.
func (w *window) up(p position, rows int) position {
	for {
		if p.row >= rows {
			return position{p.entry, p.row - rows}
		}
		rows -= p.row
		if p.entry == 0 {
			return position{}
		}
		p = position{entry: p.entry - 1}
		p.row = w.height(p.entry)
	}
}

// down returns the position so many rows below another one, or the one after the last.
func (w *window) down(p position, rows int) position {
	for p.entry < len(w.feed.entries) {
		left := w.height(p.entry) - p.row
		if rows < left {
			return position{p.entry, p.row + rows}
		}
		rows -= left
		p = position{entry: p.entry + 1}
	}
	return p
}

// scroll moves the window, up by a negative number of rows.
func (w *window) scroll(rows int) {
	if len(w.feed.entries) == 0 {
		return
	}
	at := w.start()
	if rows < 0 {
		at = w.up(at, -rows)
	} else {
		at = w.down(at, rows)
	}
	w.top = nil
	if at.before(w.end()) {
		w.top, w.row = w.feed.entries[at.entry], at.row
	}
}

// show shows an entry at the end of the feed from its first row on.
func (w *window) show(e *entry) {
	w.top, w.row = e, 0
	w.scroll(0)
}

// visible returns the rows that are shown, and the entry of each; nil for an empty row.
func (w *window) visible() (rows []string, of []*entry) {
	for p := w.start(); p.entry < len(w.feed.entries) && len(rows) < w.rows; p = (position{entry: p.entry + 1}) {
		e := w.feed.entries[p.entry]
		lines := e.lines(w.feed.paint)
		for _, l := range lines[min(p.row, len(lines)):] {
			rows, of = append(rows, l), append(of, e)
		}
		rows, of = append(rows, ""), append(of, nil)
	}
	n := min(len(rows), w.rows)
	return rows[:n], of[:n]
}

// beginsAbove reports whether the entry of a question begins above the window.
func (w *window) beginsAbove(q *question) bool {
	at := w.start()
	return at.entry < len(w.feed.entries) && at.row > 0 && w.feed.entries[at.entry].question == q
}

// below reports whether there are rows below the window.
func (w *window) below() bool { return w.top != nil }

// text returns the whole feed, for the terminal's own history.
func (w *window) text() string {
	var b strings.Builder
	for i, e := range w.feed.entries {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.Join(e.lines(w.feed.paint), "\n") + "\n")
	}
	return b.String()
}
