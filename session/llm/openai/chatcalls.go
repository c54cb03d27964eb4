package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatCalls assembles the calls of one answer from their pieces. The API names
// the call that a piece belongs to by its index, and sends ID and name with the
// first piece alone; many servers do otherwise:
//
//   - all calls have the index 0, or none: Gemini, some versions of vLLM and Ollama
//   - no IDs, or the ID again with each piece
//   - the name again with each piece, or in pieces
//   - whole calls in one piece, with the arguments as an object
//
// See https://github.com/open-webui/computer/issues/224 for some of Gemini's.
type chatCalls struct {
	calls []*openCall
}

// openCall is a call in progress.
type openCall struct {
	index    *int
	id, name string
	args     strings.Builder
	last     byte // of the arguments, without white space
	extra    json.RawMessage
}

// write adds a piece of the arguments.
func (c *openCall) write(args string) {
	c.args.WriteString(args)
	if args = strings.TrimSpace(args); args != "" {
		c.last = args[len(args)-1]
	}
}

// isWhole reports whether the arguments are complete.
func (c *openCall) isWhole() bool {
	if c.last != '}' { // parsing everything for each piece would be slow
		return false
	}
	args := []byte(strings.TrimSpace(c.args.String()))
	return json.Valid(args) && llm.IsObject(args)
}

// mustContinue reports whether a piece of arguments can only belong to c.
func (c *openCall) mustContinue(name, args string) bool {
	return c.name == name && c.args.Len() > 0 && args != "" && !c.isWhole() && !strings.HasPrefix(strings.TrimSpace(args), "{")
}

// add reads a piece and returns the arguments in it. names are the names of the offered tools.
func (cs *chatCalls) add(d *chatCallDelta, names wire.ToolNames) string {
	args := argsOf(d.Function.Arguments)
	c := cs.find(d, args)
	name := d.Function.Name
	if c != nil && c.name != "" && name != c.name && names.Ours[c.name] != "" && names.Ours[name] != "" {
		c = nil // another tool, and the one before has no arguments
	}
	if c == nil {
		c = &openCall{index: d.Index, id: d.ID}
		cs.calls = append(cs.calls, c)
	}
	c.id = cmp.Or(c.id, d.ID)
	switch {
	case name == c.name, c.args.Len() > 0 && c.name != "":
	case strings.HasPrefix(name, c.name): // the name so far is repeated
		c.name = name
	default:
		c.name += name
	}
	if d.ExtraContent != nil && string(d.ExtraContent) != "null" {
		c.extra = d.ExtraContent
	}
	c.write(args)
	return args
}

// find returns the call that a piece belongs to, or nil if it begins one.
func (cs *chatCalls) find(d *chatCallDelta, args string) *openCall {
	var c *openCall
	for _, o := range cs.calls { // the last match wins
		switch {
		case d.Index != nil && (o.index == nil || *o.index != *d.Index):
		case d.ID != "" && d.ID == o.id:
			return o.unlessComplete(d, args)
		case d.Index != nil, d.ID == "":
			c = o
		}
	}
	switch {
	case c == nil && d.Index == nil && d.ID != "" && d.Function.Name == "" && len(cs.calls) > 0:
		return cs.calls[len(cs.calls)-1] // a server that sends another ID with each piece
	case c == nil:
		return nil
	case d.ID != "" && c.id != "" && d.Function.Name != "" && !c.mustContinue(d.Function.Name, args): // the index was used again
		return nil
	}
	return c.unlessComplete(d, args)
}

// unlessComplete returns c, or nil if the piece begins another call: it has a name, and
// c is complete. The name of a call can follow its arguments.
func (c *openCall) unlessComplete(d *chatCallDelta, args string) *openCall {
	follows := c.name == "" && (args == "" || d.ID != "")
	if d.Function.Name != "" && !follows && c.isWhole() && (args != "" || d.Function.Name != c.name) {
		return nil
	}
	return c
}

// argsOf returns a piece of arguments as text.
func argsOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// endedCall is a complete call, with the data that has to be sent back.
type endedCall struct {
	call  llm.ToolCall
	extra json.RawMessage
}

// end returns the calls. It drops one that the end of the answer cut off, and pieces
// without any content. A call without a name stays, since its model needs a result.
func (cs *chatCalls) end(names wire.ToolNames, cutOff bool) []endedCall {
	var out []endedCall
	ids := wire.CallIDs{}
	for i, c := range cs.calls {
		input, ok := wire.ParseInput(c.args.String(), cutOff && i == len(cs.calls)-1)
		if !ok || c.id+c.name == "" && c.args.Len() == 0 {
			continue
		}
		out = append(out, endedCall{llm.ToolCall{ID: ids.Unique(c.id), Name: names.FromWire(c.name), Input: input}, c.extra})
	}
	return out
}
