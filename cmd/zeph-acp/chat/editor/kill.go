package editor

import (
	"slices"
	"strings"
)

// maxKills is the length of the kill ring.
const maxKills = 60

// kill removes a range and keeps it. Kills in a row are one entry of the kill ring.
func (e *Editor) kill(from, to int) {
	joins := e.previous == killing && len(e.kills) > 0
	if from == to {
		e.last = e.previous
		return
	}
	killed := strings.Clone(e.text[from:to])
	switch last := len(e.kills) - 1; {
	case joins && to == e.cursor:
		e.kills[last] = killed + e.kills[last]
	case joins:
		e.kills[last] += killed
	default:
		e.keep(killed)
	}
	e.startChange(killing)
	e.splice(from, to, "")
}

// keep adds an entry to the kill ring.
func (e *Editor) keep(text string) {
	if len(e.kills) >= maxKills {
		e.kills = slices.Delete(e.kills, 0, 1)
	}
	e.kills = append(e.kills, text)
}

// yankLast inserts the text that was killed last.
func (e *Editor) yankLast() {
	if len(e.kills) == 0 {
		return
	}
	e.startChange(yanking)
	e.yank, e.yankFrom = len(e.kills)-1, e.cursor
	e.insert(e.kills[e.yank])
	e.yankTo = e.yankFrom + len(e.kills[e.yank])
}

// yankOlder replaces the text that was just yanked by the entry before it.
func (e *Editor) yankOlder() {
	if e.previous != yanking {
		return
	}
	e.startChange(yanking)
	e.yank = (e.yank + len(e.kills) - 1) % len(e.kills)
	e.splice(e.yankFrom, e.yankTo, e.kills[e.yank])
	e.yankTo = e.yankFrom + len(e.kills[e.yank])
}
