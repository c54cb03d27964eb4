package openai

import (
	"encoding/json"
	"math"
	"slices"
)

// geminiSchema returns a schema that uses only keywords of Google's Schema object. It accepts at least what raw accepts:
// the call is checked by the whole schema when it is made.
// https://ai.google.dev/api/caching#Schema
func geminiSchema(raw json.RawMessage) json.RawMessage {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil || !rewriteForGemini(schema) {
		return raw
	}
	out, err := json.Marshal(schema)
	if err != nil {
		return raw
	}
	return out
}

// rewriteForGemini changes a schema and its subschemas, and reports whether it changed any.
func rewriteForGemini(schema map[string]any) (changed bool) {
	below := func(v any) {
		if sub, ok := v.(map[string]any); ok && rewriteForGemini(sub) {
			changed = true
		}
	}
	for keyword, v := range schema {
		switch keyword {
		case "items", "additionalProperties":
			below(v)
		case "properties", "$defs", "definitions":
			named, _ := v.(map[string]any)
			for _, sub := range named {
				below(sub)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, _ := v.([]any)
			for _, sub := range list {
				below(sub)
			}
		}
	}
	if _, ok := schema["propertyNames"]; ok {
		delete(schema, "propertyNames")
		changed = true
	}
	step := 0.0
	if schema["type"] == "integer" {
		step = 1
	}
	lower := replaceBound(schema, "exclusiveMinimum", "minimum", step, math.Max)
	upper := replaceBound(schema, "exclusiveMaximum", "maximum", -step, math.Min)
	return splitTypes(schema) || lower || upper || changed
}

// replaceBound replaces an exclusive bound of a number by an inclusive one: the next integer, or the same number.
func replaceBound(schema map[string]any, exclusive, inclusive string, step float64, stricter func(a, b float64) float64) bool {
	v, ok := schema[exclusive]
	if !ok {
		return false
	}
	delete(schema, exclusive)
	bound, ok := v.(float64)
	if !ok { // the boolean of an earlier draft, beside the inclusive bound
		return true
	}
	if bound == math.Trunc(bound) {
		bound += step
	}
	if other, ok := schema[inclusive].(float64); ok {
		bound = stricter(bound, other)
	}
	schema[inclusive] = bound
	return true
}

// typeKeywords are the keywords that belong to a type, by the type. Google refuses them beside another one.
var typeKeywords = map[string][]string{
	"array":   {"items", "minItems", "maxItems", "prefixItems", "uniqueItems"},
	"object":  {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
	"string":  {"minLength", "maxLength", "pattern", "format", "enum"},
	"number":  {"minimum", "maximum"},
	"integer": {"minimum", "maximum"},
}

// splitTypes replaces a list of types: null by nullable, and several others by a choice of schemas.
func splitTypes(schema map[string]any) bool {
	list, ok := schema["type"].([]any)
	if !ok {
		return false
	}
	delete(schema, "type")
	if slices.Contains(list, any("null")) {
		schema["nullable"] = true
		list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return t == "null" })
	}
	if len(list) == 1 {
		schema["type"] = list[0]
		return true
	}
	if _, ok := schema["anyOf"]; ok || len(list) == 0 {
		return true
	}
	moved := map[string]bool{}
	choice := make([]any, len(list))
	for i, t := range list {
		one := map[string]any{"type": t}
		name, _ := t.(string)
		for _, keyword := range typeKeywords[name] {
			if v, ok := schema[keyword]; ok {
				one[keyword], moved[keyword] = v, true
			}
		}
		choice[i] = one
	}
	for keyword := range moved {
		delete(schema, keyword)
	}
	schema["anyOf"] = choice
	return true
}
