package textcalls

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// offers reports whether a name is an offered tool's.
func (g grammar) offers(name string) bool {
	_, ok := llm.MeantTool(g.tools, name)
	return ok
}

// knows reports whether a name is an offered tool's, or may be called without one.
func (g grammar) knows(name string) bool {
	return g.offers(name) || g.unknown != nil && g.unknown(name)
}

// cutInput returns the input of a call whose arguments cannot be read.
func cutInput(args string) json.RawMessage {
	return json.RawMessage(jsonString(strings.TrimSpace(args)))
}

// readArgs reads the arguments after a name. A nil input means that the text ends within them.
func (g grammar) readArgs(f form, name, args string, ended bool) (input json.RawMessage, rest string, v verdict) {
	trimmed := strings.TrimLeft(args, " \t\r\n")
	if strings.HasPrefix(trimmed, "```") {
		if i := strings.IndexByte(trimmed, '{'); i >= 0 {
			trimmed = trimmed[i:]
		} else if !ended {
			return nil, args, isOpen
		}
	}
	switch {
	case !ended && strings.HasPrefix("```", trimmed):
		return nil, args, isOpen
	case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, `"`):
		body, rest, v := f.cutJSON(trimmed, ended)
		if v != isCall {
			return nil, args, v
		}
		input = g.object(f, body, ended && rest == "")
		if input == nil && !g.cutOff {
			return nil, args, isNone
		}
		return input, rest, isCall
	}
	at, end := firstOf(args, f.close)
	for at >= 0 && f.param.open != "" { // a value may contain the closer
		if input, ok := g.readTags(f, name, args[:at]); ok {
			return input, args[at+len(end):], isCall
		}
		next, e := firstOf(args[at+len(end):], f.close)
		if next < 0 {
			break
		}
		at, end = at+len(end)+next, e
	}
	switch {
	case f.param.open == "" && at >= 0 && strings.TrimSpace(args[:at]) == "":
		return json.RawMessage("{}"), args[at+len(end):], isCall
	case f.param.open == "" && strings.TrimSpace(args) != "":
		return nil, args, isNone
	case !ended:
		return nil, args, isOpen
	}
	if input, ok := g.readTags(f, name, args); ok && f.param.open != "" && strings.Contains(args, f.param.open) && !g.cutOff {
		return input, "", isCall
	}
	if !g.cutOff {
		return nil, args, isNone
	}
	return nil, "", isCall
}

// firstOf returns the first place of any of the texts, and the text there; -1 if there is none.
func firstOf(text string, any []string) (at int, found string) {
	at = -1
	for _, s := range any {
		if i := strings.Index(text, s); i >= 0 && (at < 0 || i < at) {
			at, found = i, s
		}
	}
	return at, found
}

// cutJSON splits a text after the JSON that it begins with, and after a closer that follows it.
func (f form) cutJSON(text string, ended bool) (body, rest string, v verdict) {
	if n := jsonEnd(text); n > 0 {
		rest = text[n:]
		after := strings.TrimLeft(rest, "` \t\r\n")
		for _, c := range f.close {
			if cut, ok := strings.CutPrefix(after, c); ok {
				return text[:n], cut, isCall
			}
			if !ended && (after == "" || strings.HasPrefix(c, after)) {
				return "", text, isOpen // the closer may follow
			}
		}
		if at, c := firstOf(rest, f.close); at >= 0 && strings.Trim(rest[:at], "}]` \t\r\n") == "" {
			return text[:n+at], rest[at+len(c):], isCall
		}
		return text[:n], rest, isCall
	}
	if at, c := firstOf(text, f.close); at >= 0 && (ended || nearObject(text[:at])) {
		return text[:at], text[at+len(c):], isCall
	}
	if ended {
		return text, "", isCall
	}
	return "", text, isOpen
}

func nearObject(text string) bool {
	_, _, err := nearjson.Object(text)
	return err == nil
}

// jsonEnd returns the end of the object or list that a text begins with, or 0 if it has no end.
func jsonEnd(text string) int {
	depth, inside, escaped := 0, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// object returns arguments as an object, a string if they cannot be read, or nil if they were cut off.
func (g grammar) object(f form, body string, last bool) json.RawMessage {
	if strings.Contains(f.open, "call:") {
		body = gemmaStrings.Replace(body)
	}
	open := last && jsonEnd(body[max(0, strings.IndexByte(body, '{')):]) == 0
	object, _, err := nearjson.Object(body)
	switch {
	case open && (g.cutOff || err != nil):
		return nil
	case err == nil && json.Valid([]byte(strings.TrimSpace(body))):
		return object
	}
	return cutInput(body) // the agent corrects it, with a note
}

// gemmaStrings replaces the quotation marks of Gemma.
var gemmaStrings = strings.NewReplacer("<escape>", `"`, `<|"|>`, `"`)

// readTags reads arguments that are written as tags.
func (g grammar) readTags(f form, name, body string) (json.RawMessage, bool) {
	tool, _ := llm.MeantTool(g.tools, name)
	types := map[string]string{}
	for _, p := range Params(tool) {
		types[p.Name] = p.Type
	}
	members := map[string]json.RawMessage{}
	for rest := body; ; {
		at := strings.Index(rest, f.param.open)
		if at < 0 {
			return encodeMembers(members), strings.TrimSpace(strings.Trim(rest, "</>")) == "" || len(members) > 0 || !strings.ContainsAny(rest, "<>")
		}
		rest = rest[at+len(f.param.open):]
		head, value, ok := strings.Cut(rest, f.param.named)
		if !ok {
			return nil, false
		}
		end := strings.Index(value, f.param.end)
		next := strings.Index(value, f.param.open)
		switch {
		case end < 0 && next < 0:
			return nil, false
		case end < 0, next >= 0 && next < end && f.param.open != namedParam.open:
			end, rest = next, value[next:] // the closing tag is missing
		default:
			rest = value[end+len(f.param.end):]
		}
		value = value[:end]
		if f.param == namedParam {
			value = value[:max(0, strings.LastIndex(value, "</"))]
		}
		key, attributes, _ := strings.Cut(strings.TrimSpace(head), `"`)
		key = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(key), "</arg_key>"))
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		if kind := types[key]; (kind != "" && kind != "string" || strings.Contains(attributes, `string="false"`)) && json.Valid([]byte(value)) {
			members[key] = json.RawMessage(value)
		} else {
			members[key] = json.RawMessage(jsonString(value))
		}
	}
}

// encodeMembers returns an object with sorted members.
func encodeMembers(members map[string]json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(members)
	if err != nil {
		panic(err) // its values are valid
	}
	return raw
}

// nameMembers and inputMembers are the members that hold the name and the arguments of a call in JSON;
// otherMembers may stand beside them.
var (
	nameMembers  = []string{"name", "tool_id", "tool_name", "tool", "function", "command", "action"}
	inputMembers = []string{"arguments", "params", "parameters", "input", "args", "action_input"}
	otherMembers = []string{"type", "id", "call_id", "tool_call_id", "index"}
)

// namesTool reports whether markup is certain to be a call: it names a tool.
func (g grammar) namesTool(text string) bool {
	text = skipWrappers(text, false)
	return slices.ContainsFunc(forms, func(f form) bool {
		body, ok := strings.CutPrefix(text, f.open)
		return ok && g.certain(f, body)
	})
}
