package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestLegible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\nwith ✓ and שלום\u200f":         "plain\ttext\nwith ✓ and שלום\u200f",
		"\x1b[2Jcleared\x00\x7f":                     "␛[2Jcleared␀␡",
		"one\r\ntwo\rthree":                          "one\ntwo␍three",
		"safe\u202eexe.txt\u2066x\u2069":             "safeexe.txtx",
		"a\u009b31mb\U000E0041\U000E0042":            "a31mb",
		"family \U0001F469\u200d\U0001F467 \xff end": "family \U0001F469\u200d\U0001F467 \uFFFD end",
	} {
		if got := legible(in); got != want {
			t.Errorf("legible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestNoControlCharacters checks the places by which a text of a server reaches the
// model.
func TestNoControlCharacters(t *testing.T) {
	const evil = "a\x1b[31mb\u202ec"
	res := resultOf("io", &sdk.CallToolResult{
		Content: []sdk.Content{
			&sdk.TextContent{Text: evil},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:" + evil, Text: evil}},
		},
		StructuredContent: map[string]any{"key": "\u202e"},
	})
	tool := newTool(NewServer(), &sdk.Tool{Name: "run", Title: evil, Description: evil, InputSchema: map[string]any{
		"type": "object", "properties": map[string]any{"description": map[string]any{"type": "string", "description": evil, "title": evil}},
	}})
	for what, got := range map[string]string{
		"result": res.Text, "description": tool.offered.Description, "title": tool.title, "schema": string(tool.offered.Offered()),
	} {
		for _, r := range got {
			if r < ' ' && r != '\n' || r == '\u202e' {
				t.Errorf("%s has %U:\n%q", what, r, got)
			}
		}
	}
	if want := `{"properties":{"description":{"description":"a[31mbc","title":"a[31mbc","type":"string"}},"type":"object"}`; string(tool.offered.Schema) != want {
		t.Errorf("schema %s, want %s", tool.offered.Schema, want)
	}
}
