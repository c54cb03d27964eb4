package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSchemaOf(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"nothing to change": {` {"type":"object","properties":{"b":{"type":["string","null"],"default":"x","pattern":"a"},"a":{"enum":["x"],"type":"string"}},` +
			`"additionalProperties":false}`, ""},
		"names of keywords": {`{"type":"object","properties":{"const":{"type":"string"},"$ref":{"type":"integer"},"allOf":{"type":"array",` +
			`"items":{"type":"string"}}}}`, ""},
		"a reference": {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"one","title":"x"}},"$defs":{"A":{"type":"object",` +
			`"properties":{"b":{"$ref":"#/$defs/B~1c"}}},"B/c":{"type":"string"}}}`,
			`{"properties":{"a":{"description":"one","properties":{"b":{"type":"string"}},"type":"object"}},"type":"object"}`},
		"an earlier draft": {`{"type":"object","definitions":{"A":{"type":"string"}},"properties":{"a":{"type":"array","items":{"$ref":"#/definitions/A"}}}}`,
			`{"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"}`},
		"a reference to a property": {`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}`},
		"recursion": {`{"type":"object","properties":{"tree":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"next":{"$ref":"#/$defs/T"}}}}}`,
			`{"properties":{"tree":{"properties":{"next":{}},"type":"object"}},"type":"object"}`},
		"recursion to the root": {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"properties":{"a":{}},"type":"object"}},` +
			`"type":"object"}`},
		"elsewhere": {`{"type":"object","properties":{"a":{"$ref":"https://x/y"},"b":{"$ref":"#/$defs/no"},"c":{"$ref":"#anchor"}}}`,
			`{"properties":{"a":{},"b":{},"c":{}},"type":"object"}`},
		"constants": {`{"type":"object","properties":{"a":{"const":"x"},"b":{"const":1,"type":"integer"},"c":{"const":true},"d":{"const":null}}}`,
			`{"properties":{"a":{"enum":["x"],"type":"string"},"b":{"enum":[1],"type":"integer"},"c":{},"d":{}},"type":"object"}`},
		"enums": {`{"type":"object","properties":{"a":{"enum":["x",null]},"b":{"enum":[]},"c":{"enum":"x"},"d":{"enum":[1,2.5]}}}`,
			`{"properties":{"a":{},"b":{},"c":{},"d":{"enum":[1,2.5],"type":"number"}},"type":"object"}`},
		"exclusive bounds": {`{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9,"maximum":7},` +
			`"b":{"type":"number","exclusiveMinimum":true,"minimum":1}}}`,
			`{"properties":{"a":{"maximum":7,"minimum":1,"type":"integer"},"b":{"minimum":1,"type":"number"}},"type":"object"}`},
		"all of them": {`{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},` +
			`"required":["b"],"type":"array"}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"],"type":"object"}`},
		"true and false": {`{"type":"object","properties":{"a":true,"b":false,"c":7},"additionalProperties":true,"items":false}`,
			`{"additionalProperties":true,"items":false,"properties":{"a":{},"b":{},"c":{}},"type":"object"}`},
		"formats": {`{"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"date-time"}}}`,
			`{"properties":{"a":{"type":"string"},"b":{"format":"date-time","type":"string"}},"type":"object"}`},
		"odd types": {`{"type":"object","properties":[1],"allOf":7,"required":{},"anyOf":[1,{"$ref":"#"}]}`, `{"anyOf":[{},{"anyOf":[{},{}],"properties":{},` +
			`"required":{},"type":"object"}],"properties":{},"required":{},"type":"object"}`},
		"odd lists": {`{"type":"object","properties":{"a":{"type":"string"}},"required":"a","allOf":[{"required":["b"],"properties":[]}]}`,
			`{"properties":{"a":{"type":"string"}},"required":["b"],"type":"object"}`},
		"no schema": {`[1]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(schemaOf(json.RawMessage(tt.schema)))
			if tt.want == "" {
				tt.want = tt.schema
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// References that multiply a schema are cut off, the same way each time.
func TestSchemaBomb(t *testing.T) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1))
	}
	bomb := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`
	got := schemaOf(json.RawMessage(bomb))
	if len(got) > 1<<20 || string(got) != string(schemaOf(json.RawMessage(bomb))) {
		t.Errorf("got %d bytes, want the same few each time", len(got))
	}
	deep := strings.Repeat(`{"items":`, 5_000) + `{}` + strings.Repeat(`}`, 5_000)
	if got := schemaOf(json.RawMessage(deep)); len(got) > len(deep) {
		t.Errorf("got %d bytes for %d", len(got), len(deep))
	}
}

func FuzzSchemaOf(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}},"allOf":[{"const":1}]}`)
	f.Add(`{"$ref":"#/allOf/0","allOf":[{"$ref":"#"}],"enum":[null]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if got := schemaOf(json.RawMessage(schema)); json.Valid([]byte(schema)) && !json.Valid(got) {
			t.Errorf("got %s for %s", got, schema)
		}
	})
}
