package textcalls

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// readList reads the calls in JSON after an opener: an object, or a list of them; or a call as in Python.
func (g grammar) readList(f form, body string, ended bool) (calls []written, rest string, v verdict) {
	trimmed := strings.TrimLeft(body, " \t\r\n")
	switch callPrefix(g, trimmed) {
	case isNone:
		if calls, rest, ok := g.readPython(trimmed); ok {
			for _, c := range f.close {
				rest = strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), c)
			}
			return calls, rest, isCall
		}
		if !ended && mayBePython(g, trimmed) {
			return nil, body, isOpen
		}
		return nil, body, isNone
	case isOpen:
		if !ended {
			return nil, body, isOpen
		}
		return nil, body, isNone
	}
	text, rest, v := f.cutJSON(trimmed, ended)
	if v != isCall {
		return nil, body, v
	}
	if calls, ok := g.parseCalls(text, llm.MeantTool); ok {
		for { // further objects, as some models write them
			next := strings.TrimLeft(rest, ";, \t\r\n")
			n := 0
			if strings.HasPrefix(next, "{") {
				n = jsonEnd(next)
			}
			more, ok := g.parseCalls(next[:n], llm.MeantTool)
			if next == "" {
				rest = ""
			}
			if n == 0 && !ended && strings.HasPrefix(next, "{") && callPrefix(g, next) != isNone {
				return nil, body, isOpen
			}
			if n == 0 || !ok {
				return calls, rest, isCall
			}
			calls, rest = append(calls, more...), next[n:]
			for _, c := range f.close {
				rest = strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), c)
			}
		}
	}
	name := toolNameIn(text)
	if !g.offers(name) || !g.cutOff && jsonEnd(text) == 0 && rest == "" {
		return nil, body, isNone
	}
	return []written{{name: name, input: cutInput(text), cut: ended && rest == "" && jsonEnd(text) == 0}}, rest, isCall
}

// parseCalls parses a JSON text with calls of offered tools and nothing else. find looks a tool up.
func (g grammar) parseCalls(text string, find func([]llm.Tool, string) (llm.Tool, bool)) (calls []written, ok bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		var list []json.RawMessage
		if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
			return nil, false
		}
		for _, raw := range list {
			one, ok := g.parseCall(string(raw), find)
			if !ok {
				return nil, false
			}
			calls = append(calls, one)
		}
		return calls, true
	}
	one, ok := g.parseCall(text, find)
	return []written{one}, ok
}

// parseCall parses one call as a JSON object: with the members of a call and no others, or with the tool's name as
// its only member.
func (g grammar) parseCall(text string, find func([]llm.Tool, string) (llm.Tool, bool)) (call written, ok bool) {
	object, mistakes, err := nearjson.Object(text)
	var members map[string]json.RawMessage
	if len(mistakes) > 0 {
		call.note = "[the call was corrected to valid JSON: it had " + strings.Join(mistakes, ", ") + "]"
	}
	if err != nil || json.Unmarshal(object, &members) != nil {
		return call, false
	}
	for name, value := range members {
		if _, known := find(g.tools, name); known && len(members) == 1 && llm.IsObject(value) && !slices.Contains(nameMembers, name) {
			return written{name: name, input: value}, true
		}
		if name == "function" && llm.IsObject(value) {
			return g.parseCall(string(value), find)
		}
	}
	at := slices.IndexFunc(nameMembers, func(name string) bool { return members[name] != nil })
	if at < 0 || json.Unmarshal(members[nameMembers[at]], &call.name) != nil {
		return call, false
	}
	tool, known := find(g.tools, call.name)
	if !known && !g.knows(call.name) {
		return call, false
	}
	var input json.RawMessage
	others := maps.Clone(members) // besides the name
	delete(others, nameMembers[at])
	foreign := false
	for name, value := range others {
		switch {
		case slices.Contains(inputMembers, name) && input == nil:
			input = value
		case !slices.Contains(otherMembers, name):
			foreign = true
		}
	}
	if !known { // nothing but its form shows that it is a call
		call.input = input
		return call, !foreign && llm.IsObject(input) && !isSchema(input) && slices.Contains(callNames, nameMembers[at])
	}
	if (input == nil || foreign) && areParams(tool, others, nameMembers[at]) {
		call.input = encodeMembers(others)
		return call, true
	}
	call.bare = input == nil
	call.input, ok = inputOf(input)
	return call, ok && !foreign
}

