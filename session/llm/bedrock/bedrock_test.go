package bedrock

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

const textEvents = `messageStart {"role":"assistant"}
contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"hi"}}
messageStop {"stopReason":"end_turn"}
metadata {"usage":{"inputTokens":3,"outputTokens":2}}
`

// server answers requests in turn, and repeats the last answer.
type server struct {
	URL    string
	paths  []string
	bodies []string
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	s := &server{}
	s.URL = llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.paths, s.bodies = append(s.paths, r.URL.EscapedPath()), append(s.bodies, string(body))
		answers[min(len(s.bodies), len(answers))-1](w, r)
	}).URL
	return s
}

func streamed(t *testing.T, events string) http.HandlerFunc {
	data := stream(t, events)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", streamType)
		_, _ = w.Write(data)
	}
}

func refuse(status int, kind, message string) http.HandlerFunc {
	return llmtest.Status(status, string(must(json.Marshal(map[string]string{"message": message}))), "X-Amzn-Errortype", kind+":http://internal.amazon.com/")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (s *server) model(model string) *Model {
	return New(Config{Model: model, BaseURL: s.URL, KeyEnv: KeyEnv, APIKey: func() string { return "the-bedrock-key" }})
}

// A feature that a model refuses is left out, of this request and of later ones.
func TestRefusedFeatures(t *testing.T) {
	tools := []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}
	for name, tt := range map[string]struct {
		message string
		gone    string
	}{
		"caching":       {"You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.", "cachePoint"},
		"caching, Nova": {"Malformed input request: extraneous key [cachePoint] is not permitted, please reformat your input and try again.", "cachePoint"},
		"images":        {"This model doesn't support the image content block that you provided. Update your request.", `"image"`},
		"streaming":     {"This model doesn't support tool use in streaming mode.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			whole := llmtest.Status(200,
				`{"output":{"message":{"role":"assistant","content":[{"text":"hi"},{"toolUse":{"toolUseId":"c","name":"read","input":{"a":1}}}]}},`+
					`"stopReason":"tool_use","usage":{"inputTokens":3,"outputTokens":2}}`)
			good := streamed(t, textEvents)
			if tt.gone == "" {
				good = whole
			}
			s := serve(t, refuse(400, "ValidationException", tt.message), good)
			m := s.model("arn:aws:bedrock:us-east-1:1:application-inference-profile/x")
			for range 2 {
				req := llm.Request{System: "s", Tools: tools, Messages: []llm.Message{llmtest.UserBlocks(llm.Block{Text: "look"}, llmtest.Picture(3))}}
				got, err := llmtest.Collect(m, t.Context(), req)
				if err != nil || len(got) == 0 || got[0].Text != "hi" {
					t.Fatalf("got %+v, %v", got, err)
				}
			}
			if len(s.bodies) != 3 {
				t.Fatalf("%d requests, want 3", len(s.bodies))
			}
			for i, body := range s.bodies {
				if tt.gone != "" && strings.Contains(body, tt.gone) != (i == 0) {
					t.Errorf("request %d: %s", i, body)
				}
				if want := tt.gone == "" && i > 0; strings.HasSuffix(s.paths[i], "/converse") != want {
					t.Errorf("request %d went to %s", i, s.paths[i])
				}
			}
		})
	}
}

