package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// IsToolCommand reports whether a prompt is a command of the form "/TOOL …" for one of the
// tools. [Direct] answers it, regardless of the session's model.
func IsToolCommand(prompt string, tools []llm.Tool) bool {
	name, _ := SplitCommand(strings.TrimSpace(prompt))
	_, ok := llm.FindTool(tools, name)
	return ok
}

// SplitCommand splits "/NAME rest"; name is empty if the line has another form.
func SplitCommand(line string) (name, rest string) {
	line, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", ""
	}
	name = line
	if i := strings.IndexFunc(line, unicode.IsSpace); i >= 0 {
		name, rest = line[:i], line[i:]
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "", "" // such as a path
	}
	return name, rest
}

// slashCalls parses a prompt that IsToolCommand accepts. Each line that begins with the name
// of a tool begins a call, which extends to the next such line. So a command or a JSON
// object may span several lines.
func slashCalls(prompt string, tools []llm.Tool) []textcalls.Call {
	var calls []textcalls.Call
	var tool llm.Tool
	var rest strings.Builder
	n, begin := 0, 0
	flush := func() {
		if begin > 0 {
			calls = append(calls, slashCall(tool, strings.TrimSpace(rest.String()), begin))
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(prompt, "\r\n", "\n")) {
		n++
		name, after := SplitCommand(strings.TrimLeftFunc(line, unicode.IsSpace))
		if t, ok := llm.FindTool(tools, name); ok {
			flush()
			tool, begin = t, n
			rest.Reset()
			line = after
		}
		rest.WriteString(line)
	}
	flush()
	return calls
}

// Input returns the input of a call that is written as "/TOOL rest": JSON, or the text of
// the tool's only required parameter. The error shows how to write it.
func Input(t llm.Tool, rest string) (json.RawMessage, error) {
	call := slashCall(t, strings.TrimSpace(rest), 0)
	if call.Problem != "" {
		return nil, errors.New(call.Problem)
	}
	return call.Input, nil
}

// slashCall parses the text after "/TOOL" as the input of a call.
func slashCall(t llm.Tool, rest string, line int) textcalls.Call {
	call := textcalls.Call{Line: line, Tool: t.Name}
	params := textcalls.Params(t)
	required, short := textcalls.Required(params), shortParam(params)
	switch {
	case strings.HasPrefix(rest, "{"):
		input, err := textcalls.ParseObject(rest)
		if err != nil {
			call.Problem = fmt.Sprintf("/%s: %v\n%s", t.Name, err, callUsage(t))
			return call
		}
		call.Input = input
	case rest == "" && len(required) == 0:
		call.Input = json.RawMessage("{}")
	case rest != "" && short != "":
		call.Input = llm.ObjectOf(short, rest)
	default:
		call.Problem = missingInput(t, rest) + "\n" + callUsage(t)
	}
	return call
}

// missingInput describes the mistake in a call that is not JSON and has no short form.
func missingInput(t llm.Tool, rest string) string {
	params := textcalls.Params(t)
	var names []string
	for _, p := range textcalls.Required(params) {
		names = append(names, p.Name)
	}
	switch needs := strings.Join(names, " and "); {
	case len(params) == 0:
		return fmt.Sprintf("/%s takes no parameters.", t.Name)
	case needs == "":
		return fmt.Sprintf("/%s takes its parameters as JSON.", t.Name)
	case rest == "" && shortParam(params) != "":
		return fmt.Sprintf("/%s needs %s.", t.Name, needs)
	default:
		return fmt.Sprintf("/%s needs %s: write JSON.", t.Name, needs)
	}
}

// callUsage returns the forms in which a call of the tool can be written, for people.
func callUsage(t llm.Tool) string {
	var b strings.Builder
	params := textcalls.Params(t)
	fmt.Fprintf(&b, "Usage: /%s %s", t.Name, textcalls.ExampleInput(textcalls.Required(params)))
	if short := shortParam(params); short != "" {
		fmt.Fprintf(&b, ", or shorter /%s %s", t.Name, strings.ToUpper(short))
	}
	for _, p := range params {
		note := p.Type
		if !p.Required {
			note += ", optional"
		}
		fmt.Fprintf(&b, "\n  %s (%s)", p.Name, note)
		if p.About != "" {
			fmt.Fprintf(&b, ": %s", line.Join(p.About))
		}
	}
	return b.String()
}

// Hint describes in a few words the text after "/TOOL" in a prompt; it is empty
// for a tool without parameters.
func Hint(t llm.Tool) string {
	params := textcalls.Params(t)
	required, short := textcalls.Required(params), strings.ToUpper(shortParam(params))
	switch {
	case short != "" && len(required) == 0:
		return "[" + short + "]"
	case short != "":
		return short
	case len(required) == 0:
		return ""
	}
	return textcalls.ExampleInput(required)
}

// NeedsNoJSON reports whether a person can call a tool without JSON: it needs nothing, or
// one text that is not an id.
func NeedsNoJSON(t llm.Tool) bool {
	params := textcalls.Params(t)
	short := shortParam(params)
	return len(textcalls.Required(params)) == 0 || short != "" && short != "id"
}

// shortParam returns the parameter that may follow "/TOOL" without JSON, or "": the
// only required one; where no parameter is required, a first one named path, or the
// only string.
func shortParam(params []textcalls.Param) string {
	candidates := textcalls.Required(params)
	switch {
	case len(candidates) == 0 && len(params) > 0 && params[0].Name == "path":
		candidates = params[:1]
	case len(candidates) == 0:
		candidates = slices.DeleteFunc(slices.Clone(params), func(p textcalls.Param) bool { return p.Type != "string" })
	}
	if len(candidates) == 1 && candidates[0].Type == "string" {
		return candidates[0].Name
	}
	return ""
}
