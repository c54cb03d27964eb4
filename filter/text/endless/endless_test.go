package endless

import (
	"encoding/json"
	"errors"
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

func TestCheckValue(t *testing.T) {
	deep := func(n int, leaf string) string {
		return strings.Repeat(`{"a":`, n) + leaf + strings.Repeat("}", n)
	}
	alternatives := func(n int, schema string) string {
		return `{"anyOf":[` + strings.TrimSuffix(strings.Repeat(schema+",", n), ",") + `]}`
	}
	const (
		twice   = `{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}},"required":["b"]}]}`
		chain   = `{"type":"object","properties":{"a":{"$ref":"#"}}}`
		patched = `{"type":"array","items":{"oneOf":[{"prefixItems":[{"type":"string"}]},{"contains":{"$ref":"#"}},{"patternProperties":{"^a":{"$ref":"#"}}}]}}`
	)
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for name, tt := range map[string]struct {
		schema, value string
		costly        bool
	}{
		"a shallow value of a branching schema": {twice, deep(8, `"x"`), false},
		"a deep value of a branching schema":    {twice, deep(30, `"x"`), true},
		"branches in lists":                     {patched, strings.Repeat("[", 200) + strings.Repeat("]", 200), false},
		"a deep value of a chain":               {chain, deep(200, `{}`), false},
		"errors of errors of errors":            {chain, deep(5000, `"x"`), true},
		"a long text":                           {`{"properties":{"a":{"type":"string"}}}`, deep(1, long), false},
		"a long text with a few alternatives":   {alternatives(3, `{"properties":{"a":{"type":"array"}}}`), deep(1, long), false},
		"a long text in many errors":            {alternatives(500, `{"properties":{"a":{"type":"array"}}}`), deep(1, long), true},
		"many small values":                     {`{"items":` + alternatives(3, `{"type":"number"}`) + `}`, "[" + strings.Repeat(`"x",`, 20_000) + "1]", false},
		"many alternatives for many values":     {`{"items":` + alternatives(100, `{"type":"number"}`) + `}`, "[" + strings.Repeat(`"x",`, 20_000) + "1]", true},
	} {
		var root map[string]any
		var value any
		if err := errors.Join(json.Unmarshal([]byte(tt.schema), &root), json.Unmarshal([]byte(tt.value), &value)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(Check(root), CheckValue(root, value)); (err != nil) != tt.costly {
			t.Errorf("%s: %v", name, err)
		}
	}
}
