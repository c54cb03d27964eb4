package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

func TestOllamaFacts(t *testing.T) {
	gptoss := `{"details":{"family":"gptoss"},"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"gptoss","gptoss.context_length":131072}}`
	for name, tt := range map[string]struct {
		show   string
		window int    // configured
		images string // configured

		before, after int
		levels        []string
		sees          bool
	}{
		"nothing known":          {"", 0, "", 32_768, 32_768, nil, true},
		"nothing known, wanted":  {"", 64_000, "no", 64_000, 64_000, nil, false},
		"a larger window":        {llmtest.QwenShow, 0, "", 32_768, 32_768, []string{"off", "on"}, false},
		"a larger window wanted": {llmtest.QwenShow, 64_000, "yes", 64_000, 40_960, []string{"off", "on"}, true},
		"a smaller window":       {`{"capabilities":["completion"],"model_info":{"llama.context_length":8192}}`, 0, "", 32_768, 8192, nil, false},
		"the Modelfile's": {strings.Replace(gptoss, `{`, `{"parameters":"num_ctx                        65536\ntop_k  1",`, 1), 0, "", 32_768, 65_536,
			[]string{"low", "medium", "high"}, false},
		"elsewhere": {strings.Replace(gptoss, `{`, `{"remote_host":"https://ollama.com",`, 1), 0, "", 32_768, 131_072,
			[]string{"low", "medium", "high"}, false},
		"sees":          {`{"capabilities":["completion","vision"]}`, 0, "", 32_768, 32_768, nil, true},
		"an old server": {`{"model_info":{"general.architecture":"llama","llama.context_length":4096}}`, 0, "", 32_768, 4096, nil, true},
		"nonsense":      {`{"capabilities":["completion","vision"],"parameters":"num_ctx x\nnum_ctx -1","model_info":{"a.context_length":"x","b.context_length":-1}}`, 0, "", 32_768, 32_768, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, memory := llmtest.ServeOllama(t, tt.show, ""), new(wire.Memory)
			m := New(Config{Model: "m", Address: s.URL, Window: tt.window, Images: tt.images, Memory: memory})
			before := m.Window()
			learned := llm.Learn(t.Context(), textcalls.Wrap(m))
			if learned != (tt.show != "") || llm.Learn(t.Context(), m) {
				t.Errorf("Learn: %v", learned)
			}
			type facts struct {
				Before, After int
				Levels        []string
				Sees          bool
			}
			if diff := cmp.Diff(facts{tt.before, tt.after, tt.levels, tt.sees}, facts{before, m.Window(), llm.Levels(m), llm.AcceptsImages(m)}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if other := New(Config{Model: "m", Address: s.URL, Memory: memory}); tt.window == 0 && other.Window() != m.Window() {
				t.Error("another session does not know what this one learned")
			}
		})
	}
}

