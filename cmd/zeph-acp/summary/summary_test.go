package summary_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/executors"
)

func mask(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") }

func TestDecision(t *testing.T) {
	gate := []executors.Verdict{{Gate: "policy", Decision: executors.Allow}, {Gate: "trust", Decision: executors.Deny, Reason: "untrusted"}}
	for want, e := range map[string]audit.Entry{
		"":                       {},
		"quota":                  {Rule: "quota"},
		"Allowed: it only reads": {Decision: "allow", Rule: "default: it only reads"},
		"Denied: rule 3":         {Decision: "deny", Rule: "rule 3"},
		"Denied by the gate trust (untrusted): no": {Decision: "deny", Rule: "trust: no", Gates: gate},
		"Denied by the gate trust (untrusted)":     {Decision: "deny", Rule: "trust: untrusted", Gates: gate},
		"The user allowed it once":                 {Decision: "allow", Answer: "allow_once", Rule: "the user allowed it"},
		"The user chose \"always reject\"":         {Decision: "deny", Answer: "reject_always", Rule: "the user rejected it"},
		"The user answered default: x":             {Decision: "allow", Answer: "default", Rule: "x"},
		"Not allowed without an answer: r":         {Decision: "ask", Rule: "r"},
	} {
		if got := summary.Decision(&e); got != want {
			t.Errorf("Decision = %q, want %q", got, want)
		}
	}
}

// calls are some of two days.
func calls() []audit.Entry {
	return []audit.Entry{
		{
			Timestamp:   "2026-11-20T22:30:00.000Z",
			Session:     "a",
			Tool:        "bash",
			Result:      audit.Success,
			DurationMS:  5_000,
			BytesBefore: 10_000,
			BytesAfter:  1_000,
			Filters:     []string{"go-test"},
		},
		{
			Timestamp:  "2026-11-20T23:30:00.000Z",
			Session:    "a",
			Tool:       "edit",
			Result:     audit.Success,
			DurationMS: 61_000,
			WaitedMS:   60_000,
			Decision:   "allow",
			Answer:     "allow_once",
			Rule:       "the user allowed it",
		},
		{Timestamp: "2026-11-22T10:00:00.000Z", Session: "b", Tool: "bash", Result: audit.Denied, Decision: "deny", Rule: "guard: hunter2"},
		{Timestamp: "2026-11-22T11:00:00.000Z", Session: "b", Tool: "read", Result: audit.Denied, Decision: "deny", Rule: "guard: hunter2"},
		{Timestamp: "2026-11-22T12:00:00.000Z", Session: "b", Tool: "bash", Result: audit.TimedOut, Category: executors.Timeout, DurationMS: 1_000},
	}
}

// report returns the page of a report, as the texts of its cells and figures.
func report(t *testing.T, all []audit.Entry) (figures map[string]string, rows []string, source string) {
	t.Helper()
	r := summary.NewReport(time.FixedZone("", 3600), mask)
	for i := range all {
		r.Add(&all[i])
	}
	r.Finish()
	r.State = summary.State{Intact: true, Text: "Fine."}
	var b strings.Builder
	if err := r.HTML(&b, "test"); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	figures = map[string]string{}
	for n := range root.Descendants() {
		switch n.Data {
		case "tr":
			var cells []string
			for c := range n.ChildNodes() {
				cells = append(cells, textOf(c))
			}
			rows = append(rows, strings.Join(cells, " | "))
		case "dt":
			figures[textOf(n)] = textOf(n.NextSibling)
		}
	}
	return figures, rows, b.String()
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestReport(t *testing.T) {
	figures, rows, source := report(t, calls())
	want := map[string]string{"Calls": "5", "Failed": "1", "Denied": "2", "Running time": "7.0 s", "Waiting for you": "1 min 0 s", "Saved by filters": "9.0 kB"}
	if diff := cmp.Diff(want, figures); diff != "" {
		t.Errorf("figures (-want +got)\n%s", diff)
	}
	wantRows := []string{
		"Day | success | stopped | failed | denied", "20 Nov | 1 | 0 | 0 | 0", "21 Nov | 1 | 0 | 0 | 0", "22 Nov | 0 | 0 | 1 | 2",
		"Tool | Calls | Success | Failed | Denied | Stopped | Median | Longest",
		"bash | 3 | 1 | 1 | 1 | – | 1.0 s | 5.0 s", "edit | 1 | 1 | – | – | – | 1.0 s | 1.0 s", "read | 1 | – | – | 1 | – | 0 ms | 0 ms",
		"Decision and rule | Tools | Calls | Last", "Denied: guard: [REDACTED] | bash, read | 2 | 22 Nov 12:00",
		"Answer | Tools | Calls | Waited", "The user allowed it once | edit | 1 | 1 min 0 s",
		"Cause | Tools | Calls | Last", "timeout | bash | 1 | 22 Nov 13:00",
		"Rule | Calls | Before | After | Saved", "go-test | 1 | 10 kB | 1.0 kB | 9.0 kB (90 %)",
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("tables (-want +got)\n%s", diff)
	}
	if strings.Contains(source, "hunter2") {
		t.Error("a credential is in the page")
	}
}

// TestReportOfYears checks that many days become months, that many rules are bounded, and
// that a line without a time counts.
func TestReportOfYears(t *testing.T) {
	var all []audit.Entry
	for i := range 400 {
		at := time.Date(2025, 1, 1+i, 0, 0, 0, 0, time.UTC)
		all = append(all, audit.Entry{Timestamp: at.Format(time.RFC3339), Tool: "bash", Result: audit.Denied, Rule: fmt.Sprint("rule ", i)})
	}
	_, rows, source := report(t, all)
	if len(rows) != 1+14+2+1+100 || !strings.Contains(source, "the first 100 of 400") {
		t.Errorf("%d rows, want %d, and a note that the first 100 of 400 rules are shown", len(rows), 1+14+2+1+100)
	}
	if _, rows, _ := report(t, []audit.Entry{{Timestamp: "no time", Tool: "bash", Result: audit.Success}}); len(rows) == 0 {
		t.Error("a line without a time is not counted")
	}
}
