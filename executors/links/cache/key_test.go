package cache

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

func of(tool, input string) (key, bool) {
	return keyOf(&executors.Call{Tool: tool, Input: json.RawMessage(input)})
}

func TestKey(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b string
		same bool
	}{
		"order":             {`{"a":1,"b":{"c":2,"d":[1,2]}}`, `{"b":{"d":[1,2],"c":2},"a":1}`, true},
		"white space":       {`{"a":"x y"}`, "{\n\t\"a\" : \"x y\" }\n", true},
		"escapes":           {`{"a":"é/"}`, `{"\u0061":"\u00e9\/"}`, true},
		"value":             {`{"a":1}`, `{"a":2}`, false},
		"type":              {`{"a":1}`, `{"a":"1"}`, false},
		"name":              {`{"a":1}`, `{"A":1}`, false},
		"member":            {`{"a":1}`, `{"a":1,"b":null}`, false},
		"order in a list":   {`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		"space in a string": {`{"a":"x y"}`, `{"a":"x  y"}`, false},
		"large numbers":     {`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		"nothing and null":  {`{"a":null}`, `{}`, false},
	} {
		a, okA := of("read", tt.a)
		b, okB := of("read", tt.b)
		if !okA || !okB || (a == b) != tt.same {
			t.Errorf("%s: same %t, want %t (%t, %t)", name, a == b, tt.same, okA, okB)
		}
	}
	one, _ := of("read", `{}`)
	if two, _ := of("grep", `{}`); one == two {
		t.Error("two tools share a key")
	}
	for _, input := range []string{``, `null`, `[]`, `"x"`, `1`, `{`, `{"a":1} {}`, `{"a":01}`,
		strings.Repeat(`{"a":`, 20_000) + `1` + strings.Repeat(`}`, 20_000)} {
		if _, ok := of("read", input); ok {
			t.Errorf("%.20s has a key", input)
		}
	}
}

// FuzzKey checks that two inputs have the same key exactly if they are the same
// value.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a","offset":1}`, `{"b":{"y":1,"x":[{"q":1,"p":2}]},"a":"\u00e9"}`, `{"a":1,"a":2}`,
		`{"a":1.0,"b":1e3}`, `{"":""}`, `[]`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(seed), []byte(`{"path":"a"}`), uint64(1))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, seed uint64) {
		k, ok := of("t", string(a))
		v, isObject := object(a)
		if ok != isObject {
			t.Fatalf("%q: has a key %t, want %t", a, ok, isObject)
		}
		if !ok {
			return
		}
		var mixed bytes.Buffer
		shuffle(&mixed, v, rand.New(rand.NewPCG(seed, 0)))
		if again, ok := of("t", mixed.String()); !ok || again != k {
			t.Errorf("%q and %q are one value and have two keys", a, mixed.String())
		}
		if other, ok := of("t", string(b)); ok {
			w, _ := object(b)
			if (other == k) != reflect.DeepEqual(v, w) {
				t.Errorf("%q and %q: same key %t", a, b, other == k)
			}
		}
	})
}

// object is an input, if it is an object.
func object(raw []byte) (map[string]any, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	m, ok := v.(map[string]any)
	return m, ok
}

// shuffle writes a value with its members in any order, and white space.
func shuffle(b *bytes.Buffer, v any, r *rand.Rand) {
	space := func() { b.WriteString([]string{"", " ", "\n", "\t\r "}[r.IntN(4)]) }
	space()
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		b.WriteByte('{')
		for i, n := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			shuffle(b, n, r)
			b.WriteByte(':')
			shuffle(b, v[n], r)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			shuffle(b, v[i], r)
		}
		b.WriteByte(']')
	default:
		raw, _ := json.Marshal(v)
		b.Write(raw)
	}
	space()
}
