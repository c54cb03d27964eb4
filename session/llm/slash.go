package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Spells reports whether a prompt is a command of the user, "/TOOL …" of one of
// the tools, which [Direct] answers whatever model the session has.
func Spells(prompt string, tools []Tool) bool {
	name, _ := Slash(strings.TrimSpace(prompt))
	_, ok := find(tools, name)
	return ok
}

// Slash splits "/NAME rest"; name is empty if line is not of that form.
func Slash(line string) (name, rest string) {
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

func find(tools []Tool, name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// slashCalls reads a prompt that Spells accepts. Each line that begins with the
// name of a tool begins a call; what follows up to the next such line belongs to
// it, so that a command or a JSON object may take several lines.
func slashCalls(prompt string, tools []Tool) []TextCall {
	var calls []TextCall
	var tool Tool
	var rest strings.Builder
	n, begin := 0, 0
	flush := func() {
		if begin > 0 {
			calls = append(calls, slashCall(tool, strings.TrimSpace(rest.String()), begin))
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(prompt, "\r\n", "\n")) {
		n++
		name, after := Slash(strings.TrimLeftFunc(line, unicode.IsSpace))
		if t, ok := find(tools, name); ok {
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

func slashCall(t Tool, rest string, line int) TextCall {
	call := TextCall{Line: line, Tool: t.Name}
	s := schemaOf(t)
	required, short := s.required(), s.short()
	switch {
	case strings.HasPrefix(rest, "{"):
		input, err := jsonObject(rest)
		if err != nil {
			call.Problem = fmt.Sprintf("/%s: %v\n%s", t.Name, err, s.usage(t))
			return call
		}
		call.Input = input
	case rest == "" && len(required) == 0:
		call.Input = json.RawMessage("{}")
	case rest != "" && short != "":
		call.Input = object(short, rest)
	default:
		call.Problem = s.lacks(t, rest) + "\n" + s.usage(t)
	}
	return call
}

// lacks tells what is wrong with a call that is no JSON and cannot be short.
func (s schema) lacks(t Tool, rest string) string {
	var names []string
	for _, p := range s.required() {
		names = append(names, p.name)
	}
	switch needs := strings.Join(names, " and "); {
	case len(s.params) == 0:
		return fmt.Sprintf("/%s takes no parameters.", t.Name)
	case needs == "":
		return fmt.Sprintf("/%s takes its parameters as JSON.", t.Name)
	case rest == "" && s.short() != "":
		return fmt.Sprintf("/%s needs %s.", t.Name, needs)
	default:
		return fmt.Sprintf("/%s needs %s: write JSON.", t.Name, needs)
	}
}

// schema is what usage needs of a tool's JSON Schema.
type schema struct {
	params []toolParam // required ones first, in the order in which the schema names them
}

type toolParam struct {
	name, kind, about string
	required          bool
}

// schemaOf reads what it can; a schema that is no object of properties has none.
func schemaOf(t Tool) schema {
	var in struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(t.Schema, &in) != nil {
		return schema{}
	}
	var s schema
	dec := json.NewDecoder(strings.NewReader(string(in.Properties)))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return schema{}
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var p struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		_ = json.Unmarshal(raw, &p) // "true" is a legal schema that says nothing
		kind, ok := p.Type.(string)
		if !ok {
			kind = "any"
		}
		s.params = append(s.params, toolParam{name.(string), kind, p.Description, slices.Contains(in.Required, name.(string))})
	}
	place := func(p toolParam) int {
		if i := slices.Index(in.Required, p.name); i >= 0 {
			return i
		}
		return len(in.Required)
	}
	slices.SortStableFunc(s.params, func(a, b toolParam) int { return place(a) - place(b) })
	return s
}

// usage tells how to spell a call of the tool, for people.
func (s schema) usage(t Tool) string {
	var b strings.Builder
	required := s.required()
	fmt.Fprintf(&b, "Usage: /%s %s", t.Name, spelled(required))
	if short := s.short(); short != "" {
		fmt.Fprintf(&b, ", or shorter /%s %s", t.Name, strings.ToUpper(short))
	}
	for _, p := range s.params {
		note := p.kind
		if !p.required {
			note += ", optional"
		}
		fmt.Fprintf(&b, "\n  %s (%s)", p.name, note)
		if p.about != "" {
			fmt.Fprintf(&b, ": %s", strings.Join(strings.Fields(p.about), " "))
		}
	}
	return b.String()
}

// Hint tells in a few words what follows "/TOOL" in a prompt; empty for a tool
// that needs nothing.
func Hint(t Tool) string {
	s := schemaOf(t)
	required, short := s.required(), strings.ToUpper(s.short())
	switch {
	case short != "" && len(required) == 0:
		return "[" + short + "]"
	case short != "":
		return short
	case len(required) == 0:
		return ""
	}
	return spelled(required)
}

// short is the parameter that stands for itself after "/TOOL", without JSON,
// empty if there is none: the only required one, or where none is required the
// only string, or a path that comes first.
func (s schema) short() string {
	among := s.required()
	switch {
	case len(among) == 0 && len(s.params) > 0 && s.params[0].name == "path":
		among = s.params[:1]
	case len(among) == 0:
		among = slices.DeleteFunc(slices.Clone(s.params), func(p toolParam) bool { return p.kind != "string" })
	}
	if len(among) == 1 && among[0].kind == "string" {
		return among[0].name
	}
	return ""
}

// required are the parameters that a call must have.
func (s schema) required() []toolParam {
	return slices.DeleteFunc(slices.Clone(s.params), func(p toolParam) bool { return !p.required })
}

// spelled is a JSON object with those parameters.
func spelled(params []toolParam) string {
	var members []string
	for _, p := range params {
		members = append(members, fmt.Sprintf("%q: %s", p.name, example(p.kind)))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// example is a value of a JSON Schema type, as usage shows it.
func example(kind string) string {
	switch kind {
	case "string":
		return `"…"`
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[…]"
	case "object":
		return "{…}"
	}
	return "…"
}
