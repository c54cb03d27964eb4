package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/visible"
)

// shown returns the question as the user must see it: no character of its texts hides or reorders
// others. Diffs stay as they are, since clients apply them.
func (p RequestPermissionRequest) shown() RequestPermissionRequest {
	p.ToolCall.Title = visible.Line(p.ToolCall.Title)
	p.ToolCall.Content = slices.Clone(p.ToolCall.Content)
	for i, c := range p.ToolCall.Content {
		if c.Content != nil && c.Content.Text != nil {
			block := *c.Content
			text := visible.Text(*block.Text)
			block.Text = &text
			p.ToolCall.Content[i].Content = &block
		}
	}
	p.Options = slices.Clone(p.Options)
	for i := range p.Options {
		p.Options[i].Name = visible.Line(p.Options[i].Name)
	}
	return p
}

// labels are the members of a form's schema that clients show.
var labels = []string{"title", "description", "enumNames"}

// shownSchema returns the schema of a form with its labels as the user must see them. Members keep their
// order, and values, which the answer has, stay.
func shownSchema(schema json.RawMessage) json.RawMessage {
	if schema == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	var out []byte
	copied := int64(0)
	type level struct {
		object, value bool // value: the next token of an object is a value
		key           string
	}
	var levels []level
	for {
		before := dec.InputOffset()
		token, err := dec.Token()
		if err != nil {
			break
		}
		top := len(levels) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				key := ""
				if top >= 0 {
					key = levels[top].key
				}
				levels = append(levels, level{object: t == '{', key: key})
				continue
			}
			levels = levels[:top]
			top--
		case string:
			if top >= 0 && levels[top].object && !levels[top].value {
				levels[top].key, levels[top].value = t, true
				continue
			}
			if top >= 0 && slices.Contains(labels, levels[top].key) {
				if text := visible.Text(t); text != t {
					at := before + int64(bytes.IndexByte(schema[before:], '"'))
					quoted, _ := json.Marshal(text) // a string always encodes
					out = append(append(out, schema[copied:at]...), quoted...)
					copied = dec.InputOffset()
				}
			}
		}
		if top >= 0 && levels[top].object {
			levels[top].value = false
		}
	}
	return append(out, schema[copied:]...)
}

// checkShown returns an error for a value or a name in a form that the user could not read. Unlike a label it cannot
// be written differently, since the answer has it.
func checkShown(values []any) error {
	for _, v := range values {
		if text, ok := v.(string); ok && strings.ContainsFunc(text, visible.Hidden) {
			return fmt.Errorf("%s has a character that a form cannot show", visible.Line(text))
		}
	}
	return nil
}
