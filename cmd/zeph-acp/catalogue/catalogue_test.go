package catalogue

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Small models copy the examples of a description. So an example belongs to no language or host, is
// harmless if it is called, and has nothing to fill in.
func TestExamplesAreNeutral(t *testing.T) {
	placeholder := regexp.MustCompile(`\b[A-Z_]{3,}\b|<\w+>|…|\b(foo|bar|baz|xyz)\b`)
	words := []string{"CSS", "PDF", "MCP", "JSON", "URI", "TODO", "FIXME"}
	foreign := regexp.MustCompile(`\.(go|rs|py|js|ts|java|c)\b|https?://|&&`)
	for _, tool := range Known() {
		for _, found := range placeholder.FindAllString(tool.Description, -1) {
			if !slices.Contains(words, found) {
				t.Errorf("%s: the description has the placeholder %s", tool.Name, found)
			}
		}
		if found := foreign.FindString(tool.Description); found != "" {
			t.Errorf("%s: the description has %s, which fits some projects only", tool.Name, found)
		}
		if in := tool.Invocation; (in.Param == "") != (in.Example == "") {
			t.Errorf("%s: got the example %q for the parameter %q", tool.Name, in.Example, in.Param)
		}
		checkExample(t, tool)
	}
}

// checkExample compares the example of a description with the schema.
func checkExample(t *testing.T, tool executors.Tool) {
	t.Helper()
	for line := range strings.Lines(tool.Description) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var schema struct{ Properties map[string]any }
		var input map[string]any
		if err := json.Unmarshal([]byte(line), &input); err != nil {
			t.Errorf("%s: the example %s is not JSON: %v", tool.Name, line, err)
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for name := range input {
			if _, ok := schema.Properties[name]; !ok {
				t.Errorf("%s: the example has %q, which is no parameter", tool.Name, name)
			}
		}
		if _, ok := input["path"]; ok {
			t.Errorf("%s: the example names a path, which a project may have", tool.Name)
		}
		if _, ok := input["id"]; ok {
			t.Errorf("%s: the example has an id, which only a result may give", tool.Name)
		}
	}
}