// Thoughts that the model refuses are left out of one request only.
func TestRefusedThoughts(t *testing.T) {
	s := serve(t, refuse(400, "ValidationException", "messages.1.content.0: Invalid `signature` in `thinking` block"), streamed(t, textEvents))
	m := s.model(claude)
	req := llm.Request{Cache: new(llm.Cache), Messages: []llm.Message{llmtest.UserText("a"), {Role: llm.Assistant, Blocks: []llm.Block{
		{Thought: "t", Opaque: &llm.Opaque{Provider: m.Name(), Data: json.RawMessage(`{"text":"t","signature":"sig"}`)}}, {Text: "b"}}}, llmtest.UserText("c")}}
	for range 2 {
		if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{true, false, true} {
		if got := strings.Contains(s.bodies[i], "reasoningContent"); got != want {
			t.Errorf("request %d has thoughts: %t, want %t", i, got, want)
		}
	}
}

// What a failure means, and what the user can do.
func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string
		is     func(*llm.Error) bool
	}{
		"throttled": {refuse(429, "ThrottlingException", "Too many tokens, please wait before trying again."), "wait a minute",
			func(e *llm.Error) bool { return e.Retryable && !e.TooLong }},
		"too long": {refuse(400, "ValidationException", "Input is too long for requested model."), "/compact",
			func(e *llm.Error) bool { return e.TooLong }},
		"Nova's words": {refuse(400, "ValidationException",
			"Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input."), "/compact", func(e *llm.Error) bool { return e.TooLong }},
		"a profile": {refuse(400, "ValidationException",
			"Invocation of x with on-demand throughput isn’t supported."), "name an inference profile", func(e *llm.Error) bool { return !e.Retryable }},
		"no access": {refuse(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
			"ask for access", func(e *llm.Error) bool { return !e.Auth }},
		"bad key": {refuse(403, "AccessDeniedException", "Bearer Token has expired"), "check the key in AWS_BEARER_TOKEN_BEDROCK",
			func(e *llm.Error) bool { return e.Auth }},
		"a clock": {refuse(403, "InvalidSignatureException", "Signature expired: 20260101T000000Z is now earlier than 20260101T001000Z"),
			"set the clock", func(e *llm.Error) bool { return e.Auth }},
		"key shown": {refuse(403, "UnrecognizedClientException", "unknown the-bedrock-key"), "unknown [key]",
			func(e *llm.Error) bool { return e.Auth }},
		"in the stream": {streamed(t, `!modelStreamErrorException {"message":"oops","originalStatusCode":500}`), "oops",
			func(e *llm.Error) bool { return e.Retryable }},
		"throttled in the stream": {streamed(t, `!throttlingException {"message":"Too many tokens, please wait before trying again."}`), "answered 429",
			func(e *llm.Error) bool { return e.Retryable && !e.TooLong }},
		"invalid in the stream": {streamed(t, `!validationException {"message":"The prompt is too long: 210000"}`), "/compact",
			func(e *llm.Error) bool { return e.TooLong && !e.Retryable }},
		"broken off": {streamed(t, "contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"hi\"}}\n"), "broke off",
			func(e *llm.Error) bool { return e.Retryable }},
		"a page":          {llmtest.Status(200, "<html>sign in</html>"), "check base_url", func(e *llm.Error) bool { return !e.Retryable }},
		"an error as 200": {llmtest.Status(200, `{"message":"nope"}`), "nope", func(*llm.Error) bool { return true }},
		"a huge frame": {llmtest.Status(200, "\x01\x80\x00\x01\x00\x00\x00\x00aaaaaaaaaaaaaaaa"), "a frame of its stream has 25165825 bytes",
			func(*llm.Error) bool { return true }},
		"a damaged frame": {llmtest.Status(200, string(damaged(t))), "is damaged", func(*llm.Error) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := llmtest.Collect(serve(t, tt.answer).model(claude), t.Context(), llmtest.Hello())
			failed, ok := errors.AsType[*llm.Error](err)
			if !ok || !strings.Contains(failed.Error(), tt.want) || !tt.is(failed) {
				t.Errorf("got %v %+v, want %s", failed, failed, tt.want)
			}
		})
	}
}

// damaged returns a stream with one wrong byte.
func damaged(t *testing.T) []byte {
	data := stream(t, textEvents)
	data[60] ^= 1
	return data
}

