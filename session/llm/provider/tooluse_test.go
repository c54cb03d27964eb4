package provider

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// After a model has refused tools, the same request is sent once more in text,
// and later requests are in text from the start.
func TestAutoToolUse(t *testing.T) {
	refused := new(textcalls.ToolUse)
	s := scriptOf(t, `
{"error": "m does not support tools", "status": 400}

{"text": "`+"```bash\\nls\\n```"+`"}

{"text": "`+"```bash\\npwd\\n```"+`"}

{"text": "`+"```bash\\nid\\n```"+`"}
`)
	m := textcalls.Auto(s, refused)
	req := llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: llmtest.Tools()}
	if llm.CallsInText(m) {
		t.Error("CallsInText before a refusal: got true, want false")
	}
	for i, want := range []string{"ls", "pwd"} {
		got, err := llmtest.Collect(m, t.Context(), req)
		if s := llmtest.Transcript(got, err); s != `bash {"command":"`+want+`"}|tools` || !llm.CallsInText(m) {
			t.Errorf("answer %d: %s", i, s)
		}
	}
	other := textcalls.Auto(s, refused) // of another session
	if got, err := llmtest.Collect(other, t.Context(), req); llmtest.Transcript(got, err) != `bash {"command":"id"}|tools` {
		t.Errorf("another session: %s", llmtest.Transcript(got, err))
	}
}

func TestAutoToolUseFails(t *testing.T) {
	const refusal = `{"error": "m does not support tools", "status": 400}` + "\n"
	for name, tt := range map[string]struct {
		script, want string
		tools        []llm.Tool
	}{
		"no tools asked for":  {refusal, "error:script answered 400: m does not support tools", nil},
		"another reason":      {`{"error": "overloaded", "status": 529}`, "error:script answered 529: overloaded", llmtest.Tools()},
		"after the beginning": {`{"text": "a"}` + "\n" + refusal, "a|error:script answered 400: m does not support tools", llmtest.Tools()},
		"in text too":         {refusal + "\n" + refusal, "error:script answered 400: m does not support tools", llmtest.Tools()},
		"text fails":          {refusal + "\n" + `{"error": "down", "status": 500}`, "error:script answered 500: down", llmtest.Tools()},
	} {
		t.Run(name, func(t *testing.T) {
			m := textcalls.Auto(scriptOf(t, tt.script), new(textcalls.ToolUse))
			got, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: tt.tools})
			if s := llmtest.Transcript(got, err); s != tt.want || llm.CallsInText(m) {
				t.Errorf("%s; in text: %t", s, llm.CallsInText(m))
			}
		})
	}
}

