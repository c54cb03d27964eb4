package endless

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// doubled returns a schema that applies 2^n schemas to one value.
func doubled(n int) string {
	defs := []string{`"a0":{"type":"string"}`}
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":{"anyOf":[{"$ref":"#/$defs/a%[2]d"},{"$ref":"#/$defs/a%[2]d"}]}`, i+1, i))
	}
	return fmt.Sprintf(`{"$defs":{%s},"$ref":"#/$defs/a%d"}`, strings.Join(defs, ","), n)
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct{ schema, want string }{
		"no reference":              {`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		"a list of its own kind":    {`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, ""},
		"a tree":                    {`{"properties":{"sub":{"type":"array","items":{"$ref":"#"}}}}`, ""},
		"an anchor":                 {`{"$id":"https://example.com/s","$defs":{"n":{"$anchor":"node","type":"string"}},"properties":{"a":{"$ref":"#node"}}}`, ""},
		"a value like a schema":     {`{"enum":[{"$ref":"#/nowhere"}],"default":{"$ref":"#"}}`, ""},
		"properties like keywords":  {`{"properties":{"$ref":{"type":"string"},"default":{"type":"string"},"not":{"not":{}}}}`, ""},
		"a few alternatives":        {doubled(8), ""},
		"alternatives without end":  {doubled(40), "applies more than 10000 schemas to one value"},
		"itself":                    {`{"$ref":"#"}`, "refers to itself"},
		"itself by an anchor":       {`{"$anchor":"a","not":{"$ref":"#a"}}`, "refers to itself"},
		"itself below a property":   {`{"properties":{"default":{"allOf":[{"$ref":"#/properties/default"}]}}}`, "refers to itself"},
		"itself by a dependency":    {`{"dependentSchemas":{"a":{"$ref":"#"}}}`, "refers to itself"},
		"itself by an old keyword":  {`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"b":["a"],"a":{"$ref":"#"}}}`, "refers to itself"},
		"itself in a list of items": {`{"items":[{"if":{"$ref":"#/items/0"}}]}`, "refers to itself"},
		"elsewhere":                 {`{"$ref":"https://example.com/s"}`, "is not in it"},
		"a missing place":           {`{"$ref":"#/$defs/a"}`, "is not in it"},
		"a missing anchor":          {`{"$ref":"#a"}`, "is not in it"},
		"a dynamic anchor":          {`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, "is not in it"},
		"itself in a named part":    {`{"$defs":{"a":{"$id":"https://example.com/a","$ref":"#"}},"$ref":"#/$defs/a"}`, "has an $id"},
	} {
		var root map[string]any
		if err := json.Unmarshal([]byte(tt.schema), &root); err != nil {
			t.Fatal(err)
		}
		err := Check(root)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(tt.schema), &s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = resolved.Validate(map[string]any{"a": "x", "default": "x", "sub": []any{map[string]any{}}}) // it ends
	}
}
