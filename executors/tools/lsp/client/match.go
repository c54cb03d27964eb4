package client

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Diagnostic is one finding of a server.
type Diagnostic struct {
	Path         string // absolute
	Line, Column int    // 1-based, in characters; in UTF-16 code units in a file that is not open
	Severity     int    // 1 error, 2 warning, 3 information
	Code         string
	Source       string // the part of the server that found it
	Message      string
}

// export returns d in the form of the package's API.
func (d diagnostic) export(path string, l lines) Diagnostic {
	code := ""
	if json.Unmarshal(d.Code, &code) != nil {
		code = strings.TrimSpace(string(d.Code)) // a number
	}
	if code == "null" {
		code = ""
	}
	severity := d.Severity
	if severity < 1 || severity > hint {
		severity = 1
	}
	at := d.Range.Start
	return Diagnostic{
		Path: path, Line: int(min(at.Line, 1<<30)) + 1, Column: l.column(at),
		Severity: severity, Code: code, Source: d.Source, Message: d.Message,
	}
}

// lines are the lines of a text.
type lines []string

func newLines(text string) lines {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// at returns a line, 1-based; "" if there is no such line.
func (l lines) at(n int) string {
	if n < 1 || n > len(l) {
		return ""
	}
	return strings.TrimSpace(l[n-1])
}

// column returns the column of a position in characters, 1-based.
func (l lines) column(p position) int {
	units := int(min(p.Character, 1<<30))
	if int(p.Line) >= len(l) || p.Line > 1<<30 {
		return units + 1
	}
	runes := 0
	for _, r := range l[p.Line] {
		if units <= 0 {
			break
		}
		if units--; r > 0xFFFF {
			units--
		}
		runes++
	}
	return runes + 1
}

// newSince returns the diagnostics of now that are not in before. Lines that an edit moved
// make no difference: a diagnostic is known if an equal one was at its place before, or
// on an equal line.
func newSince(before, now []Diagnostic, oldText, newText string) []Diagnostic {
	if len(before) == 0 {
		return now
	}
	was, is := newLines(oldText), newLines(newText)
	move := lineMapping(was, is)
	left := map[key]int{}
	for _, d := range before {
		left[keyOf(d).at(strconv.Itoa(move(d.Line)))]++
	}
	rest := unmatched(left, now, func(d Diagnostic) string { return strconv.Itoa(d.Line) })
	if len(rest) == 0 {
		return nil
	}
	// Those that are no longer in their place may be on a line that was moved.
	gone := map[key]int{}
	for _, d := range before {
		if k := keyOf(d).at(strconv.Itoa(move(d.Line))); left[k] > 0 {
			left[k]--
			gone[keyOf(d).at("="+was.at(d.Line))]++
		}
	}
	return unmatched(gone, rest, func(d Diagnostic) string { return "=" + is.at(d.Line) })
}

// unmatched returns the diagnostics that are not among those left. Each of those counts for
// one diagnostic.
func unmatched(left map[key]int, all []Diagnostic, place func(Diagnostic) string) (rest []Diagnostic) {
	for _, d := range all {
		if k := keyOf(d).at(place(d)); left[k] > 0 {
			left[k]--
		} else {
			rest = append(rest, d)
		}
	}
	return rest
}

// key identifies a diagnostic at a place.
type key struct {
	path, code, source, message, place string
	severity                           int
}

// keyOf returns the key of a diagnostic without its position. It ignores numbers in the
// message, since they may be line numbers.
func keyOf(d Diagnostic) key {
	return key{path: d.Path, code: d.Code, source: d.Source, message: withoutNumbers(d.Message), severity: d.Severity}
}

func (k key) at(place string) key {
	k.place = place
	return k
}

// withoutNumbers replaces each number in a text by 0.
func withoutNumbers(text string) string {
	if strings.IndexFunc(text, isDigit) < 0 {
		return text
	}
	var b strings.Builder
	last := utf8.RuneError
	for _, r := range text {
		if isDigit(r) {
			if last == '0' {
				continue
			}
			r = '0'
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// lineMapping returns the function that maps a line of the old text to its line in the new
// one, 1-based. Lines in the changed part map to 0.
func lineMapping(was, is lines) func(line int) int {
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	end := 0
	for end < min(len(was), len(is))-same && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	return func(line int) int {
		switch {
		case line <= same || len(was) == 0:
			return line
		case line > len(was)-end:
			return line + len(is) - len(was)
		}
		return 0
	}
}
