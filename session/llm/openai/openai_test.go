package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

func TestChatCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		pieces []string
		want   []string
	}{
		"pieces": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"k\":"}}`,
			`{"index":0,"function":{"arguments":"1}"}}`},
			[]string{`a x {"k":1}`}},
		"interleaved": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}`,
			`{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}`, `{"index":0,"function":{"arguments":":1}"}}`, `{"index":1,"function":{"arguments":"}"}}`},
			[]string{`a x {"k":1}`, `b y {}`}},
		"index 0, IDs": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`},
			[]string{`a x {}`, `b x {}`}},
		"index 0, no IDs": {[]string{`{"index":0,"function":{"name":"x","arguments":"{}"}}`, `{"index":0,"function":{"name":"x","arguments":"{\"k\":1}"}}`},
			[]string{`call_1 x {}`, `call_2 x {"k":1}`}},
		"nothing but names": {[]string{`{"function":{"name":"x","arguments":"{}"}}`, `{"function":{"name":"y","arguments":{"k":1}}}`},
			[]string{`call_1 x {}`, `call_2 y {"k":1}`}},
		"pieces without index": {[]string{`{"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`, `{"function":{"arguments":"1}"}}`,
			`{"id":"b","function":{"name":"x","arguments":"{}"}}`},
			[]string{`a x {"k":1}`, `b x {}`}},
		"name and ID in each piece": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`,
			`{"index":0,"id":"a","function":{"name":"x","arguments":"1}"}}`, `{"index":0,"id":"a","function":{"name":"x","arguments":""}}`},
			[]string{`a x {"k":1}`}},
		"another ID with each piece": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`,
			`{"index":0,"id":"b","function":{"arguments":"1}"}}`},
			[]string{`a x {"k":1}`}},
		"one ID for all": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`,
			`{"index":1,"id":"a","function":{"name":"x","arguments":"{}"}}`}, []string{`a x {}`, `a_2 x {}`}},
		"no arguments":  {[]string{`{"index":0,"id":"a","function":{"name":"x"}}`}, []string{`a x {}`}},
		"encoded twice": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"\"{\\\"k\\\":1}\""}}`}, []string{`a x {"k":1}`}},
		"no JSON":       {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{k}"}}`}, []string{`a x "{k}"`}},
		"a name in pieces": {[]string{`{"index":0,"id":"a","function":{"name":"wri"}}`, `{"index":0,"function":{"name":"te"}}`,
			`{"index":0,"function":{"name":"write","arguments":"{}"}}`}, []string{`a write {}`}},
		"two without arguments": {[]string{`{"function":{"name":"x"}}`, `{"function":{"name":"y"}}`}, []string{`call_1 x {}`, `call_2 y {}`}},
		"all new but arguments": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`,
			`{"index":0,"id":"b","function":{"name":"x","arguments":"1}"}}`}, []string{`a x {"k":1}`}},
		"an empty object before": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"k\":1}"}}`},
			[]string{`a x {"k":1}`}},
		"the whole once more": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":1}"}}`,
			`{"index":0,"function":{"arguments":"{\"k\":1}"}}`}, []string{`a x {"k":1}`}},
		"a list": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"[1]"}}`}, []string{`a x "[1]"`}},
		"a signature alone": {[]string{`{"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"extra_content":{"google":{}}}`},
			[]string{`a x {} {"google":{}}`}},
		"no name": {[]string{`{"index":0,"id":"a","function":{"name":"","arguments":"{\"k\":"}}`, `{"index":0,"function":{"name":"","arguments":"1}"}}`,
			`{"index":1,"id":"b","function":{"name":"x","arguments":"{}"}}`},
			[]string{`a  {"k":1}`, `b x {}`}},
		"no name, no index": {[]string{`{"function":{"name":"","arguments":"{\"k\":1}"}}`, `{"function":{"name":"x","arguments":"{}"}}`},
			[]string{`call_1  {"k":1}`, `call_2 x {}`}},
		"an ID alone":   {[]string{`{"index":0,"id":"a"}`}, []string{`a  {}`}},
		"the name last": {[]string{`{"index":0,"id":"a","function":{"name":"","arguments":"{}"}}`, `{"index":0,"function":{"name":"x"}}`}, []string{`a x {}`}},
		"an empty last piece": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`,
			`{"index":0,"id":"","function":{"name":"","arguments":""}}`, `{"index":1,"function":{"name":"","arguments":""}}`},
			[]string{`a x {}`}},
		"nothing of anything": {[]string{`{}`}, nil},
	} {
		var calls chatCalls
		for _, piece := range tt.pieces {
			var d chatCallDelta
			if err := json.Unmarshal([]byte(piece), &d); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			calls.add(&d, wire.NewToolNames([]llm.Tool{{Name: "x"}, {Name: "y"}}))
		}
		var got []string
		for _, c := range calls.end(wire.NewToolNames(nil), false) {
			got = append(got, strings.TrimSpace(c.call.ID+" "+c.call.Name+" "+string(c.call.Input)+" "+string(c.extra)))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		cfg     Config
		window  int
		levels  string
		thought string
		body    string // the member of the request at that level
	}{
		{Config{Type: ServerOpenAI}, 1_050_000, "low medium high xhigh max", "max", `"reasoning":{"effort":"max","summary":"auto"}`},
		{Config{Type: ServerOpenAI}, 1_050_000, "low medium high xhigh max", "none", `"reasoning":{"summary":"auto"}`},
		{Config{Type: ServerOpenAI, Model: "gpt-5-mini-2025-08-07"}, 400_000, "minimal low medium high", "minimal", `"effort":"minimal"`},
		{Config{Type: ServerOpenAI, Model: "gpt-5.1", API: APIChat}, 400_000, "none low medium high", "none", `"reasoning_effort":"none"`},
		{Config{Type: ServerOpenAI, Model: "o3"}, 200_000, "low medium high", "high", `"effort":"high"`},
		{Config{Type: ServerOpenAI, Model: "gpt-4.1-mini", API: APIChat}, 1_047_576, "", "high", `"stream":true`},
		{Config{Type: ServerOpenAI, Model: "gpt-9"}, 0, "", "high", `"include":["reasoning.encrypted_content"]`},
		{Config{Type: ServerGemini}, 1_048_576, "low medium high", "low",
			`"extra_body":{"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"low"}}}`},
		{Config{Type: ServerGemini}, 1_048_576, "low medium high", "", `"thinking_config":{"include_thoughts":true}`},
		{Config{Type: ServerGemini, Model: "gemini-2.5-flash"}, 1_048_576, "none low medium high", "none",
			`"thinking_config":{"include_thoughts":false,"thinking_budget":0}`},
		{Config{Type: ServerGemini, Model: "models/gemini-2.5-pro"}, 1_048_576, "low medium high", "high", `"thinking_budget":24576`},
		{Config{Type: ServerGemini, Model: "gemma-4"}, 0, "", "high", `"stream":true`},
		{Config{Type: ServerCompatible, Model: "openai/gpt-5", UsualWindow: 400_000}, 400_000, "", "high", `"stream":true`},
		{Config{Type: ServerCompatible, Model: "qwen3-8b", MaxTokens: 7}, 0, "", "high", `"max_tokens":7`},
		{Config{Type: ServerOpenAI, Model: "gpt-4.1", API: APIChat, MaxTokens: 7}, 1_047_576, "", "", `"max_completion_tokens":7`},
	} {
		o := New(tt.cfg)
		if got := strings.Join(o.Levels(), " "); got != tt.levels || o.Window() != tt.window {
			t.Errorf("%s: levels %s, window %d", o.Name(), got, o.Window())
		}
		body := o.dialect(wire.NewToolNames(nil)).body(llm.Request{Thought: tt.thought}, nil)
		if raw, err := io.ReadAll(body.Reader()); err != nil || !strings.Contains(string(raw), tt.body) {
			t.Errorf("%s at %q: %v, no %s in\n%s", o.Name(), tt.thought, err, tt.body, raw)
		}
	}
}

