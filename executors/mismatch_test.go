package executors

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// schemaOnly is a tool that has only a schema.
type schemaOnly string

func (s schemaOnly) Tools() []Tool                                { return []Tool{{Name: "edit", Schema: json.RawMessage(s)}} }
func (schemaOnly) Prepare(context.Context, *Call) (Card, error)   { return Card{}, nil }
func (schemaOnly) Execute(context.Context, *Call) (Result, error) { return Result{}, nil }

func TestMismatch(t *testing.T) {
	const schema = `{"type":"object","additionalProperties":false,"required":["path","old_string","new_string"],"properties":{
		"path":{"type":"string","minLength":1},"old_string":{"type":"string"},"new_string":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":9},
		"any":{"type":["string","null"]},"choice":{"anyOf":[{"type":"string"},{"type":"boolean"}]},
		"entries":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"object","additionalProperties":false,"required":["content"],
			"properties":{"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}}}},
		"free":{"type":"object","additionalProperties":{"type":"string"}}}}`
	const good = `"path":"a","old_string":"","new_string":""`
	for input, want := range map[string]struct {
		category Category
		text     string
	}{
		`{` + good + `}`: {"", ""},
		`{` + good + `,"limit":2.0,"any":null,"choice":true,"free":{"x":"y"},"entries":[{"content":"x","status":"pending"}]}`: {"", ""},
		`{"path":"a"}`: {InvalidParameters, "old_string and new_string are missing"},
		`{}`:           {InvalidParameters, "path, old_string and new_string are missing"},
		`{"pth":"a","old_string":"","new_string":""}`: {InvalidParameters, `there is no parameter "pth" (did you mean "path"?)`},
		`{"path":"a","oldStrin":"","new_string":""}`: {InvalidParameters,
			`there is no parameter "oldStrin" (did you mean "old_string"?)`},
		`{"path":"a","new_string":"","whatever":1}`:      {InvalidParameters, `there is no parameter "whatever"; old_string is missing`},
		`{"path":7,"old_string":"","new_string":""}`:     {TypeMismatch, "path must be a string, got 7"},
		`{"path":"","old_string":"","new_string":""}`:    {InvalidParameters, "path must have at least 1 character, got 0"},
		`{` + good + `,"limit":1.5}`:                     {TypeMismatch, "limit must be an integer, got 1.5"},
		`{` + good + `,"limit":0}`:                       {InvalidParameters, "limit must be at least 1, got 0"},
		`{` + good + `,"limit":10}`:                      {InvalidParameters, "limit must be at most 9, got 10"},
		`{` + good + `,"any":1}`:                         {TypeMismatch, "any must be a string or null, got 1"},
		`{` + good + `,"entries":{}}`:                    {TypeMismatch, "entries must be an array, got {}"},
		`{` + good + `,"entries":[]}`:                    {InvalidParameters, "entries must have at least 1 item, got 0"},
		`{` + good + `,"entries":[{"content":"a"},"x"]}`: {TypeMismatch, `entries[1] must be an object, got "x"`},
		`{` + good + `,"entries":[{"content":"a"},{}]}`:  {InvalidParameters, "entries[1].content is missing"},
		`{` + good + `,"entries":[{"content":1}]}`:       {TypeMismatch, "entries[0].content must be a string, got 1"},
		`{` + good + `,"entries":[{"conten":"a"}]}`: {InvalidParameters,
			`in entries[0] there is no parameter "conten" (did you mean "content"?)`},
		`{` + good + `,"whatever":1,"limit":0}`: {InvalidParameters, "edit: limit must be at least 1, got 0"},
		`{` + good + `,"entries":[{"content":"a"},{"content":"b","status":"<x>"}]}`: {InvalidParameters,
			`entries[1].status must be one of pending, in_progress, completed, got "<x>"`},
		// Faults without a message of their own are reported too.
		`{` + good + `,"choice":1}`:                                   {InvalidParameters, "choice: anyOf: did not validate"},
		`{` + good + `,"free":{"x":1}}`:                               {InvalidParameters, "free"},
		`{` + good + `,"any":{"` + strings.Repeat("x", 200) + `":1}}`: {TypeMismatch, "…"},
	} {
		t.Run(input, func(t *testing.T) {
			_, err := Chain(schemaOnly(schema), Validate).Prepare(t.Context(), &Call{Tool: "edit", Input: json.RawMessage(input)})
			f, ok := errors.AsType[*Failure](err)
			if want.text == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !ok || f.Category != want.category || !strings.HasPrefix(f.Message, "edit: ") || !strings.Contains(f.Message, want.text) {
				t.Errorf("got %v, want %s %q", err, want.category, want.text)
			}
		})
	}
}

// TestCostlyInput checks that an input is refused at once if its check would take years.
func TestCostlyInput(t *testing.T) {
	const schema = `{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}},"required":["b"]}]}`
	deep := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"a":`, n) + "{}" + strings.Repeat("}", n))
	}
	chain := Chain(schemaOnly(schema), Validate)
	if _, err := chain.Prepare(t.Context(), &Call{Tool: "edit", Input: deep(4)}); err != nil {
		t.Error(err)
	}
	_, err := chain.Prepare(t.Context(), &Call{Tool: "edit", Input: deep(60)})
	if err == nil || !strings.Contains(err.Error(), "edit: the input has too many parts for the alternatives of its schema") {
		t.Error(err)
	}
	_, err = Chain(schemaOnly(`{"$ref":"#"}`), Validate).Prepare(t.Context(), &Call{Tool: "edit", Input: deep(1)})
	if err == nil || !strings.Contains(err.Error(), "edit: the tool's schema is broken: it refers to itself") {
		t.Error(err)
	}
}

func TestClosest(t *testing.T) {
	var tools []Tool
	for _, n := range []string{"bash", "read", "edit", "write", "find_path", "list_directory", "create_directory", "web_scrape", "fetch", "read_overflow"} {
		tools = append(tools, Tool{Name: n})
	}
	for wrong, want := range map[string]string{
		"reed":                         "read",
		"Read":                         "read,read_overflow",
		"read_file":                    "read,read_overflow",
		"ReadFile":                     "read,read_overflow",
		"list_dir":                     "list_directory,create_directory",
		"execute_bash":                 "bash",
		"webScrape":                    "web_scrape",
		"functions.edit":               "edit",
		"ünknown":                      "",
		"x":                            "",
		"":                             "",
		strings.Repeat("read_", 1<<20): "read,read_overflow",
	} {
		if got := strings.Join(Closest(tools, wrong), ","); got != want {
			t.Errorf("%.20q: %s, want %s", wrong, got, want)
		}
	}
}
