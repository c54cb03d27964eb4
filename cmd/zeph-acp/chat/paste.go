package chat

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// newline stands for a line break in the line: the editor has one line only.
const newline = "⏎"

// Of a longer text the line shows only the size, since the editor draws the line at each key.
const (
	maxShownLines = 6
	maxShownBytes = 400
)

// pastedTexts keeps the long texts that the line shows as their size. The zero value is ready.
// Its methods are called concurrently.
type pastedTexts struct {
	mu    sync.Mutex
	texts map[string]string // by their short forms in the line
}

// encode returns the form of a text for the editor's line, which has no line breaks.
func (f *pastedTexts) encode(text string) string {
	lines := strings.Count(text, "\n") + 1
	if lines <= maxShownLines && len(text) <= maxShownBytes {
		return strings.ReplaceAll(text, "\n", newline)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.texts == nil {
		f.texts = map[string]string{}
	}
	size := quantity.Count(lines, "line")
	if lines == 1 {
		size = quantity.Count(len(text), "byte")
	}
	shown := fmt.Sprintf("[#%d: %s]", len(f.texts)+1, size)
	f.texts[shown] = text
	return shown
}

var foldPattern = lazyregexp.New(`\[#\d+: \d+ (line|byte)s\]`)

// decode returns the text that a line stands for.
func (f *pastedTexts) decode(line string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	line = strings.ReplaceAll(line, newline, "\n")
	return foldPattern.ReplaceAllStringFunc(line, func(shown string) string {
		if text, ok := f.texts[shown]; ok {
			return text
		}
		return shown
	})
}

// Keys and marks of terminals. Pasted text is between the marks:
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode
var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
	altEnter   = []byte("\x1b\r")
)

// pasteReader passes the input of a terminal to the editor, and pasted text in the form of
// the line. Alt-Enter and Ctrl-J become newline. Control characters in pasted text are
// dropped: it is text, and never a key.
type pasteReader struct {
	in         io.Reader
	encode     func(pasted string) string
	raw        []byte // read and not yet passed on
	out        []byte // for the next Read
	inPaste    bool   // inside of pasted text
	pastedText strings.Builder
}

// Read returns the next input.
func (p *pasteReader) Read(b []byte) (int, error) {
	for len(p.out) == 0 {
		var buf [4096]byte
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
		case p.cut(pasteBegin):
			p.inPaste = true
		case p.inPaste && p.endsLater():
			p.cut(pasteEnd)
		case p.cut(pasteEnd):
			p.out = append(p.out, p.encode(p.pastedText.String())...)
			p.inPaste = false
			p.pastedText.Reset()
		case p.incomplete():
			return
		case p.inPaste:
			p.pastedByte()
		case p.cut(altEnter), p.cut([]byte("\n")):
			p.out = append(p.out, newline...)
		default:
			p.out = append(p.out, p.raw[0])
			p.raw = p.raw[1:]
		}
	}
}

// endsLater reports whether the mark at the beginning of raw is a part of the pasted text:
// another one follows that has no matching beginning. Most terminals remove such marks, but a
// text with one could otherwise type keys. Only the input that has arrived shows this.
func (p *pasteReader) endsLater() bool {
	rest, ok := bytes.CutPrefix(p.raw, pasteEnd)
	text, _, again := bytes.Cut(rest, pasteEnd)
	return ok && again && !bytes.Contains(text, pasteBegin)
}

// pastedByte moves a byte or a line break to the pasted text.
func (p *pasteReader) pastedByte() {
	if p.cut([]byte("\r\n")) || p.cut([]byte("\r")) {
		p.pastedText.WriteByte('\n')
		return
	}
	switch c := p.raw[0]; {
	case c == '\t':
		p.pastedText.WriteString("    ")
	case c == '\n', c >= ' ' && c != 0x7f:
		p.pastedText.WriteByte(c)
	}
	p.raw = p.raw[1:]
}

// cut removes a sequence from the beginning of raw, and reports whether raw began with it.
func (p *pasteReader) cut(sequence []byte) bool {
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
	return begins(pasteBegin) || begins(pasteEnd) || p.inPaste && string(p.raw) == "\r"
}
