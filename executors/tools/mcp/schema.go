package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/endless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxSchema = 64 << 10 // bytes
	maxDepth  = 64       // of nested values
)

// inputSchema returns the schema of a tool for the check of calls, and the one for models.
// An error means that the tool cannot be used.
//
// Both lack the name of the dialect, and patterns that only ECMAScript understands.
// Providers refuse a request if the outermost schema has anyOf, oneOf, allOf, enum or not,
// so only the schema for the check has these.
func inputSchema(from any) (checked, offered json.RawMessage, err error) {
	raw, err := json.Marshal(from)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema is not JSON: %w", err)
	}
	if len(raw) > maxSchema {
		return nil, nil, fmt.Errorf("its schema has %s, more than %d", quantity.Count(len(raw), "byte"), maxSchema)
	}
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil || root == nil {
		return nil, nil, errors.New("its schema is not an object")
	}
	if depth(root) > maxDepth {
		return nil, nil, fmt.Errorf("its schema is nested more than %d deep", maxDepth)
	}
	if t, ok := root["type"]; ok && t != "object" {
		return nil, nil, fmt.Errorf("its schema has the type %v, not object", t)
	}
	root["type"] = "object"
	dropUnusable(root)
	if err := endless.Check(root); err != nil {
		return nil, nil, fmt.Errorf("its schema %w", err)
	}
	if checked, err = json.Marshal(root); err != nil {
		return nil, nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(checked, &s); err != nil {
		return nil, nil, fmt.Errorf("its schema is broken: %w", executors.PlainJSONError(err))
	}
	if _, err := s.Resolve(nil); err != nil {
		return nil, nil, fmt.Errorf("its schema is broken: %w", err)
	}
	flattenAlternatives(root)
	offered, err = json.Marshal(root)
	return checked, offered, err
}

// depth returns how deep a value is nested, up to a little more than maxDepth.
func depth(v any) int {
	most := 0
	eachValue(v, func(sub any) {
		if most <= maxDepth {
			most = max(most, depth(sub))
		}
	})
	return most + 1
}

// eachValue calls f with the values of an object or a list.
func eachValue(v any, f func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, sub := range v {
			f(sub)
		}
	case []any:
		for _, sub := range v {
			f(sub)
		}
	}
}

// dropUnusable removes the keywords that neither models nor the check can use from a schema and
// its subschemas, and invisible characters from its texts.
func dropUnusable(v any) {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"$schema", "$id", "id"} {
			if _, text := m[key].(string); text {
				delete(m, key)
			}
		}
		for _, key := range []string{"title", "description"} {
			if words, text := m[key].(string); text {
				m[key] = stripInvisible(words)
			}
		}
		if pattern, text := m["pattern"].(string); text && !compiles(pattern) {
			delete(m, "pattern")
		}
		if patterns, ok := m["patternProperties"].(map[string]any); ok {
			maps.DeleteFunc(patterns, func(p string, _ any) bool { return !compiles(p) })
		}
	}
	eachValue(v, dropUnusable)
}

func compiles(pattern string) bool {
	_, err := regexp.Compile(pattern)
	return err == nil
}

// flattenAlternatives moves the properties of the outermost alternatives up, as optional ones,
// and drops the alternatives.
func flattenAlternatives(root map[string]any) {
	properties, _ := root["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := root[key].([]any)
		for _, b := range branches {
			branch, _ := b.(map[string]any)
			more, _ := branch["properties"].(map[string]any)
			for name, schema := range more {
				if properties[name] == nil {
					properties[name] = schema
				}
			}
		}
		delete(root, key)
	}
	for _, key := range []string{"enum", "const", "not", "if", "then", "else"} {
		delete(root, key)
	}
	root["properties"] = properties
}
