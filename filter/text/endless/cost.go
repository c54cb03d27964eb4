package endless

import (
	"errors"
	"reflect"
)

// errCostly is the error of a value that cannot be checked in time.
var errCostly = errors.New("has too many parts for the alternatives of its schema")

// The work of a check is counted in bytes of errors: a schema that fails writes the value
// into its error, and each schema around it copies that error. The limit corresponds to a
// few seconds.
const (
	maxWork   = 128 << 20
	applyWork = 128 // of applying a schema to a value
	showWork  = 4   // of a byte of a value in an error
	labelSize = 64  // bytes that a schema adds to an error
)

// CheckValue returns an error, to be written after a name of the value, if a check of v against a
// schema would take too long: the schema branches at each level of the value, or the errors of its
// alternatives are too long. Check must have accepted the schema. It visits each pair of a schema
// and a value once, so it is fast itself.
func CheckValue(root map[string]any, v any) error {
	c := &costs{
		search: search{root: root}, room: maxWork / applyWork,
		computed: map[pair]work{}, sameValue: map[uintptr][]map[string]any{}, sizes: map[uintptr]int{},
	}
	if c.apply(root, v); c.room < 0 {
		return errCostly
	}
	return nil
}

// costs computes the work of a check.
type costs struct {
	search
	room      int // pairs that may still be followed; below 0 the limit is exceeded
	computed  map[pair]work
	sameValue map[uintptr][]map[string]any // of sameValueSchemas, by the address of a schema
	sizes     map[uintptr]int              // the size of an object or a list, by its address
}

// pair is a schema, and an object or a list to which it applies, by their addresses.
type pair struct{ schema, value uintptr }

// work is the work of applying a schema to a value.
type work struct {
	cost int
	text int // bytes of the longest error
}

// add adds the work of another schema. The first error is the only one.
func (w *work) add(more work) {
	w.cost += more.cost
	w.text = max(w.text, more.text)
}

// join adds the work of another schema in anyOf, which joins the errors of its schemas.
func (w *work) join(more work) {
	w.cost += more.cost
	w.text += more.text
}

// apply returns the work of applying a schema to a value.
func (c *costs) apply(schema, v any) (w work) {
	m, ok := schema.(map[string]any)
	if !ok { // true, false or missing
		return w
	}
	if c.room--; c.room < 0 {
		return w
	}
	p := pair{address(m), address(v)}
	if w, ok := c.computed[p]; ok {
		return w
	}
	next, ok := c.sameValue[p.schema]
	if !ok {
		next, _ = c.sameValueSchemas(m) // an error would be one of Check
		c.sameValue[p.schema] = next
	}
	for _, sub := range next {
		if work := c.apply(sub, v); m["anyOf"] != nil {
			w.join(work)
		} else {
			w.add(work)
		}
	}
	c.addParts(&w, m, v)
	own := labelSize
	if errorShowsValue(m, v) {
		own += showWork * c.size(v)
	}
	w.text += own
	if w.cost += applyWork + w.text; w.cost > maxWork {
		c.room = -1
	}
	if p.value != 0 {
		c.computed[p] = w
	}
	return w
}

// errorShowsValue reports whether an error of a schema may have the value in it.
func errorShowsValue(m map[string]any, v any) bool {
	for _, key := range []string{"enum", "const", "pattern", "minLength", "maxLength"} {
		if m[key] != nil {
			return true
		}
	}
	switch v.(type) {
	case map[string]any:
		return m["type"] != nil && m["type"] != "object"
	case []any:
		return m["type"] != nil && m["type"] != "array"
	case string:
		return m["type"] != nil && m["type"] != "string"
	}
	return false
}

// addParts adds the work of applying the schemas in m to the parts of a value.
func (c *costs) addParts(w *work, m map[string]any, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			for _, sub := range memberSchemas(m, name) {
				w.add(c.apply(sub, part))
			}
			w.add(c.apply(m["propertyNames"], name))
		}
	case []any:
		for i, part := range v {
			for _, sub := range itemSchemas(m, i) {
				w.add(c.apply(sub, part))
			}
		}
	}
}

// memberSchemas returns the schemas that may apply to the member of an object, because of m.
func memberSchemas(m map[string]any, name string) []any {
	properties, _ := m["properties"].(map[string]any)
	own, ok := properties[name]
	all := []any{own, m["unevaluatedProperties"]}
	if !ok {
		all = append(all, m["additionalProperties"])
	}
	patterns, _ := m["patternProperties"].(map[string]any)
	for _, sub := range patterns {
		all = append(all, sub)
	}
	return all
}

// itemSchemas returns the schemas that may apply to the item i of a list, because of m.
func itemSchemas(m map[string]any, i int) []any {
	all := []any{m["contains"], m["unevaluatedItems"], m["additionalItems"]}
	for _, key := range []string{"prefixItems", "items"} {
		list, ok := m[key].([]any)
		if !ok {
			all = append(all, m[key])
		} else if i < len(list) {
			all = append(all, list[i])
		}
	}
	return all
}

// size returns the number of bytes of a value, roughly.
func (c *costs) size(v any) int {
	id := address(v)
	if n, ok := c.sizes[id]; ok && id != 0 {
		return n
	}
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v)
	case map[string]any:
		for name, part := range v {
			n += len(name) + c.size(part)
		}
	case []any:
		for _, part := range v {
			n += c.size(part)
		}
	}
	if id != 0 {
		c.sizes[id] = n
	}
	return n
}

// address returns the address of an object or of a list with items; 0 for other values.
func address(v any) uintptr {
	switch v := v.(type) {
	case map[string]any:
		return reflect.ValueOf(v).Pointer()
	case []any:
		if len(v) > 0 {
			return reflect.ValueOf(v).Pointer()
		}
	}
	return 0
}
