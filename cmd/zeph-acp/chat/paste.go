package chat

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// newline stands for a line break in the line: the editor has one line only.
const newline = "⏎"

// encode returns a text as the editor's line has it.
func encode(text string) string { return strings.ReplaceAll(text, "\n", newline) }

// decode returns the text of a line.
func decode(line string) string { return strings.ReplaceAll(line, newline, "\n") }

// Keys and marks of terminals. Pasted text is between the marks:
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode
var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
	altEnter   = []byte("\x1b\r")
)

// pasteReader passes the input of a terminal to the editor. A line break in pasted text,
// Alt-Enter and Ctrl-J become newline. Other control characters in pasted text are dropped:
// it is text, and never a key.
type pasteReader struct {
	in    io.Reader
	raw   []byte // read and not yet passed on
	out   []byte // for the next Read
	paste bool   // inside of pasted text
}

// Read returns the next input.
func (p *pasteReader) Read(b []byte) (int, error) {
	for len(p.out) == 0 {
		var buf [1024]byte
		n, err := p.in.Read(buf[:])
		p.raw = append(p.raw, buf[:n]...)
		p.convert()
		if err != nil && len(p.out) == 0 {
			return 0, err
		}
	}
	n := copy(b, p.out)
	p.out = p.out[n:]
	return n, nil
}

// convert moves the input that is complete to out.
func (p *pasteReader) convert() {
	for len(p.raw) > 0 {
		switch {
		case p.take(pasteBegin):
			p.paste = true
		case p.take(pasteEnd):
			p.paste = false
		case p.incomplete():
			return
		case p.breaksLine():
			p.out = append(p.out, newline...)
		default:
			if c := p.raw[0]; !p.paste || c >= ' ' && c != 0x7f {
				p.out = append(p.out, c)
			} else if c == '\t' {
				p.out = append(p.out, "    "...)
			}
			p.raw = p.raw[1:]
		}
	}
}

// breaksLine removes a line break from the beginning of raw, and reports whether there was
// one.
func (p *pasteReader) breaksLine() bool {
	keys := [][]byte{altEnter, {'\n'}}
	if p.paste {
		keys = [][]byte{{'\r', '\n'}, {'\r'}, {'\n'}}
	}
	return slices.ContainsFunc(keys, p.take)
}

// take removes a sequence from the beginning of raw, and reports whether it was there.
func (p *pasteReader) take(sequence []byte) bool {
	rest, ok := bytes.CutPrefix(p.raw, sequence)
	if ok {
		p.raw = rest
	}
	return ok
}

// incomplete reports whether raw may be the beginning of a sequence. A key alone is ESC
// too, but the editor itself waits for what follows it.
func (p *pasteReader) incomplete() bool {
	begins := func(sequence []byte) bool { return len(p.raw) < len(sequence) && bytes.HasPrefix(sequence, p.raw) }
	return begins(pasteBegin) || begins(pasteEnd) || p.paste && string(p.raw) == "\r"
}
