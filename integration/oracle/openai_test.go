package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// openAIData is the directory of recorded responses.
const openAIData = "../../session/llm/provider/testdata/wire"

// openAIThoughts is an opaque block of the Responses API.
const openAIThoughts = `{"id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"}`

// Each request to OpenAI is one of the SDK, for models with and without thoughts, and
// for all levels. The SDK has no fields for the additions of servers to Chat
// Completions.
func TestOpenAIRequests(t *testing.T) {
	for _, cfg := range []openai.Config{
		{Model: "gpt-6.1-sol"}, {Model: "gpt-5-mini", MaxTokens: 100}, {Model: "gpt-4.1"}, {Model: "gpt-99"},
		{Model: "gpt-5.1", API: openai.APIChat}, {Model: "o3", API: openai.APIChat, MaxTokens: 100}, {Model: "gpt-4.1", API: openai.APIChat},
		{Model: "qwen3", Type: openai.ServerCompatible, MaxTokens: 100}, {Type: openai.ServerGemini}, {Type: openai.ServerGemini, Model: "gemini-2.5-flash"},
	} {
		s := record(t, openAIAnswer(t, cfg))
		m := openAIAt(s, cfg)
		for name, history := range histories(m.Name(), openAIThoughts) {
			t.Run(m.Name()+" "+cfg.API+"/"+name, func(t *testing.T) {
				for _, level := range append(llm.Levels(m), "") {
					for _, req := range []llm.Request{{}, {System: "Be brief.", Tools: llmtest.Tools()}} {
						s.bodies = nil
						req.Messages, req.Thought = history, level
						if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.bodies) != 1 {
							t.Fatalf("%d requests: %v", len(s.bodies), err)
						}
						if err := isOpenAI(s.bodies[0]); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
}

// The requests after a refusal are requests of the SDK too, without the refused feature.
func TestOpenAIRefusals(t *testing.T) {
	for message, cfg := range map[string]openai.Config{
		"stream_options is not permitted":                                              {Type: openai.ServerCompatible, Model: "m"},
		"Your organization must be verified to generate reasoning summaries.":          {},
		"Encrypted content is not supported with this model.":                          {},
		"The encrypted content could not be verified.":                                 {},
		"Unrecognized request argument supplied: prompt_cache_key":                     {Model: "gpt-4.1", API: openai.APIChat},
		"Unsupported parameter: Use 'max_completion_tokens' instead.":                  {Type: openai.ServerCompatible, Model: "m", MaxTokens: 9},
		"Tool call id was c but must be a-z, A-Z, 0-9, with a length of 9.":            {Type: openai.ServerCompatible, Model: "m"},
		"Unexpected role 'user' after role 'tool'":                                     {Type: openai.ServerCompatible, Model: "m"},
		"Invalid 'content': 'content' field must be a string or an array of objects.":  {Type: openai.ServerCompatible, Model: "m"},
		"Developer instruction is not enabled for models/gemma-3-27b-it":               {Type: openai.ServerGemini, Model: "gemma-3"},
		"No endpoints found that support image input":                                  {Type: openai.ServerCompatible, Model: "m"},
		"thinking is enabled but reasoning_content is missing in assistant tool calls": {Type: openai.ServerCompatible, Model: "m"},
	} {
		t.Run(message, func(t *testing.T) {
			refusal, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
			if err != nil {
				t.Fatal(err)
			}
			s := record(t, llmtest.Status(400, string(refusal)), openAIAnswer(t, cfg))
			m := openAIAt(s, cfg)
			all := histories(m.Name(), openAIThoughts)
			req := llm.Request{System: "Be brief.", Tools: llmtest.Tools()}
			for _, name := range []string{"thoughts", "calls", "image", "call"} {
				req.Messages = append(req.Messages, all[name]...)
			}
			if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.bodies) != 2 || bytes.Equal(s.bodies[0], s.bodies[1]) {
				t.Fatalf("%d requests: %v", len(s.bodies), err)
			}
			for _, body := range s.bodies {
				if err := isOpenAI(body); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A request for vectors is one of the SDK.
func TestOpenAIEmbeddings(t *testing.T) {
	s := record(t, llmtest.Status(200, `{"data":[{"index":1,"embedding":[1,0]},{"index":0,"embedding":[0,1]}]}`))
	e := openAIAt(s, openai.Config{Embedding: "e"}).Embedder()
	vectors, err := e.Embed(t.Context(), []string{"a <b>", ""})
	if diff := gocmp.Diff([][]float32{{0, 1}, {1, 0}}, vectors); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	if err := roundTrip[official.EmbeddingNewParams](s.bodies[0]); err != nil {
		t.Error(err)
	}
}

// isOpenAI returns an error unless the body is a request of the SDK, apart from the
// additions of servers and from null, which the SDK leaves out.
func isOpenAI(body []byte) error {
	for _, addition := range []string{
		`"content":null,`, `,"reasoning_content":" "`,
		`,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`,
	} {
		body = bytes.ReplaceAll(body, []byte(addition), nil)
	}
	if bytes.Contains(body, []byte(`"input":[`)) {
		return roundTrip[responses.ResponseNewParams](body, "stream")
	}
	return roundTrip[official.ChatCompletionNewParams](body, "stream", "extra_body")
}

// openAIAt returns a model at the server.
func openAIAt(s *recorder, cfg openai.Config) *openai.Model {
	cfg.BaseURL, cfg.APIKey = s.URL, func() string { return "k" }
	return openai.New(cfg)
}

// openAIAnswer returns a short answer in the API of the configured model.
func openAIAnswer(t *testing.T, cfg openai.Config) http.HandlerFunc {
	file := "chat/text.txt"
	if (cfg.Type == "" || cfg.Type == openai.ServerOpenAI) && cfg.API == "" {
		file = "responses/text.txt"
	}
	return sse(recordedStream(t, file))
}

func sse(stream []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	}
}

// recordedStream returns the body of a recorded response.
func recordedStream(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(openAIData, file))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
