package acp

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzScan compares the scanner with encoding/json, on input that classify
// accepts.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `[[],{}]`, ` { "a" : [ 1 , "x" ] , "b" : { "c" : null } } `, `{"a":1,"a":2}`, `{"\u0061\"":"\\"}`,
		`["\\\"", "\\\\", "a\"b", "\b\f\n\r\t\/"]`, `["\ud83d\ude00","\ud83d","\ude00x","\ud83d\u0041","\uD83Dx"]`,
		`[1.5e-3,true,false,null,-0]`, `{"a":"}","b":"]"}`, `"é\u00e9"`, "{\"a\"\t:\r\n1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) || !utf8.Valid(b) {
			return
		}
		var compact json.RawMessage
		if err := json.Unmarshal(b, &compact); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, compact), scanned(compact)); diff != "" {
			t.Errorf("%q (-encoding/json +scan)\n%s", b, diff)
		}
	})
}

// scanned is a value as the scanner reads it; numbers and literals stay as
// written.
func scanned(b []byte) any {
	switch jsonKind(b) {
	case "object":
		m := map[string]any{}
		for key, value := range jsonMembers(b) {
			m[key] = scanned(value)
		}
		return m
	case "array":
		list := []any{}
		for item := range jsonItems(b) {
			list = append(list, scanned(item))
		}
		return list
	case "string":
		return unquote(b)
	}
	return json.RawMessage(b)
}

// decoded is the same value by encoding/json.
func decoded(t *testing.T, b json.RawMessage) any {
	var m map[string]json.RawMessage
	var list []json.RawMessage
	var s string
	var err error
	var v any = b
	switch b[0] {
	case '{':
		err = json.Unmarshal(b, &m)
		all := map[string]any{}
		for key := range m {
			all[key] = decoded(t, m[key])
		}
		v = all
	case '[':
		err = json.Unmarshal(b, &list)
		all := []any{}
		for _, item := range list {
			all = append(all, decoded(t, item))
		}
		v = all
	case '"':
		err = json.Unmarshal(b, &s)
		v = s
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMember(t *testing.T) {
	const doc = `{"a":{"b":{"c":1}},"x":7,"a":{"b":{"c":2}}}`
	for want, path := range map[string][]string{"2": {"a", "b", "c"}, "7": {"x"}, "": {"x", "y"}, "{\"c\":2}": {"a", "b"}} {
		if got := string(member([]byte(doc), path...)); got != want {
			t.Errorf("member(%v) = %s, want %s", path, got, want)
		}
	}
}
