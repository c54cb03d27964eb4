package wire

import (
	"bytes"
	"encoding/json"
)

// InputSchema returns a schema that says its type is object, as APIs require.
func InputSchema(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if members["type"] != nil {
		return raw
	}
	rest := bytes.TrimSpace(bytes.TrimSpace(raw)[1:])
	if len(members) > 0 {
		rest = append([]byte(","), rest...)
	}
	return append([]byte(`{"type":"object"`), rest...)
}
