package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// model is a model that is never called; it may embed.
type model struct{ embedder llm.Embedder }

func (model) Name() string { return "fake:model" }
func (model) Window() int  { return 0 }
func (model) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	panic("the model was asked")
}
func (m model) Embedder() llm.Embedder { return m.embedder }

// set returns a Set that logs nothing.
func set(change func(*Config)) *Set {
	cfg := Config{setting.Default[TAFC](), setting.Default[Filter](), setting.Default[Dependencies]()}
	change(&cfg)
	return New(cfg, &Vectors{}, slog.New(slog.DiscardHandler))
}

func filtering(c *Config) {
	c.Filter = Filter{Enabled: On, TopK: 2, MinDescriptionWords: 3, AlwaysOn: []string{"bash", "read", "nothing"}}
}

func toolNames(tools []llm.Tool) string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// calls returns a history in which the tools ran; a name with "!" failed.
func calls(tools ...string) []llm.Message {
	var h []llm.Message
	for i, name := range tools {
		name, failed := strings.CutSuffix(name, "!")
		id := fmt.Sprint(i % 2) // unique within one answer only
		h = append(h,
			llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(`{}`)}}}},
			llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: id, Failed: failed}}}})
	}
	return h
}

func TestEverythingOff(t *testing.T) {
	s, tools := set(func(*Config) {}), typicalTools(t)
	if s.Offer(model{}) != nil {
		t.Error("there are tools before the first turn")
	}
	s.Begin(t.Context(), model{}, "delete the folder", nil, tools)
	if got := s.Offer(model{}); !sameTools(got, tools) {
		t.Errorf("%s", toolNames(got))
	}
	if lines := s.Status(); lines != nil {
		t.Errorf("%q", lines)
	}
	if notes := s.Warnings(nil); notes != nil {
		t.Errorf("%q", notes)
	}
	allocs := testing.AllocsPerRun(100, func() {
		s.Begin(t.Context(), model{}, "delete the folder", nil, tools)
		s.Offer(model{})
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestFilter(t *testing.T) {
	tools := append(typicalTools(t), llm.Tool{Name: "odd", Description: "Odd."})
	embeds, inText := model{byWords{}}, textcalls.Wrap(model{byWords{}})
	for name, tt := range map[string]struct {
		prompt  string
		history []llm.Message
		model   llm.Model
		want    string
		status  string
	}{
		"by fit": {"lösche den Ordner build", nil, embeds, "bash read list_directory delete_path odd",
			"Tools of the last prompt: 5 of 67 (AlwaysOn: bash, read; SimilarityRank: list_directory, delete_path; ShortDescription: odd)"},
		"by name": {"use Weather__Forecast, and CREATE_ISSUE!", nil, embeds,
			"bash read github__create_issue github__add_issue_comment jira__create_ticket weather__forecast odd", ""},
		"used": {"delete the folder build", calls("stripe__list_invoices", "unknown", "read"), embeds,
			"bash read list_directory delete_path stripe__list_invoices odd",
			"Tools of the last prompt: 6 of 67 (AlwaysOn: bash, read; AlreadyUsed: stripe__list_invoices; SimilarityRank: list_directory, delete_path; " +
				"ShortDescription: odd)"},
		"no prompt":         {" \n", nil, embeds, toolNames(tools), "Tools of the last prompt: 67 of 67 (Unfiltered: 67)"},
		"no embeddings":     {"delete the folder build", nil, model{}, toolNames(tools), "Tools of the last prompt: 67 of 67 (Unfiltered: 67)"},
		"calls in the text": {"delete the folder build", nil, inText, toolNames(tools), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(filtering)
			s.Begin(t.Context(), tt.model, tt.prompt, tt.history, tools)
			got := toolNames(s.Offer(tt.model))
			wanted, given := strings.Fields(tt.want), strings.Fields(got)
			slices.Sort(wanted)
			slices.Sort(given)
			if diff := cmp.Diff(wanted, given); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !inOrder(tools, got) {
				t.Errorf("not in the catalogue's order: %s", got)
			}
			status := s.Status()
			if !strings.HasPrefix(status[0], "Filter: top_k=2, always_on=3, embeddings=") || tt.status != "" && !slices.Contains(status, tt.status) {
				t.Errorf("%q", status)
			}
		})
	}
}

// inOrder reports whether the names are in the order of the catalogue.
func inOrder(tools []llm.Tool, got string) bool {
	last := -1
	for name := range strings.FieldsSeq(got) {
		i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == name })
		if i <= last {
			return false
		}
		last = i
	}
	return true
}

