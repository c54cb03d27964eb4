package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBenchCommand runs the command that measures everything, and checks that it
// fills each row of its table.
func TestBenchCommand(t *testing.T) {
	out, err := exec.Command("go", "run", "./cmd/bench", "-binary", binary, "-rounds", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []string{"first session/new", "a read call", "bash call in the client's terminal", "resident after the work"} {
		if !strings.Contains(string(out), row) {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
}
