package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/images"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// shown returns the question as the user must see it: without characters that hide or reorder
// others, and without images that the client would load. Diffs stay unchanged: clients apply them.
func (p RequestPermissionRequest) shown() RequestPermissionRequest {
	p.ToolCall.Title = images.Links(visible.Line(p.ToolCall.Title))
	p.ToolCall.Content = slices.Clone(p.ToolCall.Content)
	for i, c := range p.ToolCall.Content {
		if c.Content != nil && c.Content.Text != nil {
			block := *c.Content
			text := shownText(*block.Text)
			block.Text = &text
			p.ToolCall.Content[i].Content = &block
		}
	}
	p.Options = slices.Clone(p.Options)
	for i := range p.Options {
		p.Options[i].Name = images.Links(visible.Line(p.Options[i].Name))
	}
	return p
}

// shownText returns part of a question as the user must see it.
func shownText(text string) string { return images.Links(visible.Text(text)) }

// withoutImages returns an update whose Markdown has links in place of images from the net; see
// [images]. A message of the model has them already, since it may come in pieces.
func withoutImages(u SessionUpdate) SessionUpdate {
	switch u := u.(type) {
	case MessageChunk:
		if !u.Words {
			u.Content = u.Content.withoutImages()
		}
		return u
	case ToolCall:
		u.Title = images.Links(u.Title)
		u.Content = mapped(u.Content, func(c ToolContent) ToolContent {
			if c.Content != nil {
				block := c.Content.withoutImages()
				c.Content = &block
			}
			return c
		})
		return u
	case PlanUpdate:
		u.Entries = mapped(u.Entries, func(e PlanEntry) PlanEntry {
			e.Content = images.Links(e.Content)
			return e
		})
		u.Markdown = images.Links(u.Markdown)
		return u
	case Notice:
		u.Title, u.Description = images.Links(u.Title), images.Links(u.Description)
		return u
	case CompactionUpdate:
		u.Summary = mapped(u.Summary, ContentBlock.withoutImages)
		u.Error = images.Links(u.Error)
		return u
	case InfoUpdate:
		u.Title = images.Links(u.Title)
		return u
	case SubagentUpdate:
		u.Title, u.Description = images.Links(u.Title), images.Links(u.Description)
		return u
	case SessionMessage:
		u.Content = mapped(u.Content, ContentBlock.withoutImages)
		return u
	}
	return u
}

func (b ContentBlock) withoutImages() ContentBlock {
	if b.Text != nil {
		if text := images.Links(*b.Text); text != *b.Text {
			b.Text = &text
		}
	}
	return b
}

// mapped returns the results of f for the elements of a list; nil for nil.
func mapped[T, U any](list []T, f func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = f(e)
	}
	return out
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
				if text := shownText(t); text != t {
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
