package executors

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"
)

// object is a JSON object with its members in order.
//
// Why are schemas written here? The first session of a process waits for the schemas of all
// tools. The library's encoder takes several times as long, and needs a second pass for the
// form that models get.
type object []member

// member is a member of an object.
type member struct {
	name  string
	value any // an object, or a value's JSON as a string
}

// append appends the object's JSON.
func (o object) append(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, encode(m.name)...), ':')
		if value, ok := m.value.(object); ok {
			b = value.append(b)
		} else {
			b = append(b, m.value.(string)...)
		}
	}
	return append(b, '}')
}

// noOthers is the keyword by which the validator finds unknown members.
var noOthers = member{"additionalProperties", "false"}

// offered returns a schema in the form that [Tool.Offered] returns: its members are sorted.
func (o object) offered() object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if m == noOthers {
			continue
		}
		if value, ok := m.value.(object); ok {
			m.value = value.offered()
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return out
}

// objectOf returns a schema as the library encodes it. It returns false if the schema has a
// keyword that no tool needs so far.
func objectOf(s *jsonschema.Schema) (o object, ok bool) {
	add := func(name string, present bool, value any) {
		if !present {
			return
		}
		if _, isObject := value.(object); !isObject {
			value = encode(value)
		}
		o = append(o, member{name, value})
	}
	items, properties, ok := subschemas(s)
	add("items", s.Items != nil, items)
	add("properties", s.Properties != nil, properties)
	add(noOthers.name, s.AdditionalProperties == jsonschema.FalseSchema, false)
	add("type", s.Type != "", s.Type)
	add("enum", len(s.Enum) > 0, s.Enum)
	add("maximum", s.Maximum != "", s.Maximum)
	add("minimum", s.Minimum != "", s.Minimum)
	add("maxLength", s.MaxLength != nil, s.MaxLength)
	add("minLength", s.MinLength != nil, s.MinLength)
	add("maxItems", s.MaxItems != nil, s.MaxItems)
	add("required", len(s.Required) > 0, s.Required)
	add("description", s.Description != "", s.Description)
	add("default", s.Default != nil, s.Default)

	rest := *s
	rest.Items, rest.Properties, rest.Type, rest.Enum, rest.Maximum, rest.Minimum = nil, nil, "", nil, "", ""
	rest.MaxLength, rest.MinLength, rest.MaxItems, rest.Required, rest.Description, rest.Default = nil, nil, nil, nil, "", nil
	if rest.AdditionalProperties == jsonschema.FalseSchema {
		rest.AdditionalProperties = nil
	}
	return o, ok && reflect.ValueOf(rest).IsZero()
}

// subschemas returns the schemas within a schema.
func subschemas(s *jsonschema.Schema) (items, properties object, ok bool) {
	ok = true
	if s.Items != nil {
		items, ok = objectOf(s.Items)
	}
	if s.Properties == nil {
		return items, nil, ok
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		value, fits := objectOf(p.Value)
		properties, ok = append(properties, member{p.Key, value}), ok && fits
	}
	return items, properties, ok
}

// encode returns the JSON of a string, a number, or a list of them.
func encode(v any) string {
	b, _ := json.Marshal(v) // these can be encoded
	return string(b)
}
