package headless

import (
	"fmt"
	"strings"
	"unicode"
)

// cleaner removes terminal control from a stream of text: escape sequences, control
// characters, and characters that change the text direction. It keeps text, \n, \t
// and \r. The zero value is at the beginning of a stream, which may be split
// anywhere between runes.
type cleaner struct {
	state     state
	swallowed int // runes of an unfinished control string
}

// state is the position of the stream in an escape sequence:
// https://vt100.net/emu/dec_ansi_parser
type state uint8

const (
	ground        state = iota
	escape              // after ESC
	csi                 // after ESC [
	controlText         // in an OSC, DCS, SOS, PM or APC string
	controlEscape       // in such a string, after ESC
)

// maxControlText limits a control string, in runes. A string that never ends must
// not swallow the rest of the output.
const maxControlText = 4096

// clean returns the next piece without control sequences.
func (c *cleaner) clean(text string) string {
	if c.state == ground && isPlain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if c.next(r) && isPrintable(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPlain reports whether there is nothing to remove.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !isPrintable(r) })
}

// isPrintable reports whether a rune may go to a terminal by itself.
func isPrintable(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return true
	}
	return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r)
}

// next processes a rune and reports whether it lies outside of sequences.
func (c *cleaner) next(r rune) (text bool) {
	switch c.state {
	case escape:
		switch {
		case r == '[':
			c.state = csi
		case strings.ContainsRune("]PX^_", r):
			c.state, c.swallowed = controlText, 0
		case r >= 0x20 && r <= 0x2f: // more to come
		case r >= 0x30 && r <= 0x7e:
			c.state = ground
		default:
			return c.restart(r)
		}
		return false
	case csi:
		switch {
		case r >= 0x20 && r <= 0x3f:
		case r >= 0x40 && r <= 0x7e:
			c.state = ground
		default:
			return c.restart(r)
		}
		return false
	case controlText, controlEscape:
		c.swallowed++
		switch {
		case c.state == controlEscape && r == '\\', r == '\a', r == '\u009c', r == '\x18', r == '\x1a':
			c.state = ground
		case c.state == controlEscape: // ESC ends the string, whatever follows
			c.state = escape
			return c.next(r)
		case r == '\x1b':
			c.state = controlEscape
		case r == '\n', c.swallowed > maxControlText:
			return c.restart(r)
		}
		return false
	}
	return c.restart(r)
}

// restart processes a rune that does not belong to the sequence before it.
func (c *cleaner) restart(r rune) (text bool) {
	c.state = ground
	switch r {
	case '\x1b':
		c.state = escape
	case '\u009b':
		c.state = csi
	case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f':
		c.state, c.swallowed = controlText, 0
	default:
		return true
	}
	return false
}

// Visible escapes characters that a terminal would not show. \n and \t stay.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if isPrintable(r) && r != '\r' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}
