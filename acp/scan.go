package acp

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Why not encoding/json for everything? A prompt may be a line of many MiB.
// encoding/json scans it once for every level of nesting and copies it for
// every RawMessage. The functions below go from the envelope to the blocks of a
// prompt without a copy. Their input has passed json.Valid and utf8.Valid in
// classify.

// jsonMembers iterates over the members of an object. Any other value has none. The
// values share b's memory.
func jsonMembers(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if jsonKind(b) != "object" {
			return
		}
		var key []byte
		for item := range jsonItems(b) {
			if key == nil {
				key = item
				continue
			}
			if !yield(unquote(key), item) {
				return
			}
			key = nil
		}
	}
}

// jsonItems iterates over the elements of an array, or alternately over the keys
// and values of an object. They share b's memory.
func jsonItems(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipSpace(b, 1); b[i] != ']' && b[i] != '}'; {
			end := skipValue(b, i)
			if !yield(b[i:end:end]) {
				return
			}
			if i = skipSpace(b, end); b[i] == ',' || b[i] == ':' {
				i = skipSpace(b, i+1)
			}
		}
	}
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' {
		i++
	}
	return i
}

// skipValue returns the index after the value at i.
func skipValue(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			return i + bytes.IndexAny(b[i:], " \t\r\n,:]}")
		}
		if depth == 0 {
			return i + 1
		}
	}
}

// skipString returns the index after the string at i.
func skipString(b []byte, i int) int {
	for end := i + 1; ; end++ {
		end += bytes.IndexByte(b[end:], '"')
		slashes := 0
		for b[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
	}
}

// member returns the value at a path of nested objects, nil if there is none.
// The last of several members of one name counts.
func member(b []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		for key, value := range jsonMembers(b) {
			if key == name {
				found = value
			}
		}
		b = found
	}
	return b
}

// jsonObject holds the members of an object that the caller asked for. The errors
// of its methods begin with field, the object's path.
type jsonObject struct {
	field   string // empty for the params
	members map[string][]byte
}

// objectOf returns the members of an object with the given keys. Any other
// value has none.
func objectOf(raw []byte, field string, keys ...string) jsonObject {
	o := jsonObject{field, map[string][]byte{}}
	for key, value := range jsonMembers(raw) {
		if slices.Contains(keys, key) {
			o.members[key] = value
		}
	}
	return o
}

// has reports whether key is present and not null.
func (o jsonObject) has(key string) bool {
	kind := jsonKind(o.members[key])
	return kind != "" && kind != "null"
}

// requiredString returns a required string.
func (o jsonObject) requiredString(key string) (string, error) {
	if !o.has(key) {
		return "", ParamsErrorf(o.path(key), "is required")
	}
	if kind := jsonKind(o.members[key]); kind != "string" {
		return "", ParamsErrorf(o.path(key), "must be a string, not %s", kind)
	}
	return unquote(o.members[key]), nil
}

// nonEmptyString returns a required string that must not be empty.
func (o jsonObject) nonEmptyString(key string) (string, error) {
	s, err := o.requiredString(key)
	if err == nil && s == "" {
		err = ParamsErrorf(o.path(key), "is required")
	}
	return s, err
}

// optionalString returns a string, "" if it is missing or not a string.
func (o jsonObject) optionalString(key string) string {
	s, _ := o.requiredString(key)
	return s
}

// path returns the path of a member.
func (o jsonObject) path(key string) string { return strings.TrimPrefix(o.field+"."+key, ".") }

// array returns the elements of an array, none if it is missing. An empty object counts as an
// empty array, since some languages cannot distinguish them.
func (o jsonObject) array(key string) ([][]byte, error) {
	raw := o.members[key]
	switch kind := jsonKind(raw); {
	case !o.has(key), kind == "object" && !hasItems(raw):
		return nil, nil
	case kind != "array":
		return nil, ParamsErrorf(o.path(key), "must be an array, not %s", kind)
	}
	return slices.Collect(jsonItems(raw)), nil
}

