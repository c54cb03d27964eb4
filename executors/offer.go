package executors

import (
	"encoding/json"
	"sync"
)

// offered keeps what Offered made.
var offered sync.Map // schema as text -> json.RawMessage

// Offered is the schema as a model gets it: without the words that only the
// validator needs, since each costs tokens in every request.
func (t Tool) Offered() json.RawMessage {
	if s, ok := offered.Load(string(t.Schema)); ok {
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
	offered.Store(string(t.Schema), json.RawMessage(raw))
	return raw
}

// slim takes "additionalProperties": false out of a schema and all in it. A
// parameter of that name stays: its schema is no boolean, or "properties" has it.
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
