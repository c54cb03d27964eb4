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
			if got := filtered(t, tt.script, tt.output); !strings.Contains(got, tt.want) {
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
			if got := filtered(t, "gh run view 1 --log", output); !strings.Contains(got, "Run make\nmake: secret of life\n") {
				t.Errorf("the lines of the group are missing in %.300q", got)
			}
		})
	}
}

// filtered returns an output as the built-in rules filter it.
func filtered(t *testing.T, script, output string) string {
	t.Helper()
	f, _ := New("")
	o, err := f.Apply(script, 1, strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	return strategytest.Text(t, o.Text)
}
