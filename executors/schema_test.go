package executors

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

// reflected returns the schema of a value's type as the library generates it.
func reflected(v any) *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	return r.ReflectFromType(reflect.TypeOf(v))
}

// TestObjectOf compares schemas with those that the library encodes, and their form for
// models with one that is made of them.
func TestObjectOf(t *testing.T) {
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
		input any
		left  bool // to the library
	}{
		"no members":    {struct{}{}, false},
		"members":       {echoInput{}, false},
		"nested":        {nested{}, false},
		"other members": {struct{ A map[string]string }{}, true},
		"a pattern": {struct {
			A []struct {
				B string `jsonschema:"pattern=x"`
			}
		}{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := reflected(tt.input)
			s.Version = ""
			o, ok := objectOf(s)
			if ok == tt.left {
				t.Fatalf("objectOf returned %t, want %t", ok, !tt.left)
			}
			want, err := json.Marshal(s)
			if diff := cmp.Diff(string(want), string(encodeSchema(s))); diff != "" || err != nil {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
			shown := Tool{Schema: append(want, '\n')}.Offered() // which is not known yet
			if diff := cmp.Diff(string(shown), string(o.offered().append(nil))); diff != "" && ok {
				t.Errorf("for models (-want +got)\n%s", diff)
			}
		})
	}
}

func BenchmarkSchema(b *testing.B) {
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = json.Marshal(reflected(echoInput{}))
		}
	})
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := reflected(echoInput{})
			s.Version = ""
			encodeSchema(s)
		}
	})
}
