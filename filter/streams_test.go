package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

const runTime = "2025-03-02T10:00:00.1234567Z "

// Lines of more streams than are divided keep the names of their streams.
func TestTooManyStreams(t *testing.T) {
	jobs, steps, tagged := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	for i := range 250 {
		fmt.Fprintf(jobs, "job%d\ttest\t%sresult %d\n", i, runTime, i)
		fmt.Fprintf(steps, "job\tUNKNOWN STEP\t%s##[group]Run step%d\njob\tUNKNOWN STEP\t%sresult %d\n", runTime, i, runTime, i)
		fmt.Fprintf(tagged, "[job%d] result %d\n", i, i)
	}
	for name, tt := range map[string]struct{ script, output, want string }{
		"jobs of gh":            {"gh run view 1 --log", jobs.String(), "job249\ttest\t" + runTime + "result 249\n"},
		"steps of gh":           {"gh run view 1 --log", steps.String(), "##[group]Run step249\nresult 249\n"},
		"names of concurrently": {"concurrently a b", tagged.String(), "[job249] result 249\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := filtered(t, tt.script, 1, tt.output); !strings.Contains(got, tt.want) {
				t.Errorf("no %q in the result, which ends with %q", tt.want, got[max(0, len(got)-200):])
			}
		})
	}
}

// The lines of a group of GitHub Actions stay if its end is missing, or if it is too long
// to be the beginning of a step.
func TestOpenGroup(t *testing.T) {
	line := "job\ttest\t" + runTime
	long := strings.Repeat(line+strings.Repeat("x", 90)+"\n", 1000)
	for name, output := range map[string]string{
		"at the end":          line + "##[group]Run make\n" + line + "make: secret of life\n",
		"before the next":     line + "##[group]Run make\n" + line + "make: secret of life\n" + line + "##[group]Run ls\n" + line + "##[endgroup]\n",
		"with too many lines": line + "##[group]Run make\n" + line + "make: secret of life\n" + long + line + "##[endgroup]\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := filtered(t, "gh run view 1 --log", 1, output); !strings.Contains(got, "Run make\nmake: secret of life\n") {
				t.Errorf("the lines of the group are missing in %.300q", got)
			}
		})
	}
}

// The name of an environment of tox does not matter.
func TestToxEnvironments(t *testing.T) {
	output := func(env string) string {
		var b strings.Builder
		for _, dir := range []string{"a", "b"} {
			fmt.Fprintf(&b, "%s: commands[0]> pytest -v %s\n============================= test session starts ==============================\n"+
				"collected 9 items\n\n", env, dir)
			for i := range 9 {
				fmt.Fprintf(&b, "%s/test_x.py::test_%d PASSED [100%%]\n", dir, i)
			}
			b.WriteString("\n============================== 9 passed in 0.01s ===============================\n")
		}
		return b.String()
	}
	want := filtered(t, "tox", 0, output("py"))
	if want == output("py") {
		t.Fatal("the output is not filtered: " + want)
	}
	if got := filtered(t, "tox", 0, output("unit")); strings.ReplaceAll(got, "unit: ", "py: ") != want {
		t.Errorf("got %s", strategytest.Difference(want, got))
	}
}

// A part whose command has no rules is filtered by the rules of the program that ran it.
func TestPartWithoutRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("> shop@1.0.0 pretest\n> ./prepare.sh\n\nready\n\n> shop@1.0.0 test\n> ./run.sh\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "PASS src/cart%d.test.js\n", i)
	}
	b.WriteString("\nTest Suites: 40 passed, 40 total\nTests:       90 passed, 90 total\n")
	got := filtered(t, "npm test", 0, b.String())
	if len(got) > 300 || !strings.Contains(got, "ready\n") || !strings.Contains(got, "90 passed") {
		t.Errorf("%d bytes of %d:\n%s", len(got), b.Len(), got)
	}
}

// filtered returns an output as the built-in rules filter it.
func filtered(t *testing.T, script string, exit int, output string) string {
	t.Helper()
	got, _ := applied(t, builtin(t), script, exit, output)
	return got
}
