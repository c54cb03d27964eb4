package hooks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// matcher selects tools, or the sources of a SessionStart. The zero value selects all.
type matcher struct {
	text  string
	names []string       // exact names; nil: see pattern
	re    *regexp.Regexp // nil and no names: everything
}

// newMatcher returns the matcher of a text: names separated by "|" or ",", or a regular
// expression. One that cannot be compiled selects everything, since a hook that does not
// run denies nothing.
func newMatcher(event Event, text string) matcher {
	m := matcher{text: text}
	if text == "" || text == "*" || event == UserPromptSubmit || event == Stop {
		return m
	}
	plain := func(r rune) bool {
		return r == '_' || r == '|' || r == ',' || r == '-' || r == ' ' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z'
	}
	if strings.TrimFunc(text, plain) == "" {
		m.names = strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
		return m // without a name it selects everything
	}
	m.re, _ = regexp.Compile(text)
	return m
}

// isAny reports whether the text selects all tools without naming one.
func (m matcher) isAny() bool { return m.text == "" || m.text == "*" }

// fits reports whether one of the names is selected.
func (m matcher) fits(names []string) bool {
	return len(m.names) == 0 && m.re == nil || slices.ContainsFunc(names, func(name string) bool {
		return m.re != nil && m.re.MatchString(name) || slices.Contains(m.names, name)
	})
}

// namesOf returns the names of a tool. The first is the name in the input of a hook.
func namesOf(call *executors.Call) []string {
	if server := call.Spec.Server; server != "" {
		if prefix, tool, ok := strings.Cut(call.Tool, "__"); ok {
			return []string{"mcp__" + prefix + "__" + tool, call.Tool}
		}
	}
	if name := formatName(call.Spec); name != "" {
		return []string{name, call.Tool}
	}
	return []string{call.Tool}
}

// formatName returns the name of a tool in the format of hooks, which is Claude Code's; "" if it
// has none there.
func formatName(tool executors.Tool) string {
	name, _, _ := strings.Cut(tool.Names.Claude, " ")
	return name
}

// takesFilePath reports whether the path of a tool is called file_path in the format of hooks.
func takesFilePath(tool executors.Tool) bool {
	return tool.Subject.Of == executors.PathSubject && slices.Contains([]string{"Read", "Write", "Edit"}, formatName(tool))
}

// hookInput returns the input of a call in the format of hooks. A file tool has an absolute
// path. A web tool has the address that is requested now, which may be a redirect's.
func hookInput(call *executors.Call) map[string]any {
	input, param := map[string]any{}, call.Spec.Subject.Param
	_ = json.Unmarshal(call.Input, &input) // a call with another input does not run
	switch {
	case takesFilePath(call.Spec):
		if path, ok := input[param]; ok {
			if len(call.Card.Paths) == 1 {
				path = call.Card.Paths[0]
			}
			delete(input, param)
			input["file_path"] = path
		}
	case call.Card.URL != "" && input[param] != nil && call.Spec.Subject.Of == executors.URLSubject:
		delete(input, param)
		input["url"] = call.Card.URL
	}
	return input
}

// fromHookInput is the inverse of hookInput, for an input that a hook has changed.
func fromHookInput(tool executors.Tool, input map[string]any) json.RawMessage {
	name := ""
	switch {
	case takesFilePath(tool):
		name = "file_path"
	case tool.Subject.Of == executors.URLSubject:
		name = "url"
	}
	if value, ok := input[name]; ok {
		delete(input, name)
		input[tool.Subject.Param] = value
	}
	data, _ := json.Marshal(input) // it was JSON
	return data
}

// modeOf returns a mode of the session in the format of hooks.
func modeOf(mode string) string {
	switch mode {
	case "code":
		return "default"
	case "auto":
		return "acceptEdits"
	}
	return "plan"
}
