package anthropic

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// The request to each kind of model at each of its levels, and at a level that
// it does not have.
func TestClaudeThought(t *testing.T) {
	const adaptive = `"thinking":{"display":"summarized","type":"adaptive"}`
	effort := func(level string) string { return `"output_config":{"effort":"` + level + `"},` + adaptive }
	budget := func(tokens string) string { return `"thinking":{"budget_tokens":` + tokens + `,"type":"enabled"}` }
	budgets := map[string]string{"": "", "off": "", "low": budget("4000"), "medium": budget("12000"), "high": budget("24000"), "max": "", "nonsense": ""}
	all := map[string]string{"": adaptive, "off": `"thinking":{"type":"disabled"}`, "low": effort("low"), "medium": effort("medium"),
		"high": effort("high"), "xhigh": effort("xhigh"), "max": effort("max"), "nonsense": adaptive, "High": adaptive}
	with := func(base map[string]string, changes ...string) map[string]string {
		out := maps.Clone(base)
		for i := 0; i < len(changes); i += 2 {
			out[changes[i]] = changes[i+1]
		}
		return out
	}
	always := with(all, "off", adaptive)
	asked := with(all, "off", "")
	for model, tt := range map[string]struct {
		levels string
		want   map[string]string
	}{
		"claude-haiku-4-5":          {"off low medium high", budgets},
		"claude-haiku-4-5-20251001": {"off low medium high", budgets},
		"claude-opus-4-5":           {"off low medium high", budgets},
		"claude-sonnet-4-6":         {"off low medium high max", with(asked, "xhigh", adaptive)},
		"claude-opus-4-8":           {"off low medium high xhigh max", asked},
		"claude-sonnet-5":           {"off low medium high xhigh max", all},
		"claude-opus-5":             {"off low medium high xhigh max", all},
		"claude-haiku-5-5":          {"off low medium high xhigh max", all},
		"claude-sonnet-5-5":         {"off low medium high xhigh max", with(all, "off", `"thinking":{"type":"between_tools"}`)},
		"claude-opus-5-5":           {"low medium high xhigh max", always},
		"claude-fable-5-1":          {"low medium high xhigh max", always},
		"claude-mythos-5":           {"low medium high xhigh max", always},
		"claude-opus-5-9":           {"", map[string]string{"": adaptive, "off": adaptive, "high": adaptive}},
		"claude-sonnet-4-5-turbo":   {"", map[string]string{"": "", "high": ""}},
		"llama":                     {"", map[string]string{"": "", "off": "", "high": ""}},
	} {
		t.Run(model, func(t *testing.T) {
			c := New(Config{Model: model})
			if got := strings.Join(llm.Levels(c), " "); got != tt.levels {
				t.Errorf("Levels: %s, want %s", got, tt.levels)
			}
			for level, want := range tt.want {
				r := requestOf(c, level, llmtest.Hello().Messages)
				if got := thoughtMembers(t, r); got != want {
					t.Errorf("%q: %s, want %s", level, got, want)
				}
			}
		})
	}
	if llm.Levels(local.Direct{}) != nil || llm.Levels(&local.Script{}) != nil {
		t.Error("a built-in model or a script has levels")
	}
	levels := llm.Levels(New(Config{Model: "claude-opus-5-5"}))
	levels[0] = "changed"
	if llm.Levels(New(Config{Model: "claude-opus-5-5"}))[0] != "low" {
		t.Error("a change of the returned list changes the list of other models")
	}
}

// requestOf returns the request for a history at a thought level.
func requestOf(c *Model, level string, history []llm.Message) request {
	d := dialect{model: c}
	forms := new(encoding).Messages(history, func() wire.IDs { return wire.IDs{} }, d.encode)
	return c.head(llm.Request{Thought: level}, forms)
}

// thoughtMembers returns the members of a request that are about thinking.
func thoughtMembers(t *testing.T, params any) string {
	t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	some := map[string]json.RawMessage{}
	for _, k := range []string{"thinking", "output_config"} {
		if all[k] != nil {
			some[k] = all[k]
		}
	}
	got, err := json.Marshal(some)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(got), "{"), "}")
}

