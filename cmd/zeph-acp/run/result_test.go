package run

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page about the result has an example with exactly its members, and a row for each.
func TestResultPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/run-json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	members := func(text string) []string {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return slices.Sorted(maps.Keys(all))
	}
	var line strings.Builder
	if err := newTally().result("", nil, nil).write(&line); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(members(line.String()), members(example)); diff != "" {
		t.Errorf("members of the example (-result +page):\n%s", diff)
	}
	dec := json.NewDecoder(strings.NewReader(example))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&result{}); err != nil {
		t.Errorf("the example of the page is not a result: %v", err)
	}
	for _, m := range members(example) {
		if !strings.Contains(string(page), "\n| `"+m+"` |") {
			t.Errorf("no row for %s", m)
		}
	}
}

func TestFacts(t *testing.T) {
	for name, tt := range map[string]struct {
		tally *tally
		want  string
	}{
		"a call of the user": {&tally{session: "bd375f81-1"}, "session bd375f81"},
		"all facts": {
			&tally{
				session:       "bd375f81-1",
				rounds:        5,
				changedFiles:  []string{"a", "b", "a"},
				filesCompared: true,
				savedBytes:    12_440,
				costs:         map[string]float64{"USD": 0.034},
				currency:      "USD",
			},
			"session bd375f81 · 5 rounds · 2 files · 12.4 kB saved · $0.03",
		},
		"one round": {
			&tally{session: "s", rounds: 1, savedBytes: 999, costs: map[string]float64{"EUR": 0.0012}, currency: "EUR"},
			"session s · 1 round · 0.0012 EUR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.tally.facts(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
