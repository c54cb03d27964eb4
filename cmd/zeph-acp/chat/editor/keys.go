package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// keyName returns the name of a key, such as "alt+b". A key of another alphabet has the name
// of the Latin key at its place.
func keyName(k tea.KeyPressMsg) string {
	if k.Code < utf8.RuneSelf {
		k.BaseCode = 0 // "q" stays "q" on a keyboard with another order of keys
	}
	return k.Keystroke()
}

// press acts on a key as emacs and readline do.
func (e *Editor) press(k tea.KeyPressMsg) bool {
	if k.Text != "" {
		e.typeText(clean(k.Text))
		return true
	}
	name := keyName(k)
	return e.move(name) || e.change(name)
}

// typeText inserts typed characters.
func (e *Editor) typeText(text string) {
	e.startChange(typing)
	e.insert(text)
}

// move moves the cursor by a key, and reports false for all other keys.
func (e *Editor) move(name string) bool {
	switch name {
	case "ctrl+b", "left":
		e.cursor = e.prev(e.cursor)
	case "ctrl+f", "right":
		e.cursor = e.next(e.cursor)
	case "alt+b", "alt+left", "ctrl+left":
		e.cursor = e.wordStart(e.cursor, inWord)
	case "alt+f", "alt+right", "ctrl+right":
		e.cursor = e.wordEnd(e.cursor, inWord)
	case "ctrl+a", "home":
		e.cursor = e.lineStart(e.cursor)
	case "ctrl+e", "end":
		e.cursor = e.lineEnd(e.cursor)
	case "alt+<", "alt+shift+,", "ctrl+home":
		e.cursor = 0
	case "alt+>", "alt+shift+.", "ctrl+end":
		e.cursor = len(e.text)
	case "ctrl+p", "up":
		return e.upOrDown(-1)
	case "ctrl+n", "down":
		return e.upOrDown(1)
	default:
		return false
	}
	return true
}

// upOrDown moves by a row, or walks the history at the edge of the text and after a step of the
// walk. It reports false if there is nothing to move to.
func (e *Editor) upOrDown(step int) bool {
	if e.previous == walking && e.walk(step) {
		return true
	}
	return e.vertically(step) || e.walk(step)
}

// change edits by a key, and reports false for all other keys.
func (e *Editor) change(name string) bool {
	switch name {
	case "enter":
		if !strings.HasSuffix(e.Before(), `\`) {
			return false
		}
		e.startChange(other)
		e.splice(e.cursor-1, e.cursor, "\n")
	case "alt+enter", "shift+enter", "ctrl+enter", "ctrl+j":
		e.startChange(other)
		e.insert("\n")
	case "backspace", "shift+backspace", "ctrl+h":
		e.erase(e.prev(e.cursor), e.cursor)
	case "delete":
		e.erase(e.cursor, e.next(e.cursor))
	case "ctrl+d":
		if e.text == "" {
			return false
		}
		e.erase(e.cursor, e.next(e.cursor))
	case "ctrl+t":
		e.transpose()
	case "alt+u":
		e.convertWord(strings.ToUpper)
	case "alt+l":
		e.convertWord(strings.ToLower)
	case "alt+c":
		e.convertWord(capitalize)
	case "ctrl+_", "ctrl+shift+-", "ctrl+/", "ctrl+7":
		e.undo()
	case "alt+_", "alt+shift+-", "ctrl+alt+_", "ctrl+shift+z":
		e.redo()
	case "ctrl+r", "ctrl+s":
		e.startSearch()
	default:
		return e.killOrYank(name)
	}
	return true
}

// killOrYank acts on the keys of the kill ring, and reports false for all other keys.
func (e *Editor) killOrYank(name string) bool {
	switch name {
	case "ctrl+w":
		e.kill(e.wordStart(e.cursor, inShellWord), e.cursor)
	case "alt+backspace", "ctrl+backspace", "ctrl+alt+h":
		e.kill(e.wordStart(e.cursor, inWord), e.cursor)
	case "alt+d", "alt+delete", "ctrl+delete":
		e.kill(e.cursor, e.wordEnd(e.cursor, inWord))
	case "ctrl+u":
		from := e.lineStart(e.cursor)
		if from == e.cursor {
			from = e.prev(from)
		}
		e.kill(from, e.cursor)
	case "ctrl+k":
		to := e.lineEnd(e.cursor)
		if to == e.cursor {
			to = e.next(to)
		}
		e.kill(e.cursor, to)
	case "ctrl+y":
		e.yankLast()
	case "alt+y":
		e.yankOlder()
	default:
		return false
	}
	return true
}

// erase removes a range that is not for the kill ring.
func (e *Editor) erase(from, to int) {
	e.startChange(erasing)
	e.splice(from, to, "")
}

// transpose exchanges the characters around the cursor, or the last two of a line.
func (e *Editor) transpose() {
	middle := e.cursor
	if middle == e.lineEnd(middle) && middle > e.lineStart(middle) {
		middle = e.prev(middle)
	}
	if middle == e.lineStart(middle) {
		return
	}
	from, to := e.prev(middle), e.next(middle)
	e.startChange(other)
	e.splice(from, to, e.text[middle:to]+e.text[from:middle])
}

// convertWord converts the text up to the end of the word.
func (e *Editor) convertWord(convert func(string) string) {
	to := e.wordEnd(e.cursor, inWord)
	e.startChange(other)
	e.splice(e.cursor, to, convert(e.text[e.cursor:to]))
}

// capitalize makes the first letter of text a capital one, and all others small.
func capitalize(text string) string {
	i := strings.IndexFunc(text, unicode.IsLetter)
	if i < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return text[:i] + strings.ToTitle(text[i:i+size]) + strings.ToLower(text[i+size:])
}
