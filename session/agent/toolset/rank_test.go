package toolset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// catalogue reads tools from testdata: our own, and some typical ones of MCP
// servers.
func catalogue(t testing.TB) []llm.Tool {
	text, err := os.ReadFile("testdata/tools.txt")
	if err != nil {
		t.Fatal(err)
	}
	var tools []llm.Tool
	for line := range strings.Lines(string(text)) {
		head, about, _ := strings.Cut(strings.TrimSpace(line), ": ")
		name, params, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
		properties := map[string]any{}
		for p := range strings.SplitSeq(params, ", ") {
			if p != "" {
				properties[p] = map[string]string{"type": "string"}
			}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, llm.Tool{Name: name, Description: about, Schema: schema})
	}
	return tools
}

// ranked returns the names of the tools, the best match first.
func ranked(l *lexicon, prompt string, tools []llm.Tool) []string {
	var rest []int
	for i := range tools {
		rest = append(rest, i)
	}
	scores, ok := l.rank(prompt, tools, rest)
	if !ok {
		return nil
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var names []string
	for _, i := range rest {
		names = append(names, tools[i].Name)
	}
	return names
}

// The tool that a prompt needs must be among the ten best matches, and mostly
// among the first three.
func TestRank(t *testing.T) {
	text, err := os.ReadFile("testdata/prompts.txt")
	if err != nil {
		t.Fatal(err)
	}
	tools := catalogue(t)
	var l lexicon
	all, first, three := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		prompt, want, _ := strings.Cut(strings.TrimSpace(line), " | ")
		names := ranked(&l, prompt, tools)
		place := slices.Index(names, want)
		all++
		if place == 0 {
			first++
		}
		if place >= 0 && place < 3 {
			three++
		} else {
			t.Logf("%q needs %s: place %d after %s", prompt, want, place+1, names[:min(len(names), max(place, 0))])
		}
		if place < 0 || place >= 10 {
			t.Errorf("%q needs %s: place %d", prompt, want, place+1)
		}
	}
	t.Logf("of %d prompts %d have their tool first, %d among the first three", all, first, three)
	if three*10 < all*9 {
		t.Errorf("only %d of %d have their tool among the first three", three, all)
	}
}

// A prompt without any word of the tools ranks nothing.
func TestRankNothing(t *testing.T) {
	var l lexicon
	for _, prompt := range []string{"", "yes please", "ja, bitte", "oui", "👍", "请继续", "1 + 1", "..."} {
		if names := ranked(&l, prompt, catalogue(t)); names != nil {
			t.Errorf("%q: %s", prompt, names)
		}
	}
}

// A misspelt word counts as the most similar one.
func TestRankMisspelt(t *testing.T) {
	var l lexicon
	for prompt, want := range map[string]string{
		"tke a screnshot":        "browser__take_screenshot",
		"the wether in Rome":     "weather__forecast",
		"Kuberntes, please":      "kubernetes__",
		"list my invoicess":      "stripe__list_invoices",
		"show terrafrom changes": "terraform__plan",
	} {
		names := ranked(&l, prompt, catalogue(t))
		if !slices.ContainsFunc(names[:min(len(names), 3)], func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("%q: %s", prompt, names[:min(len(names), 3)])
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"createIssue create_issue GITHUB_TOKEN": "create issue create issue github token",
		"Lösche Größe, Œuvre ÉTÉ":               "losche grosse oeuvre ete",
		"the a I x":                             "",
		"docs/img/a.png":                        "docs img png",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for w, want := range map[string]string{"files": "fil", "file": "fil", "running": "run", "queries": "query", "query": "query", "created": "creat",
		"create": "creat", "class": "class", "is": "is", "pass": "pass", "string": "str"} {
		if got := stem(w); got != want {
			t.Errorf("stem(%q) = %q, want %q", w, got, want)
		}
	}
}

// many returns a catalogue of n tools.
func many(t testing.TB, n int) []llm.Tool {
	some := catalogue(t)
	for i := 0; len(some) < n; i++ {
		tool := some[i]
		tool.Name = fmt.Sprintf("server%d__%s", i, tool.Name)
		some = append(some, tool)
	}
	return some[:n]
}
