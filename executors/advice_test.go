package executors

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestAdvise(t *testing.T) {
	const bash = "Run a script.\n- Prefer read, grep, find_path, edit: they see unsaved changes.\n- Time is limited."
	for name, tt := range map[string]struct {
		text, want string
		absent     []string
	}{
		"all offered":         {bash, bash, nil},
		"one absent":          {bash, "Run a script.\n- Prefer read, find_path, edit: they see unsaved changes.\n- Time is limited.", []string{"grep"}},
		"all absent":          {bash, "Run a script.\n- Time is limited.", []string{"read", "grep", "find_path", "edit"}},
		"the last of a list":  {"Look. Use read, grep and edit rather than x. Go.", "Look. Use read and grep rather than x. Go.", []string{"edit"}},
		"one left":            {"Use read and edit.", "Use read.", []string{"edit"}},
		"a sentence":          {"Write it. Prefer edit.", "Write it.", []string{"edit"}},
		"the only sentence":   {"Use fetch instead.", "", []string{"fetch"}},
		"two recommendations": {"Page through it with read, or process it with bash.", "", []string{"bash"}},
		"a verb":              {"- Look first: read the code. Use edit for it.", "- Look first: read the code. Use edit for it.", []string{"read"}},
		"a part of a name":    {"Use read_overflow for the rest.", "Use read_overflow for the rest.", []string{"read"}},
	} {
		var known, offered []Tool
		for _, name := range []string{"bash", "edit", "fetch", "find_path", "grep", "list_directory", "read", "write"} {
			known = append(known, Tool{Name: name, Traits: Recommended})
			if !slices.Contains(tt.absent, name) {
				offered = append(offered, known[len(known)-1])
			}
		}
		if got := NewAdvice(known, offered).Edit(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// An editor that shares no buffers has no unsaved text for the tools.
func TestAdviseSavedOnly(t *testing.T) {
	for text, want := range map[string]string{
		"Read a text file, unsaved changes included. offset: lines to skip.": "Read a text file. offset: lines to skip.",
		"- Prefer read, edit: they see unsaved changes.\n- Time is limited.": "- Prefer read, edit.\n- Time is limited.",
		"Use read rather than commands: they see the editor's unsaved text.": "Use read rather than commands.",
		"Text that is unsaved stays.":                                        "Text that is unsaved stays.",
	} {
		if got := (Advice{SavedOnly: true}).Edit(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := (Advice{}).Edit(text); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
}

// A failed call with the id of another tool says which tool that is.
func TestMisplacedID(t *testing.T) {
	fails := func(category Category) func(context.Context, *Call, *struct{}) (Result, error) {
		return func(context.Context, *Call, *struct{}) (Result, error) {
			return Failuref(category, "no").Hint("Look.").Result(), nil
		}
	}
	e := AdviseOffered(func() []Tool { return nil }, false)(Registry{
		Bind(Tool{Name: "bash_output", IDs: `bg\d+`}, nil, fails(InvalidParameters)),
		Bind(Tool{Name: "bash_stop", IDs: `bg\d+`}, nil, fails(InvalidParameters)),
		Bind(Tool{Name: "read_overflow", IDs: `overflow:\w+`}, nil, fails(PermanentFailure)),
		Bind(Tool{Name: "read"}, nil, fails(PermanentFailure)),
		Bind(Tool{Name: "denied"}, nil, fails(PolicyBlocked)),
	})
	for call, want := range map[string]string{
		`bash_output {"id":"overflow:1a"}`:  "overflow:1a belongs to read_overflow, not to bash_output.",
		`read_overflow {"id":"bg1"}`:        "bg1 belongs to bash_output, not to read_overflow.",
		`read {"path":"overflow:1a"}`:       "overflow:1a belongs to read_overflow, not to read.",
		`read {"task_id":"bg2"}`:            "bg2 belongs to bash_output, not to read.",
		`bash_stop {"id":"bg1"}`:            "Look.",
		`read {"pattern":"bg1"}`:            "Look.",
		`read {"path":"bg1.txt"}`:           "Look.",
		`read {"id":7}`:                     "Look.",
		`denied {"id":"bg1"}`:               "Look.",
		`bash_output {"id":"another_id"}`:   "Look.",
		`bash_output {"path":"","id":"bg"}`: "Look.",
	} {
		name, input, _ := strings.Cut(call, " ")
		res, err := e.Execute(t.Context(), &Call{Tool: name, Input: []byte(input)})
		if err != nil || res.Failure.Suggestion != want {
			t.Errorf("%s: got %+v, %v; want %q", call, res.Failure, err, want)
		}
	}
}

func TestAdviseOffered(t *testing.T) {
	r := Registry{
		Bind(Tool{Name: "write", Description: "Write it. Prefer edit."}, nil, func(context.Context, *Call, *struct{}) (Result, error) {
			return Failuref(PermanentFailure, "no").Hint("Use edit.").Result(), nil
		}),
		Bind(Tool{Name: "foreign", Description: "Prefer edit.", Server: "s"}, nil, func(context.Context, *Call, *struct{}) (Result, error) { return Result{}, nil }),
	}
	e := AdviseOffered(func() []Tool { return []Tool{{Name: "edit", Traits: Recommended}} }, false)(r)
	if tools := e.Tools(); tools[0].Description != "Write it." || tools[1].Description != "Prefer edit." {
		t.Errorf("%+v", tools)
	}
	res, err := e.Execute(t.Context(), &Call{Tool: "write", Input: []byte(`{}`)})
	if err != nil || res.Failure.Suggestion == "Use edit." || res.Failure.Suggestion == "" {
		t.Errorf("%v, %+v", err, res.Failure)
	}
}
