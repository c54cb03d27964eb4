package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// NonEmptyResult returns the text of a result, or a placeholder for APIs that refuse empty
// ones.
func NonEmptyResult(text string) string {
	if strings.TrimSpace(text) == "" {
		return "[no output]"
	}
	return text
}

// ParseInput returns the input of a call from the arguments that a model wrote.
// Anything but an object becomes a JSON string, which no tool accepts. Ok is false for
// a call that the end of the answer cut off.
func ParseInput(args string, cutOff bool) (input json.RawMessage, ok bool) {
	args = strings.TrimSpace(args)
	switch {
	case args == "" || args == "null":
		return json.RawMessage("{}"), !cutOff
	case json.Valid([]byte(args)) && llm.IsObject([]byte(args)):
		return json.RawMessage(args), true
	}
	if last := repeatedObject(args); last != nil {
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
		case json.Valid([]byte(inner)) && llm.IsObject([]byte(inner)):
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

// repeatedObject returns the object in arguments that are written twice, or that follow an
// empty object, as some gateways send them; otherwise nil.
func repeatedObject(args string) json.RawMessage {
	values := json.NewDecoder(strings.NewReader(args))
	var first, last json.RawMessage
	for values.More() {
		if values.Decode(&last) != nil || !llm.IsObject(last) {
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

// CallIDs makes the IDs of the calls of one answer unique. Some servers send none, or
// the same one twice.
type CallIDs map[string]bool

// Unique returns the ID, or a new one if it is empty or in use.
func (ids *CallIDs) Unique(id string) string {
	if *ids == nil {
		*ids = CallIDs{}
	}
	base := cmp.Or(id, "call")
	for n := len(*ids) + 1; id == "" || (*ids)[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	(*ids)[id] = true
	return id
}
