package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zeph-acp/zeph-acp/filter/text/endless"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxForm   = 64 << 10 // bytes of a form's schema
	maxFields = 50
	maxLabel  = 500 // characters of a title or a description
)

var errHidden = errors.New("its form has invisible characters")

// formSchema returns the schema of a form as clients get it: the keywords that forms
// have, with bounded texts. The required fields come first, since the SDK does not keep
// the order of the server.
func formSchema(from any) (json.RawMessage, error) {
	raw, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxForm {
		return nil, fmt.Errorf("its form has %s, more than %d", quantity.Count(len(raw), "byte"), maxForm)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("its form is broken: %w", err)
	}
	var root map[string]any // the SDK checks the answer against the server's own schema
	if json.Unmarshal(raw, &root) == nil {
		if err := endless.Check(root); err != nil {
			return nil, fmt.Errorf("the schema of its form %w", err)
		}
	}
	if len(s.Properties) > maxFields {
		return nil, fmt.Errorf("its form has %s, more than %d", quantity.Count(len(s.Properties), "field"), maxFields)
	}
	out := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, PropertyOrder: fieldOrder(s)}
	for _, name := range out.PropertyOrder {
		if stripInvisible(name) != name {
			return nil, errHidden
		}
		if out.Properties[name], err = formField(s.Properties[name]); err != nil {
			return nil, err
		}
		if slices.Contains(s.Required, name) {
			out.Required = append(out.Required, name)
		}
	}
	text, err := json.Marshal(out)
	if err == nil && len(out.Properties) == 0 {
		text = []byte(`{"type":"object","properties":{}}`) // some clients want the member
	}
	return text, err
}

// fieldOrder returns the names of the fields: the required ones in their order, then the
// others by name.
func fieldOrder(s jsonschema.Schema) []string {
	var order []string
	for _, name := range append(slices.Clone(s.Required), slices.Sorted(maps.Keys(s.Properties))...) {
		if s.Properties[name] != nil && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// formField returns the schema of one field.
// https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
func formField(f *jsonschema.Schema) (*jsonschema.Schema, error) {
	out := &jsonschema.Schema{
		Type: f.Type, Title: boundedLabel(f.Title), Description: boundedLabel(f.Description), Default: f.Default, Format: f.Format,
		MinLength: f.MinLength, MaxLength: f.MaxLength, Pattern: f.Pattern, Minimum: f.Minimum, Maximum: f.Maximum,
		MinItems: f.MinItems, MaxItems: f.MaxItems,
	}
	var err error
	out.Enum, out.OneOf, err = choices(f.Enum, f.OneOf, f.Extra["enumNames"])
	if err == nil && f.Items != nil {
		out.Items = &jsonschema.Schema{Type: f.Items.Type}
		out.Items.Enum, out.Items.AnyOf, err = choices(f.Items.Enum, f.Items.AnyOf, nil)
	}
	return out, err
}

// choices returns the values of a field and those with a title. Older servers have the
// titles in enumNames.
func choices(values []any, titled []*jsonschema.Schema, names any) ([]any, []*jsonschema.Schema, error) {
	var out []*jsonschema.Schema
	for _, t := range titled {
		if t == nil || t.Const == nil {
			return nil, nil, errors.New("its form has a choice without a value")
		}
		out = append(out, &jsonschema.Schema{Const: t.Const, Title: boundedLabel(t.Title)})
	}
	titles, _ := names.([]any)
	if len(titles) == len(values) && len(out) == 0 {
		for i, v := range values {
			title, _ := titles[i].(string)
			out = append(out, &jsonschema.Schema{Const: &v, Title: boundedLabel(title)})
		}
	}
	if len(out) > 0 {
		values = nil
	}
	if slices.ContainsFunc(values, isInvisible) ||
		slices.ContainsFunc(out, func(s *jsonschema.Schema) bool { return isInvisible(*s.Const) }) {
		return nil, nil, errHidden
	}
	return values, out, nil
}

// isInvisible reports whether a value is a text with invisible characters.
func isInvisible(v any) bool {
	text, ok := v.(string)
	return ok && stripInvisible(text) != text
}

// boundedLabel returns a title or a description, bounded and without invisible characters.
func boundedLabel(text string) string {
	return line.TruncateRunes(strings.TrimSpace(stripInvisible(text)), maxLabel)
}
