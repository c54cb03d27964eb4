package run

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// The page about the result has an example with exactly its members, and a row for each.
func TestResultPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	_, programs, _ := strings.Cut(string(page), "\n## `run` for programs: output as JSON\n")
	_, example, _ := strings.Cut(programs, "```json\n")
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

// Denied calls are listed in the order of the model, whichever ended first. What a server refused is
// no denial, and the order of a warning does not matter.
func TestLosses(t *testing.T) {
	tally := newTally()
	for _, id := range []string{"a", "b", "c"} {
		tally.recorded(transcript.Call{Shown: acp.ToolCall{ToolCallID: id}})
	}
	end := func(id string, res executors.Result) {
		tally.end(&executors.Call{ID: id, Tool: "fetch", Card: executors.Card{Title: id}}, res)
	}
	end("c", executors.Failf(executors.PolicyBlocked, "blocked"))
	end("b", executors.Failuref(executors.PolicyBlocked, "https://example.com answered with status 403 Forbidden").Outside().Result())
	end("a", executors.Failf(executors.ConfirmationRequired, "it needs the user"))
	end("d", executors.Result{Output: &executors.Output{Lost: true}})
	tally.unreadJobs = []shell.Finished{{ID: "bg1", Line: "make", State: "exit 0"}, {ID: "bg2", Line: "go test", State: "exit 1"}}
	tally.recorded(transcript.Note{MessageID: "1", Text: agent.NoAnswer}, transcript.Note{MessageID: "2", Text: "Warning: late", Warning: true})
	var quiet, all strings.Builder
	tally.printLosses(&quiet, false, true)
	tally.printLosses(&all, true, false)
	const lines = "zeph-acp: denied: fetch a: It needs the user.\nzeph-acp: denied: fetch c: blocked.\n"
	const lost = "zeph-acp: a part of the output of d is lost\n"
	const failed = "zeph-acp: bg2 ended in the background (exit 1): `go test`. The model has not seen its end.\n"
	if got := quiet.String(); got != lines+lost+failed {
		t.Errorf("quiet:\n%s", got)
	}
	if got := all.String(); !strings.HasPrefix(got, lost) || !strings.Contains(got, "bg1") || !strings.HasSuffix(got, failed) {
		t.Errorf("below the cards:\n%s", got)
	}
	if err := tally.endError(anyDenied); err == nil || !strings.HasSuffix(err.Error(), "gave no answer, even when asked again") || cli.ExitCode(err) != 1 {
		t.Errorf("ends with %v", err)
	}
}