// A model without a region is not asked, with a key or without.
func TestNoRegion(t *testing.T) {
	m := New(Config{Model: "m", Region: func() error { return wire.Advised(errors.New("no region is set"), "set region") }})
	_, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	if err == nil || err.Error() != "bedrock: the address is unknown: no region is set (set region)" || llm.Ready(m) == nil {
		t.Errorf("got %v", err)
	}
	if _, err := m.List(t.Context()); err == nil {
		t.Error("no error of List")
	}
}

// The body of a request, for the families that differ.
func TestRequest(t *testing.T) {
	history := []llm.Message{llmtest.UserText("a"), {Role: llm.Assistant,
		Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c 1", Name: "read file", Input: json.RawMessage(`{"a":1}`)}}}},
		{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c 1", Failed: true, Images: []llm.Image{{MIME: "image/jpg", Data: []byte("x")}}}}}}}
	call := `{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c_1","name":"read_file","input":{"a":1}}}]},` +
		`{"role":"user","content":[{"toolResult":{"toolUseId":"c_1","content":[{"text":"[no output]"},{"image":{"format":"jpeg","source":{"bytes":"eA=="}}}]`
	spec := `"toolConfig":{"tools":[{"toolSpec":{"name":"read_file","inputSchema":{"json":{"type":"object"}}}}`
	const mark = `,{"cachePoint":{"type":"default"}}`
	for model, want := range map[string]string{
		claude: `{"inferenceConfig":{"maxTokens":9},"system":[{"text":"S"},{"text":"P"}` + mark + `],` + spec + mark +
			`]},"messages":[` + call + `,"status":"error"}}` + mark + `]}]}`,
		"amazon.nova-pro-v1:0": `{"inferenceConfig":{"maxTokens":9},"system":[{"text":"S"},{"text":"P"}` + mark + `],` + spec +
			`]},"messages":[` + call + `,"status":"error"}}` + mark + `]}]}`,
		"mistral.mistral-large-2402-v1:0": `{"inferenceConfig":{"maxTokens":9},"system":[{"text":"S"},{"text":"P"}],` + spec + `]},"messages":[` + call + `}}]}]}`,
	} {
		s := serve(t, streamed(t, textEvents))
		m := New(Config{Model: model, BaseURL: s.URL, APIKey: func() string { return "k" }, MaxTokens: 9})
		if _, err := llmtest.Collect(m, t.Context(), llm.Request{System: "S", Project: "P", Messages: history}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", model, diff)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct{ model, level, want string }{
		{"us.amazon.nova-2-lite-v1:0", "high", `{"reasoningConfig":{"maxReasoningEffort":"high","type":"enabled"}}`},
		{"us.amazon.nova-2-lite-v1:0", "off", `{"reasoningConfig":{"type":"disabled"}}`},
		{"openai.gpt-oss-120b-1:0", "low", `{"reasoning_effort":"low"}`},
		{"openai.gpt-oss-120b-1:0", "off", "null"},
		{"amazon.nova-pro-v1:0", "high", "null"},
	} {
		s := serve(t, streamed(t, textEvents))
		req := llmtest.Hello()
		req.Thought = tt.level
		if _, err := llmtest.Collect(s.model(tt.model), t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Fields any `json:"additionalModelRequestFields"`
		}
		if err := json.Unmarshal([]byte(s.bodies[0]), &got); err != nil || string(must(json.Marshal(got.Fields))) != tt.want {
			t.Errorf("%s at %s: %s, %v, want %s", tt.model, tt.level, s.bodies[0], err, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	for id, want := range map[string][2]string{
		claude:                         {"anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"},
		"anthropic.claude-opus-4-8":    {"anthropic.claude-opus-4-8", "claude-opus-4-8"},
		"anthropic.claude-3-v1:0:200k": {"anthropic.claude-3-v1:0:200k", "claude-3"},
		"arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0": {"anthropic.claude-haiku-4-5-20251001-v1:0",
			"claude-haiku-4-5-20251001"},
		"arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc": {"", ""},
		"us.amazon.nova-pro-v1:0": {"amazon.nova-pro-v1:0", ""},
		"notanthropic.claude-x":   {"", ""},
		"":                        {"", ""},
	} {
		if got := [2]string{Family(id), ClaudeName(id)}; got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	if got := WindowOf("us.amazon.nova-lite-v1:0"); got != 300_000 {
		t.Errorf("got the window %d", got)
	}
}

// The list has the profiles of all pages and the models that can be named, and is empty for those who may only ask.
func TestList(t *testing.T) {
	s := serve(t, llmtest.Status(200,
		`{"inferenceProfileSummaries":[{"inferenceProfileId":"us.a","inferenceProfileName":"US A","status":"ACTIVE"}],"nextToken":"t"}`),
		llmtest.Status(200, `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.b","status":"ACTIVE"}]}`),
		llmtest.Status(200, `{"modelSummaries":[
			{"modelId":"m.text","modelName":"Text","providerName":"Maker","responseStreamingSupported":true,
			 "inputModalities":["TEXT"],"outputModalities":["TEXT"],"inferenceTypesSupported":["ON_DEMAND"]},
			{"modelId":"m.profile","inputModalities":["TEXT"],"outputModalities":["TEXT"],"inferenceTypesSupported":["INFERENCE_PROFILE"]},
			{"modelId":"m.old","inputModalities":["TEXT"],"outputModalities":["TEXT"],"inferenceTypesSupported":["ON_DEMAND"],"modelLifecycle":{"status":"LEGACY"}},
			{"modelId":"m.embed","inputModalities":["TEXT"],"outputModalities":["EMBEDDING"],"inferenceTypesSupported":["ON_DEMAND"]}]}`))
	got, err := s.model(claude).List(t.Context())
	var names []string
	for _, c := range got {
		names = append(names, c.Name+" "+c.Title+", "+c.Description)
	}
	want := []string{"bedrock:us.a US A, Model of provider bedrock", "bedrock:us.b us.b, Model of provider bedrock", "bedrock:m.text Text, Maker"}
	if err != nil || !slices.Equal(names, want) || !slices.Equal(s.paths, []string{"/inference-profiles", "/inference-profiles", "/foundation-models"}) {
		t.Errorf("got %q of %q, %v, want %q", names, s.paths, err, want)
	}
	got, err = serve(t, refuse(403, "AccessDeniedException", "not authorized to perform: bedrock:ListInferenceProfiles")).model(claude).List(t.Context())
	if err != nil || len(got) != 0 {
		t.Errorf("without the right to list: %v, %v", got, err)
	}
	if _, err := serve(t, refuse(403, "UnrecognizedClientException", "no")).model(claude).List(t.Context()); err == nil {
		t.Error("no error for bad credentials")
	}
}

// Frames with any headers and lengths end with an error, or are read like others; nothing panics or is kept in memory.
func FuzzFrames(f *testing.F) {
	f.Add(stream(f, textEvents))
	f.Add(stream(f, "!throttlingException {}"))
	f.Add([]byte(`{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn"}`))
	for _, header := range []string{"\x05:abcd\x07\xff\xff", "\x00\x00", "\x01a\x06\x00\x05ab", "\x01a\xff"} {
		f.Add(framed(header, "{}"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a := NewAnswer("m")
		res := &http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(data))}
		for chunk, err := range Frames(res) {
			if err != nil {
				return
			}
			if done, err := a.ReadChunk(chunk, func(llm.Event) bool { return true }); done || err != nil {
				return
			}
		}
	})
}

// framed returns a frame with right checksums around any headers.
func framed(headers, payload string) []byte {
	var b bytes.Buffer
	put := func(n uint32) { _ = binary.Write(&b, binary.BigEndian, n) }
	put(uint32(16 + len(headers) + len(payload)))
	put(uint32(len(headers)))
	put(crc32.ChecksumIEEE(b.Bytes()))
	fmt.Fprint(&b, headers, payload)
	put(crc32.ChecksumIEEE(b.Bytes()))
	return b.Bytes()
}