func TestOpenAIBase(t *testing.T) {
	for _, tt := range []struct{ kind, url, want string }{
		{ServerOpenAI, "https://proxy.example/", "https://proxy.example/v1/"},
		{ServerGemini, "https://proxy.example", "https://proxy.example/v1beta/openai/"},
		{ServerCompatible, "http://127.0.0.1:1234", "http://127.0.0.1:1234/v1/"},
		{ServerCompatible, "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/"},
		{ServerCompatible, "https://api.deepseek.com/beta/", "https://api.deepseek.com/beta/"},
		{ServerCompatible, "https://api.deepseek.com/chat/completions", "https://api.deepseek.com/"},
		{ServerCompatible, "https://x.example/d/chat/completions?api-version=1", "https://x.example/d/"},
		{ServerOpenAI, "https://proxy.example/v1/responses/", "https://proxy.example/v1/"},
		{ServerGemini, "https://proxy.example/v1beta/openai/chat/completions", "https://proxy.example/v1beta/openai/"},
	} {
		if got := New(Config{Type: tt.kind, BaseURL: tt.url}).base; got != tt.want {
			t.Errorf("%s at %q: %s, want %s", tt.kind, tt.url, got, tt.want)
		}
	}
}

func TestOpenAIList(t *testing.T) {
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" && r.URL.Path != "/v1beta/openai/models" || r.Header.Get("Authorization") != "Bearer k" {
			llmtest.Status(401, `{"error":{"message":"who are you"}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"object":"list","data":[{"id":"gpt-6-luna"},{"id":"text-embedding-3-small"},{"id":"gpt-image-2"},{"id":"models/gemini-3.8-flash"},{"id":"models/gemini-embedding-001"},{"id":""}]}`))
	})
	for kind, want := range map[string][]string{
		ServerOpenAI: {"openai:gpt-6-luna", "openai:models/gemini-3.8-flash"},
		ServerGemini: {"gemini:gpt-6-luna", "gemini:gemini-3.8-flash"},
		ServerCompatible: {"compatible:gpt-6-luna", "compatible:text-embedding-3-small", "compatible:gpt-image-2", "compatible:models/gemini-3.8-flash",
			"compatible:models/gemini-embedding-001"},
	} {
		o := New(Config{Type: kind, BaseURL: s.URL, APIKey: func() string { return "k" }})
		list, err := o.List(t.Context())
		var got []string
		for _, c := range list {
			got = append(got, c.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	refused := New(Config{BaseURL: s.URL, KeyEnv: "K", APIKey: func() string { return "wrong" }})
	if _, err := refused.List(t.Context()); !errors.As(err, new(*llm.Error)) {
		t.Errorf("a wrong key: %v", err)
	}
	keyless := New(Config{BaseURL: s.URL, KeyEnv: "K"})
	if e, ok := errors.AsType[*llm.Error](func() error { _, err := keyless.List(t.Context()); return err }()); !ok || !e.Auth {
		t.Errorf("no key: %v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := refused.List(ctx); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// The window of an unknown model is the one that its server lists.
func TestOpenAILearns(t *testing.T) {
	for name, tt := range map[string]struct {
		list string
		want int
	}{
		"vllm":       {`{"object":"list","data":[{"id":"other","max_model_len":7},{"id":"m","object":"model","max_model_len":32768}]}`, 32768},
		"llama.cpp":  {`{"models":[{"name":"m","details":{"family":""}}],"object":"list","data":[{"id":"m","meta":{"n_ctx":8192,"n_ctx_train":40960}}]}`, 8192},
		"openrouter": {`{"data":[{"id":"m","name":"M","context_length":163840,"pricing":{"prompt":"0.1"}}]}`, 163840},
		"together":   {`[{"id":"m","type":"chat","context_length":131072}]`, 131072},
		"groq":       {`{"data":[{"id":"m","active":true,"context_window":131072}]}`, 131072},
		"lm studio":  {`{"data":[{"id":"m","object":"model","owned_by":"organization_owner"}]}`, 0},
		"nothing":    {`{"object":"list","data":null}`, 0},
		"odd":        {`{"data":[{"id":"m","context_length":"long","meta":[]}]}`, 0},
		"a page":     {`<html>`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(tt.list)) })
			m := New(Config{Type: ServerCompatible, Model: "m", BaseURL: s.URL})
			learned := llm.Learn(t.Context(), m)
			if learned != (tt.want > 0) || m.Window() != tt.want || learned && llm.Learn(t.Context(), m) {
				t.Errorf("learned %v, window %d, want %d", learned, m.Window(), tt.want)
			}
			if known := New(Config{Type: ServerCompatible, Model: "m", BaseURL: s.URL, Window: 7}); llm.Learn(t.Context(), known) || known.Window() != 7 {
				t.Error("the configured window does not count")
			}
		})
	}
}

// The time of one chunk of text.
func BenchmarkOpenAIChunk(b *testing.B) {
	for name, tt := range map[string]struct {
		answer wire.Answer
		chunk  string
	}{
		"responses": {NewResponsesAnswer(""),
			`{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_68af40337e588193a3a9a4b2c4f1a1c0","output_index":0,"content_index":0,"delta":"Hello, this is a chunk of text.","logprobs":[],"obfuscation":"aB3dE5"}`},
		"chat": {NewChatAnswer(""),
			`{"id":"chatcmpl-CdR8sXQ0bWc7LrT3","object":"chat.completion.chunk","created":1795329072,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_433e8c8649","choices":[{"index":0,"delta":{"content":"Hello, this is a chunk of text."},"logprobs":null,"finish_reason":null}],"usage":null}`},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if done, err := tt.answer.ReadChunk([]byte(tt.chunk), func(llm.Event) bool { return true }); done || err != nil {
					b.Fatal(done, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}
