package acp

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// No character that clients do not show reaches a title, a label of an option or a text of a question.
func TestQuestionsShowEveryCharacter(t *testing.T) {
	var hidden []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r != '\n' && r != '\t' && visible.Hidden(r) {
			hidden = append(hidden, r)
		}
	}
	if len(hidden) < 4000 {
		t.Fatalf("%d hidden characters", len(hidden))
	}
	for _, r := range hidden {
		text := "a" + string(r) + "b"
		p := RequestPermissionRequest{
			ToolCall: ToolCall{Title: text, Content: []ToolContent{BlockContent(TextBlock("```sh\n" + text + "\n```"))}},
			Options:  []PermissionOption{{OptionID: "x", Name: "Always allow `" + text + "`"}},
		}
		q := p.shown()
		for name, got := range map[string]string{"title": q.ToolCall.Title, "label": q.Options[0].Name, "content": *q.ToolCall.Content[0].Content.Text} {
			if strings.ContainsRune(got, r) {
				t.Errorf("the %s has U+%04X: %q", name, r, got)
			}
		}
		if *p.ToolCall.Content[0].Content.Text == *q.ToolCall.Content[0].Content.Text || p.Options[0].Name == q.Options[0].Name {
			t.Fatalf("U+%04X: the request itself was changed", r)
		}
	}
}

// Labels of a form are shown as other question text is. Values and the order of members stay.
func TestShownSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{"z":{"type":"string","title":"a` + "\u202e" +
			`b"},"a":{"title":"x","type":"string"}}}`: `{"type":"object","properties":{"z":{"type":"string","title":"a` +
			`\u003cU+202E\u003eb"},"a":{"title":"x","type":"string"}}}`,
		`{"properties":{"title":{"type":"string","enum":["a","b"],"enumNames":["a` + "\u200b" +
			`","b"]}}}`: `{"properties":{"title":{"type":"string","enum":["a","b"],` +
			`"enumNames":["a\u003cU+200B\u003e","b"]}}}`,
		`{"properties":{"x":{"oneOf":[{"const":"a` + "\u200b" + `","title":"a\u00a0b"}]}}}`: `{"properties":{"x":{"oneOf":[{"const":"a` + "\u200b" +
			`","title":"a\u003cU+00A0\u003eb"}]}}}`,
		`{"properties":{"x":{"description":"` + "\u0455udo" + `"}}}`: `{"properties":{"x":{"description":"\u003cU+0455\u003eudo"}}}`,
		`{"properties":{"title":{"title":"a"}}}`:                     `{"properties":{"title":{"title":"a"}}}`,
	} {
		if got := shownSchema(json.RawMessage(in)); string(got) != want {
			t.Errorf("shownSchema(%s) =\n%s, want\n%s", in, got, want)
		}
	}
	if shownSchema(nil) != nil {
		t.Error("no schema became one")
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a` + "\u202e" + `":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x` + "\u00a0" + `y"]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["\u200bx"]}}}}`,
	} {
		if checkFormSchema(json.RawMessage(schema)) == nil {
			t.Errorf("%s was accepted", schema)
		}
	}
}
