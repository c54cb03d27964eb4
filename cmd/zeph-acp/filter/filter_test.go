package filter

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// A rule that panicked is reported as having a bug, and not as one that did not
// recognize the output.
func TestExplainPanic(t *testing.T) {
	lines := text.NewLines()
	defer lines.Close()
	var said strings.Builder
	explainer(&said)(filter.Applied{Rule: "mine", Strategy: "dedup", Confidence: strategy.Fallback, Failed: errors.New("a bug\nmain.go:7")}, lines, lines)
	if want := "rule mine (dedup): fallback, nothing changed: it panicked, which is a bug worth a report:\na bug\nmain.go:7\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}

// The list describes each strategy, and the documentation has the same strategies.
func TestStrategyDescriptions(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/filter-strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*?) \\|").FindAllStringSubmatch(string(page), -1) {
		if strategyDescriptions[row[1]] != "" {
			documented[row[1]] = true
		}
	}
	for name := range strategyDescriptions {
		if !documented[name] {
			t.Errorf("%s is not on the page", name)
		}
	}
	rules, warnings := filter.New("")
	if len(warnings) > 0 {
		t.Fatalf("the built-in rules cause warnings: %q", warnings)
	}
	for _, r := range rules.Rules() {
		if strategyDescriptions[r.Strategy] == "" {
			t.Errorf("rule %s: no description of the strategy %s", r.Name, r.Strategy)
		}
		if got := exampleCommands(r.Match); strings.ContainsAny(got, `\^(|`) {
			t.Errorf("rule %s: its example commands are the pattern %s", r.Name, got)
		}
	}
}

func TestExampleCommands(t *testing.T) {
	for match, want := range map[string]string{
		`exact "make all"`:                      "make all",
		`prefix "git status"`:                   "git status",
		`regex "^(go (test|t)|gotest)( |$)"`:    "go test, go t, gotest",
		`regex "^ping6?( -\\S+)* host"`:         "ping host",
		`regex "^([zef]?grep|rg)( |$)"`:         "grep, rg",
		`regex "^(\\S+-)?(gcc|cc)(-[\\d.]+)?"`:  "gcc, cc",
		`regex "^\\S+ test"`:                    `the pattern ^\S+ test`,
		`regex "^(a|b|c|d|e|f|g|h|i|j|k)run$"`:  "the pattern ^(a|b|c|d|e|f|g|h|i|j|k)run$",
		`regex "^(a1|b2|c3|d4|e5|f6|g7|h8|i9)"`: "a1, b2, c3, d4, e5, f6, g7, h8 and 1 more",
	} {
		if got := exampleCommands(match); got != want {
			t.Errorf("%s: %q, want %q", match, got, want)
		}
	}
}
