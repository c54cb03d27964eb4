package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// filled is the text of a result for an API that refuses empty ones.
func Filled(text string) string {
	if strings.TrimSpace(text) == "" {
		return "[no output]"
	}
	return text
}

// inputOf makes the input of a call from what a model wrote: what is no object
// becomes a JSON string, so that no tool takes it. Ok is false for a call that
// the end of the answer cut off.
func ParseInput(args string, cutOff bool) (input json.RawMessage, ok bool) {
	args = strings.TrimSpace(args)
	switch {
	case args == "" || args == "null":
		return json.RawMessage("{}"), !cutOff
	case json.Valid([]byte(args)) && llm.IsObject([]byte(args)):
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

// repeated reads arguments that are written twice, or follow an empty object, as some
// gateways have it; nil if they don't.
func repeated(args string) json.RawMessage {
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

// callIDs gives the calls of one answer IDs where the server forgot to, or gave
// two of them the same.
type CallIDs map[string]bool

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
