// Package nearjson reads JSON objects that models wrote with mistakes.
//
// Start with [Object]. It promises that the text of every string stays the model's: where two readings
// are possible, such as after a quotation mark inside a string or for a string without an end, there is no
// result. It does not check values against a schema.
//
// Why no library? Those that were tried complete strings that were cut off, drop the backslash of \d, and
// guess where a string with unescaped quotation marks ends. A command must not run that its model did not write.
package nearjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds the nesting of values.
const maxDepth = 200

// Object returns the JSON object that a text means, and the mistakes that were corrected, each in a
// few words. An object without mistakes is returned as it is. It returns an error if the text has no single
// meaning.
func Object(text string) (object json.RawMessage, mistakes []string, err error) {
	text = strings.TrimSpace(text)
	if isObject(text) {
		return json.RawMessage(text), nil, nil
	}
	p := parser{rest: text}
	if inner, ok := escaped(text); ok {
		p.rest = strings.TrimSpace(inner)
		p.note("escaped as a string")
	}
	p.cutFence()
	p.cutDoubled()
	if err := p.whole(); err != nil {
		return nil, nil, err
	}
	if !json.Valid(p.out.Bytes()) {
		return nil, nil, errors.New("it is no JSON")
	}
	return p.out.Bytes(), p.mistakes, nil
}

func isObject(text string) bool { return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) }

// escaped returns the text of an object that is written as a JSON string, with or without its
// quotation marks.
func escaped(text string) (string, bool) {
	if strings.HasPrefix(text, `{\"`) || strings.HasPrefix(text, `{ \"`) {
		text = `"` + text + `"`
	}
	var inner string
	if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil {
		return "", false
	}
	return inner, true
}

// parser copies a text to out as JSON.
type parser struct {
	rest     string
	out      bytes.Buffer
	depth    int
	mistakes []string
}

func (p *parser) note(mistake string) {
	if !slices.Contains(p.mistakes, mistake) {
		p.mistakes = append(p.mistakes, mistake)
	}
}

// cutFence removes a code fence around the text.
func (p *parser) cutFence() {
	inner, ok := strings.CutPrefix(p.rest, "```")
	if !ok {
		return
	}
	if begin := strings.IndexAny(inner, "{\n"); begin >= 0 {
		p.rest = strings.TrimSuffix(strings.TrimSpace(inner[begin:]), "```")
		p.note("a code fence")
	}
}

// cutDoubled removes a second pair of braces around the object, which models copy from templates.
func (p *parser) cutDoubled() {
	inner := strings.TrimSpace(p.rest)
	if !strings.HasPrefix(inner, "{") || !strings.HasSuffix(inner, "}") {
		return
	}
	inner = strings.TrimSpace(inner[1 : len(inner)-1])
	if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
		p.rest = inner
		p.note("doubled braces")
	}
}

// whole parses the text: an object, and what may follow it.
func (p *parser) whole() error {
	p.space()
	switch {
	case p.next('{'):
	case p.beginsMember():
		p.note("no opening brace")
	default:
		return errors.New("it is no JSON object")
	}
	if err := p.members(); err != nil {
		return err
	}
	return p.end()
}

// end checks the text after the object. Braces without a partner, a fence, and markup are dropped, as is a
// second object.
func (p *parser) end() error {
	p.space()
	if p.rest == "" {
		return nil
	}
	if strings.HasPrefix(p.rest, "{") {
		return p.second()
	}
	rest := strings.TrimLeft(p.rest, "}]` \t\r\n")
	for strings.HasPrefix(rest, "<") && strings.Contains(rest, ">") {
		rest = strings.TrimLeft(rest[strings.Index(rest, ">")+1:], "}]` \t\r\n")
	}
	if rest != "" {
		return fmt.Errorf("text follows the object: %.40q", rest)
	}
	p.note("text after the object")
	return nil
}

// second reads the object after the first one. An empty first object gives way to it.
func (p *parser) second() error {
	q := parser{rest: p.rest}
	if err := q.whole(); err != nil {
		return err
	}
	p.note("a second object, which was ignored")
	if p.out.String() == "{}" {
		p.out, p.mistakes = q.out, append([]string{"an empty object in front"}, q.mistakes...)
	} else if bytes.Equal(p.out.Bytes(), q.out.Bytes()) {
		p.mistakes = append(slices.DeleteFunc(p.mistakes, func(m string) bool { return strings.HasPrefix(m, "a second") }), "the object twice")
	}
	return nil
}

// space skips white space, which some models also write as \n between tokens.
func (p *parser) space() {
	for {
		before := p.rest
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\u00a0\ufeff")
		for _, escape := range []string{`\n`, `\t`, `\r`} {
			if rest, ok := strings.CutPrefix(p.rest, escape); ok {
				p.rest = rest
				p.note("escapes between tokens")
			}
		}
		if len(p.rest) == len(before) {
			return
		}
	}
}

