package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Output over the budget is shortened by worth if its command writes blocks or fails, and the full text
// stays. Below the budget, and in the output of a command that prints a file, everything stays.
func TestLinkSpendsBudget(t *testing.T) {
	var failures strings.Builder
	for i := range 80 {
		fmt.Fprintf(&failures, "--- FAIL: TestX%d (0.00s)\n    x_test.go:%d: got %d, want 0\n", i, i, i)
		for n := range 9 {
			fmt.Fprintf(&failures, "        diff line %d: %s\n", n, strings.Repeat(string(rune('a'+i%26)), 30))
		}
	}
	failures.WriteString("FAIL\nFAIL\tx\t0.1s\nFAIL\n")
	one := 1
	for name, tt := range map[string]struct {
		command string
		exit    *int
		budget  int
		short   bool
	}{
		"tests":         {"go test ./...", &one, 8000, true},
		"no budget":     {"go test ./...", &one, 0, false},
		"large budget":  {"go test ./...", &one, 60_000, false},
		"script":        {"./check-all", &one, 8000, true},
		"file":          {"cat failures.log", nil, 8000, false},
		"running still": {"", nil, 8000, false},
	} {
		t.Run(name, func(t *testing.T) {
			res := executors.Result{Text: failures.String(), Output: &executors.Output{Partial: tt.command == ""}}
			call := &executors.Call{
				Card:   executors.Card{Script: command.Parse(tt.command, command.Shell{})},
				Record: &executors.Record{ExitCode: tt.exit},
			}
			got, err := testLink(t).Middleware(tool{res: res}).Execute(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			got.Spend(tt.budget)
			got.Bound(50_000)
			for i := range 80 {
				if want := fmt.Sprintf("--- FAIL: TestX%d (0.00s)\n    x_test.go:%d: got %d, want 0\n", i, i, i); !strings.Contains(got.Text, want) {
					t.Fatalf("no %q in\n%s", want, got.Text)
				}
			}
			short := strings.Contains(got.Text, " tests cut …]\n")
			if short != tt.short {
				t.Errorf("shortened: %t, want %t:\n%s", short, tt.short, got.Text)
			}
			if short {
				if len(got.Text) > 12_000 {
					t.Errorf("%d bytes for a budget of %d", len(got.Text), tt.budget)
				}
				if full := allOf(t, got.Full); full != failures.String() {
					t.Errorf("the full text differs:\n%s", full)
				}
			}
			got.Full.Close()
		})
	}
}
