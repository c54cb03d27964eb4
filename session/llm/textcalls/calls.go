package textcalls

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Call is a tool call in a text, or the problem with it.
type Call struct {
	Line    int // 1-based line of the text where it begins
	Tool    string
	Input   json.RawMessage // an object; nil if there is a Problem
	Problem string          // why it cannot be run, one sentence for people; empty if it can
}

// Find returns the calls in the fenced blocks of a text, in order: blocks with the tag
// of a tool's Invocation, and blocks of the language tool_call, which hold {"tool_id":
// "…", "params": {…}}.
//
// Fences are as in CommonMark: three or more backticks or tildes, indented by at
// most three spaces, closed by at least as many of the same. Blocks of other languages
// are skipped with their content. A block that is never closed was cut off, so it has a
// Problem and must not be run.
//
//	```tool_call  the block is {"tool_id": "…", "params": {…}}
func Find(text string, tools []llm.Tool) []Call {
	var calls []Call
	g := grammar{tools: tools}
	s := scanner{isCall: g.isCall, text: func(string) {}, block: func(b block) bool {
		ok := g.takes(b)
		if ok {
			calls = append(calls, g.textCall(b))
		}
		return ok
	}}
	s.feed(text)
	s.finish()
	return calls
}

// grammar reads the blocks that call some tools.
type grammar struct {
	tools    []llm.Tool
	cutOff   bool     // the model did not end the answer itself
	failures []string // the results that the answer is about, of calls that failed
	// unknown reports whether a name that no tool has may be called now; nil means no.
	unknown func(name string) bool
}

// isCall reports whether blocks of a language are calls.
func (g grammar) isCall(lang string) bool {
	_, ok := g.tagged(lang)
	return ok || lang == toolCallTag
}

// toolCallTag is the language of the block that can call any tool.
const toolCallTag = "tool_call"

// tagged returns the tool whose blocks have the language.
func (g grammar) tagged(lang string) (llm.Tool, bool) {
	i := slices.IndexFunc(g.tools, func(t llm.Tool) bool { return t.Invocation.IsBlock(lang) })
	if i < 0 {
		return llm.Tool{}, false
	}
	return g.tools[i], true
}

// takes reports whether a block whose language is a call's is one. The failure of the last call only quotes it. A terminal session with output only shows one,
// and so does a block without prompts in a language in which output is written too, such as console.
func (g grammar) takes(b block) bool {
	t, ok := g.tagged(b.lang)
	switch {
	case !ok || t.Invocation.Param == "":
		return true
	case slices.Contains(g.failures, strings.TrimSpace(b.body)):
		return false
	case b.lang == t.Invocation.Tag:
		return true
	}
	_, prompts := withoutPrompts(b.body)
	return prompts == all || prompts == none && !slices.Contains(outputLanguages, b.lang)
}

// textCall returns the call in a block of the user's text, or the problem with it.
func (g grammar) textCall(b block) Call {
	call := Call{Line: b.line}
	var err error
	call.Tool, call.Input, err = g.parseBlock(b)
	switch {
	case !b.closed:
		call.Problem = fmt.Sprintf("the %s block that begins in line %d is never closed", b.lang, b.line)
	case err != nil:
		call.Problem = fmt.Sprintf("the %s block in line %d cannot be run: %v", b.lang, b.line, err)
	}
	if call.Problem != "" {
		call.Input = nil
	}
	return call
}

// parseBlock returns the call in a block. After an error, which is for people, it returns the
// parts that are known.
func (g grammar) parseBlock(b block) (tool string, input json.RawMessage, err error) {
	t, ok := g.tagged(b.lang)
	switch {
	case !ok:
		return parseToolCall(b.body)
	case t.Invocation.Param == "":
		input, err = ParseObject(b.body)
	default:
		body := b.body
		if bare, prompts := withoutPrompts(body); prompts == all {
			body = bare
		}
		input = llm.ObjectOf(t.Invocation.Param, strings.TrimSuffix(body, "\n"))
		if strings.TrimSpace(b.body) == "" {
			err = fmt.Errorf("there is no %s", t.Invocation.Param)
		}
	}
	return t.Name, input, err
}

// callObject is a call as a JSON object: with our members, or with those that models
// learned elsewhere.
type callObject struct {
	ToolID     string          `json:"tool_id"`
	Params     json.RawMessage `json:"params"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
}

func (c callObject) tool() string { return cmp.Or(c.ToolID, c.Name) }

// params returns nil if there are none.
func (c callObject) params() json.RawMessage {
	for _, p := range []json.RawMessage{c.Params, c.Arguments, c.Parameters} {
		if p != nil && string(p) != "null" {
			return p
		}
	}
	return nil
}

// parseToolCall parses the JSON of a tool_call block.
func parseToolCall(body string) (tool string, input json.RawMessage, err error) {
	raw, err := ParseObject(body)
	if err != nil {
		return "", nil, err
	}
	var in callObject
	if err := json.Unmarshal(raw, &in); err != nil || in.tool() == "" {
		return "", nil, errors.New(`want {"tool_id": "NAME", "params": {…}}`)
	}
	params := in.params()
	var text string
	switch {
	case params == nil:
		return in.tool(), json.RawMessage("{}"), nil
	case llm.IsObject(params):
		return in.tool(), params, nil
	case json.Unmarshal(params, &text) == nil: // some models put JSON into JSON
		if object, err := ParseObject(text); err == nil {
			return in.tool(), object, nil
		}
	}
	return in.tool(), nil, errors.New("params must be a JSON object")
}

var namesTool = lazyregexp.New(`"(?:tool_id|name)"\s*:\s*"([^"\\]*)"`)

// toolNameIn returns the tool that an unreadable block names, or the language of the
// block.
func toolNameIn(body string) string {
	if m := namesTool.FindStringSubmatch(body); m != nil && m[1] != "" {
		return m[1]
	}
	return toolCallTag
}

// ParseObject parses text that must be one JSON object and nothing else; its errors are
// for people. It accepts line breaks and tabs in strings, which people rarely escape
// when they write a file's content by hand.
func ParseObject(text string) (json.RawMessage, error) {
	raw, err := strictObject(text)
	if _, isSyntax := errors.AsType[*json.SyntaxError](err); isSyntax {
		if raw, err := strictObject(escapeControls(text)); err == nil {
			return raw, nil
		}
	}
	return raw, err
}

// strictObject is ParseObject for JSON as the standard has it.
func strictObject(text string) (json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("there is no JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the JSON object ends too early")
	case isSyntax:
		at := min(int(syntax.Offset), len(text))
		return nil, fmt.Errorf("this is not valid JSON: %w (line %d of it)", syntax, 1+strings.Count(text[:at], "\n"))
	case err != nil:
		return nil, err
	case !llm.IsObject(raw):
		return nil, errors.New("want a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the JSON object")
	}
	return raw, nil
}

// escapeControls escapes the control characters inside JSON strings.
func escapeControls(text string) string {
	var b strings.Builder
	inside, escaped := false, false
	for _, c := range []byte(text) {
		if inside && c < ' ' && !escaped {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteByte(c)
		if c == '"' && !escaped {
			inside = !inside
		}
		escaped = inside && c == '\\' && !escaped
	}
	return b.String()
}