// A budget is below the limit of the answer and leaves room for it.
func TestClaudeThoughtLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		model     string
		maxTokens int
		level     string
		tokens    int
		budget    int // 0 means that it doesn't think
	}{
		"default":          {"claude-sonnet-4-5", 0, "high", 32_000, 24_000},
		"small answer":     {"claude-sonnet-4-5", 8_000, "high", 8_000, 6_000},
		"smallest budget":  {"claude-sonnet-4-5", 1_368, "low", 1_368, 1_026},
		"too small":        {"claude-sonnet-4-5", 1_300, "low", 1_300, 0},
		"highest effort":   {"claude-opus-5-5", 0, "max", 64_000, 0},
		"lower effort":     {"claude-opus-5-5", 0, "high", 32_000, 0},
		"configured":       {"claude-opus-5-5", 9_000, "max", 9_000, 0},
		"no such level":    {"claude-sonnet-4-6", 0, "xhigh", 32_000, 0},
		"not in our table": {"llama", 0, "max", 32_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := requestOf(New(Config{Model: tt.model, MaxTokens: tt.maxTokens}), tt.level, llmtest.Hello().Messages)
			budget := 0
			if r.Thinking != nil {
				budget = r.Thinking.BudgetTokens
			}
			if r.MaxTokens != tt.tokens || budget != tt.budget {
				t.Errorf("max_tokens %d, budget_tokens %d", r.MaxTokens, budget)
			}
		})
	}
}

// A budget cannot begin thoughts between a call and its result.
func TestClaudeThoughtChanged(t *testing.T) {
	c := New(Config{Model: "claude-haiku-4-5"})
	thought := llm.Block{Opaque: &llm.Opaque{Provider: c.Name(), Data: json.RawMessage(`{"type":"thinking","signature":"x"}`)}}
	call := func(blocks ...llm.Block) llm.Message {
		return llm.Message{Role: llm.Assistant, Blocks: append(blocks, llm.Block{Call: &llm.ToolCall{ID: "c", Name: "n"}})}
	}
	result := func(blocks ...llm.Block) llm.Message {
		return llm.Message{Role: llm.User, Blocks: append([]llm.Block{{Result: &llm.ToolResult{ID: "c"}}}, blocks...)}
	}
	answer := llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "done"}}}
	for name, tt := range map[string]struct {
		history []llm.Message
		thinks  bool
	}{
		"a prompt":                {[]llm.Message{llmtest.UserText("a")}, true},
		"a prompt after a turn":   {[]llm.Message{llmtest.UserText("a"), call(), result(), answer, llmtest.UserText("b")}, true},
		"thought before the call": {[]llm.Message{llmtest.UserText("a"), call(thought), result()}, true},
		"thought before the first call": {
			[]llm.Message{llmtest.UserText("a"), call(thought), result(), call(), result()}, true},
		"no thought":                 {[]llm.Message{llmtest.UserText("a"), call(), result()}, false},
		"no thought since":           {[]llm.Message{llmtest.UserText("a"), call(thought), result(), answer, llmtest.UserText("b"), call(), result()}, false},
		"none, and a prompt":         {[]llm.Message{llmtest.UserText("a"), call(), result(llm.Block{Text: "go on"})}, false},
		"none since a second prompt": {[]llm.Message{llmtest.UserText("a"), call(thought), result(llm.Block{Text: "go on"}), call(), result()}, false},
		"empty":                      {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := requestOf(c, "high", llm.Repair(tt.history))
			if thinks := r.Thinking != nil; thinks != tt.thinks {
				t.Errorf("thinks: %t", thinks)
			}
		})
	}
}

// The level is sent along with the rest of the request.
func TestClaudeThoughtRequest(t *testing.T) {
	s := llmtest.ServeAnthropic(t, llmtest.SSE(t, "testdata/text.sse"))
	req := llmtest.Hello()
	req.Thought = "max"
	if _, err := llmtest.Collect(modelAt(s.URL), t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"effort": "max"}
	if diff := cmp.Diff(want, s.Bodies[0]["output_config"]); diff != "" || s.Bodies[0]["max_tokens"] != 64_000.0 {
		t.Errorf("request %v (-want +got)\n%s", s.Bodies[0], diff)
	}
}