// hasItems reports whether an array or object has elements.
func hasItems(b []byte) bool {
	for range jsonItems(b) {
		return true
	}
	return false
}

// isEmpty reports whether a value is {} or []. Some languages cannot distinguish them.
func isEmpty(b []byte) bool {
	kind := jsonKind(b)
	return (kind == "object" || kind == "array") && !hasItems(b)
}

// strings returns an array of strings.
func (o jsonObject) strings(key string) ([]string, error) {
	items, err := o.array(key)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, item := range items {
		if kind := jsonKind(item); kind != "string" {
			return nil, ParamsErrorf(fmt.Sprintf("%s[%d]", o.path(key), i), "must be a string, not %s", kind)
		}
		out = append(out, unquote(item))
	}
	return out, nil
}

// namedValue is an element of a list of named things.
type namedValue struct {
	field string // its path
	name  string // may be empty
	value []byte // the element, or the member of that name
	plain bool   // it is the member of that name
}

// named returns the elements of an array of objects that have a name. Configuration files, and
// clients that pass them on, write {"NAME": …} instead of [{"name": "NAME", …}].
func (o jsonObject) named(key string) ([]namedValue, error) {
	var out []namedValue
	for name, value := range jsonMembers(o.members[key]) {
		out = append(out, namedValue{o.path(key) + "." + name, name, value, true})
	}
	if out != nil {
		return out, nil
	}
	items, err := o.array(key)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		n := namedValue{field: fmt.Sprintf("%s[%d]", o.path(key), i), value: item}
		if e := objectOf(item, n.field, "name"); e.has("name") {
			if n.name, err = e.requiredString("name"); err != nil {
				return nil, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}

// variables returns a list of variables or headers.
func (o jsonObject) variables(key string) ([]EnvVariable, error) {
	list, err := o.named(key)
	if err != nil {
		return nil, err
	}
	var out []EnvVariable
	for _, n := range list {
		field, value := n.field, n.value
		if !n.plain {
			if kind := jsonKind(value); kind != "object" && kind != "null" {
				return nil, ParamsErrorf(field, "must be an object, not %s", kind)
			}
			field, value = field+".value", member(value, "value")
		}
		if n.name == "" {
			return nil, ParamsErrorf(n.field+".name", "is required")
		}
		v := EnvVariable{Name: n.name}
		switch kind := jsonKind(value); kind {
		case "string":
			v.Value = unquote(value)
		case "", "null":
		default:
			return nil, ParamsErrorf(field, "must be a string, not %s", kind)
		}
		out = append(out, v)
	}
	return out, nil
}

// trimZeroFraction returns a number without a fraction of zeros. Some clients have only floating
// point numbers, and write 1 as 1.0.
func trimZeroFraction(raw []byte) []byte {
	whole, fraction, ok := bytes.Cut(raw, []byte("."))
	if ok && len(fraction) > 0 && len(bytes.Trim(fraction, "0")) == 0 {
		return whole
	}
	return raw
}

// jsonKind names the type of a JSON value, which may be nil.
func jsonKind(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	switch b[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// unquote returns the text of a string. It makes one copy, which does not share
// b's memory.
func unquote(b []byte) string {
	b = b[1 : len(b)-1]
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return string(b)
	}
	var s strings.Builder
	s.Grow(len(b)) // an escape is never shorter than its character
	for ; i >= 0; i = bytes.IndexByte(b, '\\') {
		s.Write(b[:i])
		r, n := unescape(b[i:])
		s.WriteRune(r)
		b = b[i+n:]
	}
	s.Write(b)
	return s.String()
}

// unescape decodes the escape at the start of b and returns its length. Half of
// a surrogate pair is U+FFFD, as in encoding/json.
func unescape(b []byte) (rune, int) {
	switch c := b[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default: // a quote or a slash
		return rune(c), 2
	}
	r := hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if r := utf16.DecodeRune(r, hex4(b[8:])); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 16) // valid JSON has four digits here
	return rune(n)
}