func TestOllamaRequest(t *testing.T) {
	s := llmtest.ServeOllama(t, llmtest.QwenShow, "", llmtest.NDJSONLines(llmtest.OllamaDone))
	m := New(Config{Model: "m", Address: s.URL, MaxTokens: 100})
	schema := `{"type":"object","properties":{"path":{"type":["string","null"],"minLength":1}},"required":["path"],"additionalProperties":false}`
	req := llm.Request{System: "Be kind.", Thought: "off",
		Tools: []llm.Tool{{Name: "read", Description: "reads", Schema: json.RawMessage(schema)}, {Name: "odd", Schema: json.RawMessage(`{"properties":{"a":true}}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Blocks: []llm.Block{{Text: "one"}, {Text: "two"}}},
			{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "t", Opaque: &llm.Opaque{Provider: "ollama:m", Data: json.RawMessage(`{"thinking":"t"}`)}},
				{Text: "Reads."},
				{Call: &llm.ToolCall{ID: "c", Name: "read", Input: json.RawMessage(`{"path": "a", "n": 12345678901234567890}`)}},
				{Call: &llm.ToolCall{ID: "d", Name: "read", Input: json.RawMessage(`"oops"`)}}}},
			{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c", Text: "A"}}, {Text: "and"}}},
			{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "u", Opaque: &llm.Opaque{Provider: "claude:x", Data: json.RawMessage(`{"thinking":"u"}`)}},
				{Call: &llm.ToolCall{ID: "c", Name: "a.b", Input: json.RawMessage(`{}`)}}}},
			{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c", Text: "B", Failed: true}}}},
			{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "v", Opaque: &llm.Opaque{Provider: "ollama:m", Data: json.RawMessage(`{"thinking":"v"}`)}},
				{Text: "Done."}}},
			{Role: llm.User, Blocks: []llm.Block{{Image: &llm.Image{MIME: "image/png", Data: []byte("x")}}}},
		}}
	if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"options":{"num_ctx":32768,"num_predict":100},"think":false,"truncate":false,"shift":false,` +
		`"tools":[{"type":"function","function":{"name":"read","description":"reads","parameters":` + schema + `}},` +
		`{"type":"function","function":{"name":"odd","parameters":{"type":"object","properties":{}}}}],"messages":[` +
		`{"role":"system","content":"Be kind."},{"role":"user","content":"one\n\ntwo"},` +
		`{"role":"assistant","content":"Reads.","thinking":"t","tool_calls":[{"id":"c","function":{"index":0,"name":"read","arguments":{"path":"a","n":12345678901234567890}}},` +
		`{"id":"d","function":{"index":1,"name":"read","arguments":{"not_an_object":"oops"}}}]},` +
		`{"role":"tool","content":"A","tool_name":"read","tool_call_id":"c"},{"role":"tool","content":"[cancelled]","tool_name":"read","tool_call_id":"d"},{"role":"user","content":"and"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c_2","function":{"index":0,"name":"a_b","arguments":{}}}]},` +
		`{"role":"tool","content":"B","tool_name":"a_b","tool_call_id":"c_2"},` +
		`{"role":"assistant","content":"Done."},{"role":"user","content":"[image/png, 1 byte, not shown: ollama:m takes no images]"}]}`
	if diff := cmp.Diff(want, s.Chats[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A request of a longer conversation begins with the bytes of the earlier
// request.
func TestOllamaPrefix(t *testing.T) {
	s := llmtest.ServeOllama(t, llmtest.QwenShow, "", llmtest.NDJSONLines(llmtest.OllamaDone))
	req := llm.Request{System: "s", Tools: []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Messages: []llm.Message{llmtest.UserText("a")}}
	m := modelAt(s.URL, "m")
	for range 2 {
		if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c", Name: "read", Input: json.RawMessage(`{}`)}}}},
			llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c", Text: "x"}}}})
	}
	first, second := strings.TrimSuffix(s.Chats[0], "]}"), s.Chats[1]
	if !strings.HasPrefix(second, first) {
		t.Errorf("the prefix changed:\n%s\n%s", first, second)
	}
}

func TestOllamaImagesAndLevels(t *testing.T) {
	show := `{"details":{"family":"gpt-oss"},"capabilities":["completion","vision","thinking"],"remote_host":"https://ollama.com:443"}`
	s := llmtest.ServeOllama(t, show, "", llmtest.NDJSONLines(llmtest.OllamaDone))
	req := llm.Request{Thought: "high",
		Messages: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "See"}, {Image: &llm.Image{MIME: "image/png", Data: []byte("\x89PNG")}}}}}}
	if _, err := llmtest.Collect(modelAt(s.URL, "m"), t.Context(), req); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"options":{},"think":"high","truncate":false,"shift":false,"messages":[{"role":"user","content":"See","images":["iVBORw=="]}]}`
	if diff := cmp.Diff(want, s.Chats[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// BenchmarkRequest writes one request of a conversation with that many messages: all
// of it, or only the new ones after a call and its result.
func BenchmarkRequest(b *testing.B) {
	o := New(Config{Model: "m"})
	write := func(b *testing.B, req llm.Request) {
		if _, err := io.Copy(io.Discard, o.body("m", req).Reader()); err != nil {
			b.Fatal(err)
		}
	}
	for _, n := range []int{10, 300} {
		history := llmtest.Conversation(n + 1)
		req := llm.Request{System: "Be brief.", Messages: history, Tools: llmtest.Tools()}
		b.Run(fmt.Sprintf("whole/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, req)
			}
		})
		b.Run(fmt.Sprintf("next/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				req := req
				req.Cache, req.Messages = new(llm.Cache), history[:n-1]
				write(b, req)
				req.Messages = history
				b.StartTimer()
				write(b, req)
			}
		})
	}
}

// TestImagesOfResult checks that the images of a tool's result are in the message after
// it: model templates render only the images of user messages.
func TestImagesOfResult(t *testing.T) {
	got := userMessages([]llm.Block{{Result: &llm.ToolResult{ID: "a", Text: "seen", Images: []llm.Image{{MIME: "image/png", Data: []byte("img")}}}}},
		&callNames{tools: map[string]string{}})
	if len(got) != 2 || got[0].Role != "tool" || got[1].Role != "user" || len(got[1].Images) != 1 || got[1].Content != "[images of tool result 1 above: 1]" {
		t.Errorf("%+v", got)
	}
}
