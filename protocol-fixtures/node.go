package fixtures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is a JSON value that keeps the order of its members, so that a frame is
// sent and recorded unchanged.
type node struct {
	open    byte   // '{', '[', or 0 for any other value
	raw     string // JSON of any other value
	members []member
	items   []*node
	fixed   bool // mapStrings does not change it
}

type member struct {
	key   string
	value *node
}

// parseNode reads one JSON value.
func parseNode(text []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	n, err := readNode(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return n, nil
}

// readNode reads the next value of a decoder.
func readNode(dec *json.Decoder) (*node, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return &node{raw: compactJSON(t)}, nil
	}
	n := &node{open: byte(delim)}
	for dec.More() {
		key := ""
		if n.open == '{' {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key = fmt.Sprint(k)
		}
		v, err := readNode(dec)
		if err != nil {
			return nil, err
		}
		if n.open == '{' {
			n.members = append(n.members, member{key, v})
		} else {
			n.items = append(n.items, v)
		}
	}
	_, err = dec.Token() // the closing one
	return n, err
}

// String returns the value as compact JSON.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n.open == 0 {
		b.WriteString(n.raw)
		return
	}
	b.WriteByte(n.open)
	for i, m := range n.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(compactJSON(m.key) + ":")
		m.value.write(b)
	}
	for i, v := range n.items {
		if i > 0 {
			b.WriteByte(',')
		}
		v.write(b)
	}
	b.WriteByte(n.open + 2) // '}' and ']' come two after '{' and '['
}

// text returns the value of a string; false for anything else, and for nil.
func (n *node) text() (string, bool) {
	if n == nil || n.open != 0 || n.raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal([]byte(n.raw), &s)
	return s, err == nil
}

// member returns the member of that name, nil if there is none.
func (n *node) member(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// strings replaces each string by the JSON that f returns. key is the name of the
// member that holds the string, or the array around it.
func (n *node) strings(key string, f func(key, s string) string) {
	if s, ok := n.text(); n.open == 0 && ok && !n.fixed {
		n.raw = f(key, s)
	}
	for _, m := range n.members {
		m.value.strings(m.key, f)
	}
	for _, v := range n.items {
		v.strings(key, f)
	}
}

// mapStrings is strings for a frame. A line that is not JSON stays unchanged.
func mapStrings(frame []byte, f func(key, s string) string) []byte {
	n, err := parseNode(frame)
	if err != nil {
		return frame
	}
	n.strings("", f)
	return []byte(n.String())
}
