package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// ollamaShow is an answer to the request for a model's properties, written by the SDK.
func ollamaShow(t *testing.T) http.HandlerFunc {
	return respond(t, api.ShowResponse{
		Parameters: "num_ctx    65536\ntop_k  20", Parser: "harmony", ModifiedAt: time.Unix(1, 0).UTC(),
		Details: api.ModelDetails{Family: "gptoss"}, RemoteHost: "https://ollama.com",
		ModelInfo:    map[string]any{"general.architecture": "gptoss", "gptoss.context_length": 131072},
		Capabilities: []model.Capability{model.CapabilityCompletion, model.CapabilityVision, model.CapabilityThinking},
	})
}

// respond answers with a value of the SDK.
func respond(t *testing.T, v any) http.HandlerFunc {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return llmtest.Status(200, string(data))
}

// Each request to Ollama is one of the SDK, for all levels. The schemas of tools have
// more members than the SDK's, so of those it must only be able to decode.
func TestOllamaRequests(t *testing.T) {
	for name, cfg := range map[string]ollama.Config{
		"plain": {}, "limited": {MaxTokens: 100, Window: 4096},
	} {
		s := record(t, ollamaShow(t), llmtest.NDJSONLines(llmtest.OllamaDone))
		cfg.Model, cfg.Address = "m", s.URL
		m := ollama.New(cfg)
		for title, history := range histories(m.Name(), `{"thinking":"hm"}`) {
			t.Run(name+"/"+title, func(t *testing.T) {
				for _, level := range append(llm.Levels(m), "", "high") {
					for _, req := range []llm.Request{{}, {System: "Be brief.", Tools: llmtest.Tools()}} {
						req.Messages, req.Thought = history, level
						if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
							t.Fatal(err)
						}
						body := s.bodies[len(s.bodies)-1]
						if err := strictly(body, new(api.ChatRequest), "tools"); err != nil {
							t.Error(err)
						}
						if err := roundTrip[api.ChatRequest](body, "tools"); err != nil {
							t.Error(err)
						}
						var tools struct{ Tools api.Tools }
						if err := json.Unmarshal(body, &tools); err != nil || len(tools.Tools) != len(req.Tools) {
							t.Errorf("%d tools of %d: %v", len(tools.Tools), len(req.Tools), err)
						}
					}
				}
			})
		}
		if err := strictly(s.bodies[0], new(api.ShowRequest)); err != nil {
			t.Errorf("the request for properties: %v", err)
		}
	}
}

// strictly decodes the members of a request, except for those apart, and returns an
// error for one that the SDK does not have.
func strictly(body []byte, into any, apart ...string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return err
	}
	for _, name := range apart {
		delete(members, name)
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// The schema of a tool is sent as it is if the server can decode it, and only then.
func TestOllamaSchemas(t *testing.T) {
	schemas := []string{`{}`, `[]`, `{"type":1}`, `{"required":"a"}`, `{"properties":[]}`, `{"properties":null}`, `{"type":["object"]}`}
	for _, property := range []string{
		`true`, `{}`, `null`, `{"type":"string"}`, `{"type":["string","null"]}`, `{"type":[1]}`, `{"type":null}`, `{"type":{}}`, `{"enum":["a",1,null]}`,
		`{"enum":{}}`,
		`{"items":{"type":"string"}}`, `{"items":true}`, `{"description":1}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[true]}`, `{"anyOf":{}}`,
		`{"properties":{"x":{"type":"string"}}}`, `{"properties":{"x":true}}`, `{"additionalProperties":false,"minimum":1}`, `{"TYPE":1}`, `{"const":1}`,
	} {
		schemas = append(schemas, `{"type":"object","properties":{"a":`+property+`}}`, `{"properties":{"a":{"properties":{"b":`+property+`}}}}`)
	}
	s := record(t, llmtest.NDJSONLines(llmtest.OllamaDone))
	m := ollama.New(ollama.Config{Model: "m", Address: s.URL})
	for _, schema := range schemas {
		req := llmtest.Hello()
		req.Tools = []llm.Tool{{Name: "a", Schema: json.RawMessage(schema)}}
		if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Tools []struct {
				Function struct{ Parameters json.RawMessage }
			}
		}
		if err := json.Unmarshal(s.bodies[len(s.bodies)-1], &sent); err != nil {
			t.Fatal(err)
		}
		want := string(wire.InputSchema(json.RawMessage(schema)))
		if json.Unmarshal([]byte(want), new(api.ToolFunctionParameters)) != nil {
			want = `{"type":"object","properties":{}}`
		}
		if got := string(sent.Tools[0].Function.Parameters); got != want {
			t.Errorf("%s is sent as %s, want %s", schema, got, want)
		}
	}
}

