package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// inputOf makes the input of a call from what a model wrote: what is no object
// becomes a JSON string, so that no tool takes it. Ok is false for a call that
// the end of the answer cut off.
func inputOf(args string, cutOff bool) (input json.RawMessage, ok bool) {
	args = strings.TrimSpace(args)
	switch {
	case args == "" || args == "null":
		return json.RawMessage("{}"), !cutOff
	case json.Valid([]byte(args)) && isObject([]byte(args)):
		return json.RawMessage(args), true
	}
	if last := repeated(args); last != nil {
		return last, true
	}
	if !json.Valid([]byte(args)) && cutOff {
		return nil, false
	}
	var inner string // some servers encode twice
	if json.Unmarshal([]byte(args), &inner) == nil {
		switch inner = strings.TrimSpace(inner); {
		case inner == "":
			return json.RawMessage("{}"), true
		case json.Valid([]byte(inner)) && isObject([]byte(inner)):
			return json.RawMessage(inner), true
		}
		args = inner
	}
	input, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings always encode
	}
	return input, true
}

// repeated reads arguments that are written twice, or follow an empty object, as some
// gateways have it; nil if they don't.
func repeated(args string) json.RawMessage {
	values := json.NewDecoder(strings.NewReader(args))
	var first, last json.RawMessage
	for values.More() {
		if values.Decode(&last) != nil || !isObject(last) {
			return nil
		}
		if first == nil || len(first) == len("{}") {
			first = bytes.Clone(last)
		} else if !bytes.Equal(first, last) {
			return nil
		}
	}
	return last
}

// callIDs gives the calls of one answer IDs where the server forgot to, or gave
// two of them the same.
type callIDs map[string]bool

func (ids *callIDs) own(id string) string {
	if *ids == nil {
		*ids = callIDs{}
	}
	base := cmp.Or(id, "call")
	for n := len(*ids) + 1; id == "" || (*ids)[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	(*ids)[id] = true
	return id
}

// maxToolName is how long a tool's name may be, in characters.
// https://developers.openai.com/api/reference/resources/chat
const maxToolName = 64

// toolNames translates the names of tools that an API would refuse.
type toolNames struct {
	wire map[string]string // ours -> the API's
	ours map[string]string // the API's -> ours
}

// wireNames gives each tool a name that the API takes.
func wireNames(tools []Tool) toolNames {
	n := toolNames{map[string]string{}, map[string]string{}}
	for _, t := range tools {
		wire := shorten(wireName(t.Name), maxToolName)
		for i := 2; n.ours[wire] != ""; i++ {
			end := fmt.Sprintf("_%d", i)
			wire = shorten(wireName(t.Name), maxToolName-len(end)) + end
		}
		n.wire[t.Name], n.ours[wire] = wire, t.Name
	}
	return n
}

// to gives the API's name of a tool, which need not be one that is offered.
func (n toolNames) to(name string) string {
	if wire, ok := n.wire[name]; ok {
		return wire
	}
	return shorten(wireName(name), maxToolName)
}

// from gives our name of a tool that the model named.
func (n toolNames) from(wire string) string {
	if name, ok := n.ours[wire]; ok {
		return name
	}
	return wire
}

func shorten(s string, n int) string { return s[:min(len(s), n)] }

// merged joins neighbours of one role, which the templates of some models refuse.
func merged(history []Message) []Message {
	var out []Message
	for _, m := range history {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Blocks = append(slices.Clip(out[n-1].Blocks), m.Blocks...)
			continue
		}
		out = append(out, m)
	}
	return out
}