// A model from Select has all capabilities of the provider's own model.
func TestSelectToolUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.jsonl")
	if err := os.WriteFile(file, []byte(`{"text": "<think>a</think>b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "thought:a|b|end"
	for _, use := range []string{"native", "", "auto", "text"} {
		cfg := Config{Providers: []Provider{{Type: "script", Model: file, ToolUse: use, Price: llm.Price{Input: 1}},
			{Type: "claude", Model: "claude-opus-5-5", ToolUse: use}}}
		m, err := Select(cfg, os.Getenv, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: llmtest.Tools()})
		if s := llmtest.Transcript(got, err); s != want || llm.CallsInText(m) != (use == "text") {
			t.Errorf("%q: %s", use, s)
		}
		if _, _, priced := llm.Cost(m, llm.Usage{Input: 1}); !priced || !llm.AcceptsImages(m) || m.Name() != "script:"+file {
			t.Errorf("%q: a capability is lost", use)
		}
		c, err := Select(cfg, func(string) string { return "" }, nil, "claude")
		if err != nil || llm.Levels(c) == nil || llm.Ready(c) == nil || llm.ImageRefusal(c, 50<<20) == "" {
			t.Errorf("%q: a capability of Claude is lost: %v", use, err)
		}
	}
}

func scriptOf(t testing.TB, text string) *local.Script {
	t.Helper()
	s, err := local.ParseScript("m.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After an answer whose reasoning had no opening tag, the next ones begin with a thought. An answer without reasoning is said in full, and
// ends that.
func TestReasoningWithoutOpeningTag(t *testing.T) {
	for name, tools := range map[string][]llm.Tool{"without tools": nil, "with tools": llmtest.Tools()} {
		t.Run(name, func(t *testing.T) {
			s := scriptOf(t, `
{"text": "I should greet.\n</think>\n\nHi."}

{"text": "I should "}
{"text": "ask.\n</th"}
{"text": "ink>\n\nHow are you?"}

{"text": "<think>Hm.</think>Well?"}

{"text": "Hello there."}

{"text": "Bye."}
`)
			m := textcalls.Auto(s, new(textcalls.ToolUse))
			for i, want := range []string{
				"I should greet.\n|reasoned|Hi.|end", "thought:I should ask.\n|How are you?|end", "thought:Hm.|Well?|end", "thought:Hello there.|Hello there.|end", "Bye.|end",
			} {
				events, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: tools})
				var parts []string
				for _, ev := range events {
					switch {
					case ev.Reasoned:
						parts = append(parts, "reasoned")
					case ev.Thought != "":
						parts = append(parts, "thought:"+ev.Thought)
					case ev.Text != "":
						parts = append(parts, ev.Text)
					case ev.Stop != "":
						parts = append(parts, string(ev.Stop))
					}
				}
				if got := strings.Join(parts, "|"); got != want || err != nil {
					t.Errorf("answer %d: %q, %v, want %q", i, got, err, want)
				}
			}
		})
	}
}

// A process begins to ask a model in text if one before it has found that the model calls tools only so, for a day. A native
// call ends that.
func TestToolUseIsKept(t *testing.T) {
	const (
		inJSON = `{"choices":[{"message":{"content":"{\"name\": \"list\", \"arguments\": {}}"},"finish_reason":"stop"}]}`
		native = `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var file shelf
	var answer, body string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"default_generation_settings":{"n_ctx":8192}}`)
			return
		}
		body = bodyOf(r)
		io.WriteString(w, answer)
	})
	for _, step := range []struct {
		name   string
		after  time.Duration
		answer string
		inText bool // the model is asked in text
		kept   bool // what was found is in the file
	}{
		{"first", 0, inJSON, false, true},
		{"next process", time.Hour, inJSON, true, true},
		{"after a day", 24 * time.Hour, inJSON, false, true},
		{"and again", time.Hour, inJSON, true, true},
		{"after another day", 24 * time.Hour, native, false, false},
		{"after a native call", time.Hour, native, false, false},
	} {
		now, answer = now.Add(step.after), step.answer
		c := file.catalogue(func() time.Time { return now })
		cfg := Config{Providers: []Provider{{Name: "lab", Type: TypeCompatible, Model: "m", BaseURL: s.URL}}}
		getenv := func(string) string { return "" }
		m := compatibleModel(t, s.URL, new(wire.Memory))
		c.Learn(cfg, getenv, m)
		c.running.Wait()
		c.LearnFirst(t.Context(), cfg, getenv, m)
		req := llmtest.Hello()
		req.Tools = llmtest.Tools()
		got, err := llmtest.Collect(m, t.Context(), req)
		if text := llmtest.Transcript(got, err); !strings.HasSuffix(text, "list {}|tools") {
			t.Errorf("%s: got %s", step.name, text)
		}
		if inText := !strings.Contains(body, `"tools":`); inText != step.inText {
			t.Errorf("%s: asked in text: %t, want %t", step.name, inText, step.inText)
		}
		if kept := strings.Contains(string(file.data), `"inText"`); kept != step.kept || !strings.Contains(string(file.data), `"window": 8192`) {
			t.Errorf("%s: kept\n%s", step.name, file.data)
		}
		c.Close()
	}
}
