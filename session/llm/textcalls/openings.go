package textcalls

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// takesMarkup reports whether an opener may begin a call. Plain tags that people write too count in a line only
// for a model that has native calls, since its calls are text if other text follows.
func (a *answerReader) takesMarkup(t token, lineStart bool) bool {
	if len(a.tools) == 0 || a.explains {
		return false
	}
	return lineStart || a.native || !strings.HasPrefix(t.text, "<") || strings.ContainsAny(t.text, "|｜‖")
}

// takesJSON reports whether JSON may be a call. begun tells that there was text before it.
func (a *answerReader) takesJSON(begun bool) bool {
	return len(a.tools) > 0 && !a.showCode && !a.explains && (!begun || a.hasCalls())
}

// takesBlock reports whether the content of a block decides whether it is a call.
func (a *answerReader) takesBlock(lang string, first bool) bool {
	switch {
	case len(a.tools) == 0, a.explains:
		return false
	case a.native:
		return first && !a.showCode || lang == toolCallTag || lang == pythonTag
	}
	return lang == "json" || lang == pythonTag
}

// pythonTag is the language of the blocks in which Gemma calls tools as in Python.
const pythonTag = "tool_code"

// mayBeCall reports whether the beginning of a block can still be a call.
func (a *answerReader) mayBeCall(body string) bool {
	if len(body) > maxOpening {
		body = body[:maxOpening]
	}
	body = strings.TrimLeft(body, " \t\r\n")
	if body == "" || callPrefix(a.grammar, body) != isNone || mayBePython(a.grammar, body) {
		return true
	}
	_, _, _, v := a.readMarkup(body, false)
	return v != isNone
}

// readBare reads an answer that is JSON alone.
func (a *answerReader) readBare(text string, ended bool) (calls []written, rest string, until []string, v verdict) {
	v = callPrefix(a.grammar, text)
	switch {
	case v == isNone:
		if calls, rest, ok := a.readPython(text); ok && strings.HasPrefix(text, "[") {
			return calls, rest, nil, isCall
		}
		if !ended && mayBePython(a.grammar, text) {
			return nil, text, nil, isOpen
		}
		return nil, text, nil, isNone
	case v == isOpen && !ended:
		return nil, text, nil, isOpen
	}
	n := jsonEnd(text)
	if n == 0 && !ended {
		return nil, text, []string{"}", "]"}, isOpen
	}
	if n == 0 {
		n = len(text)
	}
	calls, ok := a.parseCalls(text[:n], llm.SpelledTool)
	if !ok || slices.ContainsFunc(calls, written.isBare) || n == len(text) && jsonEnd(text) == 0 && a.cutOff {
		if broken, ok := a.brokenCall(text[:n]); ok {
			return []written{broken}, text[n:], nil, isCall
		}
		return nil, text, nil, isNone
	}
	return calls, text[n:], nil, isCall
}
