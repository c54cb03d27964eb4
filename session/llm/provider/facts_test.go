package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// A compatible server is asked for the facts about a model in each form that servers have.
func TestServerFacts(t *testing.T) {
	const props = `{"default_generation_settings":{"id":0,"n_ctx":8192},"total_slots":1,"chat_template":"…"`
	for name, tt := range map[string]struct {
		answers map[string]string // by path
		want    llm.Facts
		asked   string
	}{
		"llama.cpp": {map[string]string{"/props": props + `}`}, llm.Facts{TellsProgress: true, Window: 8192}, "/props"},
		"a template without tools": {map[string]string{"/props": props + `,"chat_template_caps":{"supports_tools":false}}`},
			llm.Facts{TellsProgress: true, Window: 8192, LacksTools: true}, "/props"},
		"a template with tools": {map[string]string{"/props": props + `,"chat_template_caps":{"supports_tools":true}}`},
			llm.Facts{TellsProgress: true, Window: 8192}, "/props"},
		"older capabilities": {map[string]string{"/props": props + `,"supports_tools":false}`},
			llm.Facts{TellsProgress: true, Window: 8192, LacksTools: true}, "/props"},
		"a template for tools": {map[string]string{"/props": props + `,"supports_tools":false,"chat_template_tool_use":"…"}`},
			llm.Facts{TellsProgress: true, Window: 8192}, "/props"},
		"vllm": {map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":32768}]}`}, llm.Facts{Window: 32768}, "/props /v1/models"},
		"one model of another name": {map[string]string{"/v1/models": `{"data":[{"id":"models/q05.gguf","meta":{"n_ctx_train":4096}}]}`},
			llm.Facts{Window: 4096}, "/props /v1/models"},
		"ollama": {map[string]string{"/v1/models": `{"data":[{"id":"m"},{"id":"n"}]}`,
			"/api/show": `{"parameters":"num_ctx 6000","capabilities":["completion"],"model_info":{"general.architecture":"q","q.context_length":32768}}`},
			llm.Facts{Window: 6000, LacksTools: true}, "/props /v1/models /api/show"},
		"a page":  {map[string]string{"/props": `<html>`, "/v1/models": `{}`, "/api/show": `<html>`}, llm.Facts{}, "/props /v1/models /api/show"},
		"nothing": {nil, llm.Facts{}, "/props /v1/models /api/show"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Path)
				if tt.answers[r.URL.Path] == "" {
					w.WriteHeader(http.StatusNotFound)
				}
				io.WriteString(w, tt.answers[r.URL.Path])
			})
			m := compatibleModel(t, s.URL, nil)
			llm.Learn(t.Context(), m)
			llm.Learn(t.Context(), m) // is not asked again
			f, _ := llm.As[llm.Facted](m)
			if got, known := f.Facts(); got != tt.want || !known || strings.Join(asked, " ") != tt.asked || m.Window() != tt.want.Window {
				t.Errorf("facts %+v, %v after %v, window %d, want %+v after %s", got, known, asked, m.Window(), tt.want, tt.asked)
			}
		})
	}
}

// compatibleModel returns a model of a compatible server.
func compatibleModel(t testing.TB, address string, memory *wire.Memory) llm.Model {
	t.Helper()
	m, err := Select(Config{Providers: []Provider{{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: address}}}, func(string) string { return "" },
		memory, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The facts that a process has learned are known to the first request of the next one. They are
// asked for again after a day, and from a server on this machine whenever a process begins.
func TestKeptFacts(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	getenv := func(string) string { return "" }
	var file shelf
	asked, window := 0, 8192
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprintf(w, `{"default_generation_settings":{"n_ctx":%d}}`, window)
	})
	for _, step := range []struct {
		name          string
		after         time.Duration
		window        int
		first, second int // the windows before and after the server was asked
		asked         int
	}{
		{"never asked", 0, 8192, 0, 8192, 1},
		{"a server on this machine", time.Hour, 4096, 8192, 4096, 1},
		{"old", 25 * time.Hour, 2048, 4096, 2048, 1},
	} {
		now, window, asked = now.Add(step.after), step.window, 0
		cfg := Config{Providers: []Provider{{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: s.URL}}}
		c := file.catalogue(clock)
		m := compatibleModel(t, s.URL, nil)
		c.recall(cfg, getenv, m)
		first := m.Window()
		c.Learn(cfg, getenv, m)
		c.running.Wait()
		c.LearnFirst(t.Context(), cfg, getenv, m)
		if first != step.first || m.Window() != step.second || asked != step.asked {
			t.Errorf("%s: window %d, then %d after %d requests, want %d, %d, %d", step.name, first, m.Window(), asked, step.first, step.second, step.asked)
		}
		c.Close()
	}
	if !strings.Contains(string(file.data), `"window": 2048`) {
		t.Errorf("kept:\n%s", file.data)
	}
	// Elsewhere the kept facts suffice for a day.
	remote := Config{Providers: []Provider{{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: "http://lab.invalid/v1"}}}
	file.data = []byte(strings.ReplaceAll(string(file.data), s.URL, "http://lab.invalid/v1"))
	c := file.catalogue(clock)
	m := compatibleModel(t, "http://lab.invalid/v1", nil)
	if !c.recall(remote, getenv, m) || m.Window() != 2048 {
		t.Errorf("window %d", m.Window())
	}
	now = now.Add(25 * time.Hour)
	if c.recall(remote, getenv, m) {
		t.Error("facts of yesterday are not asked for again")
	}
}

