package filter

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// The documentation lists every strategy and every kind of credential.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for _, name := range slices.Sorted(maps.Keys(strategies)) {
		if !strings.Contains(doc, "\n| `"+name+"` | ") {
			t.Errorf("no row of the strategy %s", name)
		}
	}
	escape := strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`)
	_, doc, _ = strings.Cut(doc, "\n## Credentials\n")
	var rows strings.Builder
	for _, c := range redact.Credentials {
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", c.Category, c.Kind, escape.Replace(c.Shapes))
	}
	if !strings.Contains(doc, "| --- | --- | --- |\n"+rows.String()) && !strings.Contains(doc, "|---|---|---|\n"+rows.String()) {
		t.Errorf("the table of credentials should have\n%s", &rows)
	}
}
