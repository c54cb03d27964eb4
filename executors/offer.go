package executors

import (
	"encoding/json"
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
