package executors

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemaOf checks schemas as the library github.com/invopop/jsonschema wrote them.
func TestSchemaOf(t *testing.T) {
	type limits struct {
		Name   string   `json:"name" jsonschema:"minLength=1,maxLength=9,enum=b,enum=a"`
		Wait   *int64   `json:"wait,omitempty" jsonschema:"minimum=0,maximum=600"`
		Sorted *bool    `json:"sorted,omitempty" jsonschema:"default=true"`
		Kind   string   `json:"kind,omitempty" jsonschema:"default=<any>"`
		Share  float64  `json:"share,omitempty"`
		Steps  []string `json:"steps" jsonschema:"maxItems=5"`
	}
	type nested struct {
		Parts []limits `json:"parts,omitempty"`
		// A parameter may have the name of a keyword.
		AdditionalProperties bool `json:"additionalProperties,omitempty"`
	}
	for name, tt := range map[string]struct {
		schemas     func() ([]byte, []byte)
		want, shown string
	}{
		"no members": {of[struct{}],
			`{"properties":{},"additionalProperties":false,"type":"object"}`,
			`{"properties":{},"type":"object"}`},
		"members": {of[echoInput],
			`{"properties":{"text":{"type":"string","description":"What to say."},"times":{"type":"integer","minimum":1},"loud":{"type":"boolean"},"tags":{"items":{"type":"string"},"type":"array"}},"additionalProperties":false,"type":"object","required":["text"]}`,
			`{"properties":{"loud":{"type":"boolean"},"tags":{"items":{"type":"string"},"type":"array"},"text":{"description":"What to say.","type":"string"},"times":{"minimum":1,"type":"integer"}},"required":["text"],"type":"object"}`},
		"nested": {of[nested],
			`{"properties":{"parts":{"items":{"properties":{"name":{"type":"string","enum":["b","a"],"maxLength":9,"minLength":1},"wait":{"type":"integer","maximum":600,"minimum":0},"sorted":{"type":"boolean","default":true},"kind":{"type":"string","default":"\u003cany\u003e"},"share":{"type":"number"},"steps":{"items":{"type":"string"},"type":"array","maxItems":5}},"additionalProperties":false,"type":"object","required":["name","steps"]},"type":"array"},"additionalProperties":{"type":"boolean"}},"additionalProperties":false,"type":"object"}`,
			`{"properties":{"additionalProperties":{"type":"boolean"},"parts":{"items":{"properties":{"kind":{"default":"\u003cany\u003e","type":"string"},"name":{"enum":["b","a"],"maxLength":9,"minLength":1,"type":"string"},"share":{"type":"number"},"sorted":{"default":true,"type":"boolean"},"steps":{"items":{"type":"string"},"maxItems":5,"type":"array"},"wait":{"maximum":600,"minimum":0,"type":"integer"}},"required":["name","steps"],"type":"object"},"type":"array"}},"type":"object"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				schema, shown := tt.schemas()
				if diff := cmp.Diff([]string{tt.want, tt.shown}, []string{string(schema), string(shown)}); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func of[T any]() ([]byte, []byte) { return SchemaOf[T]() }

// TestNoSchema checks that a tool with a type or a keyword without a schema is noticed.
func TestNoSchema(t *testing.T) {
	for name, schemas := range map[string]func() ([]byte, []byte){
		"type": of[struct{ A map[string]string }],
		"keyword": of[struct {
			A string `json:"a" jsonschema:"pattern=x"`
		}],
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("there is a schema")
				}
			}()
			schemas()
		})
	}
}

func BenchmarkSchemaOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := schemaOf(reflect.TypeFor[echoInput]())
		s.append(nil)
		s.forModels().append(nil)
	}
}
