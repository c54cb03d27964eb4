package textcalls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// written is a call that a model wrote as text.
type written struct {
	name  string
	input json.RawMessage // an object, or a string if it cannot be read
	cut   bool            // the text ends within the call
	bare  bool            // it has no arguments
	note  string          // for its result
}

func (w written) isBare() bool { return w.bare }

// verdict says whether a text is a call.
type verdict int

const (
	isNone verdict = iota // it is none
	isOpen                // it may become one
	isCall                // it is one
)

// readMarkup reads the calls at the beginning of a text, which begins with an opener or a wrapper. With
// isCall, rest is the text after them. With isOpen, until is what the text must have before it is worth reading
// again; nil means that any text may decide. ended means that no more text follows.
func (g grammar) readMarkup(text string, ended bool) (calls []written, rest string, until []string, v verdict) {
	rest = text
	for {
		at := skipWrappers(rest, len(calls) > 0)
		if at == "" {
			break
		}
		call, after, gate, v := g.readForms(at, ended)
		switch {
		case v == isOpen:
			return nil, text, gate, isOpen
		case v == isNone && len(calls) == 0:
			if !ended && isTokenPrefix(at) {
				return nil, text, nil, isOpen
			}
			return nil, text, nil, isNone
		case v == isNone:
			return calls, rest, nil, isCall
		}
		calls, rest = append(calls, call...), after
	}
	if len(calls) > 0 {
		return calls, "", nil, isCall
	}
	if ended {
		return nil, text, nil, isNone
	}
	return nil, text, nil, isOpen
}

// isTokenPrefix reports whether a text is the beginning of an opener or a wrapper, or a wrapper alone.
func isTokenPrefix(text string) bool {
	for _, w := range wrappers {
		if rest, ok := strings.CutPrefix(text, w); ok && strings.TrimSpace(rest) == "" {
			return true
		}
	}
	return slices.ContainsFunc(forms, func(f form) bool { return len(text) < len(f.open) && strings.HasPrefix(f.open, text) }) ||
		slices.ContainsFunc(wrappers, func(w string) bool { return len(text) < len(w) && strings.HasPrefix(w, text) })
}

// skipWrappers skips white space, wrappers that are not openers themselves, and after a call also their ends.
func skipWrappers(text string, after bool) string {
	for {
		before := len(text)
		text = strings.TrimLeft(text, " \t\r\n")
		for _, w := range wrappers {
			rest, ok := strings.CutPrefix(text, w)
			if ok && isWrapping(rest) {
				text = rest
			}
			if after {
				text = strings.TrimPrefix(text, "</"+w[1:])
			}
		}
		for _, s := range []string{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"} {
			text = strings.TrimPrefix(text, s)
		}
		if len(text) == before {
			return text
		}
	}
}

// isWrapping reports whether the text after a wrapper begins with another tag, or with nothing yet.
func isWrapping(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "</")
}

// readForms reads one form at the beginning of a text: one call, or several in one list of JSON.
func (g grammar) readForms(text string, ended bool) (calls []written, rest string, until []string, v verdict) {
	for _, f := range forms {
		body, ok := strings.CutPrefix(text, f.open)
		if !ok {
			continue
		}
		calls, rest, got := g.read(f, body, ended)
		switch {
		case got == isCall:
			return calls, rest, nil, isCall
		case got == isOpen:
			v = isOpen
			if until = nil; g.certain(f, body) {
				until = f.gate()
			}
			return nil, text, until, isOpen
		}
	}
	return nil, text, nil, v
}

// gate returns what may complete a call of the form.
func (f form) gate() []string {
	if len(f.close) > 0 {
		return f.close
	}
	return []string{"}\n", "]\n", ")\n"}
}

// certain reports whether the text after an opener names a tool.
func (g grammar) certain(f form, body string) bool {
	if f.name == nil {
		return callPrefix(g, body) == isCall
	}
	_, _, ok := f.cutName(body)
	return ok
}

// cutName splits the text after an opener at the end of the name.
func (f form) cutName(body string) (name, rest string, ok bool) {
	at := -1
	var end string
	for _, e := range f.name {
		if i := strings.Index(body, e); i >= 0 && (at < 0 || i < at) {
			at, end = i, e
		}
	}
	if at < 0 {
		return "", body, false
	}
	name, rest = strings.TrimSpace(body[:at]), body[at+len(end):]
	switch {
	case end == "{", strings.HasPrefix(end, "<arg_key"), slices.Contains(f.close, end), end == "```", end == "[CALL_ID]":
		rest = body[at:] // it belongs to the arguments
	}
	if i := strings.IndexAny(name, " <["); i > 0 { // harmony's content type
		name = name[:i]
	}
	return name, rest, name != ""
}

// maxName bounds what is read as a name, in bytes.
const maxName = 160

