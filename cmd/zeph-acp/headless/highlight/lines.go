package highlight

import (
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

const maxOpen = 16 << 10 // bytes of the lines that are read again with the next one

// Lines divides code that comes line by line. It is not safe for concurrent use.
type Lines struct {
	lexer *lexer
	stack []string // the states at the beginning of open
	open  string   // the last lines, if they begin what a later line may end
	spent time.Duration
}

// Lines returns the state before the first line of a text.
func (l Language) Lines() *Lines { return &Lines{lexer: l.lexer, stack: rootStack} }

// Clone returns a copy, which reads other lines than the original.
func (l *Lines) Clone() *Lines {
	other := *l
	return &other
}

// Line returns the pieces of the next line, which comes without its end.
//
// In some languages one rule reads a comment or a string of several lines, and matches only if its
// end is there. So a line is read twice if it, or one before it, may begin such a text: as it is, and
// with an end. If that changes how it is read, the end is still to come.
func (l *Lines) Line(line string) []Piece {
	if l.lexer == nil || l.spent > limits.lines {
		return []Piece{{Text: line}}
	}
	begun := time.Now()
	defer func() { l.spent += time.Since(begun) }()
	if len(l.open)+len(line) > maxOpen {
		l.open = ""
	}
	before := l.open
	text := before + line + "\n"
	if len(text) > maxOpen {
		return []Piece{{Text: line}}
	}
	is := l.lexer.read(l.stack, text, limits.line)
	for _, end := range ends(text) {
		with := l.lexer.read(l.stack, text+end, limits.line)
		if all := from(with.pieces, 0, len(text)); !slices.Equal(is.pieces, all) || is.broken && !with.broken {
			l.open = text
			return from(all, len(before), len(line))
		}
	}
	l.stack, l.open = is.Stack, ""
	return from(is.pieces, len(before), len(line))
}

// from returns the pieces of a part of a text.
func from(pieces []Piece, from, length int) []Piece {
	var all []Piece
	for _, p := range pieces {
		skipped := min(from, len(p.Text))
		p.Text = p.Text[skipped:]
		from -= skipped
		p.Text = p.Text[:min(length, len(p.Text))]
		length -= len(p.Text)
		if p.Text != "" {
			all = append(all, p)
		}
	}
	return all
}

// brackets begin and end a text of several lines.
var brackets = [][2]string{
	{"/*", "*/"}, {"<script", "</script>"}, {"<style", "</style>"}, {"```", "```\n"}, {"`", "`"}, {`"""`, `"""`}, {"'''", "'''"}, {"<!--", "-->"}, {"{-", "-}"}, {"(*", "*)"}, {"[[", "]]"}, {"[=[", "]=]"},
	{"<#", "#>"}, {"#|", "|#"}, {"#=", "=#"}, {"/+", "+/"}, {"=begin", "=end\n"}, {"r#\"", "\"#"},
}

var heredoc = lazyregexp.New(`<<[-~]?\s*["']?(\w+)`)

// ends returns what may end a text of several lines that begins in the text.
func ends(text string) []string {
	var all []string
	for _, b := range brackets {
		if strings.Contains(text, b[0]) {
			all = append(all, b[1])
		}
	}
	for _, m := range heredoc.FindAllStringSubmatch(text, 4) {
		all = append(all, m[1]+"\n")
	}
	return all
}
