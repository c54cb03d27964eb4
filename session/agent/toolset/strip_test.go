package toolset

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStrip(t *testing.T) {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, tt := range map[string]struct {
		in, want string
		bare     bool
	}{
		"nothing to strip":      {`{"a": 1.50,"b":"\u005f"}`, `{"a": 1.50,"b":"\u005f"}`, false},
		"no parameters":         {`{}`, `{}`, false},
		"first":                 {`{"_tafc_think":"hm", "b" : 1e2}`, `{ "b" : 1e2}`, false},
		"last":                  {`{"b":"x" , "_tafc_think":"hm"}`, `{"b":"x" }`, false},
		"between":               {`{"a":1,"_tafc_think":"a, b: {\"","c":[1, 2]}`, `{"a":1,"c":[1, 2]}`, false},
		"several":               {`{"_tafc_think":"1","_tafc_think_2":{"x":[1]},"c":3,"_tafc_thinking":null}`, `{"c":3}`, false},
		"alone":                 {`{"_tafc_think":"hm"}`, `{}`, true},
		"alone, twice":          {` { "_tafc_think" : "hm", "_tafc_think": 2 } `, ` {  } `, true},
		"escaped":               {`{"\u005ftafc_think":"hm","a":1}`, `{"a":1}`, false},
		"inside":                {`{"entries":[{"content":"x","_tafc_think":"y"},{"_tafc_think":{"_tafc_think":1}}]}`, `{"entries":[{"content":"x"},{}]}`, false},
		"in a string":           {`{"content":"the _tafc_think key"}`, `{"content":"the _tafc_think key"}`, false},
		"of another name":       {`{"x_tafc_think":1,"tafc_think":2}`, `{"x_tafc_think":1,"tafc_think":2}`, false},
		"numbers and order":     {`{"z":12345678901234567890,"_tafc_think":0,"a":1.10}`, `{"z":12345678901234567890,"a":1.10}`, false},
		"a thought with breaks": {quoted("{\"_tafc_think\": \"one\ntwo\", \"path\": \"a\"}"), `{ "path": "a"}`, false},
		"and with quotes":       {quoted(`{"_tafc_think": "say "x", or", "path": "a"}`), `{ "path": "a"}`, false},
		"and at the end":        {quoted("{\"path\": \"a\", \"_tafc_think\": \"one\ntwo\"}"), `{"path": "a"}`, false},
		"and nothing else":      {quoted("{\"_tafc_think\": \"one\ntwo\"}"), `{}`, true},
		"never ended":           {quoted(`{"_tafc_think": "one`), `{}`, true},
		"never ended, behind":   {quoted(`{"path": "a", "_tafc_think": "one`), quoted(`{"path": "a", `), false},
		"a text without":        {quoted(`{"path": "a`), quoted(`{"path": "a`), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, bare := strip(json.RawMessage(tt.in))
			if string(got) != tt.want || bare != tt.bare {
				t.Errorf("%s, %v; want %s, %v", got, bare, tt.want, tt.bare)
			}
		})
	}
}

// FuzzStrip compares Strip with a slow implementation on tokens.
func FuzzStrip(f *testing.F) {
	for _, s := range []string{`{"_tafc_think":"hm","a":[{"_tafc_think_2":1},2]}`, `{"\u005ftafc_think":{}}`, `"{\"_tafc_think\": \"x\ny\", \"a\": 1}"`, `[]`,
		` {"a" : 1 , "_tafc_think" : [] } `, `{"a":{"a":1,"_tafc_think":1},"_tafc_think":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		out, bare := strip(in)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		if again, _ := strip(out); !bytes.Equal(again, out) {
			t.Errorf("%q became %q, and then %q", in, out, again)
		}
		if bare && !isEmptyObject(out) {
			t.Errorf("%q is bare, and has %q", in, out)
		}
		if strings.HasPrefix(strings.TrimSpace(string(in)), `"`) {
			return
		}
		if diff := cmp.Diff(tokens(t, in, true), tokens(t, out, false)); diff != "" {
			t.Errorf("%q became %q (-want +got)\n%s", in, out, diff)
		}
	})
}

// tokens returns the tokens of a JSON text; without removes thoughts.
func tokens(t *testing.T, in []byte, without bool) []string {
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var out []string
	var value func(keep bool)
	emit := func(keep bool, tok json.Token) {
		if keep {
			b, _ := json.Marshal(tok)
			if d, ok := tok.(json.Delim); ok {
				b = []byte(d.String())
			}
			out = append(out, string(b))
		}
	}
	next := func() json.Token {
		tok, err := dec.Token()
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return tok
	}
	value = func(keep bool) {
		tok := next()
		emit(keep, tok)
		switch tok {
		case json.Delim('{'):
			for dec.More() {
				name := next()
				s, _ := name.(string)
				kept := keep && !(without && strings.HasPrefix(s, thoughtPrefix))
				emit(kept, name)
				value(kept)
			}
			emit(keep, next())
		case json.Delim('['):
			for dec.More() {
				value(keep)
			}
			emit(keep, next())
		}
	}
	value(true)
	return out
}

func BenchmarkStrip(b *testing.B) {
	plain := json.RawMessage(`{"path":"a.go","content":"` + strings.Repeat("x = 1\\n", 1000) + `"}`)
	thought := json.RawMessage(`{"_tafc_think":"hm","path":"a.go","content":"` + strings.Repeat("x = 1\\n", 1000) + `"}`)
	for name, in := range map[string]json.RawMessage{"without": plain, "with": thought} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				strip(in)
			}
		})
	}
}
