package executors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Offered returns the schema for models.
func (t Tool) Offered() json.RawMessage {
	if t.Shown != nil {
		return t.Shown
	}
	return t.Schema
}

// schemas caches the results of SchemaOf, which every session needs.
var schemas sync.Map // reflect.Type -> [2]json.RawMessage

// SchemaOf returns the JSON Schema of the struct T, an object without other members, and
// its form for models. The json tag names a member, omitempty makes it optional, and the
// jsonschema tag has its other keywords, such as "minimum=1,maximum=9". It panics if T has
// a type or a keyword that no tool needs so far.
//
// Why is it written here? The first session of a process waits for the schemas of all
// tools, and a general library needs ten times as long.
func SchemaOf[T any]() (schema, shown json.RawMessage) {
	t := reflect.TypeFor[T]()
	if s, ok := schemas.Load(t); ok {
		both := s.([2]json.RawMessage)
		return both[0], both[1]
	}
	s := schemaOf(t)
	schema, shown = s.append(nil), s.forModels().append(nil)
	schemas.Store(t, [2]json.RawMessage{schema, shown})
	return schema, shown
}

// object is a JSON object with its members in order.
type object []member

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
		b = append(strconv.AppendQuote(b, m.name), ':')
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

// forModels returns a schema without the keyword noOthers, which would cost tokens in every
// request. Its members are sorted by name.
func (o object) forModels() object {
	out := make(object, 0, len(o))
	for _, m := range o {
		if m == noOthers {
			continue
		}
		if value, ok := m.value.(object); ok {
			m.value = value.forModels()
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return out
}

// schemaOf returns the schema of a type.
func schemaOf(t reflect.Type) object {
	typed := member{"type", strconv.Quote(jsonType(t))}
	switch t.Kind() {
	case reflect.Pointer: // of a member whose absence differs from its zero value
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{{"items", schemaOf(t.Elem())}, typed}
	case reflect.Struct:
		properties, required := propertiesOf(t)
		out := object{{"properties", properties}, noOthers, typed}
		if len(required) > 0 {
			out = append(out, member{"required", list(required)})
		}
		return out
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return object{typed}
	}
	panic(fmt.Sprintf("schema of %v: not supported", t)) // a bug in the tool
}

// propertiesOf returns the members of a struct, and the names of those that are required.
func propertiesOf(t reflect.Type) (properties object, required []string) {
	properties = make(object, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options != "omitempty" {
			required = append(required, strconv.Quote(name))
		}
		properties = append(properties, member{name, append(schemaOf(f.Type), keywordsOf(f)...)})
	}
	return properties, required
}

// keywords are the keywords of a jsonschema tag in the order in which schemas have them.
var keywords = []string{"enum", "maximum", "minimum", "maxLength", "minLength", "maxItems", "description", "default"}

// keywordsOf returns the keywords of a field's jsonschema tag.
func keywordsOf(f reflect.StructField) (out object) {
	tag := f.Tag.Get("jsonschema")
	if tag == "" {
		return nil
	}
	values := map[string][]string{}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		if !slices.Contains(keywords, name) {
			panic(fmt.Sprintf("schema of %s: unknown keyword %q", f.Name, name)) // a bug in the tool
		}
		if name == "description" || f.Type.Kind() == reflect.String && (name == "enum" || name == "default") {
			value = text(value)
		}
		values[name] = append(values[name], value)
	}
	for _, name := range keywords {
		switch all := values[name]; {
		case name == "enum" && len(all) > 0:
			out = append(out, member{name, list(all)})
		case len(all) > 0:
			out = append(out, member{name, all[0]})
		}
	}
	return out
}

// text returns the JSON of a string.
func text(s string) string {
	b, _ := json.Marshal(s) // a string
	return string(b)
}

// list returns the JSON of a list of values.
func list(values []string) string { return "[" + strings.Join(values, ",") + "]" }
