package textcalls

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// addBlock adds a block as a call, and reports whether it is one.
func (a *answerReader) addBlock(b block) bool {
	if !a.scan.isCall(b.lang) || !a.takes(b) {
		return a.addContent(b)
	}
	if a.invents || a.broken && !b.closed {
		return true
	}
	tool, input, err := a.parseBlock(b)
	if err != nil && input == nil {
		input = cutInput(b.body)
		if tool == "" {
			tool = toolNameIn(b.body)
		}
	}
	call := llm.ToolCall{Name: tool, Input: input}
	if !b.closed && a.cutOff {
		call.Input, call.Incomplete, call.Note = cutInput(b.body), true, cutNote
	}
	a.releaseHeld()
	a.emit(call)
	return true
}

// addContent adds a block whose content is a call and nothing else.
func (a *answerReader) addContent(b block) bool {
	if a.invents || !a.takesBlock(b.lang, b.first) {
		return false
	}
	if !b.closed && a.cutOff {
		return a.addCutBlock(b)
	}
	calls, ok := a.parseCalls(b.body, llm.SpelledTool)
	if !ok {
		var rest string
		if calls, rest, ok = a.readPython(b.body); !ok || strings.TrimSpace(rest) != "" {
			var v verdict
			calls, rest, _, v = a.readMarkup(strings.TrimSpace(b.body), true)
			ok = v == isCall && strings.TrimSpace(rest) == ""
		}
	}
	if !ok && b.first {
		var broken written
		broken, ok = a.brokenCall(b.body)
		calls = []written{broken}
	}
	if !ok || b.lang != toolCallTag && slices.ContainsFunc(calls, written.isBare) {
		return false
	}
	marks := strings.Repeat(string(b.mark), b.size)
	source := marks + b.lang + "\n" + b.body
	if b.closed {
		source += marks + "\n"
	}
	a.addCalls(calls, source, b.first && b.lang != toolCallTag && b.lang != pythonTag)
	return true
}

// addCutBlock adds a block that the end of the answer cut off, if it names an offered tool.
func (a *answerReader) addCutBlock(b block) bool {
	call, ok := a.brokenCall(b.body)
	if ok {
		a.addCalls([]written{call}, b.body, false)
	}
	return ok
}

// brokenCall returns the call of an offered tool whose arguments cannot be read: the model then gets the tool's
// message about them. It reports false if the text does not name the tool and its arguments, goes on after them, or
// is JSON of something else, such as the definition of the tool.
func (a *answerReader) brokenCall(text string) (written, bool) {
	tool, ok := llm.SpelledTool(a.tools, toolNameIn(text))
	text = strings.TrimSpace(text)
	whole := a.cutOff || strings.HasSuffix(text, "}") || strings.HasSuffix(text, "]")
	ok = ok && whole && callPrefix(a.grammar, text) == isCall && namesInput.MatchString(text) && !isOtherObject(text)
	return written{name: tool.Name, input: cutInput(text), cut: a.cutOff}, ok
}

// isOtherObject reports whether a text is a JSON object with members that a call does not have.
func isOtherObject(text string) bool {
	object, _, err := nearjson.Object(text)
	var members map[string]json.RawMessage
	if err != nil || json.Unmarshal(object, &members) != nil {
		return false
	}
	for name := range members {
		if !slices.Contains(nameMembers, name) && !slices.Contains(inputMembers, name) && !slices.Contains(otherMembers, name) || name == "function" {
			return true
		}
	}
	return false
}

// namesInput matches the member with the arguments of a call.
var namesInput = lazyregexp.Build(func() string { return `"(?:` + strings.Join(inputMembers, "|") + `)"\s*:` })

// lines is how many lines of a block have something.
type lines int

const (
	none lines = iota
	some
	all
)

// prompt begins a command in a terminal session.
const prompt = "$ "

// withoutPrompts returns the text of a block without the prompts of a shell, and how many of its lines have one.
func withoutPrompts(body string) (commands string, prompted lines) {
	var out strings.Builder
	found, others := false, false
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, prompt)
		found, others = found || ok, others || !ok && strings.TrimSpace(line) != ""
		out.WriteString(command)
	}
	switch {
	case !found:
		return body, none
	case others:
		return body, some
	}
	return out.String(), all
}
