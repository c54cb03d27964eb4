package executors

import (
	"encoding/json"
	"strings"
	"sync"
)

// offeredSchemas caches the results of Offered.
var offeredSchemas sync.Map // schema as text -> json.RawMessage

// Offered returns the schema for models: ModelSchema, or Schema without the keywords
// that only the validator needs. Each keyword costs tokens in every request.
func (t Tool) Offered() json.RawMessage {
	if t.ModelSchema != nil {
		return t.ModelSchema
	}
	if s, ok := offeredSchemas.Load(string(t.Schema)); ok {
		return s.(json.RawMessage)
	}
	var schema any
	if json.Unmarshal(t.Schema, &schema) != nil {
		return t.Schema
	}
	slim(schema)
	raw, err := json.Marshal(schema)
	if err != nil {
		return t.Schema
	}
	offeredSchemas.Store(string(t.Schema), json.RawMessage(raw))
	return raw
}

// slim removes "additionalProperties": false from a schema and its subschemas. A
// parameter of that name stays: its schema is not a boolean, or "properties" holds
// it.
func slim(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" && v["additionalProperties"] == false {
			delete(v, "additionalProperties")
		}
		for _, sub := range v {
			slim(sub)
		}
	case []any:
		for _, sub := range v {
			slim(sub)
		}
	}
}

const serverMarkStart, serverMarkEnd = "(MCP server ", ")"

// ServerMark returns the words that begin the description of a tool of an MCP server.
func ServerMark(server string) string { return serverMarkStart + server + serverMarkEnd }

// WithoutServerMark returns the server's own description of a tool. The description of
// a built-in tool stays unchanged.
func WithoutServerMark(description string) string {
	rest, ok := strings.CutPrefix(description, serverMarkStart)
	if _, text, ended := strings.Cut(rest, serverMarkEnd); ok && ended {
		return strings.TrimSpace(text)
	}
	return description
}
