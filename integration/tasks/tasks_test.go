package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// What an earlier request began with is cached, even if another one was in between.
func TestBill(t *testing.T) {
	word := func(n int, p agents.Part) agents.Item { return agents.Item{Part: p, Text: strings.Repeat("word ", n)} }
	var m meter
	for i, tt := range []struct {
		items      []agents.Item
		new, known int
	}{
		{[]agents.Item{word(100, agents.PartSystem), word(10, agents.PartOther)}, 110, 0},
		{[]agents.Item{word(20, agents.PartOther)}, 20, 0}, // a title
		{[]agents.Item{word(100, agents.PartSystem), word(10, agents.PartOther), word(50, agents.PartResults)}, 50, 110},
		{[]agents.Item{word(100, agents.PartSystem), word(11, agents.PartOther), word(50, agents.PartResults)}, 61, 100},
	} {
		b := m.bill(&agents.Request{Items: tt.items})
		near := func(got float64, words int) bool { return math.Abs(got-1.1*float64(words)) < 3 }
		if !near(b.cost(price{new: 1}), tt.new) || !near(b.cost(price{known: 1}), tt.known) || !near(float64(b.sent()), tt.new+tt.known) {
			t.Errorf("request %d: %+v, want %d new words and %d known ones", i, b, tt.new, tt.known)
		}
	}
}

// A provider that caches by marks finds a prefix only if it ended at a mark, and if a mark of the new
// request is not far behind it.
func TestMarks(t *testing.T) {
	items := func(marks ...int) *agents.Request {
		r := &agents.Request{}
		for i := range 40 {
			r.Items = append(r.Items, agents.Item{Part: agents.PartOther, Text: fmt.Sprintf("word %02d", i), Mark: slices.Contains(marks, i+1)})
		}
		return r
	}
	changed := items(6, 40)
	changed.Items[9].Text = "other"
	for name, tt := range map[string]struct {
		earlier, now  *agents.Request
		known, marked int // items
	}{
		"same":          {items(40), items(40), 40, 40},
		"changed":       {items(5, 40), changed, 9, 5},
		"no mark there": {items(40), changed, 9, 0},
		"too far":       {items(5), items(40), 40, 0},
		"no marks":      {items(), items(), 40, 40},
	} {
		var m meter
		m.bill(tt.earlier)
		b := m.bill(tt.now)
		each := m.count("word 00")
		if b.known[agents.PartOther] != tt.known*each || b.marked[agents.PartOther] != tt.marked*each {
			t.Errorf("%s: %d and %d tokens of %d each, want %d and %d items", name, b.known[agents.PartOther], b.marked[agents.PartOther], each, tt.known, tt.marked)
		}
	}
}

func TestLost(t *testing.T) {
	requests := []*agents.Request{
		{Items: []agents.Item{{Part: agents.PartResults, Text: "--- FAIL: TestA"}, {Part: agents.PartOther, Text: "TestB"}}},
		{Items: []agents.Item{{Part: agents.PartResults, Text: "shorter"}, {Part: agents.PartCalls, Text: "TestC"}}},
	}
	facts := []fact{{"failing test", "TestA"}, {"failing test", "TestB"}, {"failing test", "TestC"}}
	if got := fmt.Sprint(lost(facts, requests)); got != "[{failing test TestB} {failing test TestC}]" {
		t.Errorf("lost %s", got)
	}
}

func TestHunks(t *testing.T) {
	diff := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@ func f\n a\n-}\n+func longer() {\n-another line\n@@ -9 +9 @@\n-last of all\n" +
		"diff --git a/b b/b\n-not a hunk"
	if got, want := hunks(strings.Split(diff, "\n")), []string{"func longer() {", "last of all"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Each protocol's server makes the calls one after the other, then ends.
// Each agent can make each call.
func TestTranslations(t *testing.T) {
	for _, a := range agents.All {
		for _, task := range tasks {
			for _, c := range task.steps {
				if got := a.Call(c, "/work"); got.Tool == "" || got.Input == nil {
					t.Errorf("%s cannot %s", a.Name, c.Verb)
				}
			}
		}
	}
}

// Another command reads the list.
func TestJSON(t *testing.T) {
	var m meter
	o := &outcome{task: &rename, agent: agents.All[0], facts: 3, lost: []fact{{"a use", "x"}}, notes: []string{"late"}}
	o.rounds = append(o.rounds, m.bill(&agents.Request{Bytes: 40, Items: []agents.Item{{Part: agents.PartOther, Text: "word"}}}))
	var b strings.Builder
	if err := printJSON(&b, []*outcome{o}); err != nil {
		t.Fatal(err)
	}
	const form = `[{"task":"rename","agent":"zeph-acp","requests":1,"bytes":40,"tokens":%[1]d,"billed":%[1]d,"facts":3,"kept":2,"notes":["late"]}]`
	if want := fmt.Sprintf(form+"\n", m.count("word")); b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}
