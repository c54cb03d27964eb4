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
	strategyDoc, masking := readDoc(t, "reference/filter-strategies.md"), readDoc(t, "security.md")
	for _, name := range slices.Sorted(maps.Keys(strategies)) {
		if !strings.Contains(strategyDoc, "\n| `"+name+"` | ") {
			t.Errorf("no row of the strategy %s", name)
		}
	}
	escape := strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`)
	var rows strings.Builder
	for _, c := range redact.Credentials() {
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", c.Category, c.Kind, escape.Replace(c.Shapes))
	}
	if !strings.Contains(masking, "|---|---|---|\n"+rows.String()) {
		t.Errorf("the table of credentials should have\n%s", &rows)
	}
}

// readDoc returns a page of the documentation.
func readDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
