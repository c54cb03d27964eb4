package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors"
)

func TestTools(t *testing.T) {
	tools := func() []executors.Tool {
		return []executors.Tool{
			{
				Name:        "read",
				Description: "Reads a file.\n\nMore.",
				Schema:      json.RawMessage(`{"type":"object"}`),
				Effect:      executors.Reads | executors.Idempotent,
			},
			{Name: "update_plan", Description: "Plans.", Schema: json.RawMessage(`{}`), Effect: executors.Internal},
			{
				Name:        "find_path",
				Description: "Finds <paths>.",
				Schema:      json.RawMessage(`{}`),
				Effect:      executors.Reads,
				Invocation:  executors.FencedBlock("find", "", ""),
			},
		}
	}
	if got, err := parameters(executors.Tool{Schema: json.RawMessage(`{"properties":{"b":{"type":"string"},"a":{"type":"integer"},"z":true,"y":{"type":"array"}},"required":["y","b"]}`)}); err != nil || strings.Join(got, "") != "  y (array)  b (string)  a (integer, optional)  z (any, optional)" {
		t.Errorf("the parameters are %q, %v", got, err)
	}
	for _, tool := range catalogue.Tools() {
		if len(effectNames(tool.Effect)) == 0 {
			t.Errorf("%s has no effect to name", tool.Name)
		}
	}
	if got := cli.WrapText("aa bb cccccc d", 5); strings.Join(got, "|") != "aa bb|cccccc|d" {
		t.Errorf("wrapText = %q, want aa bb, cccccc and d", got)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"text": {nil, "read         Reads a file.\nupdate_plan  Plans.\nfind_path    Finds <paths>.\n"},
		"json": {[]string{"--json"}, `[
  {
    "name": "read",
    "description": "Reads a file.\n\nMore.",
    "effects": [
      "reads",
      "idempotent"
    ],
    "invocation": "ToolCall",
    "schema": {
      "type": "object"
    }
  },
  {
    "name": "update_plan",
    "description": "Plans.",
    "effects": [
      "internal"
    ],
    "invocation": "ToolCall",
    "schema": {}
  },
  {
    "name": "find_path",
    "description": "Finds <paths>.",
    "effects": [
      "reads"
    ],
    "invocation": "FencedBlock(find)",
    "schema": {}
  }
]
`},
		"markdown": {[]string{"--markdown"},
			"## read\n\nReads a file.\n\nMore.\n\nEffects: reads, idempotent. Invocation: a `tool_call` block.\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n" +
				"\n## update_plan\n\nPlans.\n\nEffects: internal. Invocation: a `tool_call` block.\n\n```json\n{}\n```\n" +
				"\n## find_path\n\nFinds <paths>.\n\nEffects: reads. Invocation: a fenced block `find`.\n\n```json\n{}\n```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := NewCommand(tools)
			var b strings.Builder
			cmd.SetOut(&b)
			cmd.SetArgs(append([]string{}, tt.args...))
			if err := cmd.Execute(); err != nil || b.String() != tt.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), tt.want)
			}
		})
	}
}
