package fixtures

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got string
		bound     Bindings
		diff      string // path: want | got; empty means that they match
	}{
		"equal":                     {`{"a":[1,"x",null,true]}`, `{ "a" : [1, "x", null, true] }`, nil, ""},
		"order of members":          {`{"a":1,"b":2}`, `{"b":2,"a":1}`, nil, ""},
		"escapes":                   {`"\u00e9<"`, `"é\u003c"`, nil, ""},
		"value":                     {`{"a":{"b":[0,"x"]}}`, `{"a":{"b":[0,"y"]}}`, nil, `a.b[1]: "x" | "y"`},
		"type":                      {`{"a":1}`, `{"a":"1"}`, nil, `a: 1 | "1"`},
		"member missing":            {`{"a":1}`, `{}`, nil, "a: 1 | nothing"},
		"member nobody wrote":       {`{}`, `{"a":1}`, nil, "a: nothing | 1"},
		"null is not absent":        {`{"a":null}`, `{}`, nil, "a: null | nothing"},
		"too many items":            {`[1]`, `[1,2]`, nil, "[1]: nothing | 2"},
		"too few items":             {`[1,2]`, `[1]`, nil, "[1]: 2 | nothing"},
		"object for array":          {`[]`, `{}`, nil, ": [] | {}"},
		"digits of a large number":  {`9007199254740993`, `9007199254740992`, nil, ": 9007199254740993 | 9007199254740992"},
		"any":                       {`{"a":"$ANY"}`, `{"a":{"b":1}}`, nil, ""},
		"any is there":              {`{"a":"$ANY"}`, `{}`, nil, `a: "$ANY" | nothing`},
		"binds":                     {`["$A","$A","$B"]`, `["x","x",7]`, nil, ""},
		"bound twice":               {`["$A","$A"]`, `["x","y"]`, nil, `[1]: "x", which is $A | "y"`},
		"bound before":              {`"$A"`, `"y"`, Bindings{"A": "x"}, `: "x", which is $A | "y"`},
		"inside of text":            {`"session ${A}: gone"`, `"session x: gone"`, Bindings{"A": "x"}, ""},
		"inside of text, not bound": {`"echo ${HOME}"`, `"echo ${HOME}"`, nil, ""},
		"a UUID inside of text": {
			`["see ${A}, ${B}","$A"]`,
			`["see 0bd61a94-f204-8a02-9659-956ec88be680, 176409ed-5821-8549-ba3d-999928e9ad12","0bd61a94-f204-8a02-9659-956ec88be680"]`,
			nil,
			"",
		},
		"two UUIDs of one name": {
			`"${A} ${A}"`,
			`"0bd61a94-f204-8a02-9659-956ec88be680 176409ed-5821-8549-ba3d-999928e9ad12"`,
			nil,
			`: "${A} ${A}" | "0bd61a94-f204-8a02-9659-956ec88be680 176409ed-5821-8549-ba3d-999928e9ad12"`,
		},
		"no UUID inside of text": {`"see ${A}"`, `"see it"`, nil, `: "see ${A}" | "see it"`},
		"a dollar in text":       {`"cost: $A"`, `"cost: $A"`, Bindings{"A": "x"}, ""},
		"not JSON":               {`{}`, `nope`, nil, `the frame: JSON | "nope"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if d := Match([]byte(tt.want), []byte(tt.got), tt.bound); d != nil {
				got = d.Path + ": " + d.Want + " | " + d.Got
			}
			if got != tt.diff {
				t.Errorf("got %q, want %q", got, tt.diff)
			}
		})
	}
}

// A frame that does not match binds nothing: the next one is tried in its place.
func TestMatchLeavesBindings(t *testing.T) {
	b := Bindings{}
	if Match([]byte(`{"a":"$A","b":1}`), []byte(`{"a":"x","b":2}`), b) == nil {
		t.Error("frames with different values of b match")
	}
	if len(b) > 0 {
		t.Errorf("bound %v", b)
	}
	if d := Match([]byte(`"$A"`), []byte(`"y"`), b); d != nil || b["A"] != "y" {
		t.Errorf("%v, bound %v", d, b)
	}
}

func TestFill(t *testing.T) {
	b := Bindings{"S": "s1", "N": any(nil)}
	got, err := b.fill([]byte(`{"z":"$S","a":["$N","to ${S}","$HOME/x"],"z":1.50}`))
	if want := `{"z":"s1","a":[null,"to s1","$HOME/x"],"z":1.50}`; string(got) != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := b.fill([]byte(`["$T"]`)); err == nil || !strings.Contains(err.Error(), "$T is not bound") {
		t.Errorf("error %v", err)
	}
}

func TestWorkspace(t *testing.T) {
	w := Workspace("/tmp/dir/w")
	for written, real := range map[string]string{
		"/w":              "/tmp/dir/w",
		"/w/main.go":      "/tmp/dir/w/main.go",
		"cat /w/a /w/b":   "cat /tmp/dir/w/a /tmp/dir/w/b",
		"/w:/w":           "/tmp/dir/w:/tmp/dir/w",
		`{"cwd":"/w"}`:    `{"cwd":"/tmp/dir/w"}`,
		"file:///w/a":     "file:///tmp/dir/w/a",
		"It is in /w.":    "It is in /tmp/dir/w.",
		"x/w":             "x/w",
		"/write":          "/write",
		"/w.txt":          "/w.txt",
		"/home/w":         "/home/w",
		"http://a.b/w/x":  "http://a.b/w/x",
		"/tmp/w/tmp/w/x.": "/tmp/w/tmp/w/x.",
	} {
		if got := w.Real(written); got != real {
			t.Errorf("Real(%q) = %q, want %q", written, got, real)
		}
		if got := w.Written(real); got != written {
			t.Errorf("Written(%q) = %q, want %q", real, got, written)
		}
	}
}

// FuzzNode checks that a value is written exactly as it was read.
func FuzzNode(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[{},[],"x\n",-1.50e3,null,true],"b":2}`, `"\u2028<"`, `[`, `{"a":1} 2`, `""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseNode([]byte(s))
		if err != nil {
			return
		}
		want, err := decode([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode([]byte(n.String()))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q became %q: %v\n%s", s, n.String(), err, diff)
		}
	})
}
