package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TextCall is a tool call that stands in a text, or what is wrong with it.
type TextCall struct {
	Line    int // 1-based; where it begins in the text
	Tool    string
	Input   json.RawMessage // an object; nil if there is a Problem
	Problem string          // why it cannot be run, one sentence for people; empty means that it can
}

// blockTools names the tool of each fenced block that is a call.
var blockTools = map[string]string{"bash": "bash", "scrape": "web_scrape", "tool_call": ""}

// TextCalls finds the calls that a text spells out in fenced blocks, in order:
//
//	```bash       the block is the command
//	```scrape     the block is the JSON input of web_scrape
//	```tool_call  the block is {"tool_id": "…", "params": {…}}
//
// Fences are those of CommonMark: three or more backticks or tildes, indented by
// at most three spaces, closed by at least as many of the same. Blocks of other
// languages are passed over together with whatever stands in them. A block that
// is never closed was cut off, so it has a Problem and is not to be run.
func TextCalls(text string) []TextCall {
	var calls []TextCall
	var open fence
	var body strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case open.size == 0:
			open = openFence(line)
			open.line = n
			body.Reset()
		case open.closedBy(line):
			if call, ok := blockCall(open, body.String()); ok {
				calls = append(calls, call)
			}
			open = fence{}
		default:
			body.WriteString(cutIndent(line, open.indent))
			body.WriteByte('\n')
		}
	}
	if open.size > 0 {
		if tool, ok := blockTools[open.lang]; ok {
			calls = append(calls, TextCall{Line: open.line, Tool: tool,
				Problem: fmt.Sprintf("the %s block that begins in line %d is never closed", open.lang, open.line)})
		}
	}
	return calls
}

// fence is the opening line of a fenced block; size 0 means none.
type fence struct {
	mark         byte // ` or ~
	size, indent int
	lang         string // first word of the info string, lower case
	line         int
}

func openFence(line string) fence {
	f := fence{indent: len(line) - len(strings.TrimLeft(line, " "))}
	rest := line[f.indent:]
	if f.indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}
	}
	f.mark = rest[0]
	info := strings.TrimLeft(rest, rest[:1])
	f.size = len(rest) - len(info)
	if f.size < 3 || f.mark == '`' && strings.Contains(info, "`") { // the latter is inline code
		return fence{}
	}
	if words := strings.Fields(info); len(words) > 0 {
		f.lang = strings.ToLower(words[0])
	}
	return f
}

func (f fence) closedBy(line string) bool {
	c := openFence(line)
	return c.mark == f.mark && c.size >= f.size && c.lang == ""
}

// cutIndent takes up to n spaces off, as the fence itself was indented.
func cutIndent(line string, n int) string {
	for n > 0 && strings.HasPrefix(line, " ") {
		line, n = line[1:], n-1
	}
	return line
}

// blockCall reads the call in a closed block; ok is false if it is not one.
func blockCall(f fence, body string) (call TextCall, ok bool) {
	call.Line = f.line
	call.Tool, ok = blockTools[f.lang]
	if !ok {
		return call, false
	}
	var err error
	switch f.lang {
	case "bash":
		if strings.TrimSpace(body) == "" {
			err = errors.New("there is no command")
		}
		call.Input = object("command", strings.TrimSuffix(body, "\n"))
	case "scrape":
		call.Input, err = jsonObject(body)
	case "tool_call":
		call.Tool, call.Input, err = toolCall(body)
	}
	if err != nil {
		call.Input = nil
		call.Problem = fmt.Sprintf("the %s block in line %d cannot be run: %v", f.lang, f.line, err)
	}
	return call, true
}

func toolCall(body string) (tool string, input json.RawMessage, err error) {
	raw, err := jsonObject(body)
	if err != nil {
		return "", nil, err
	}
	var in struct {
		ToolID string          `json:"tool_id"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.ToolID == "" {
		return "", nil, errors.New(`want {"tool_id": "NAME", "params": {…}}`)
	}
	if in.Params == nil {
		return in.ToolID, json.RawMessage("{}"), nil
	}
	if !isObject(in.Params) {
		return in.ToolID, nil, errors.New("params must be a JSON object")
	}
	return in.ToolID, in.Params, nil
}

// jsonObject reads text that must be one JSON object and nothing else; its
// errors are for people.
func jsonObject(text string) (json.RawMessage, error) {
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
		return nil, fmt.Errorf("this is not valid JSON: %v (line %d of it)", syntax, 1+strings.Count(text[:at], "\n"))
	case err != nil:
		return nil, err
	case !isObject(raw):
		return nil, errors.New("want a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the JSON object")
	}
	return raw, nil
}

// isObject reports whether valid JSON is an object.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// object makes a JSON object with one string member, readable: no HTML escapes.
func object(name, value string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{name: value}); err != nil {
		panic(err) // strings always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
