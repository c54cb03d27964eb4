package executors

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestObjectOf compares schemas with their JSON, and their form for models with the one that
// is made of their JSON.
func TestObjectOf(t *testing.T) {
	type limits struct {
		Name   string   `json:"name" jsonschema:"minLength=1,maxLength=9,enum=b,enum=a"`
		Wait   *int64   `json:"wait,omitempty" jsonschema:"minimum=0,maximum=600"`
		Sorted *bool    `json:"sorted,omitempty" jsonschema:"default=true"`
		Kind   string   `json:"kind,omitempty" jsonschema:"default=<any>"`
		Share  float64  `json:"share,omitempty"`
		Steps  []string `json:"steps" jsonschema:"description=in order,maxItems=5"`
	}
	type nested struct {
		Parts []limits `json:"parts,omitempty"`
		// A parameter may have the name of a keyword.
		AdditionalProperties bool `json:"additionalProperties,omitempty"`
	}
	type embedded struct {
		echoInput
		Unnamed string
		Skipped string `json:"-"`
	}
	const (
		end   = `,"additionalProperties":false,"type":"object"`
		texts = `{"items":{"type":"string"},"type":"array"`
		echo  = `"text":{"type":"string","description":"What to say."},"times":{"type":"integer","minimum":1},"loud":{"type":"boolean"},"tags":` + texts + `}`
		limit = `{"properties":{"name":{"type":"string","enum":["b","a"],"maxLength":9,"minLength":1},` +
			`"wait":{"type":"integer","maximum":600,"minimum":0},"sorted":{"type":"boolean","default":true},` +
			`"kind":{"type":"string","default":"\u003cany\u003e"},"share":{"type":"number"},` +
			`"steps":` + texts + `,"maxItems":5,"description":"in order"}}` + end + `,"required":["name","steps"]}`
	)
	for name, tt := range map[string]struct {
		input any
		want  string
	}{
		"no members": {struct{}{}, `{"properties":{}` + end + `}`},
		"members":    {echoInput{}, `{"properties":{` + echo + `}` + end + `,"required":["text"]}`},
		"nested":     {nested{}, `{"properties":{"parts":{"items":` + limit + `,"type":"array"},"additionalProperties":{"type":"boolean"}}` + end + `}`},
		"embedded":   {embedded{}, `{"properties":{` + echo + `,"Unnamed":{"type":"string"}}` + end + `,"required":["text","Unnamed"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			o := objectOf(reflect.TypeOf(tt.input), "")
			got := o.append(nil)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			shown := Tool{Schema: append(json.RawMessage(tt.want), '\n')}.Offered() // which is not known yet
			if diff := cmp.Diff(string(shown), string(o.offered().append(nil))); diff != "" {
				t.Errorf("for models (-want +got)\n%s", diff)
			}
		})
	}
}

func TestObjectOfUnsupported(t *testing.T) {
	for name, input := range map[string]any{
		"a map": struct{ A map[string]string }{},
		"a keyword": struct {
			A []struct {
				B string `jsonschema:"pattern=x"`
			}
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("objectOf did not panic")
				}
			}()
			objectOf(reflect.TypeOf(input), "")
		})
	}
}

func BenchmarkSchema(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		objectOf(reflect.TypeFor[echoInput](), "").append(nil)
	}
}
