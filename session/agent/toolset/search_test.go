package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// small is a model whose window the catalogue of the tests fills.
type small struct{ model }

func (small) Window() int { return 8000 }

// offers returns the names of the offered tools, with "…" for our own.
func offers(s *Set, m llm.Model) string {
	own, rest := 0, []string{}
	for _, t := range s.Offer(m) {
		if serverOf(t.Name) == "" && t.Name != searchName {
			own++
			continue
		}
		rest = append(rest, t.Name)
	}
	return strings.Join(append([]string{fmt.Sprint(own)}, rest...), " ")
}

func TestSearch(t *testing.T) {
	tools := typicalTools(t)
	s := set(func(*Config) {})
	s.Begin(t.Context(), small{}, "what is new?", nil, tools)
	if got := offers(s, small{}); got != "18 tool_search" {
		t.Fatalf("first: %s", got)
	}
	first := s.Offer(small{})
	text := s.searchTools("open an issue about the crash")
	for _, want := range []string{"These tools are offered from now on:\n- ", "\n- github__create_issue: Create a new issue in a GitHub repository\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	grown := s.Offer(small{})
	if len(grown) != len(first)+strings.Count(text, "\n- ") || !sameTools(grown[:len(first)], first) {
		t.Errorf("after a search: %s", toolNames(grown))
	}

	// The next prompt keeps the order, whatever it names.
	s.Begin(t.Context(), small{}, "now stripe__list_invoices", calls("tool_search"), tools)
	later := s.Offer(small{})
	if !sameTools(later[:len(grown)], grown) || len(later) != len(grown)+1 || later[len(grown)].Name != "stripe__list_invoices" {
		t.Errorf("next prompt: %s", toolNames(later))
	}
	want := "Tool search: 48 tools of MCP servers, which would take too much of the window"
	if status := s.Status(); status[0] != want {
		t.Errorf("%q", status)
	}

	s.Reset()
	s.Begin(t.Context(), small{}, "what is new?", nil, tools)
	if got := offers(s, small{}); got != "18 tool_search" {
		t.Errorf("after a reset: %s", got)
	}
}

// TestSearchNeeded checks when tools are left out.
func TestSearchNeeded(t *testing.T) {
	for name, tt := range map[string]struct {
		choice  Choice
		m       llm.Model
		tools   []llm.Tool
		history []llm.Message
		prompt  string
		want    string
	}{
		"small window":   {Auto, small{}, typicalTools(t), nil, "hi", "18 tool_search"},
		"unknown window": {Auto, model{}, many(t, 300), nil, "hi", "18 tool_search"},
		"enough room":    {Auto, model{}, typicalTools(t)[:30], nil, "hi", "18 " + toolNames(typicalTools(t)[18:30])},
		"off":            {Off, small{}, typicalTools(t)[:30], nil, "hi", "18 " + toolNames(typicalTools(t)[18:30])},
		"our own tools":  {Auto, small{}, typicalTools(t)[:18], nil, "hi", "18"},
		"few others":     {Auto, small{}, typicalTools(t)[:19], nil, "hi", "18 github__create_issue"},
		"named":          {Auto, small{}, typicalTools(t), nil, "call Slack__post_message", "18 tool_search slack__post_message"},
		"used":           {Auto, small{}, typicalTools(t), calls("postgres__query"), "again", "18 tool_search postgres__query"},
		"calls in text":  {Auto, textcalls.Wrap(small{}), typicalTools(t), calls("postgres__query"), "again", "18 tool_search postgres__query"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(func(c *Config) { c.Filter.Enabled = tt.choice })
			s.Begin(t.Context(), tt.m, tt.prompt, tt.history, tt.tools)
			if got := offers(s, tt.m); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if n := len(s.Search().Tools()); n != strings.Count(tt.want, searchName) {
				t.Errorf("%d tools to search", n)
			}
		})
	}
}

// withSeldom marks two of our own tools, of that size each, as seldom.
func withSeldom(tools []llm.Tool, size int) []llm.Tool {
	tools = slices.Clone(tools)
	for i := range tools {
		if tools[i].Name == "move_path" || tools[i].Name == "copy_path" {
			tools[i].Seldom, tools[i].Description = true, strings.Repeat("many words ", size/11)
		}
	}
	return tools
}