// next skips a byte if it comes next.
func (p *parser) next(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// beginsMember reports whether the text begins with a name and a colon.
func (p *parser) beginsMember() bool {
	q := parser{rest: p.rest}
	if q.name() != nil {
		return false
	}
	q.space()
	return q.next(':')
}

// members parses an object after its brace.
func (p *parser) members() error {
	return p.list('{', '}', func() error {
		if err := p.name(); err != nil {
			return err
		}
		p.space()
		if !p.next(':') {
			return errors.New("a colon is missing")
		}
		p.out.WriteByte(':')
		p.space()
		return p.value()
	})
}

// list parses the items of an object or an array up to its closing bracket.
func (p *parser) list(open, end byte, item func() error) error {
	if p.depth++; p.depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	p.out.WriteByte(open)
	for n := 0; ; n++ {
		p.space()
		switch {
		case p.next(end):
		case p.rest == "":
			p.note("a missing " + string(end))
		case n > 0 && !p.next(','):
			if open != '{' || !p.beginsMember() {
				return fmt.Errorf("a comma is missing before %.40q", p.rest)
			}
			p.note("a missing comma")
			fallthrough
		default:
			p.space()
			if n > 0 && (p.rest == "" || p.rest[0] == end) {
				p.note("a trailing comma")
				continue
			}
			if n > 0 {
				p.out.WriteByte(',')
			}
			if err := item(); err != nil {
				return err
			}
			continue
		}
		break
	}
	p.depth--
	p.out.WriteByte(end)
	return nil
}

// name parses the name of a member.
func (p *parser) name() error {
	if p.rest != "" && strings.ContainsRune("\"'", rune(p.rest[0])) {
		return p.text(":")
	}
	n := 0
	for n < len(p.rest) && (p.rest[n] == '_' || p.rest[n] == '-' && n > 0 || isLetter(p.rest[n]) || n > 0 && isDigit(p.rest[n])) {
		n++
	}
	if n == 0 {
		return fmt.Errorf("a name is missing before %.40q", p.rest)
	}
	p.note("a name without quotation marks")
	p.writeText(p.rest[:n])
	p.rest = p.rest[n:]
	return nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// constants are the words that stand for values; some are Python's.
var constants = map[string]string{"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}

// value parses a value.
func (p *parser) value() error {
	if p.rest == "" {
		return errors.New("a value is missing")
	}
	switch c := p.rest[0]; {
	case c == '{':
		p.rest = p.rest[1:]
		return p.members()
	case c == '[':
		p.rest = p.rest[1:]
		return p.list('[', ']', p.value)
	case c == '"', c == '\'':
		return p.text(",}]")
	}
	word := p.rest
	if i := strings.IndexAny(word, ",}] \t\r\n\\"); i >= 0 {
		word = word[:i]
	}
	value, ok := constants[word]
	if !ok {
		value, ok = word, json.Valid([]byte(word))
	}
	if !ok {
		return fmt.Errorf("%.40q is no value", word)
	}
	if value != word {
		p.note("constants of Python")
	}
	p.out.WriteString(value)
	p.rest = p.rest[len(word):]
	return nil
}

// text parses a string in either quotation marks. One of the characters in after must follow it, else the end is
// uncertain.
func (p *parser) text(after string) error {
	mark := p.rest[0]
	var text strings.Builder
	for i := 1; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == mark:
			rest := parser{rest: p.rest[i+1:]}
			rest.space()
			if rest.rest != "" && !strings.ContainsRune(after, rune(rest.rest[0])) && (after == ":" || !rest.beginsMember()) {
				return fmt.Errorf("a string has an unescaped %c before %.40q", mark, p.rest[i+1:])
			}
			if mark == '\'' {
				p.note("single quotation marks")
			}
			p.rest = p.rest[i+1:]
			p.writeText(text.String())
			return nil
		case c == '\\':
			n, err := p.escape(i, &text)
			if err != nil {
				return err
			}
			i += n
		default:
			if c < ' ' {
				p.note("control characters in a string")
			}
			text.WriteByte(c)
		}
	}
	return errors.New("a string has no end")
}

// escape reads the escape at i, adds its meaning to text, and returns its length after the backslash. A
// backslash that begins no escape of JSON, as in a regular expression, stands for itself.
func (p *parser) escape(i int, text *strings.Builder) (int, error) {
	rest := p.rest[i:]
	if len(rest) < 2 {
		return 0, errors.New("a string has no end")
	}
	n := 2
	if rest[1] == 'u' {
		n = 6
		if len(rest) >= 12 && rest[6] == '\\' && rest[7] == 'u' && strings.ContainsAny(rest[2:4], "dD") {
			n = 12 // surrogates
		}
	}
	var meaning string
	if len(rest) >= n && json.Unmarshal([]byte(`"`+rest[:n]+`"`), &meaning) == nil {
		text.WriteString(meaning)
		return n - 1, nil
	}
	if rest[1] == '\'' || rest[1] == '\n' {
		text.WriteByte(rest[1])
	} else {
		text.WriteString(rest[:2])
	}
	p.note("invalid escapes")
	return 1, nil
}

// writeText writes a string as JSON.
func (p *parser) writeText(text string) {
	enc := json.NewEncoder(&p.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // strings always encode
	}
	p.out.Truncate(p.out.Len() - 1) // the line break
}
