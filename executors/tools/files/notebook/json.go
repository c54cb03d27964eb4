package notebook

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var errOtherValue = errors.New("a value of another kind")

// walk calls f with each value directly in the object or array at s, and with the key of a member. raw is valid
// JSON.
func walk(raw string, s span, open json.Delim, f func(key, value span)) error {
	dec := json.NewDecoder(strings.NewReader(s.in(raw)))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != open {
		return errOtherValue
	}
	var value json.RawMessage
	next := func() (span, error) {
		value = value[:0]
		if err := dec.Decode(&value); err != nil {
			return span{}, err
		}
		end := s.from + int(dec.InputOffset())
		return span{end - len(value), end}, nil
	}
	for dec.More() {
		var key span
		if open == '{' {
			name, err := dec.Token()
			if _, ok := name.(string); err != nil || !ok {
				return errOtherValue
			}
			end := s.from + int(dec.InputOffset())
			key = span{keyStart(raw[s.from:end]) + s.from, end}
		}
		v, err := next()
		if err != nil {
			return err
		}
		f(key, v)
	}
	return nil
}

// keyStart returns the offset of the string literal that text ends with.
func keyStart(text string) int {
	for i := len(text) - 2; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		escapes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return 0
}

// members returns the members of the object at s.
func members(raw string, s span) ([]member, error) {
	var out []member
	err := walk(raw, s, '{', func(key, value span) {
		name, _ := text(key.in(raw))
		out = append(out, member{name, key, value})
	})
	return out, err
}

// elements returns the elements of the array at s.
func elements(raw string, s span) ([]span, error) {
	var out []span
	err := walk(raw, s, '[', func(_, value span) { out = append(out, value) })
	return out, err
}

// find returns the value of a member. The last one counts, as for other readers.
func find(all []member, name string) (value span, ok bool) {
	for _, m := range all {
		if m.name == name {
			value, ok = m.value, true
		}
	}
	return value, ok
}

// text returns a string, or a list of strings, which together are one.
func text(value string) (string, bool) {
	var one string
	if json.Unmarshal([]byte(value), &one) == nil && !strings.HasPrefix(value, "n") {
		return one, true
	}
	var lines []string
	if json.Unmarshal([]byte(value), &lines) == nil {
		return strings.Join(lines, ""), true
	}
	return "", false
}

// isBare reports whether a list of lines is written without line breaks, as old formats do.
func isBare(value string) bool {
	var lines []string
	return json.Unmarshal([]byte(value), &lines) == nil && len(lines) > 1 && !strings.HasSuffix(lines[0], "\n")
}

// bareText returns the text of a list of lines without line breaks.
func bareText(value string) string {
	var lines []string
	_ = json.Unmarshal([]byte(value), &lines) // isBare has done it
	return strings.Join(lines, "\n")
}

// quote returns s as a string literal, as Python's json writes it.
func quote(s string, ascii bool) string {
	var b strings.Builder
	b.WriteByte('"')
	b.WriteString(escape(s, ascii))
	b.WriteByte('"')
	return b.String()
}

// escape is quote without the quotes.
func escape(s string, ascii bool) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	unit := func(u uint16) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[u>>shift&15])
		}
	}
	for _, r := range s {
		if i := strings.IndexRune("\"\\\n\r\t\b\f", r); i >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`"\nrtbf`[i])
			continue
		}
		switch {
		case r < ' ':
			unit(uint16(r))
		case !ascii || r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			first, second := utf16.EncodeRune(r)
			unit(uint16(first))
			unit(uint16(second))
		default:
			unit(uint16(r))
		}
	}
	return b.String()
}

// requote returns the literal of the string now, in which the bytes of the literal old stay at both ends
// as far as the strings are equal. old is valid JSON.
func requote(old, now string, ascii bool) string {
	was, ok := text(old)
	if !ok || !strings.HasPrefix(old, `"`) {
		return quote(now, ascii)
	}
	places := boundaries(old)
	if places[len(places)-1].text != len(was) { // a lone surrogate
		return quote(now, ascii)
	}
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	from := places[0]
	for _, p := range places {
		if p.text <= head {
			from = p
		}
	}
	to := places[len(places)-1]
	for _, p := range slices.Backward(places) {
		if p.text < max(len(was)-tail, from.text) {
			break
		}
		to = p
	}
	rest := len(was) - to.text
	return old[:from.raw] + escape(now[from.text:len(now)-rest], ascii) + old[to.raw:]
}

// boundary is an offset in a literal, and the offset in its string.
type boundary struct{ raw, text int }

// boundaries returns the places between the characters of a literal, its beginning and its end.
func boundaries(literal string) []boundary {
	at := boundary{1, 0}
	all := []boundary{at}
	for at.raw < len(literal)-1 {
		size := 1
		switch c := literal[at.raw]; {
		case c != '\\' && c < utf8.RuneSelf:
			at = boundary{at.raw + 1, at.text + 1}
			all = append(all, at)
			continue
		case c == '\\' && literal[at.raw+1] == 'u':
			size = 6
			if at.raw+12 < len(literal) && literal[at.raw+6] == '\\' && isPair(literal[at.raw:at.raw+12]) {
				size = 12
			}
		case c == '\\':
			size = 2
		case c >= utf8.RuneSelf:
			_, size = utf8.DecodeRuneInString(literal[at.raw:])
		}
		character, _ := text(`"` + literal[at.raw:at.raw+size] + `"`)
		at = boundary{at.raw + size, at.text + len(character)}
		all = append(all, at)
	}
	return all
}

// isPair reports whether twelve characters are the escapes of two surrogates that are one character.
func isPair(escapes string) bool {
	s, ok := text(`"` + escapes + `"`)
	return ok && utf8.RuneCountInString(s) == 1
}