// TestSeldom checks which of our own tools are left out, and that the model gets them when it looks
// for them, names them or calls them.
func TestSeldom(t *testing.T) {
	own := typicalTools(t)[:18]
	for name, tt := range map[string]struct {
		choice Choice
		tools  []llm.Tool
		prompt string
		want   string
	}{
		"left out":       {Auto, withSeldom(own, 500), "hi", "16 tool_search"},
		"a small saving": {Auto, withSeldom(own, 50), "hi", "18"},
		"off":            {Off, withSeldom(own, 500), "hi", "18"},
		"named":          {Auto, withSeldom(own, 500), "call move_path", "17 tool_search"},
		"servers stay":   {Auto, withSeldom(typicalTools(t)[:20], 500), "hi", "16 github__create_issue github__list_issues tool_search"},
	} {
		s := set(func(c *Config) { c.Filter.Enabled = tt.choice })
		s.Begin(t.Context(), model{}, tt.prompt, nil, tt.tools)
		if got := offers(s, model{}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}

	s := set(func(*Config) {})
	tools := withSeldom(own, 500)
	s.Begin(t.Context(), model{}, "hi", nil, tools)
	first := s.Offer(model{})
	inner := &chain{}
	res, err := s.Middleware(inner).Execute(t.Context(), &executors.Call{Tool: "move_path", Origin: executors.Model})
	if err != nil || res.Failed || len(inner.ran) != 1 {
		t.Errorf("a tool of ours that was not offered does not run: %s, %v", res.ForModel(), err)
	}
	s.StripCall(llm.ToolCall{Name: "move_path", Input: json.RawMessage(`{}`)})
	s.searchTools("copy_path")
	if got, want := toolNames(s.Offer(model{})), toolNames(first)+" move_path copy_path"; got != want {
		t.Errorf("offered %s, want %s", got, want)
	}
}

// TestSearchSize checks that any number of tools costs a prompt less than 2 KiB.
func TestSearchSize(t *testing.T) {
	servers := typicalTools(t)[:18]
	for i := range 300 {
		servers = append(servers, llm.Tool{Name: fmt.Sprintf("server%d__tool", i), Description: "One of many.", Schema: json.RawMessage(`{"type":"object"}`)})
	}
	long := typicalTools(t)[:18]
	for i := range 300 {
		long = append(long, llm.Tool{Name: fmt.Sprintf("s__%s%d", strings.Repeat("x", 58), i), Description: "One of many.",
			Schema: json.RawMessage(`{"type":"object"}`)})
	}
	for name, tools := range map[string][]llm.Tool{"some servers": many(t, 300), "many servers": servers, "long names": long} {
		s := set(func(*Config) {})
		s.Begin(t.Context(), small{}, "hi", nil, tools)
		offered := s.Offer(small{})
		last := offered[len(offered)-1]
		text, err := json.Marshal(map[string]any{"name": last.Name, "description": last.Description, "input_schema": last.Schema})
		if err != nil || len(text) >= 2<<10 || last.Name != searchName {
			t.Errorf("%s: %d bytes, %v\n%s", name, len(text), err, text)
		}
		t.Logf("%s: %d bytes: %s", name, len(text), last.Description)
	}
}

// TestSearchStays checks that the description of tool_search changes with the servers
// alone, since it is in the provider's cache.
func TestSearchStays(t *testing.T) {
	tools := typicalTools(t)
	s := set(func(*Config) {})
	description := func(tools []llm.Tool) string {
		s.Begin(t.Context(), small{}, "hi", calls("bash"), tools)
		offered := s.Offer(small{})
		i := slices.IndexFunc(offered, func(t llm.Tool) bool { return t.Name == searchName })
		return offered[i].Description
	}
	first := description(tools)
	another := append(slices.Clone(tools), llm.Tool{Name: "github__star", Description: "Star a repository", Schema: json.RawMessage(`{"type":"object"}`)})
	if got := description(another); got != first {
		t.Errorf("another tool of a server: %s", got)
	}
	if text := s.searchTools("star the repository"); !strings.Contains(text, "github__star") {
		t.Errorf("%s", text)
	}
	joined := append(slices.Clone(another), llm.Tool{Name: "new__thing", Description: "Something new", Schema: json.RawMessage(`{"type":"object"}`)})
	if got := description(joined); !strings.Contains(got, "- new (1 tool): thing") {
		t.Errorf("another server: %s", got)
	}
}

func TestFind(t *testing.T) {
	s := set(func(*Config) {})
	s.Begin(t.Context(), small{}, "hi", nil, typicalTools(t))
	s.Offer(small{})
	for query, want := range map[string]string{
		"weather in Rome":              "- weather__forecast: ",
		"call stripe__list_invoices":   "on:\n- stripe__list_invoices: ",
		"slack":                        "- slack__post_message: ",
		"send a message to the team":   "- slack__post_message: ",
		"zzzz":                         "No tool fits \"zzzz\". Try other words, or the name of a server:\n- github (",
		"":                             "No tool fits \"\"",
		strings.Repeat("issue ", 9999): "- github__create_issue: ",
	} {
		if got := s.searchTools(query); !strings.Contains(got, want) {
			t.Errorf("find(%.40q): no %q in\n%s", query, want, got)
		}
	}
}

// TestUnoffered checks the calls of tools that the model was not offered.
func TestUnoffered(t *testing.T) {
	s := set(func(*Config) {})
	inner := &chain{}
	gate := s.Middleware(inner)
	s.Begin(t.Context(), small{}, "hi", nil, typicalTools(t))
	s.Offer(small{})
	call := func(tool string, origin executors.Origin) string {
		c := &executors.Call{Tool: tool, Origin: origin, Record: &executors.Record{}}
		_, unfit := gate.Prepare(t.Context(), c)
		r, err := gate.Execute(t.Context(), c)
		if err != nil || (unfit != nil) != r.Failed {
			t.Errorf("%s: %v, unfit %v", tool, err, unfit)
		}
		return r.ForModel()
	}
	for _, want := range []string{"postgres__query was called before it was offered", "It is offered now", "tool_search"} {
		if got := call("postgres__query", executors.Model); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := offers(s, small{}); got != "18 tool_search postgres__query" {
		t.Errorf("%s", got)
	}
	if got := call("postgres__query", executors.Model); strings.Contains(got, "offered") {
		t.Errorf("an offered tool: %s", got)
	}
	if got := call("no__such", executors.Model); !strings.Contains(got, `no tool "no__such"`) || !strings.Contains(got, searchName) {
		t.Errorf("%s", got)
	}
	if got := call("slack__post_message", executors.User); strings.Contains(got, "offered") {
		t.Errorf("a call of the user: %s", got)
	}
}

// TestFindMany checks that a search adds a bounded number of tools.
func TestFindMany(t *testing.T) {
	s := set(func(*Config) {})
	s.Begin(t.Context(), small{}, "hi", nil, many(t, 300))
	before := len(s.Offer(small{}))
	if text := s.searchTools("list issues"); !strings.Contains(text, " tools would fit too; narrow the query") || len(s.Offer(small{})) != before+maxFound {
		t.Errorf("%d tools more:\n%s", len(s.Offer(small{}))-before, text)
	}
}

func BenchmarkFind(b *testing.B) {
	s := set(func(*Config) {})
	s.Begin(b.Context(), small{}, "hi", nil, many(b, 300))
	s.Offer(small{})
	b.ReportAllocs()
	for b.Loop() {
		s.searchTools("open an issue about the crash")
	}
}

// narrow is a model with a window for which our own tools are too many.
type narrow struct {
	model
	window int
}

func (n narrow) Window() int { return n.window }

// In a small window only the first tools of our own are offered, and tool_search finds the others.
func TestSmallWindow(t *testing.T) {
	own, _ := leftOut{servers: true}.split(typicalTools(t))
	total := llm.Tokens("fake:model", llm.Request{Tools: own})
	for name, tt := range map[string]struct {
		window, least, most int
		search              bool
	}{
		"unknown": {0, len(own), len(own), false},
		"wide":    {total * 5, len(own), len(own), false},
		"small":   {total * 5 / 2, 4, len(own) / 2, true},
		"tiny":    {total, 1, 6, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := narrow{window: tt.window}
			s := set(func(*Config) {})
			s.Begin(t.Context(), m, "what is new?", nil, own)
			offered := s.Offer(m)
			tokens := llm.Tokens("fake:model", llm.Request{Tools: offered})
			hasSearch := slices.ContainsFunc(offered, func(t llm.Tool) bool { return t.Name == searchName })
			n := len(offered)
			if hasSearch {
				n--
			}
			if n < tt.least || n > tt.most || hasSearch != tt.search {
				t.Errorf("%s, want %d to %d, and tool_search: %t", toolNames(offered), tt.least, tt.most, tt.search)
			}
			if tt.search && tokens*2 > tt.window {
				t.Errorf("the tools take %d of %d tokens", tokens, tt.window)
			}
			if !tt.search {
				return
			}
			// A prompt that names a tool, and a search, add tools.
			s.Begin(t.Context(), m, "use move_path", nil, own)
			if got := toolNames(s.Offer(m)); !strings.Contains(got, "move_path") {
				t.Errorf("move_path is named and not offered: %s", got)
			}
		})
	}
}