// callNames are the members that hold the name of a tool, and hardly anything else where arguments follow.
var callNames = []string{"name", "tool_id", "tool_name", "tool"}

// isSchema reports whether parameters are the definition of a tool's, in JSON Schema.
func isSchema(input json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(input, &members) == nil && (members["properties"] != nil || members["$schema"] != nil)
}

// areParams reports whether members beside the name of a tool are its parameters, which some models write there
// instead of in an object of their own.
func areParams(tool llm.Tool, members map[string]json.RawMessage, nameMember string) bool {
	params := Params(tool)
	isParam := func(name string) bool {
		return slices.ContainsFunc(params, func(p Param) bool { return p.Name == name })
	}
	for name := range members {
		if !isParam(name) {
			return false
		}
	}
	return len(members) > 0 && !isParam(nameMember)
}

// inputOf returns the input in the JSON of a call.
func inputOf(raw json.RawMessage) (json.RawMessage, bool) {
	var text string
	switch {
	case raw == nil || string(raw) == "null":
		return json.RawMessage("{}"), true
	case llm.IsObject(raw):
		return raw, true
	case json.Unmarshal(raw, &text) != nil:
		return nil, false
	case json.Valid([]byte(text)) && llm.IsObject([]byte(text)):
		return json.RawMessage(text), true
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}"), true
	}
	return cutInput(text), true
}

// callPrefix reports whether a text begins a call in JSON. isCall means that its members are a call's as far as
// they are there, and the name, if it is there, is an offered tool's.
func callPrefix(g grammar, text string) verdict {
	text = strings.TrimLeft(text, " \t\r\n")
	if list, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimLeft(list, " \t\r\n")
	}
	if text == "" {
		return isOpen
	}
	rest, ok := strings.CutPrefix(text, "{")
	rest = strings.TrimPrefix(rest, "{") // doubled
	for ok {
		rest = strings.TrimLeft(rest, ", \t\r\n")
		if rest == "" {
			return isOpen
		}
		key, after, whole := cutString(rest)
		switch {
		case !strings.ContainsRune("\"'", rune(rest[0])):
			return isNone
		case !whole:
			if slices.ContainsFunc(slices.Concat(nameMembers, inputMembers, otherMembers), func(m string) bool { return strings.HasPrefix(m, rest[1:]) }) ||
				slices.ContainsFunc(g.tools, func(t llm.Tool) bool { return strings.HasPrefix(t.Name, rest[1:]) }) {
				return isOpen
			}
			return isNone
		case slices.Contains(inputMembers, key):
			return isCall
		}
		value := strings.TrimLeft(after, ": \t\r\n")
		switch name := slices.Contains(nameMembers, key); {
		case value == "":
			return isOpen
		case name && value[0] == '{' && key == "function":
			rest = value[1:]
			continue
		case !name && g.offers(key) && value[0] == '{':
			return isCall
		case !name && !slices.Contains(otherMembers, key):
			return isNone
		case name && !strings.ContainsRune("\"'", rune(value[0])):
			return isNone
		}
		text, after, whole := cutString(value)
		switch {
		case !whole && strings.ContainsRune("\"'", rune(value[0])):
			return isOpen
		case slices.Contains(nameMembers, key):
			if g.knows(text) {
				return isCall
			}
			return isNone
		case !whole: // a number
			i := strings.IndexAny(value, ",}")
			if i < 0 {
				return isOpen
			}
			after = value[i:]
		}
		rest = after
	}
	return isNone
}
