package main

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
	page, err := os.ReadFile("../../docs/run-json.md")
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
	newTally().result("", nil, nil).write(&line)
	if diff := cmp.Diff(members(line.String()), members(example)); diff != "" {
		t.Errorf("members of the example (-result +page):\n%s", diff)
	}
	dec := json.NewDecoder(strings.NewReader(example))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&runResult{}); err != nil {
		t.Error(err)
	}
	for _, m := range members(example) {
		if !strings.Contains(string(page), "\n| `"+m+"` |") {
			t.Errorf("no row for %s", m)
		}
	}
}
