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

// typicalTools reads tools from testdata: our own, and some typical ones of MCP
// servers.
func typicalTools(t testing.TB) []llm.Tool {
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
func ranked(c *catalogue, prompt string, tools []llm.Tool) []string {
	scores := c.score(prompt, tools)
	if slices.Max(scores) == 0 {
		return nil
	}
	var order []int
	for i := range tools {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var names []string
	for _, i := range order {
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
	tools := typicalTools(t)
	var c catalogue
	all, first, three := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		prompt, want, _ := strings.Cut(strings.TrimSpace(line), " | ")
		names := ranked(&c, prompt, tools)
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
	var c catalogue
	for _, prompt := range []string{"", "yes please", "ja, bitte", "oui", "👍", "请继续", "1 + 1", "..."} {
		if names := ranked(&c, prompt, typicalTools(t)); names != nil {
			t.Errorf("%q: %s", prompt, names)
		}
	}
}

// A misspelt word counts as the most similar one.
func TestRankMisspelt(t *testing.T) {
	var c catalogue
	for prompt, want := range map[string]string{
		"tke a screnshot":        "browser__take_screenshot",
		"the wether in Rome":     "weather__forecast",
		"Kuberntes, please":      "kubernetes__",
		"list my invoicess":      "stripe__list_invoices",
		"show terrafrom changes": "terraform__plan",
	} {
		names := ranked(&c, prompt, typicalTools(t))
		if !slices.ContainsFunc(names[:min(len(names), 3)], func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("%q: %s", prompt, names[:min(len(names), 3)])
		}
	}
}

// many returns a catalogue of n tools.
func many(t testing.TB, n int) []llm.Tool {
	some := typicalTools(t)
	for i := 0; len(some) < n; i++ {
		tool := some[i]
		tool.Name = fmt.Sprintf("server%d__%s", i, tool.Name)
		some = append(some, tool)
	}
	return some[:n]
}
