package textcalls

import (
	"encoding/json"
	"slices"
	"strings"
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
