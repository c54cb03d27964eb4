package ollama

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// readableSchema returns a schema that the server can parse. Ollama rejects the whole
// request otherwise, so an unsupported schema becomes {"type":"object"}.
func readableSchema(raw json.RawMessage) json.RawMessage {
	schema := wire.InputSchema(raw)
	if json.Unmarshal(schema, new(serverSchema)) != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return schema
}

// serverSchema has the members of a schema that the server parses, with its types.
// https://github.com/ollama/ollama/blob/v0.17.4/api/types.go
type serverSchema struct {
	Type       string                    `json:"type"`
	Required   []string                  `json:"required"`
	Properties map[string]serverProperty `json:"properties"`
}

type serverProperty struct {
	AnyOf       []serverProperty          `json:"anyOf"`
	Type        serverType                `json:"type"`
	Description string                    `json:"description"`
	Enum        []any                     `json:"enum"`
	Properties  map[string]serverProperty `json:"properties"`
}

// serverType is the name of a type, or a list of names.
type serverType []string

func (t *serverType) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, new(string)) == nil {
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}