// A list that arrives keeps the facts of its provider, as does another process.
func TestFactsBesideLists(t *testing.T) {
	var file shelf
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"id":"m","max_model_len":100},{"id":"n"}]}`)
	})
	cfg := Config{Providers: []Provider{{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: s.URL}}}
	getenv := func(string) string { return "" }
	one, two := file.catalogue(time.Now), file.catalogue(time.Now)
	two.Models(cfg, getenv)
	one.Learn(cfg, getenv, compatibleModel(t, s.URL, nil))
	one.running.Wait()
	two.Refresh(cfg, getenv)
	two.running.Wait()
	if text := string(file.data); !strings.Contains(text, `"window": 100`) || !strings.Contains(text, `"name": "n"`) {
		t.Errorf("kept:\n%s", text)
	}
}

// A turn waits a short time for a server that does not answer, and not at all for one that is not
// there.
func TestLearnFirstIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := &Catalogue{Now: time.Now}
		c.LearnFirst(t.Context(), Config{}, func(string) string { return "" }, silentFacts{})
		if took := time.Since(begin); took != llm.LearnTimeout {
			t.Errorf("waited %s", took)
		}
	})
	s := llmtest.Serve(t, nil)
	s.Close()
	(&Catalogue{Now: time.Now}).LearnFirst(t.Context(), Config{}, func(string) string { return "" }, compatibleModel(t, s.URL, nil))
}

// silentFacts is a model whose server never answers.
type silentFacts struct{ local.Direct }

func (silentFacts) Learn(ctx context.Context) bool { <-ctx.Done(); return false }

func (silentFacts) Facts() (llm.Facts, bool) { return llm.Facts{}, false }

func (silentFacts) Recall(llm.Facts) {}

// A configured server on this machine is asked without a key, unless one is configured.
func TestKeyOnThisMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		provider Provider
		asks     bool
	}{
		"claude here":             {Provider{Type: TypeClaude, BaseURL: "http://127.0.0.1:8080"}, false},
		"openai here":             {Provider{Type: TypeOpenAI, BaseURL: "http://localhost:8080/v1"}, false},
		"ipv6":                    {Provider{Type: TypeOpenAI, BaseURL: "http://[::1]:8080/v1"}, false},
		"with a key's variable":   {Provider{Type: TypeOpenAI, BaseURL: "http://127.0.0.1:8080", APIKeyEnv: "KEY"}, true},
		"elsewhere":               {Provider{Type: TypeClaude, BaseURL: "http://192.0.2.1:8080"}, true},
		"the provider's own":      {Provider{Type: TypeOpenAI}, true},
		"a compatible server has": {Provider{Type: TypeCompatible, Model: "m", BaseURL: "http://192.0.2.1:8080"}, false},
	} {
		m, err := Select(Config{Providers: []Provider{tt.provider}}, func(string) string { return "" }, nil, "")
		if err != nil || (llm.Ready(m) != nil) != tt.asks {
			t.Errorf("%s: %v, ready %v", name, err, llm.Ready(m))
		}
	}
}

// A refusal that states the window teaches it: the next answer is at most as long as what a request
// leaves of it. A configured limit stays where it is less.
func TestWindowOfARefusal(t *testing.T) {
	const refusal = `{"error":{"code":400,"message":"request (8703 tokens) exceeds the available context size (8192 tokens), try increasing it",` +
		`"type":"exceed_context_size_error","n_prompt_tokens":8703,"n_ctx":8192}}`
	for name, tt := range map[string]struct {
		api             string
		maxTokens, size int
		want            string
	}{
		"chat":              {"chat", 0, 4000, `"max_tokens":3192`},
		"responses":         {"responses", 0, 4000, `"max_output_tokens":3192`},
		"nearly full":       {"chat", 0, 8000, `"max_tokens":512`},
		"a smaller limit":   {"chat", 100, 4000, `"max_tokens":100`},
		"a larger limit":    {"chat", 5000, 4000, `"max_tokens":3192`},
		"of unknown length": {"chat", 0, 0, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				bodies = append(bodies, bodyOf(r))
				llmtest.Status(400, refusal)(w, r)
			})
			p := Provider{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: s.URL, API: tt.api, MaxTokens: tt.maxTokens}
			m, err := Select(Config{Providers: []Provider{p}}, func(string) string { return "" }, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			req := llmtest.Hello()
			req.Size = tt.size
			_, err = llmtest.Collect(m, t.Context(), req)
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Prompt != 8703 || e.Window != 8192 || m.Window() != 8192 || !strings.Contains(e.Hint, "-c") {
				t.Errorf("window %d after %+v", m.Window(), err)
			}
			_, _ = llmtest.Collect(m, t.Context(), req)
			if strings.Contains(bodies[0], `"max_tokens":3192`) || !strings.Contains(bodies[1], tt.want) || tt.want == "" && strings.Contains(bodies[1], "max_") {
				t.Errorf("requests %v, want %s", bodies, tt.want)
			}
		})
	}
}

// A model whose server drops tools gets them in text from the first request on, and the user reads
// once why.
func TestServerDropsTools(t *testing.T) {
	var bodies []string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"default_generation_settings":{"n_ctx":8192},"chat_template_caps":{"supports_tools":false}}`)
			return
		}
		bodies = append(bodies, bodyOf(r))
		io.WriteString(w, `{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}`)
	})
	memory := new(wire.Memory)
	m := compatibleModel(t, s.URL, memory)
	llm.Learn(t.Context(), m)
	if !llm.CallsInText(m) {
		t.Error("calls are not expected in text")
	}
	req := llmtest.Hello()
	req.Tools = llmtest.Tools()
	notices := 0
	for _, m := range []llm.Model{m, compatibleModel(t, s.URL, memory)} {
		events, err := llmtest.Collect(m, t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			if strings.HasPrefix(ev.Notice, "lab:m has no tools") {
				notices++
			}
		}
	}
	if notices != 1 || len(bodies) != 2 || strings.Contains(bodies[0], `"tools":`) || !strings.Contains(bodies[0], "tool_call") {
		t.Errorf("%d notices, requests %v", notices, bodies)
	}
}

