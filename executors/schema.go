package executors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// object is a JSON object with its members in order.
//
// Why are schemas written here? The first session of a process waits for those of all
// tools. A library needs several times as long, and a second pass for the form that models
// get. Those for many more keywords and types are 0.1 MiB of the binary.
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
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

// schemaTypes are the types in JSON of the kinds of fields that inputs have.
var schemaTypes = map[reflect.Kind]string{
	reflect.Slice: "array", reflect.Struct: "object", reflect.String: "string", reflect.Bool: "boolean",
	reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
}

// objectOf returns the schema of a type. tag is the tag jsonschema of its field: keywords
// with their values, such as "minimum=1,maximum=9". It panics if it does not support
// the type or a keyword.
func objectOf(t reflect.Type, tag string) (o object) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	keywords := map[string]string{} // with their values as JSON
	var enum []string
	for word := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case word == "":
		case name == "enum":
			enum = append(enum, value)
			keywords[name] = encode(enum)
		case name == "description", name == "default" && t.Kind() == reflect.String:
			keywords[name] = encode(value)
		case slices.Contains([]string{"maximum", "minimum", "maxLength", "minLength", "maxItems", "default"}, name):
			keywords[name] = value
		default:
			panic("schema: unknown keyword " + word)
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		o = append(o, member{"items", objectOf(t.Elem(), "")})
	case reflect.Struct:
		properties, required := propertiesOf(t)
		o = append(o, member{"properties", properties}, noOthers)
		if required != nil {
			keywords["required"] = encode(required)
		}
	}
	if schemaTypes[t.Kind()] == "" {
		panic(fmt.Sprintf("schema: an input has the type %s", t))
	}
	keywords["type"] = encode(schemaTypes[t.Kind()])
	for _, name := range []string{
		"type", "enum", "maximum", "minimum", "maxLength", "minLength", "maxItems", "required", "description", "default",
	} {
		if value, ok := keywords[name]; ok {
			o = append(o, member{name, value})
		}
	}
	return o
}

// propertiesOf returns the schemas of a struct's fields, and the names of those without omitempty.
func propertiesOf(t reflect.Type) (properties object, required []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		name = cmp.Or(name, f.Name)
		properties = append(properties, member{name, objectOf(f.Type, f.Tag.Get("jsonschema"))})
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return properties, required
}

// encode returns the JSON of a string or of a list of strings.
func encode(v any) string {
	b, _ := json.Marshal(v) // these can be encoded
	return string(b)
}
