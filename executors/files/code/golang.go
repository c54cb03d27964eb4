package code

import (
	"bytes"
	"strings"
)

// maxParsed is the size of the largest Go file that is parsed, in bytes. The lines of a
// larger one are matched with patterns.
const maxParsed = 1 << 20

// golang examines a Go file. Its declarations are parsed only if a line that contains a
// word of the query may define it.
func (sc *Scanner) golang(stopped func() bool) {
	if len(sc.data) > maxParsed {
		sc.lines(stopped)
		return
	}
	if sc.mayDefineGo() && !goDeclarations(sc.data, sc.declared) {
		sc.lines(stopped)
		return
	}
	sc.allTexts(stopped)
}

// mayDefineGo reports whether the file may define a word of the query.
func (sc *Scanner) mayDefineGo() bool {
	open, from := false, 0 // whether the line at from is inside a declaration other than a function
	for start, end := range sc.found.Lines() {
		line := sc.data[start:end]
		before := bytes.TrimLeft(line, " \t")
		starts := startsGo(before)
		if !starts && len(before) == len(line) || !sc.mayName(line) {
			continue
		}
		for from < start { // look at the lines between
			next := from + bytes.IndexByte(sc.data[from:], '\n') + 1
			if c := sc.data[from]; c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '/' {
				open = opensGo(sc.data[from:next])
			}
			from = next
		}
		if starts || open {
			return true
		}
	}
	return false
}

// mayName reports whether a word of the query is where a line of Go may define a name.
func (sc *Scanner) mayName(line []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("//")) {
		return false
	}
	isFunc := bytes.HasPrefix(line, []byte("func "))
	for i := range sc.query.words {
		for at := sc.query.texts.Index(i, line, 0); at >= 0; at = sc.query.texts.Index(i, line, at+1) {
			if mayNameGo(bytes.TrimRight(line[:wordStart(line, at)], " \t"), isFunc) {
				return true
			}
		}
	}
	return false
}

// mayNameGo reports whether a name may be defined after the beginning of a line. isFunc
// means that the line begins with func.
func mayNameGo(before []byte, isFunc bool) bool {
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case ')': // after a receiver
		return true
	case ',', ';', '{', '(': // in a list, or in a type on one line
		return !isFunc
	case '/':
		return bytes.HasSuffix(before, []byte("*/"))
	}
	switch string(before[wordStart(before, len(before)):]) {
	case "func", "type", "const", "var":
		return true
	}
	return false
}

func startsGo(line []byte) bool { return bytes.HasPrefix(line, []byte("func ")) || opensGo(line) }

// opensGo reports whether a declaration of types, constants or variables begins here.
func opensGo(line []byte) bool {
	return bytes.HasPrefix(line, []byte("type ")) || bytes.HasPrefix(line, []byte("const")) || bytes.HasPrefix(line, []byte("var"))
}

// declared adds a definition of a Go file.
func (sc *Scanner) declared(d goDeclaration) {
	kind := d.kind
	if kind == "signature" {
		kind = "method"
		d.kind = "member"
	}
	score := sc.query.definitionScore(&sc.place, d.kind, d.container, d.name)
	if score == 0 || d.name == "_" {
		return
	}
	h := Hit{Path: sc.path, Line: d.line, Kind: kind, Name: d.name, score: score}
	if d.container != "" {
		h.Name = d.container + "." + d.name
	}
	if !sc.admits(&h) {
		return
	}
	source := sc.data[d.from:d.to]
	if kind == "type" || kind == "const" || kind == "var" { // a value may be a long literal
		source, _, _ = bytes.Cut(source, []byte("\n"))
	}
	h.Signature = strings.TrimSuffix(oneLine(source, 0), " {")
	sc.hits = append(sc.hits, h)
}