// A called tool is offered from then on, after the others, whose bytes stay.
func TestCalledToolStays(t *testing.T) {
	s, tools := set(filtering), typicalTools(t)
	s.cfg.TAFC.Enabled, s.thinking.threshold = true, 0
	s.Begin(t.Context(), model{byWords{}}, "delete the folder build", nil, tools)
	first, _ := json.Marshal(s.Offer(model{}))
	for _, name := range []string{"delete_path", "maps__directions", "no_such_tool", "maps__directions", "bash_stop"} {
		s.StripCall(llm.ToolCall{ID: "1", Name: name, Input: json.RawMessage(`{}`)})
		s.Offer(model{})
	}
	got := s.Offer(model{})
	if toolNames(got) != "bash read list_directory delete_path maps__directions bash_stop" {
		t.Errorf("%s", toolNames(got))
	}
	if again, _ := json.Marshal(got[:4]); string(again) != string(first) {
		t.Errorf("%s\nwas\n%s", again, first)
	}
	if want := "TAFC: from a complexity of 0 on, which 66 of 66 tools have"; !slices.Contains(s.Status(), want) {
		t.Errorf("%q", s.Status())
	}
	// A model that calls tools in text gets all of them, without the parameter
	// for thoughts.
	if text := s.Offer(textcalls.Wrap(model{})); !sameTools(text, tools) {
		t.Errorf("%s", toolNames(text))
	}
	if back := s.Offer(model{}); toolNames(back) != toolNames(got) || !strings.Contains(string(back[0].Schema), thoughtPrefix) {
		t.Errorf("%s", toolNames(back))
	}
}

// The previous turn's tools stay if they suffice, so that the provider's cache
// of the conversation holds.
func TestPreviousToolsSuffice(t *testing.T) {
	s, tools := set(filtering), typicalTools(t)
	offered := func(prompt string, history []llm.Message) string {
		s.Begin(t.Context(), model{byWords{}}, prompt, history, tools)
		return toolNames(s.Offer(model{}))
	}
	spoken := calls("bash")
	first := offered("delete the folder build", spoken)
	if got := offered("please delete that folder, build", spoken); got != first {
		t.Errorf("%q became %q", first, got)
	}
	if got := offered("delete_path", spoken); !strings.HasPrefix(got, "bash read ") {
		t.Errorf("%q", got)
	}
	other := offered("will it rain? check the weather forecast", spoken)
	if !strings.Contains(other, "weather__forecast") || strings.Contains(other, "delete_path") {
		t.Errorf("%q", other)
	}
	if got := offered("delete the folder build", spoken); got != first {
		t.Errorf("back at the first prompt: %q", got)
	}
	if got := offered("delete the folder build", nil); got != first {
		t.Errorf("%q", got)
	}
}

// byWords embeds a text by its words, so that tools fit the prompts that share words with
// them, or meanings of words.
type byWords struct{}

func (byWords) Name() string { return "words" }

