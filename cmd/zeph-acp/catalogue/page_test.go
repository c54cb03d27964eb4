package catalogue

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

var update = flag.Bool("update", false, "rewrite the pages of tools and failures in docs/reference")

// TestPages compares docs/reference/tools.md and failures.md with the tools and the categories.
func TestPages(t *testing.T) {
	for name, want := range map[string]string{"tools": toolsPage(), "failures": failuresPage()} {
		file := "../../../docs/reference/" + name + ".md"
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v: docs/reference/%s.md differs; run this test with -update (-code +page)\n%s", err, name, diff)
		}
	}
}

func toolsPage() string {
	var b strings.Builder
	b.WriteString(`# All tools

This page is generated from the tools. A session has those that the configuration enables; the model looks for seldom ones with ` + "`tool_search`" + `:
see [outputs.md](../outputs.md#tools-that-the-model-looks-for). Tools of [MCP servers](../mcp.md) come in addition.
` + "`zeph-acp tools`" + ` prints the whole schemas.

| tool | kind | what the model reads about it | parameters |
|---|---|---|---|
`)
	tools := slices.SortedFunc(slices.Values(Known()), func(a, b executors.Tool) int { return strings.Compare(a.Name, b.Name) })
	for _, tool := range tools {
		var schema struct {
			Properties map[string]any
			Required   []string
		}
		_ = json.Unmarshal(tool.Schema, &schema)
		var parameters []string
		for _, p := range slices.Sorted(maps.Keys(schema.Properties)) {
			if slices.Contains(schema.Required, p) {
				parameters = append(parameters, "**`"+p+"`**")
			} else {
				parameters = append(parameters, "`"+p+"`")
			}
		}
		about := strings.Join(strings.Fields(strings.ReplaceAll(tool.Description, "|", `\|`)), " ")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tool.Name, tool.Kind, about, strings.Join(parameters, " "))
	}
	return b.String() + "\nParameters in bold are required.\n"
}

func failuresPage() string {
	var b strings.Builder
	b.WriteString(`# Failures of tool calls

This page is generated from the categories. The model gets a failure as a block ` + "`[tool_error]`" + ` with the category, the message and a suggestion;
the [audit log](../audit.md) has the category.
The codes of the protocol are in [client-authors.md](../client-authors.md#errors), the exit codes of the program in [run.md](../run.md#exit-codes).

| category | what the model is told if the failure has no suggestion of its own | repeated by itself |
|---|---|---|
`)
	for _, c := range executors.Categories {
		repeated := "no"
		if c.Infrastructure() {
			repeated = "if the tool is idempotent"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c, c.Advice(), repeated)
	}
	return b.String()
}