// read reads the text after an opener.
func (g grammar) read(f form, body string, ended bool) (calls []written, rest string, v verdict) {
	if f.name == nil {
		return g.readList(f, body, ended)
	}
	name, args, ok := f.cutName(body)
	if !ok {
		head := strings.TrimSpace(body)
		if ended && g.cutOff && g.knows(head) {
			return []written{{name: head, input: cutInput(body), cut: true}}, "", isCall
		}
		if ended || len(head) > maxName || strings.ContainsAny(head, "\n{") || strings.Contains(head, "  ") {
			return nil, body, isNone
		}
		return nil, body, isOpen
	}
	if !g.knows(name) {
		return nil, body, isNone
	}
	if id, after, found := strings.Cut(args, "[ARGS]"); strings.HasPrefix(args, "[CALL_ID]") && (found || !ended) {
		if !found {
			return nil, body, isOpen
		}
		_, args = id, after
	}
	input, rest, v := g.readArgs(f, name, args, ended)
	if v != isCall {
		return nil, body, v
	}
	call := written{name: name, input: input}
	if input == nil {
		call.input, call.cut = cutInput(args), true
	}
	return []written{call}, rest, isCall
}

// knows reports whether a name is an offered tool's.
func (g grammar) knows(name string) bool {
	_, ok := llm.MeantTool(g.tools, name)
	return ok
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
	if !g.knows(name) || !g.cutOff && jsonEnd(text) == 0 && rest == "" {
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
	var input json.RawMessage
	for name, value := range members {
		switch {
		case slices.Contains(nameMembers, name) && (call.name == "" || name == "name"):
			if json.Unmarshal(value, &call.name) != nil {
				return call, false
			}
		case slices.Contains(inputMembers, name) && input == nil:
			input = value
		case !slices.Contains(otherMembers, name):
			return call, false
		}
	}
	if _, known := find(g.tools, call.name); !known {
		return call, false
	}
	call.bare = input == nil
	call.input, ok = inputOf(input)
	return call, ok
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
		case !name && g.knows(key) && value[0] == '{':
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

// cutString splits a text after the string that it begins with; whole is false if that has no end.
func cutString(text string) (value, rest string, whole bool) {
	if text == "" {
		return "", "", false
	}
	i := strings.IndexByte(text[1:], text[0])
	if i < 0 || !strings.ContainsRune("\"'", rune(text[0])) {
		return "", text, false
	}
	return text[1 : 1+i], text[i+2:], true
}

// readPython reads calls as in Python: name(key=value, …), alone or in a list or a print.
func (g grammar) readPython(text string) (calls []written, rest string, ok bool) {
	rest = strings.TrimLeft(text, " \t\r\n")
	inner, list := strings.CutPrefix(rest, "[")
	if !list {
		inner = rest
	}
	for {
		inner = strings.TrimLeft(inner, ", \t\r\n")
		printed, isPrint := strings.CutPrefix(inner, "print(")
		if isPrint {
			inner = printed
		}
		name, args, found := strings.Cut(inner, "(")
		name = strings.TrimSuffix(strings.TrimSpace(name), ".call")
		if !found || len(name) > maxName || !g.knows(name) {
			break
		}
		input, after, whole := pythonArgs(args)
		if !whole {
			return nil, text, false
		}
		if inner = after; isPrint {
			inner = strings.TrimPrefix(inner, ")")
		}
		calls = append(calls, written{name: name, input: input})
		if !list {
			break
		}
	}
	if list {
		inner, list = strings.CutPrefix(strings.TrimLeft(inner, " \t\r\n"), "]")
		return calls, inner, list && len(calls) > 0
	}
	return calls, inner, len(calls) > 0
}

// mayBePython reports whether a text may become what readPython reads.
func mayBePython(g grammar, text string) bool {
	text = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(text, " \t\r\n"), "["), " \t\r\n")
	if strings.HasPrefix("print(", text) {
		return true
	}
	text = strings.TrimPrefix(text, "print(")
	name, _, found := strings.Cut(text, "(")
	if found {
		return g.knows(strings.TrimSuffix(name, ".call"))
	}
	return slices.ContainsFunc(g.tools, func(t llm.Tool) bool {
		return strings.HasPrefix(t.Name+".call", name) || strings.HasPrefix("default_api."+t.Name, name) || strings.HasPrefix("functions."+t.Name, name)
	})
}

// pythonArgs reads arguments up to the closing parenthesis as JSON. Only keyword arguments are read.
func pythonArgs(text string) (input json.RawMessage, rest string, ok bool) {
	object := "{"
	for {
		text = strings.TrimLeft(text, ", \t\r\n")
		if after, end := strings.CutPrefix(text, ")"); end {
			raw, _, err := nearjson.Object(object + "}")
			return raw, after, err == nil
		}
		key, value, found := strings.Cut(text, "=")
		if key = strings.TrimSpace(key); !found || key == "" || strings.ContainsAny(key, " \"'()[]{},\n") {
			return nil, text, false
		}
		n := pythonValueEnd(value)
		if n == 0 {
			return nil, text, false
		}
		object += fmt.Sprintf("%s: %s,", jsonString(key), strings.TrimSpace(value[:n]))
		text = value[n:]
	}
}

// pythonValueEnd returns where a value ends: before a comma or a parenthesis at its own level; 0 if it has no end.
func pythonValueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{', '(':
			depth++
		case ']', '}', ')', ',':
			if depth == 0 {
				return i
			}
			if c != ',' {
				depth--
			}
		}
	}
	return 0
}
