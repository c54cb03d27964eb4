package textcalls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

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
		if !found || len(name) > maxName || !g.offers(name) {
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
		return g.offers(strings.TrimSuffix(name, ".call"))
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
