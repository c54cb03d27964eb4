package executors

import (
	"encoding/json"
	"testing"
)

func TestOffered(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"closed": {`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}`,
			`{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
		"in a list": {`{"type":"array","items":{"type":"object","additionalProperties":false}}`, `{"items":{"type":"object"},"type":"array"}`},
		"of a kind": {`{"type":"object","additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"},"type":"object"}`},
		"a parameter of it": {`{"type":"object","properties":{"additionalProperties":{"type":"boolean"}}}`,
			`{"properties":{"additionalProperties":{"type":"boolean"}},"type":"object"}`},
		"no JSON": {`{`, `{`},
		"nothing": {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if got := string(Tool{Schema: json.RawMessage(tt.schema)}.Offered()); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			}
		})
	}
}
