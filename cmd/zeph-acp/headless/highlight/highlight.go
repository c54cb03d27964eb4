// Package highlight divides source code into pieces by what they are: keywords, strings, comments,
// numbers and names.
//
// Start with [Named] or [ForFile], and call Code for a whole text or Lines for one that comes line
// by line. The pieces of a text, joined, are always the text, byte by byte, whatever it contains.
// Text of an unknown language, long text and text that takes long is one plain piece.
//
// The languages are definitions of chroma, in languages.zip. A language is read and compiled when
// it is first used. Why not chroma's own package of languages? It reads all of them at the start of
// the process, which takes longer than anything else that starts.
package highlight

import (
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// MaxBytes is the size of the largest text that is highlighted.
const MaxBytes = 256 << 10

// Piece is a part of a text.
type Piece struct {
	Text    string
	Class   Class
	Changed bool // in a diff: it differs from the line that it replaces, or that replaces it
}

// Language is a language of code. The zero value is plain text.
type Language struct{ lexer *lexer }

// Named returns a language by its name, a short form of it, or the extension of its files, such as
// "go", "js" or "yml". Case does not matter. An unknown name is plain text.
func Named(name string) Language {
	all := definitions()
	name = strings.ToLower(name)
	if l := all.named[name]; l != nil || name == "" {
		return Language{l}
	}
	return Language{all.forFile("." + name)}
}

// ForFile returns the language of a file by its name. An unknown one is plain text.
func ForFile(path string) Language { return Language{definitions().forFile(path)} }

// IsPlain reports whether nothing is known about the language.
func (l Language) IsPlain() bool { return l.lexer == nil }

// Code returns the lines of a text, without their ends.
func (l Language) Code(text string) [][]Piece {
	all := []Piece{{Text: text}}
	if l.lexer != nil && len(text) <= MaxBytes {
		all = l.lexer.read(rootStack, text, limits.text).pieces
	}
	return lines(all)
}

// lines divides pieces at the ends of lines.
func lines(pieces []Piece) [][]Piece {
	all := [][]Piece{nil}
	for _, p := range pieces {
		for i, part := range strings.Split(p.Text, "\n") {
			if i > 0 {
				all = append(all, nil)
			}
			if part != "" {
				last := &all[len(all)-1]
				*last = append(*last, Piece{Text: part, Class: p.Class})
			}
		}
	}
	return all
}

// Spans returns pieces in the colours of a terminal.
func Spans(pieces []Piece) []layout.Span {
	var all []layout.Span
	for _, p := range pieces {
		all = append(all, layout.Span{Text: p.Text, Style: p.Class.Style()})
	}
	return all
}

// builder collects the pieces of a text.
type builder struct {
	text   string // what has no piece yet
	pieces []Piece
}

// add makes the next characters a piece, or a part of the last one if the class is the same.
func (b *builder) add(runes int, class Class) {
	n := 0
	for ; runes > 0 && n < len(b.text); runes-- {
		_, size := utf8.DecodeRuneInString(b.text[n:])
		n += size
	}
	if n == 0 {
		return
	}
	if last := len(b.pieces) - 1; last >= 0 && b.pieces[last].Class == class {
		b.pieces[last].Text += b.text[:n]
	} else {
		b.pieces = append(b.pieces, Piece{Text: b.text[:n], Class: class})
	}
	b.text = b.text[n:]
}
