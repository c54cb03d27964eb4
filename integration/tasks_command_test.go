package integration

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTasksCommand runs one of the tasks whose cost is measured. Its exit status says that
// the model got every fact, and that the work was done.
func TestTasksCommand(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "run", "./tasks", "-binary", binary, "-agents", "zeph-acp", "-task", "rename", "-rounds").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []string{"rename: 20 calls", "zeph-acp  ", "run go build ./..."} {
		if !strings.Contains(string(out), row) {
			t.Errorf("no %q in\n%s", row, out)
		}
	}
}