// The adapter reads the properties of models as the SDK writes them.
func TestOllamaFacts(t *testing.T) {
	m := ollama.New(ollama.Config{Model: "m", Address: record(t, ollamaShow(t)).URL})
	if !m.Learn(t.Context()) || m.Window() != 131_072 || !m.AcceptsImages() || strings.Join(m.Levels(), " ") != "low medium high" {
		t.Errorf("window %d, levels %v, accepts images %v", m.Window(), m.Levels(), m.AcceptsImages())
	}
	tags := api.ListResponse{Models: []api.ListModelResponse{
		{Name: "qwen3:8b", Model: "qwen3:8b", Size: 5_200_000_000, Details: api.ModelDetails{Family: "qwen3", ParameterSize: "8.2B", QuantizationLevel: "Q4_K_M"}},
		{Name: "far:cloud", RemoteHost: "https://ollama.com:443", ModifiedAt: time.Unix(1, 0)},
	}}
	list, err := ollama.New(ollama.Config{Address: record(t, respond(t, tags)).URL}).List(t.Context())
	want := []llm.Choice{
		{Name: "ollama:qwen3:8b", Title: "qwen3:8b", Description: "Ollama: 8.2B, Q4_K_M, 5.2 GB", Open: true},
		{Name: "ollama:far:cloud", Title: "far:cloud", Description: "Ollama: runs at ollama.com:443", Open: true},
	}
	if diff := gocmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A request for vectors is one of the SDK, and so is the answer.
func TestOllamaEmbeddings(t *testing.T) {
	want := [][]float32{{0.5, 1}, {-1, 0}}
	s := record(t, respond(t, api.EmbedResponse{Model: "e", Embeddings: want, TotalDuration: 1}))
	got, err := ollama.New(ollama.Config{Address: s.URL, Embedding: "e"}).Embedder().Embed(t.Context(), []string{"a <b>", ""})
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	var req api.EmbedRequest
	if err := strictly(s.bodies[0], &req); err != nil || req.Model != "e" || !gocmp.Equal(req.Input, any([]any{"a <b>", ""})) {
		t.Errorf("%+v: %v", req, err)
	}
}

// The SDK and the adapter read the same from recorded streams.
func TestOllamaRecordedStreams(t *testing.T) {
	for _, name := range []string{"text", "thoughts", "call", "parallel", "split", "max_tokens"} {
		t.Run(name, func(t *testing.T) { compareOllama(t, recordedStream(t, "ollama/"+name+".txt")) })
	}
}

// The SDK and the adapter read the same from streams that the SDK wrote.
func TestOllamaRandomStreams(t *testing.T) {
	for seed := range uint64(100) {
		stream := ollamaStream(t, rand.New(rand.NewPCG(seed, 2)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareOllama(t, stream) })
	}
}

// compareOllama reads a stream by both.
func compareOllama(t *testing.T, stream []byte) {
	t.Helper()
	s := record(t, llmtest.NDJSONLines(strings.TrimSuffix(string(stream), "\n")))
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	want := answer{Stop: llm.StopEnd}
	err = api.NewClient(base, http.DefaultClient).Chat(t.Context(), &api.ChatRequest{Model: "m"}, func(res api.ChatResponse) error {
		want.Text += res.Message.Content
		for _, c := range res.Message.ToolCalls {
			want.Stop = llm.StopTools
			args, err := json.Marshal(c.Function.Arguments)
			if err != nil {
				return err
			}
			want.Blocks = append(want.Blocks, fmt.Sprintf("call %q %q %s", c.ID, c.Function.Name, args))
		}
		if res.DoneReason == "length" {
			want.Stop = llm.StopMaxTokens
		}
		want.Usage = llm.Usage{Input: res.PromptEvalCount, Output: res.EvalCount}
		return nil
	})
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, stream)
	}
	events, err := llmtest.Collect(ollama.New(ollama.Config{Model: "m", Address: s.URL}), t.Context(), llmtest.Hello())
	if err != nil {
		t.Fatalf("ours: %v\n%s", err, stream)
	}
	if diff := gocmp.Diff(want, openAIAnswerOf(t, events)); diff != "" {
		t.Errorf("answer (-SDK +ours)\n%s\n%s", diff, stream)
	}
}

// ollamaStream returns a random stream that the SDK wrote.
func ollamaStream(t *testing.T, r *rand.Rand) []byte {
	var b bytes.Buffer
	send := func(res api.ChatResponse) {
		res.Model, res.CreatedAt, res.Message.Role = "m", time.Unix(1, 0).UTC(), "assistant"
		if err := json.NewEncoder(&b).Encode(res); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(2) == 0 {
		for _, piece := range pieces(r, words(r)) {
			send(api.ChatResponse{Message: api.Message{Thinking: piece}})
		}
	}
	for _, piece := range pieces(r, words(r)) {
		send(api.ChatResponse{Message: api.Message{Content: piece}})
	}
	reason := []string{"stop", "length"}[r.IntN(2)]
	for i := range r.IntN(3) {
		reason = "stop"
		args := api.NewToolCallFunctionArguments()
		args.Set("path", words(r))
		args.Set("n", r.IntN(1000))
		args.Set("deep", []any{nil, true, words(r)})
		call := api.ToolCall{ID: fmt.Sprintf("call_%d", i), Function: api.ToolCallFunction{Index: i, Name: "read", Arguments: args}}
		send(api.ChatResponse{Message: api.Message{ToolCalls: []api.ToolCall{call}}})
	}
	send(api.ChatResponse{Done: true, DoneReason: reason, Metrics: api.Metrics{TotalDuration: 1, PromptEvalCount: 1 + r.IntN(1000), EvalCount: r.IntN(1000)}})
	return b.Bytes()
}
