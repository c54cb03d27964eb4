package executors

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const correctable = `{"type":"object","additionalProperties":false,"required":["text"],
	"$defs":{"Item":{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"},"why":{"type":"string"}}},
		"Loop":{"type":"array","items":{"$ref":"#/$defs/Loop"}}},
	"properties":{
		"text":{"type":"string"},"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}},"counts":{"type":"array","items":{"type":"integer"}},
		"item":{"$ref":"#/$defs/Item"},"items":{"type":"array","items":{"$ref":"#/$defs/Item"}},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},"either":{"type":["integer","null"]},
		"word":{"anyOf":[{"type":"boolean"},{"type":"string"}]},
		"map":{"type":"object","additionalProperties":{"type":"integer"}},
		"any":{},"loop":{"$ref":"#/$defs/Loop"}}}`

func TestCorrect(t *testing.T) {
	for input, want := range map[string]string{
		// A valid input stays unchanged, byte for byte.
		`{ "text": "<a>", "n": 3, "b": false }`:                           `{ "text": "<a>", "n": 3, "b": false }`,
		`{"text":"3","tags":["true"]}`:                                    `{"text":"3","tags":["true"]}`,
		`{"text":"{\"n\":1}"}`:                                            `{"text":"{\"n\":1}"}`,
		`{"text":"","maybe":null,"either":null,"any":null,"word":"true"}`: `{"text":"","maybe":null,"either":null,"any":null,"word":"true"}`,
		`{"text":"","n":9007199254740993}`:                                `{"text":"","n":9007199254740993}`,

		`{"text":"<a&b>","n":null,"tags":null,"item":null}`: `{"text":"<a&b>"}`,
		`{"text":"","n":"3","f":"-1.5","b":"true"}`:         `{"b":true,"f":-1.5,"n":3,"text":""}`,
		`{"text":"","n":" 3 ","f":"1e3","b":"False"}`:       `{"b":false,"f":1e3,"n":3,"text":""}`,
		`{"text":"","n":3.0}`:                               `{"n":3,"text":""}`,
		`{"text":"","n":"3.0"}`:                             `{"n":3,"text":""}`,
		`{"text":"","n":"9007199254740993"}`:                `{"n":9007199254740993,"text":""}`,
		`{"text":"","maybe":"3","either":"null"}`:           `{"either":null,"maybe":3,"text":""}`,
		`{"text":"","tags":"a"}`:                            `{"tags":["a"],"text":""}`,
		`{"text":"","tags":"[\"a\",\"b\"]"}`:                `{"tags":["a","b"],"text":""}`,
		`{"text":"","tags":"[x]"}`:                          `{"tags":["[x]"],"text":""}`,
		`{"text":"","tags":"[1]"}`:                          `{"tags":["[1]"],"text":""}`,
		`{"text":"","counts":"3"}`:                          `{"counts":[3],"text":""}`,
		`{"text":"","counts":["1",2]}`:                      `{"counts":[1,2],"text":""}`,
		`{"text":"","item":"{\"n\":\"1\",\"why\":null}"}`:   `{"item":{"n":1},"text":""}`,
		`{"text":"","items":{"n":1}}`:                       `{"items":[{"n":1}],"text":""}`,
		`{"text":"","items":["{\"n\":1}"]}`:                 `{"items":[{"n":1}],"text":""}`,
		`{"text":"","map":{"a":"1","b":2}}`:                 `{"map":{"a":1,"b":2},"text":""}`,
		`"{\"text\":\"a\",\"n\":\"3\"}"`:                    `{"n":3,"text":"a"}`,
		`{"text":"a","text":"a"}`:                           `{"text":"a","text":"a"}`,

		// Only the schema's own spelling of a name counts, as in the tool.
		`{"text":"a","Text":"b"}`:                  `{"text":"a"} [ignored unknown parameter "Text" (did you mean "text"?)]`,
		`{"text":"a","teXt":1,"x":{"y":1}}`:        `{"text":"a"} [ignored unknown parameters "teXt" (did you mean "text"?) and "x"]`,
		`{"text":"a","item":{"n":1,"whyy":"x"}}`:   `{"item":{"n":1},"text":"a"} [ignored unknown parameter "whyy" in item (did you mean "why"?)]`,
		`{"text":"a","items":"{\"n\":1,\"q\":2}"}`: `{"items":[{"n":1}],"text":"a"} [ignored unknown parameter "q" in items[0]]`,

		// Required, or wrong in kind.
		`{"text":null}`:                          `! text must be a string, got null`,
		`{"text":3}`:                             `! text must be a string, got 3`,
		`{"text":["a"]}`:                         `! text must be a string, got ["a"]`,
		`{"text":"","n":"three"}`:                `! n must be an integer, got "three"`,
		`{"text":"","n":"3.5"}`:                  `! n must be an integer, got "3.5"`,
		`{"text":"","n":[3]}`:                    `! n must be an integer, got [3]`,
		`{"text":"","n":""}`:                     `! n must be an integer, got ""`,
		`{"text":"","n":1e999999999}`:            `! 1e999999999`,
		`{"text":"","b":"yes"}`:                  `! b must be a boolean, got "yes"`,
		`{"text":"","b":1}`:                      `! b must be a boolean, got 1`,
		`{"text":"","counts":"a"}`:               `! counts must be an array, got "a"`,
		`{"text":"","items":[null]}`:             `! items`,
		`{"text":"","item":"{\"n\":1,\"n\":2}"}`: `! item`,
		`{"text":"a","\u0074ext":"b"}`:           `! "text" is given twice`,
		`{"text":"","map":{"a":1,"a":2}}`:        `! "a" is given twice`,
		`"text"`:                                 `! the input must be a JSON object, got "text"`,
		`{"text":"","loop":1}`:                   `! `,
	} {
		fixed, notes, err := newValidator(nil).fit(Tool{Name: "t", Schema: json.RawMessage(correctable)}, json.RawMessage(input))
		got := strings.Join(append([]string{string(fixed)}, notes...), " ")
		if err != nil {
			got = "! " + err.Error()
		}
		if rest, fails := strings.CutPrefix(want, "! "); fails && (err == nil || !strings.Contains(got, rest)) || !fails && got != want {
			t.Errorf("%s\n got %s\nwant %s", input, got, want)
		}
	}
}

