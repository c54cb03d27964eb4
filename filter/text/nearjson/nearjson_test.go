package nearjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"path":"a"}`:                           `{"path":"a"}`,
		` { "a" : 1 } `:                          `{ "a" : 1 }`,
		"{\"content\": \"a\nb\tc\"}":             `{"content":"a\nb\tc"} (control characters in a string)`,
		`{"path":\n"a",\n\t"b": 1\n}`:            `{"path":"a","b":1} (escapes between tokens)`,
		`"path": "a", "n": 1}`:                   `{"path":"a","n":1} (no opening brace)`,
		`"path": "a"`:                            `{"path":"a"} (no opening brace; a missing })`,
		`{"path": "a"`:                           `{"path":"a"} (a missing })`,
		`{"a": ["b"`:                             `{"a":["b"]} (a missing ]; a missing })`,
		`{'path': 'say "x"', 'n': 1}`:            `{"path":"say \"x\"","n":1} (single quotation marks)`,
		`{'it': 'it\'s'}`:                        `{"it":"it's"} (single quotation marks; invalid escapes)`,
		`{"path":"a",}`:                          `{"path":"a"} (a trailing comma)`,
		`{"a":[1,2,],}`:                          `{"a":[1,2]} (a trailing comma)`,
		"```json\n{\"path\": \"a\"}\n```":        `{"path":"a"} (a code fence)`,
		`{{"path": "a"}}`:                        `{"path":"a"} (doubled braces)`,
		"```{\"path\": \"a\"}```":                `{"path":"a"} (a code fence)`,
		`{"path":"a"}{"path":"b"}`:               `{"path":"a"} (a second object, which was ignored)`,
		`{}{"path":"b"}`:                         `{"path":"b"} (an empty object in front)`,
		`{"path":"b"} {"path": "b"}`:             `{"path":"b"} (the object twice)`,
		`{"path":"a"}}`:                          `{"path":"a"} (text after the object)`,
		`{"path":"a"}<|im_end|>`:                 `{"path":"a"} (text after the object)`,
		"{\"path\":\"a\"}\n</tool_call>":         `{"path":"a"} (text after the object)`,
		`{path: "a", n: 2}`:                      `{"path":"a","n":2} (a name without quotation marks)`,
		`{"a": True, "b": None, "c": False}`:     `{"a":true,"b":null,"c":false} (constants of Python)`,
		`{"path": "a" "content": "b"}`:           `{"path":"a","content":"b"} (a missing comma)`,
		`{"pattern": "\d+\s<\"x\">"}`:            `{"pattern":"\\d+\\s<\"x\">"} (invalid escapes)`,
		`"{\"path\":\"a\"}"`:                     `{"path":"a"} (escaped as a string)`,
		`{\"path\":\"a\"}`:                       `{"path":"a"} (escaped as a string)`,
		`{"a":"\u00e9\ud83d\ude42é",}`:           `{"a":"é🙂é"} (a trailing comma)`,
		`{"command":"ls","n":1e3,"x":-0.5,}`:     `{"command":"ls","n":1e3,"x":-0.5} (a trailing comma)`,
		"{\"content\":\"```\na\n```\"}":          "{\"content\":\"```\\na\\n```\"} (control characters in a string)",
		"{\n  \"a\": {\n    \"b\": 1,\n  }\n}\n": `{"a":{"b":1}} (a trailing comma)`,

		// Two readings, or none.
		`{"command": "echo "hi" && ls"}`:                "!",
		`{"command": "echo 'a`:                          "!",
		"{\"command\": \"echo 'Goodbye, user!'\n  }\n}": "!",
		`{'path': 'it's'}`:                              "!",
		`{"a": undefined}`:                              "!",
		`{"a": }`:                                       "!",
		`{"a": 1 2}`:                                    "!",
		`{"a": [1 2]}`:                                  "!",
		`{"a"}`:                                         "!",
		`{"a":1} and then`:                              "!",
		`read a`:                                        "!",
		`[1]`:                                           "!",
		`"text"`:                                        "!",
		``:                                              "!",
		"```":                                           "!",
		`{"a":1}{"b"`:                                   "!",
		`{"a":` + strings.Repeat("[", 300):              "!",
		`{"options": ["global", "replaces": 1, "files": []]`: "!",
	} {
		object, mistakes, err := Object(text)
		got := string(object)
		if len(mistakes) > 0 {
			got += " (" + strings.Join(mistakes, "; ") + ")"
		}
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("Object(%q)\n got %s (%v)\nwant %s", text, got, err, want)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{'a': "b\d",}`, "```json\n{}\n```", `{a:[1,{"b":None}]`, `{}{"a":1}`, `"{\"a\":1}"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object, mistakes, err := Object(text)
		if err != nil {
			return
		}
		if !json.Valid(object) || object[0] != '{' {
			t.Errorf("Object(%q) is %q", text, object)
		}
		if again, more, err := Object(string(object)); err != nil || more != nil || string(again) != string(object) {
			t.Errorf("Object(%q) is %q, and its object %q (%v, %v)", text, object, again, more, err)
		}
		if len(mistakes) == 0 && !json.Valid([]byte(text)) {
			t.Errorf("Object(%q) corrected without a note", text)
		}
	})
}
