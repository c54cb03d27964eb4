package gemini

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// schemaOf returns a schema without the keywords and forms that Google does not support in parametersJsonSchema: references are
// replaced by what they mean, and constants, exclusive bounds and lists of schemas that all hold are rewritten. It accepts at least
// what raw accepts: the call is checked by the whole schema when it is made.
// https://ai.google.dev/api/generate-content#generationconfig
func schemaOf(raw json.RawMessage) json.RawMessage {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil {
		return raw
	}
	s := schemas{root: root, left: maxSchemas}
	schema := s.rewrite(root, nil)
	for _, keyword := range []string{"$defs", "definitions", "$schema", "$id"} { // no reference is left
		s.drop(schema, keyword)
	}
	if !s.changed {
		return raw
	}
	out, err := json.Marshal(schema)
	if err != nil {
		return raw
	}
	return out
}

// maxSchemas bounds the subschemas of one schema: references may multiply them without end. What is beyond accepts any value.
const maxSchemas = 2_000

// schemas rewrites one schema.
type schemas struct {
	root    map[string]any
	left    int // subschemas that may still follow
	changed bool
}

// rewrite returns a rewritten copy of a subschema. refs are the references that led to it.
func (s *schemas) rewrite(v any, refs []string) map[string]any {
	in, ok := v.(map[string]any)
	s.left--
	if !ok || s.left < 0 { // true and false
		s.changed = true
		return map[string]any{}
	}
	if ref, ok := in["$ref"].(string); ok {
		return s.resolve(in, ref, refs)
	}
	out := make(map[string]any, len(in))
	for keyword, v := range in {
		switch keyword {
		case "items", "additionalProperties":
			out[keyword] = s.rewriteValue(v, refs)
		case "properties":
			named, _ := v.(map[string]any)
			properties := make(map[string]any, len(named))
			for _, name := range slices.Sorted(maps.Keys(named)) { // in order, so that the bound cuts the same ones each time
				properties[name] = s.rewrite(named[name], refs)
			}
			out[keyword] = properties
		case "anyOf", "oneOf", "allOf", "prefixItems":
			out[keyword] = s.rewriteList(v, refs)
		default:
			out[keyword] = v
		}
	}
	s.rewriteAllOf(out)
	s.rewriteValues(out)
	s.rewriteBounds(out)
	return out
}

// rewriteValue rewrites the value of a keyword that may also be a boolean or, in earlier drafts, a list.
func (s *schemas) rewriteValue(v any, refs []string) any {
	switch v.(type) {
	case bool:
		return v
	case []any:
		return s.rewriteList(v, refs)
	}
	return s.rewrite(v, refs)
}

func (s *schemas) rewriteList(v any, refs []string) []any {
	list, _ := v.([]any)
	out := make([]any, len(list))
	for i, sub := range list {
		out[i] = s.rewrite(sub, refs)
	}
	return out
}

// drop removes a keyword.
func (s *schemas) drop(schema map[string]any, keyword string) {
	if _, ok := schema[keyword]; ok {
		delete(schema, keyword)
		s.changed = true
	}
}

// resolve returns the schema that a reference names, with the keywords beside the reference. A reference to a schema that contains it,
// or to another document, accepts any value.
func (s *schemas) resolve(in map[string]any, ref string, refs []string) map[string]any {
	s.changed = true
	out := map[string]any{}
	if target, ok := s.lookUp(ref); ok && !slices.Contains(refs, ref) {
		out = s.rewrite(target, append(slices.Clip(refs), ref))
	}
	for _, keyword := range []string{"description", "default"} {
		if v, ok := in[keyword]; ok {
			out[keyword] = v
		}
	}
	return out
}

// lookUp returns the schema at a JSON pointer in the same document.
func (s *schemas) lookUp(ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	var at any = s.root
	for _, step := range strings.Split(pointer, "/")[1:] {
		members, _ := at.(map[string]any)
		if at, ok = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !ok {
			return nil, false
		}
	}
	return at, true
}

// rewriteAllOf merges the schemas that all hold into the schema itself, as far as their keywords do not contradict.
func (s *schemas) rewriteAllOf(schema map[string]any) {
	all, ok := schema["allOf"].([]any)
	if !ok {
		return
	}
	s.drop(schema, "allOf")
	for _, sub := range all {
		for keyword, v := range sub.(map[string]any) {
			switch had, ok := schema[keyword]; {
			case !ok:
				schema[keyword] = v
			case keyword == "properties":
				merged := maps.Clone(v.(map[string]any))
				maps.Copy(merged, had.(map[string]any))
				schema[keyword] = merged
			case keyword == "required":
				a, _ := had.([]any)
				b, _ := v.([]any)
				schema[keyword] = slices.Concat(a, b)
			}
		}
	}
}

// formats are the formats that Google knows.
var formats = []string{"date-time", "date", "time", "duration", "enum", "float", "double", "int32", "int64"}

// rewriteValues rewrites the keywords that list values: Google accepts strings or numbers, but no constants.
func (s *schemas) rewriteValues(schema map[string]any) {
	if v, ok := schema["const"]; ok {
		s.drop(schema, "const")
		schema["enum"] = []any{v}
	}
	if list, ok := schema["enum"]; ok {
		values, _ := list.([]any)
		texts := !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(string); return !ok })
		numbers := !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(float64); return !ok })
		switch kind := schema["type"]; {
		case len(values) == 0, !texts && !numbers:
			s.drop(schema, "enum")
		case kind == nil:
			schema["type"] = map[bool]string{true: "string", false: "number"}[texts]
			s.changed = true
		}
	}
	if format, ok := schema["format"].(string); ok && !slices.Contains(formats, format) {
		s.drop(schema, "format")
	}
}

// rewriteBounds replaces exclusive bounds by inclusive ones.
func (s *schemas) rewriteBounds(schema map[string]any) {
	s.rewriteBound(schema, "exclusiveMinimum", "minimum", 1, math.Max)
	s.rewriteBound(schema, "exclusiveMaximum", "maximum", -1, math.Min)
}

// rewriteBound replaces one of them: by the next integer, or by the same number.
func (s *schemas) rewriteBound(schema map[string]any, exclusive, inclusive string, step float64, stricter func(a, b float64) float64) {
	bound, ok := schema[exclusive].(float64) // in an earlier draft it is a boolean, beside the inclusive bound
	s.drop(schema, exclusive)
	if !ok {
		return
	}
	if schema["type"] == "integer" && bound == math.Trunc(bound) {
		bound += step
	}
	if other, ok := schema[inclusive].(float64); ok {
		bound = stricter(bound, other)
	}
	schema[inclusive] = bound
}
