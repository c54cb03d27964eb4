package toolset

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// thoughtPrefix begins the names of the parameters in which a model thinks. No tool has a real
// parameter with this prefix.
const thoughtPrefix = "_tafc_think"

// strip removes the members whose names begin with thoughtPrefix from a call's input, at any
// depth. Models put them next to the parameters that they think about. All other bytes are kept.
// bare reports that there were no other members.
//
// An input that is a string holds the model's text in place of an object. strip
// removes thoughts from it too. If an object remains, that is the input.
func strip(input json.RawMessage) (rest json.RawMessage, bare bool) {
	if !bytes.Contains(input, []byte(thoughtPrefix)) && !bytes.Contains(input, []byte(`\u`)) {
		return input, false
	}
	if !json.Valid(input) {
		return input, false // never for an llm.ToolCall, whose Input is valid JSON
	}
	if text := ""; json.Unmarshal(input, &text) == nil && bytes.HasPrefix(bytes.TrimSpace(input), []byte(`"`)) {
		return stripText(input, text)
	}
	rest = stripJSON(input)
	return rest, len(rest) < len(input) && isEmptyObject(rest)
}

func isEmptyObject(object json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(object, &members) == nil && len(members) == 0
}

// stripJSON strips valid JSON.
func stripJSON(in []byte) []byte {
	s := stripper{input: in}
	s.value()
	if len(s.cuts) == 0 {
		return in
	}
	out, at := make([]byte, 0, len(in)), 0
	for _, c := range s.cuts {
		out = append(out, in[at:c.from]...)
		at = c.to
	}
	return append(out, in[at:]...)
}

// stripper scans valid JSON and records the ranges to cut.
type stripper struct {
	input []byte
	pos   int // the offset of the next byte
	cuts  []cut
}

// cut is a range of bytes.
type cut struct{ from, to int }

// space skips white space.
func (s *stripper) space() {
	for s.pos < len(s.input) && (s.input[s.pos] == ' ' || s.input[s.pos] == '\t' || s.input[s.pos] == '\n' || s.input[s.pos] == '\r') {
		s.pos++
	}
}

// value skips a value and the space around it.
func (s *stripper) value() {
	s.space()
	switch s.input[s.pos] {
	case '{':
		s.object()
	case '[':
		s.array()
	case '"':
		s.text()
	default:
		for s.pos < len(s.input) && !strings.ContainsRune(",]} \t\r\n", rune(s.input[s.pos])) {
			s.pos++
		}
	}
	s.space()
}

// array skips an array.
func (s *stripper) array() {
	s.pos++
	for s.space(); s.input[s.pos] != ']'; {
		if s.input[s.pos] == ',' {
			s.pos++
		}
		s.value()
	}
	s.pos++
}

// text skips a string and returns it with its quotes.
func (s *stripper) text() []byte {
	from := s.pos
	for s.pos++; s.input[s.pos] != '"'; s.pos++ {
		if s.input[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
	return s.input[from:s.pos]
}

// object skips an object and cuts its members that are thoughts, each with one comma.
func (s *stripper) object() {
	s.pos++
	s.space()
	kept, comma := false, 0 // whether a member stays; the offset of the comma before this member
	for s.input[s.pos] != '}' {
		from, cuts := s.pos, len(s.cuts)
		name := s.text()
		s.space()
		s.pos++ // the colon
		s.value()
		end := s.pos
		more := s.input[s.pos] == ','
		next := end
		if more {
			next++
		}
		switch {
		case !isThought(name):
			kept = true
		case kept: // with the preceding comma
			s.cuts = append(s.cuts[:cuts], cut{comma, end})
		default:
			s.cuts = append(s.cuts[:cuts], cut{from, next})
		}
		comma, s.pos = end, next
		s.space()
	}
	s.pos++
}

// isThought reports whether a quoted name begins with thoughtPrefix.
func isThought(name []byte) bool {
	if !bytes.ContainsRune(name, '\\') {
		return bytes.HasPrefix(name[1:], []byte(thoughtPrefix))
	}
	var plain string
	return json.Unmarshal(name, &plain) == nil && strings.HasPrefix(plain, thoughtPrefix)
}

// maxEnds limits how many ends of a thought are tried in a text that is not
// JSON.
const maxEnds = 64

// stripText removes a thought from a text that should have been an object. It
// cuts at the first end that leaves an object, or else to the end of the text.
func stripText(input json.RawMessage, text string) (json.RawMessage, bool) {
	from := strings.Index(text, thoughtPrefix)
	if from < 0 {
		return input, false
	}
	from = len(strings.TrimRight(text[:from], `"`))
	head, tail := text[:from], text[from:]
	at := 0
	for range maxEnds {
		i := strings.IndexByte(tail[at:], '"')
		if i < 0 {
			break
		}
		at += i + 1
		rest := strings.TrimLeft(tail[at:], " \t\r\n")
		front := strings.TrimRight(head, " \t\r\n")
		switch {
		case strings.HasPrefix(rest, ","):
			rest = rest[1:]
		case strings.HasPrefix(rest, "}"):
			front = strings.TrimSuffix(front, ",")
		default:
			continue
		}
		if whole := []byte(front + rest); bytes.HasPrefix(bytes.TrimSpace(whole), []byte("{")) && json.Valid(whole) {
			out := stripJSON(whole)
			return out, isEmptyObject(out)
		}
	}
	if strings.Trim(head, "{ \t\r\n") == "" {
		return json.RawMessage("{}"), true
	}
	out, err := json.Marshal(head)
	if err != nil {
		panic(err) // strings always encode
	}
	return slices.Clip(out), false
}
