package main

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	want := []string{"tools bash", "system be brief", "other go", "calls bash ls", "results a.go", "other fine"}
	for name, body := range map[string]string{
		"messages": `{"tools":[{"name":"bash","cache_control":{}}],"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"tool_use","name":"bash","input":"ls"}]},
			{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a.go"}]},{"type":"text","text":"fine"}]}]}`,
		"chat": `{"tools":[{"type":"function","function":{"name":"bash"}}],"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go"},
			{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"bash","arguments":"ls"}}]},{"role":"tool","content":"a.go"},
			{"role":"user","content":[{"type":"text","text":"fine"}]}]}`,
		"responses": `{"tools":[{"type":"function","name":"bash"}],"instructions":"be brief","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"function_call","name":"bash","arguments":"ls"},{"type":"function_call_output","output":"a.go"},
			{"type":"message","role":"user","content":"fine"}]}`,
		"gemini": `{"tools":[{"functionDeclarations":[{"name":"bash"}]}],"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[
			{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":"bash ls"}]},
			{"role":"user","parts":[{"functionResponse":{"response":{"a.go":1}}},{"text":"fine"}]}]}`,
	} {
		r, err := parse([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, it := range r.items {
			text := it.text
			if it.part == partTools {
				text = strings.Join(r.tools, " ")
			}
			got = append(got, string(it.part)+" "+strings.Trim(text, `"`))
		}
		if !slices.Equal(got, want) || r.bytes != len(body) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What an earlier request began with is cached, even if another one was in between.
func TestBill(t *testing.T) {
	word := func(n int, p part) item { return item{part: p, text: strings.Repeat("word ", n)} }
	var m meter
	for i, tt := range []struct {
		items      []item
		new, known int
	}{
		{[]item{word(100, partSystem), word(10, partOther)}, 110, 0},
		{[]item{word(20, partOther)}, 20, 0}, // a title
		{[]item{word(100, partSystem), word(10, partOther), word(50, partResults)}, 50, 110},
		{[]item{word(100, partSystem), word(11, partOther), word(50, partResults)}, 61, 100},
	} {
		b := m.bill(&request{items: tt.items})
		near := func(got float64, words int) bool { return math.Abs(got-1.1*float64(words)) < 3 }
		if !near(b.cost(price{new: 1}), tt.new) || !near(b.cost(price{known: 1}), tt.known) || !near(float64(b.sent()), tt.new+tt.known) {
			t.Errorf("request %d: %+v, want %d new words and %d known ones", i, b, tt.new, tt.known)
		}
	}
}

// A provider that caches by marks finds a prefix only if it ended at a mark, and if a mark of the new
// request is not far behind it.
func TestMarks(t *testing.T) {
	items := func(marks ...int) *request {
		r := &request{}
		for i := range 40 {
			r.items = append(r.items, item{part: partOther, text: fmt.Sprintf("word %02d", i), mark: slices.Contains(marks, i+1)})
		}
		return r
	}
	changed := items(6, 40)
	changed.items[9].text = "other"
	for name, tt := range map[string]struct {
		earlier, now  *request
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
		if b.known[partOther] != tt.known*each || b.marked[partOther] != tt.marked*each {
			t.Errorf("%s: %d and %d tokens of %d each, want %d and %d items", name, b.known[partOther], b.marked[partOther], each, tt.known, tt.marked)
		}
	}
}

func TestLost(t *testing.T) {
	requests := []*request{
		{items: []item{{part: partResults, text: "--- FAIL: TestA"}, {part: partOther, text: "TestB"}}},
		{items: []item{{part: partResults, text: "shorter"}, {part: partCalls, text: "TestC"}}},
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
func TestModel(t *testing.T) {
	for _, p := range protocols {
		m, err := newModel(1, func(int) toolCall { return toolCall{"bash", object{"command": "ls"}} })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 2 {
			res, err := http.Post(m.base+"/v1/x"+p.suffix, "application/json", strings.NewReader(`{"stream":true,"tools":[{"name":"bash"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := res.Write(&text); err != nil {
				t.Fatal(err)
			}
			got = append(got, text.String())
		}
		if !strings.Contains(got[0], "bash") || strings.Contains(got[0], "Done.") || !strings.Contains(got[1], "Done.") {
			t.Errorf("%s: %q", p.suffix, got)
		}
		if err := m.quit(); err != nil {
			t.Error(err)
		}
	}
}

// Each agent can make each call.
func TestTranslations(t *testing.T) {
	for _, a := range agents {
		for _, task := range tasks {
			for _, c := range task.steps {
				if got := a.call(c, "/work"); got.tool == "" || got.input == nil {
					t.Errorf("%s cannot %s", a.name, c.verb)
				}
			}
		}
	}
}
