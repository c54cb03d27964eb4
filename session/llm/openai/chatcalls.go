package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// chatCalls puts together the calls of one answer from their pieces. The API names
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

// openCall is a call that is being sent.
type openCall struct {
	index    *int
	id, name string
	args     strings.Builder
	extra    json.RawMessage
}

// whole reports whether nothing can follow.
func (c *openCall) whole() bool {
	text := strings.TrimSpace(c.args.String())
	if !strings.HasSuffix(text, "}") { // a look at all of it for each piece would take long
		return false
	}
	args := []byte(text)
	return json.Valid(args) && llm.IsObject(args)
}

// lacks reports whether a piece of arguments can be nothing but the next one of c.
func (c *openCall) lacks(name, args string) bool {
	return c.name == name && c.args.Len() > 0 && args != "" && !c.whole() && !strings.HasPrefix(strings.TrimSpace(args), "{")
}

// add takes a piece. Names are those of the tools that were offered.
func (cs *chatCalls) add(d *chatCallDelta, names wire.ToolNames) {
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
	if c.id == "" {
		c.id = d.ID
	}
	switch {
	case name == c.name, c.args.Len() > 0 && c.name != "":
	case strings.HasPrefix(name, c.name): // with what came before
		c.name = name
	default:
		c.name += name
	}
	if d.ExtraContent != nil && string(d.ExtraContent) != "null" {
		c.extra = d.ExtraContent
	}
	c.args.WriteString(args)
}

// find gives the call that a piece belongs to; nil if it begins one.
func (cs *chatCalls) find(d *chatCallDelta, args string) *openCall {
	var c *openCall
	for _, o := range cs.calls { // the last one that may be it
		switch {
		case d.Index != nil && (o.index == nil || *o.index != *d.Index):
		case d.ID != "" && d.ID == o.id:
			return o.goesOn(d, args)
		case d.Index != nil, d.ID == "":
			c = o
		}
	}
	switch {
	case c == nil && d.Index == nil && d.ID != "" && d.Function.Name == "" && len(cs.calls) > 0:
		return cs.calls[len(cs.calls)-1] // another ID with each piece
	case c == nil:
		return nil
	case d.ID != "" && c.id != "" && d.Function.Name != "" && !c.lacks(d.Function.Name, args): // an index again
		return nil
	}
	return c.goesOn(d, args)
}

// goesOn gives c unless the piece begins a call of its own: one that has a name
// while c lacks nothing any more.
func (c *openCall) goesOn(d *chatCallDelta, args string) *openCall {
	if d.Function.Name != "" && c.name != "" && c.whole() && (args != "" || d.Function.Name != c.name) {
		return nil
	}
	return c
}

// argsOf gives a piece of arguments as text.
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

// endedCall is a complete call, with what the server wants back of it.
type endedCall struct {
	call  llm.ToolCall
	extra json.RawMessage
}

// end gives the calls. One that the end of the answer cut off is none, and neither
// is what never got a name.
func (cs *chatCalls) end(names wire.ToolNames, cutOff bool) []endedCall {
	var out []endedCall
	ids := wire.CallIDs{}
	for i, c := range cs.calls {
		input, ok := wire.ParseInput(c.args.String(), cutOff && i == len(cs.calls)-1)
		if !ok || c.name == "" {
			continue
		}
		out = append(out, endedCall{llm.ToolCall{ID: ids.Unique(c.id), Name: names.FromWire(c.name), Input: input}, c.extra})
	}
	return out
}