func (byWords) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for _, text := range texts {
		v := make([]float32, 4096)
		for _, word := range rank.Words(text) {
			for _, term := range rank.Terms(word) {
				h := fnv.New32a()
				h.Write([]byte(term))
				v[h.Sum32()%4096] = 1
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// embedder returns vectors by the topics of texts.
type embedder struct {
	asked [][]string
	err   error
	wrong bool
}

func (e *embedder) Name() string { return "fake" }

func (e *embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	e.asked = append(e.asked, texts)
	if e.err != nil {
		return nil, e.err
	}
	out := make([][]float32, 0, len(texts))
	for _, text := range texts {
		v := make([]float32, 3)
		for i, about := range []string{"weather", "payment", "container"} {
			v[i] = float32(strings.Count(strings.ToLower(text), about)) + 0.01
		}
		out = append(out, v)
	}
	if e.wrong {
		out = out[1:]
	}
	return out, nil
}

func TestEmbeddings(t *testing.T) {
	tools := typicalTools(t)
	s, e := set(filtering), &embedder{}
	offered := func(prompt string) string {
		s.Begin(t.Context(), model{e}, prompt, nil, tools)
		return toolNames(s.Offer(model{e}))
	}
	if got := offered("weather"); !strings.Contains(got, "weather__forecast") || !strings.HasPrefix(got, "bash ") {
		t.Errorf("%s", got)
	}
	if n := len(e.asked); n != 1+2 || len(e.asked[1]) != rank.BatchSize {
		t.Errorf("%d requests", n)
	}
	if got := offered("container"); !strings.Contains(got, "docker__") || len(e.asked) != 4 {
		t.Errorf("%s after %d requests: tools are embedded once", got, len(e.asked))
	}
	if status := s.Status()[0]; status != "Filter: top_k=2, always_on=3, embeddings=64" {
		t.Errorf("%q", status)
	}

	// Without embeddings nothing is left out, and it soon stops asking.
	for _, broken := range []*embedder{{err: errors.New("not here")}, {wrong: true}} {
		s, e = set(filtering), broken
		for range rank.MaxFailures + 2 {
			if got := offered("delete the folder build"); got != toolNames(tools) {
				t.Errorf("%s", got)
			}
		}
		if len(e.asked) != rank.MaxFailures {
			t.Errorf("asked %d times", len(e.asked))
		}
	}
}

// The mark of an MCP server does not count as part of a description.
func TestShortDescription(t *testing.T) {
	s, tools := set(filtering), typicalTools(t)
	for name, about := range map[string]string{"a__x": "", "a__y": "Mows lawns", "a__z": "Mows all lawns", "odd": "(MCP server a) odd", "odd2": "(MCP"} {
		if strings.Contains(name, "__") {
			about = strings.TrimSpace(executors.ServerMark("server of many words") + " " + about)
		}
		tools = append(tools, llm.Tool{Name: name, Description: about})
	}
	s.Begin(t.Context(), model{byWords{}}, "delete the folder build", nil, tools)
	for name, want := range map[string]Reason{"a__x": ShortDescription, "a__y": ShortDescription, "a__z": "", "odd": ShortDescription, "odd2": ShortDescription} {
		if got := s.turn.picked[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A filter without embeddings scores nothing. Tools of MCP servers that would fill the
// window are then found by tool_search; the mark of the server is no reason to offer one.
func TestNoEmbedder(t *testing.T) {
	e := &embedder{}
	for name, tt := range map[string]struct {
		m    llm.Model
		want string
	}{
		"none":   {small{}, "18 tool_search"},
		"broken": {small{model{&embedder{err: errors.New("not here")}}}, "18 tool_search"},
		"room":   {model{}, "18 " + strings.TrimPrefix(toolNames(typicalTools(t)[18:]), "")},
		"works":  {small{model{e}}, "2 docker__container_logs docker__stop_container"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(filtering)
			s.Begin(t.Context(), tt.m, "container", nil, typicalTools(t))
			if got := offers(s, tt.m); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			gated := s.Middleware(&chain{})
			call := &executors.Call{Tool: "slack__post_message", Origin: executors.Model}
			if res, _ := gated.Execute(t.Context(), call); res.Failed != strings.HasSuffix(tt.want, "tool_search") {
				t.Errorf("slack__post_message: %+v", res)
			}
		})
	}
}

// half embeds the prompt and the first batch, then fails.
type half struct{ embedder }

func (h *half) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(h.asked) == 2 {
		return nil, errors.New("enough")
	}
	return h.embedder.Embed(ctx, texts)
}

func TestNoEmbedding(t *testing.T) {
	s, e := set(filtering), &half{}
	s.Begin(t.Context(), model{e}, "container", nil, typicalTools(t))
	got := s.Offer(model{e})
	if len(got) != 2+2+64-rank.BatchSize {
		t.Errorf("%d: %s", len(got), toolNames(got))
	}
	if why := s.turn.reasons["maps__directions"]; why != NoEmbedding {
		t.Errorf("%q", why)
	}
}

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"use edit.", "edit", true}, {"reedit it", "edit", false}, {"edit_all", "edit", false}, {"edits, edit", "edit", true},
		{"", "edit", false}, {"edit", "", false}, {"éedit", "edit", false}, {"'edit'", "edit", true},
		{"create_issue", "github__create_issue", true}, {"github__create_issue", "github__create_issue", true}, {"issue", "github__create_issue", false},
	} {
		if got := mentions(tt.text, tt.name); got != tt.want {
			t.Errorf("%q in %q: %v", tt.name, tt.text, got)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []any{setting.Default[TAFC](), setting.Default[Filter](), setting.Default[Dependencies]()} {
		if wrong := setting.Check(c); len(wrong) > 0 {
			t.Errorf("%v", wrong)
		}
	}
	wrong := setting.Check(Filter{TopK: -1, MinDescriptionWords: -1, AlwaysOn: []string{""}})
	more := setting.Check(Dependencies{BoostPerDep: -1, MaxTotalBoost: 2, Rules: map[string]Rule{"a": {Requires: []string{""}, Prefers: []string{""}}}})
	if len(wrong) != 3 || len(more) != 4 {
		t.Errorf("%v, %v", wrong, more)
	}
}

func TestWarnings(t *testing.T) {
	s := set(func(c *Config) {
		filtering(c)
		c.Dependencies.Enabled = true
		c.Dependencies.Rules = map[string]Rule{
			"read": {Requires: []string{"bash"}}, "typo": {Requires: []string{"bash"}},
			"edit": {Requires: []string{"reed"}, Prefers: []string{"grap"}},
			"a":    {Requires: []string{"b"}}, "b": {Requires: []string{"a"}},
		}
	})
	var tools []executors.Tool
	for _, name := range []string{"bash", "read", "edit", "a", "b"} {
		tools = append(tools, executors.Tool{Name: name})
	}
	want := []string{
		"tools.dependencies.rules: a, b require each other in a cycle: their requirements are ignored.",
		"agent.tool_filter.always_on names nothing, and there is no such tool.",
		"tools.dependencies.rules.edit requires reed, and there is no such tool: edit stays hidden.",
		"tools.dependencies.rules.edit prefers grap, and there is no such tool.",
		"tools.dependencies.rules.typo has no effect: there is no tool typo.",
		"tools.dependencies.rules.read hides nothing: agent.tool_filter.always_on names read.",
	}
	if diff := cmp.Diff(want, s.Warnings(func() []executors.Tool { return tools })); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func BenchmarkChoose(b *testing.B) {
	const prompt = "rename utils.go to strings.go, then open an issue about the crash on startup and tell the team in Slack"
	for name, cfg := range map[string]func(*Config){
		"auto":   func(*Config) {},
		"filter": func(c *Config) { c.Filter.Enabled = On },
		"all": func(c *Config) {
			c.Filter.Enabled, c.TAFC.Enabled, c.Dependencies.Enabled = On, true, true
			c.Dependencies.Rules = map[string]Rule{"edit": {Requires: []string{"read"}}, "github__create_issue": {Prefers: []string{"grep"}}}
		},
	} {
		for _, n := range []int{20, 300} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s, tools := set(cfg), many(b, n)
				b.ReportAllocs()
				for b.Loop() {
					s.Begin(b.Context(), model{byWords{}}, prompt, nil, tools)
					s.Offer(model{})
				}
			})
		}
	}
}
