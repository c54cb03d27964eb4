package textcalls

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Param is a parameter of a tool, as its JSON Schema describes it.
type Param struct {
	Name     string
	Type     string // of JSON Schema, such as "string"; "any" where the schema names no single type
	About    string // the schema's description; may be empty
	Required bool
}

// ownParams caches the parameters of our own tools, which are few: each session shows
// them to its client.
var ownParams sync.Map // string, the schema -> []Param

// Params returns the tool's parameters: the required ones first, in the order in which
// the schema requires them. A schema that is not an object with properties has none. The
// caller does not change the result.
func Params(t llm.Tool) []Param {
	if t.Foreign {
		return paramsOf(t.Schema)
	}
	if known, ok := ownParams.Load(string(t.Schema)); ok {
		return known.([]Param)
	}
	params := paramsOf(t.Schema)
	ownParams.Store(string(t.Schema), params)
	return params
}

// paramsOf is Params without the cache.
func paramsOf(schema json.RawMessage) []Param {
	var in struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &in) != nil {
		return nil
	}
	var params []Param
	dec := json.NewDecoder(strings.NewReader(string(in.Properties)))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var p struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		_ = json.Unmarshal(raw, &p) // "true" is a legal schema that says nothing
		kind, ok := p.Type.(string)
		if !ok {
			kind = "any"
		}
		params = append(params, Param{name.(string), kind, p.Description, slices.Contains(in.Required, name.(string))})
	}
	position := func(p Param) int {
		if i := slices.Index(in.Required, p.Name); i >= 0 {
			return i
		}
		return len(in.Required)
	}
	slices.SortStableFunc(params, func(a, b Param) int { return cmp.Compare(position(a), position(b)) })
	return params
}

// Required returns the parameters that a call must have.
func Required(params []Param) []Param {
	return slices.DeleteFunc(slices.Clone(params), func(p Param) bool { return !p.Required })
}

// ExampleInput returns a JSON object with the parameters and an example of each value.
func ExampleInput(params []Param) string {
	var members []string
	for _, p := range params {
		members = append(members, fmt.Sprintf("%q: %s", p.Name, exampleValue(p.Type)))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// exampleValue returns a value of a JSON Schema type, as people read it.
func exampleValue(kind string) string {
	switch kind {
	case "string":
		return `"…"`
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[…]"
	case "object":
		return "{…}"
	}
	return "…"
}