// A count of tokens without the tools shows that the server drops them: the model is asked again in text, and the
// first answer counts as a thought. A server that counts only what it had not cached proves nothing, and neither does
// a model that has called a tool.
func TestCountShowsDroppedTools(t *testing.T) {
	req := llm.Request{System: strings.Repeat("Be brief and kind. ", 60), Messages: []llm.Message{llmtest.UserText("What is in README.md?")}}
	for i := range 8 {
		req.Tools = append(req.Tools, llm.Tool{Name: fmt.Sprint("tool_", i), Description: strings.Repeat("It does one thing well. ", 30),
			Schema: []byte(`{"type":"object"}`)})
	}
	messages := llm.Tokens("m", llm.Request{Messages: req.Messages})
	bare := llm.Tokens("m", llm.Request{System: req.System, Messages: req.Messages})
	all := llm.Tokens("m", req)
	answered := func(prompt, cached int) string {
		return fmt.Sprintf(`{"choices":[{"message":{"content":"I have no tools."},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":%d}}}`, prompt, cached)
	}
	const called = `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"tool_1","arguments":"{}"}}]},"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":5}}`
	for name, tt := range map[string]struct {
		answers []string
		inText  bool
	}{
		"all":                                      {[]string{answered(all, 0)}, false},
		"tokenizer counts less":                    {[]string{answered(all*7/10, 0)}, false},
		"tools in a shorter form":                  {[]string{answered(bare+(all-bare)/2, 0)}, false},
		"none counted":                             {[]string{answered(0, 0)}, false},
		"one counted":                              {[]string{answered(1, 0)}, false},
		"only what was not cached":                 {[]string{answered(messages, 0)}, false},
		"without tools":                            {[]string{answered(bare, 0)}, true},
		"without tools, much cached":               {[]string{answered(bare, bare-2)}, true},
		"tokenizer counts more":                    {[]string{answered(bare*5/4, 0)}, true},
		"tokenizer counts less, and without tools": {[]string{answered(bare*3/4, 0)}, true},
		"the model has called a tool":              {[]string{called, answered(bare, 0)}, false},
		"tools were counted before":                {[]string{answered(all, 0), answered(bare, 0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				bodies = append(bodies, bodyOf(r))
				io.WriteString(w, tt.answers[min(len(bodies), len(tt.answers))-1])
			})
			m := compatibleModel(t, s.URL, new(wire.Memory))
			var events []llm.Event
			for range tt.answers {
				var err error
				if events, err = llmtest.Collect(m, t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			reasoned, notices := 0, 0
			for _, ev := range events {
				if ev.Reasoned {
					reasoned++
				}
				if strings.Contains(ev.Notice, "drops the tools") {
					notices++
				}
			}
			want := 0
			if tt.inText {
				want = 1
			}
			if reasoned != want || notices != want || llm.CallsInText(m) != tt.inText || len(bodies) != len(tt.answers)+want {
				t.Errorf("%d of %d answers became thoughts with %d notices, after %d requests; calls in text: %t", reasoned, want, notices, len(bodies), llm.CallsInText(m))
			}
			if tt.inText && strings.Contains(bodies[len(bodies)-1], `"tools":`) {
				t.Error("the model is asked again with native tools")
			}
		})
	}
}

// A server nearby that speaks Anthropic's protocol states the facts about its model in its other protocol. They bound the window and an
// answer. Other servers are not asked.
func TestFactsOfClaudeNearby(t *testing.T) {
	var bodies []string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"default_generation_settings":{"n_ctx":8192},"chat_template_caps":{"supports_tools":false}}`)
			return
		}
		bodies = append(bodies, bodyOf(r))
		llmtest.Status(400, `{"error":{"message":"no"}}`)(w, r)
	})
	for name, tt := range map[string]struct {
		provider Provider
		window   int
		inText   bool
		want     string
	}{
		"nearby":      {Provider{Type: TypeClaude, Model: "m", BaseURL: s.URL}, 8192, true, `"max_tokens":3192`},
		"configured":  {Provider{Type: TypeClaude, Model: "m", BaseURL: s.URL, ContextWindow: 6000, MaxTokens: 500}, 6000, true, `"max_tokens":500`},
		"Anthropic's": {Provider{Type: TypeClaude, Model: "claude-opus-5-5"}, 1_000_000, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Select(Config{Providers: []Provider{tt.provider}}, func(string) string { return "" }, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			llm.LearnFacts(t.Context(), m)
			if m.Window() != tt.window || llm.CallsInText(m) != tt.inText {
				t.Errorf("window %d, calls in text %t, want %d and %t", m.Window(), llm.CallsInText(m), tt.window, tt.inText)
			}
			if tt.want == "" {
				return
			}
			req := llmtest.Hello()
			req.Size = 4000
			_, _ = llmtest.Collect(m, t.Context(), req)
			if last := bodies[len(bodies)-1]; !strings.Contains(last, tt.want) {
				t.Errorf("the request is %s, want %s", last, tt.want)
			}
		})
	}
}

// A fallback is asked for its facts before it answers, so it gets its tools in text where its server drops them.
func TestFactsOfAFallback(t *testing.T) {
	down := llmtest.Serve(t, llmtest.Status(401, `{"error":{"message":"no key"}}`))
	var answered string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"default_generation_settings":{"n_ctx":8192},"chat_template_caps":{"supports_tools":false}}`)
			return
		}
		answered = bodyOf(r)
		io.WriteString(w, `{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}`)
	})
	cfg := Config{Fallback: []string{"b"}, Providers: []Provider{
		{Name: "a", Type: TypeCompatible, Model: "m", BaseURL: down.URL}, {Name: "b", Type: TypeCompatible, Model: "m", BaseURL: s.URL},
	}}
	m, err := Select(cfg, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	req := llmtest.Hello()
	req.Tools = llmtest.Tools()
	if _, err := llmtest.Collect(m, t.Context(), req); err != nil || answered == "" || strings.Contains(answered, `"tools":`) {
		t.Errorf("%v, the fallback was asked %s, want the tools in text", err, answered)
	}
}

// A llama.cpp server reports how far it has read a request. Others are not asked for that.
func TestProgressOfLlama(t *testing.T) {
	for name, tt := range map[string]struct {
		props string
		want  bool
	}{"llama.cpp": {`{"default_generation_settings":{"n_ctx":8192}}`, true}, "another": {`{}`, false}} {
		t.Run(name, func(t *testing.T) {
			var body string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "completions") {
					io.WriteString(w, tt.props)
					return
				}
				body = bodyOf(r)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}],`+
					`"prompt_progress":{"total":2607,"cache":7,"processed":2048,"time_ms":21000}}`+"\n\n"+
					`data: {"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			})
			m := compatibleModel(t, s.URL, new(wire.Memory))
			llm.LearnFacts(t.Context(), m)
			events, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
			if err != nil || strings.Contains(body, `"return_progress":true`) != tt.want {
				t.Errorf("%v, request %s, asks for progress: want %t", err, body, tt.want)
			}
			want := llm.Progress{Done: 2048, Total: 2607, Elapsed: 21 * time.Second}
			if len(events) != 3 || events[0].Progress == nil || *events[0].Progress != want || events[1].Text != "Hi." {
				t.Errorf("events %+v, want %+v and the answer", events, want)
			}
		})
	}
}
