package doctor

import (
	"strings"
	"testing"
)

// TestFindingsText shows the report without a terminal, and in two widths of one.
func TestFindingsText(t *testing.T) {
	found := []Finding{{State: Warning, Check: "model", Text: "no model is connected: only calls of your own work",
		Fix: "run zeph-acp login, or set a key in the environment"}}
	const end = "\n0 ok, 1 warning, 0 failures\n"
	for columns, want := range map[int]string{
		0: "warning  model  no model is connected: only calls of your own work\n                → run zeph-acp login, or set a key in the environment\n",
		60: "warning  model  no model is connected: only calls of your\n                own work\n" +
			"                → run zeph-acp login, or set a key in the\n                  environment\n",
		40: "warning  model\n  no model is connected: only calls of\n  your own work\n  → run zeph-acp login, or set a key in\n    the environment\n",
	} {
		if got := findingsText(found, columns); got != want+end {
			t.Errorf("%d columns: got\n%swant\n%s", columns, got, want+end)
		}
		for line := range strings.Lines(want) {
			if columns > 0 && len([]rune(line)) > columns+1 {
				t.Errorf("%d columns: %q is too wide", columns, line)
			}
		}
	}
}
