// Package endless finds JSON Schemas for which the check of a value would not end.
//
// Start with [Check] for each schema. It promises that a schema without an error costs at
// most a fixed number of schemas for each value, apart from the values within it. Then call
// [CheckValue] before each check: a schema may still branch at each level of a value. The
// package does not check that a schema is valid.
//
// Why is it needed? The validator follows references without a limit. A schema that
// refers to itself overflows the stack, which ends the process without a chance to
// recover. Nested alternatives can take years.
package endless

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxApplied bounds the schemas that apply to one value.
const maxApplied = 10_000

// inPlaceKeywords are the keywords whose schemas apply to the same value as the schema that
// has them.
var inPlaceKeywords = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}

// namedKeywords are the keywords whose schemas have names; the schemas of dependent apply to the
// same value.
var (
	namedKeywords     = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	dependentKeywords = []string{"dependentSchemas", "dependencies"}
)

// valueKeywords are the keywords that hold values, not schemas.
var valueKeywords = []string{"const", "default", "enum", "examples", "example"}

// Check returns an error, to be written after "the schema", if a check of some value against a
// decoded schema would not end: it refers to itself without descending into the value, or too many
// schemas apply to one value. A reference without a target in the schema is also an error.
func Check(root map[string]any) error {
	return (&search{root: root, applied: map[uintptr]int{}}).walk(root)
}

// search is a search through a schema.
type search struct {
	root    map[string]any
	applied map[uintptr]int // by the address of a schema: how many apply with it; 0 while it is open
}

// walk searches from every schema in v.
func (s *search) walk(v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		list, _ := v.([]any)
		for _, sub := range list {
			if err := s.walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := s.countApplied(m); err != nil {
		return err
	}
	for key, sub := range m {
		var err error
		switch names, ok := sub.(map[string]any); {
		case slices.Contains(valueKeywords, key):
		case ok && slices.Contains(namedKeywords, key):
			err = s.walk(slices.Collect(maps.Values(names)))
		default:
			err = s.walk(sub)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countApplied returns how many schemas apply to a value with m.
func (s *search) countApplied(m map[string]any) (int, error) {
	id := address(m)
	if n, ok := s.applied[id]; ok {
		if n == 0 {
			return 0, errors.New("refers to itself")
		}
		return n, nil
	}
	if _, ok := m["$id"].(string); ok && id != address(s.root) {
		return 0, errors.New("has an $id in a part of it") // references in this part lead elsewhere
	}
	s.applied[id] = 0
	next, err := s.sameValueSchemas(m)
	if err != nil {
		return 0, err
	}
	sum := 1
	for _, sub := range next {
		n, err := s.countApplied(sub)
		if err != nil {
			return 0, err
		}
		if sum += n; sum > maxApplied {
			return 0, fmt.Errorf("applies more than %d schemas to one value", maxApplied)
		}
	}
	s.applied[id] = sum
	return sum, nil
}

// sameValueSchemas returns the schemas that apply to the same value as m, because of m itself.
func (s *search) sameValueSchemas(m map[string]any) ([]map[string]any, error) {
	var all []any
	for _, key := range inPlaceKeywords {
		if list, ok := m[key].([]any); ok {
			all = append(all, list...)
		} else {
			all = append(all, m[key])
		}
	}
	for _, key := range dependentKeywords {
		names, _ := m[key].(map[string]any)
		all = slices.AppendSeq(all, maps.Values(names))
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		ref, ok := m[key].(string)
		if !ok {
			continue
		}
		target := s.resolvePointer(ref)
		if name, ok := strings.CutPrefix(ref, "#"); target == nil && ok && key == "$ref" {
			target = findAnchor(s.root, name)
		}
		if target == nil {
			return nil, fmt.Errorf("refers to %.100q, which is not in it", ref)
		}
		all = append(all, target)
	}
	var next []map[string]any
	for _, v := range all {
		if sub, ok := v.(map[string]any); ok { // else true, false or missing
			next = append(next, sub)
		}
	}
	return next, nil
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// resolvePointer returns the value that a JSON pointer, such as #/$defs/a, leads to; nil if there is
// no such value.
func (s *search) resolvePointer(ref string) any {
	pointer, err := url.PathUnescape(ref)
	if err != nil || pointer != "#" && !strings.HasPrefix(pointer, "#/") {
		return nil
	}
	var v any = s.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = unescape.Replace(token)
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// findAnchor returns the schema in v with a name for references, such as #a; nil if there
// is no such schema.
func findAnchor(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			return v
		}
		for _, sub := range v {
			if found := findAnchor(sub, name); found != nil {
				return found
			}
		}
	case []any:
		for _, sub := range v {
			if found := findAnchor(sub, name); found != nil {
				return found
			}
		}
	}
	return nil
}
