package openai

import (
	"encoding/json"
	"testing"
)

func TestGeminiSchema(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"supported": {`{"type":"object", "properties":{"a":{"type":"string"}}}`, `{"type":"object", "properties":{"a":{"type":"string"}}}`},
		"names of properties": {
			`{"type":"object","additionalProperties":{"type":"object","propertyNames":{"pattern":"^a"}}}`,
			`{"additionalProperties":{"type":"object"},"type":"object"}`,
		},
		"a property of that name": {
			`{"type":"object","properties":{"propertyNames":{"type":"string"},"type":{"type":"string"}}}`,
			`{"type":"object","properties":{"propertyNames":{"type":"string"},"type":{"type":"string"}}}`,
		},
		"exclusive bounds": {
			`{"type":"object","properties":{"i":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9,"maximum":7},"n":{"type":"number","exclusiveMinimum":0.5}}}`,
			`{"properties":{"i":{"maximum":7,"minimum":1,"type":"integer"},"n":{"minimum":0.5,"type":"number"}},"type":"object"}`,
		},
		"the boolean of draft 4": {`{"type":"integer","minimum":1,"exclusiveMinimum":true}`, `{"minimum":1,"type":"integer"}`},
		"nullable":               {`{"type":["string","null"],"format":"date"}`, `{"format":"date","nullable":true,"type":"string"}`},
		"several types": {
			`{"type":["string","array","null"],"description":"d","items":{"type":["integer","null"]},"minLength":1}`,
			`{"anyOf":[{"minLength":1,"type":"string"},{"items":{"nullable":true,"type":"integer"},"type":"array"}],"description":"d","nullable":true}`,
		},
		"types beside a choice": {`{"type":["string","null"],"anyOf":[{"minLength":1}]}`, `{"anyOf":[{"minLength":1}],"nullable":true,"type":"string"}`},
		"no schema":             {`true`, `true`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(geminiSchema(json.RawMessage(tt.schema))); got != tt.want {
				t.Errorf("got\n%s, want\n%s", got, tt.want)
			}
		})
	}
}