// Execute runs the input that Prepare checked, and a note names the dropped
// members.
func TestValidateCorrectsTheCall(t *testing.T) {
	chain := Chain(echo("echo"), Validate)
	call := &Call{Tool: "echo", Input: json.RawMessage(`{"text":"hi","Text":"no","times":"2","tags":null}`)}
	card, res := run(t, chain, call)
	if want := `{"text":"hi","times":2}`; string(call.Input) != want || card.Title != "Echo hi" {
		t.Errorf("got %s with the title %q, want %s and Echo hi", call.Input, card.Title, want)
	}
	if want := "hi\n" + `[ignored unknown parameter "Text" (did you mean "text"?)]`; res.ForModel() != want {
		t.Errorf("got %q, want %q", res.ForModel(), want)
	}
}

// FuzzCorrect checks that a corrected input fits, and that correcting it again
// changes nothing.
func FuzzCorrect(f *testing.F) {
	f.Add(`{"text":"","counts":"3","item":"{}","x":null}`)
	f.Add(`"{\"text\":1}"`)
	f.Fuzz(func(t *testing.T, input string) {
		v, tool := newValidator(nil), Tool{Name: "t", Schema: json.RawMessage(correctable)}
		once, _, err := v.fit(tool, json.RawMessage(input))
		if err != nil {
			return
		}
		twice, notes, err := v.fit(tool, slices.Clone(once))
		if err != nil || string(twice) != string(once) || len(notes) > 0 {
			t.Errorf("%s became %s, then %s: %v %v", input, once, twice, notes, err)
		}
	})
}

// Members with the names of other agents' parameters, and parameters inside an object, get their places.
func TestRename(t *testing.T) {
	tool := func(required string, params ...string) Tool {
		var properties []string
		for _, p := range params {
			properties = append(properties, `"`+p+`":{"type":"string"}`)
		}
		return Tool{Name: "t", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":[` + required +
			`],"properties":{"n":{"type":"integer"},` + strings.Join(properties, ",") + `}}`)}
	}
	read, grep, open := tool(`"path"`, "path"), tool(`"pattern"`, "pattern", "path", "include"), tool(`"path"`, "path")
	open.Schema = json.RawMessage(strings.Replace(string(open.Schema), `"additionalProperties":false,`, "", 1))
	for _, tt := range []struct {
		tool        Tool
		input, want string
	}{
		{read, `{"file_path":"a"}`, `{"path":"a"} [the parameter is called path, not file_path]`},
		{read, `{"filePath":"a","n":"1"}`, `{"n":1,"path":"a"} [the parameter is called path, not filePath]`},
		{read, `{"Path":"a"}`, `{"path":"a"} [the parameter is called path, not Path]`},
		{read, `{"paht":"a"}`, `! t: there is no parameter "paht" (did you mean "path"?)`},
		{read, `{"path":null,"file":"a"}`, `{"path":"a"} [the parameter is called path, not file]`},
		{read, `{"path":"a","file":"b"}`, `{"path":"a"} [ignored unknown parameter "file"]`},
		{read, `{"file":"a","file_path":"b"}`, `! t: there is no parameter "file"; there is no parameter "file_path"; path is missing`},
		{read, `{"file_path":1}`, `! t: there is no parameter "file_path"; path is missing`},
		{read, `{"arguments":{"path":"a"}}`, `{"path":"a"} [the parameters were inside "arguments": pass them directly]`},
		{read, `{"name":"read","parameters":"{\"path\":\"a\"}"}`, `{"path":"a"} [the parameters were inside "parameters": pass them directly]`},
		{read, `{"input":{"file":"a"}}`, `{"path":"a"} [the parameters were inside "input": pass them directly] [the parameter is called path, not file]`},
		{read, `{"arguments":{"path":"a"},"params":{"path":"b"}}`, `! t: there is no parameter "arguments"; there is no parameter "params"; path is missing`},
		{read, `{"arguments":{"path":"a"},"path":"b"}`, `{"path":"b"} [ignored unknown parameter "arguments"]`},
		{grep, `{"query":"x","glob":"*.go"}`, `{"include":"*.go","pattern":"x"} ` +
			`[the parameter is called pattern, not query] [the parameter is called include, not glob]`},
		{grep, `{"query":"x","regex":"y"}`, `! t: there is no parameter "query"; there is no parameter "regex"; pattern is missing`},
		{grep, `{"pattern":"x","glob":"*.go","dir":"src"}`, `{"include":"*.go","path":"src","pattern":"x"} ` +
			`[the parameter is called include, not glob] [the parameter is called path, not dir]`},
		{grep, `{"regex":"x"}`, `{"pattern":"x"} [the parameter is called pattern, not regex]`},
		{open, `{"file":"a","path":"b"}`, `{"file":"a","path":"b"}`},
		{open, `{"arguments":{"path":"b"}}`, `{"path":"b"} [the parameters were inside "arguments": pass them directly]`},
	} {
		fixed, notes, err := newValidator(nil).fit(tt.tool, json.RawMessage(tt.input))
		got := strings.Join(append([]string{string(fixed)}, notes...), " ")
		if err != nil {
			got = "! " + err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.input, got, tt.want)
		}
	}
}
