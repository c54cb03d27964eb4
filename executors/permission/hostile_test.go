package permission

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// scripts returns the lines of a file in testdata, by the name of their section.
func scripts(t testing.TB, file string) map[string][]string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, f := range archive.Files {
		for line := range strings.Lines(string(f.Data)) {
			script := strings.TrimSuffix(line, "\n")
			if text, err := strconv.Unquote(script); err == nil && strings.HasPrefix(script, `"`) {
				script = text
			}
			out[f.Name] = append(out[f.Name], script)
		}
	}
	return out
}

func checkScript(t testing.TB, s *setup, script string) string {
	call := bash(script)
	call.Card.Title = "script"
	return s.outcome(t, call)
}

// No hostile script runs without a question, and one that spells out its command
// is blocked.
func TestHostile(t *testing.T) {
	for section, list := range scripts(t, "hostile.txtar") {
		class, want, _ := strings.Cut(section, ": ")
		for _, script := range list {
			if got := checkScript(t, newSetup().build(), script); got != want {
				t.Errorf("%s: %q: %s, want %s", class, script, got, want)
			}
		}
	}
}

// A rule that allows everything lets through neither blocked commands nor words
// that only the shell can compute.
func TestHostileWithARule(t *testing.T) {
	for section, list := range scripts(t, "hostile.txtar") {
		if !strings.HasSuffix(section, ": block") {
			continue
		}
		for _, script := range list {
			s := newSetup()
			s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Allow}}}
			if got := checkScript(t, s.build(), script); got != "block" {
				t.Errorf("%q: %s", script, got)
			}
		}
	}
}

func TestHarmless(t *testing.T) {
	for want, list := range scripts(t, "harmless.txtar") {
		for _, script := range list {
			if got := checkScript(t, newSetup().build(), script); got != want {
				t.Errorf("%q: %s, want %s", script, got, want)
			}
		}
	}
}
