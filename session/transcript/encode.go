package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
)

// largeAttachment is the size from which Encode copies an attachment separately, in bytes.
const largeAttachment = 64 << 10

// Encode is json.Marshal, except that it leaves "<", ">" and "&" unescaped, even in the
// JSON of models, and copies a large attachment only once.
func Encode(e Event) ([]byte, error) {
	p, ok := e.(Prompt)
	if !ok {
		return MarshalPlain(e)
	}
	// A large attachment is encoded as this placeholder and put in its place afterwards. No
	// prompt can contain the new message's id.
	placeholder := p.MessageID + "#"
	var aside []string
	setAside := func(s string) string {
		if len(s) < largeAttachment {
			return s
		}
		aside = append(aside, s)
		return placeholder
	}
	p.Content = slices.Clone(p.Content)
	for i := range p.Content {
		b := &p.Content[i]
		b.Data = setAside(b.Data)
		if r := b.Resource; r != nil {
			b.Resource = &acp.Resource{URI: r.URI, MIMEType: r.MIMEType}
			if r.Text != nil {
				b.Resource.Text = new(setAside(*r.Text))
			}
			if r.Blob != nil {
				b.Resource.Blob = new(setAside(*r.Blob))
			}
		}
	}
	rest, err := MarshalPlain(p)
	if err != nil {
		return nil, err
	}
	parts := bytes.Split(rest, []byte(`"`+placeholder+`"`))
	if len(parts) != len(aside)+1 { // the id is not one of ours, and the prompt contains it
		return MarshalPlain(e)
	}
	size := len(rest)
	for _, s := range aside {
		size += quotedLen(s)
	}
	out := append(make([]byte, 0, size), parts[0]...)
	for i, s := range aside {
		out = append(appendQuoted(out, s), parts[i+1]...)
	}
	return out, nil
}

// MarshalPlain is json.Marshal without HTML escapes.
func MarshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// escape returns the form of a byte in a JSON string, or "" if it is unchanged.
func escape(c byte) string {
	switch {
	case c == '"':
		return `\"`
	case c == '\\':
		return `\\`
	case c == '\n':
		return `\n`
	case c < ' ':
		return fmt.Sprintf(`\u%04x`, c)
	}
	return ""
}

// quotedLen returns the length of s as a JSON string, in bytes.
func quotedLen(s string) int {
	n := 2
	for i := range len(s) {
		n += escapedLen(s[i])
	}
	return n
}

// escapedLen returns the length of a byte in a JSON string.
func escapedLen(c byte) int {
	switch {
	case c == '"', c == '\\', c == '\n':
		return 2
	case c < ' ':
		return 6
	}
	return 1
}

// appendQuoted appends s, valid UTF-8, as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		if e := escape(s[i]); e != "" {
			b = append(append(b, s[done:i]...), e...)
			done = i + 1
		}
	}
	return append(append(b, s[done:]...), '"')
}
