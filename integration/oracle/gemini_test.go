package oracle

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

const geminiKey = "key-of-gemini"

// geminiSignature is the data of an opaque block: the signature of an empty text.
const geminiSignature = `{"signature":"c2ln"}`

// Each request to Gemini is the one that the SDK sends for the same conversation, to the same path and with the same key, for models
// with levels, with budgets and without thoughts.
func TestGeminiRequests(t *testing.T) {
	for _, cfg := range []gemini.Config{
		{}, {Model: "gemini-4-argon", MaxTokens: 100}, {Model: "gemini-2.5-flash"}, {Model: "gemini-2.0-flash"}, {Model: "gemini-99"},
	} {
		s := recordGemini(t, sse(recordedStream(t, "gemini/text.txt")))
		m := geminiAt(s.URL, cfg)
		for name, history := range histories(m.Name(), geminiSignature) {
			if name == "empty" {
				continue // the SDK sends no request without contents
			}
			t.Run(m.Name()+"/"+name, func(t *testing.T) {
				for _, level := range append(llm.Levels(m), "") {
					for _, req := range []llm.Request{{}, {System: "Be brief.", Tools: llmtest.Tools()}} {
						s.sent = nil
						req.Messages, req.Thought = history, level
						if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.sent) != 1 {
							t.Fatalf("%d requests: %v", len(s.sent), err)
						}
						sendGemini(t, s.URL, strings.TrimPrefix(m.Name(), "gemini:"), s.sent[0].body)
						if diff := gocmp.Diff(s.sent[1].head, s.sent[0].head); diff != "" {
							t.Errorf("another request (-SDK +ours)\n%s", diff)
						}
						if diff := gocmp.Diff(asGemini(t, s.sent[1].body), asGemini(t, s.sent[0].body)); diff != "" {
							t.Errorf("level %q: another request (-SDK +ours)\n%s", level, diff)
						}
					}
				}
			})
		}
	}
}

// sentRequest is a request to Gemini.
type sentRequest struct {
	head string // method, path, and the key
	body []byte
}

type geminiRecorder struct {
	URL  string
	sent []sentRequest
}

func recordGemini(t *testing.T, answer http.HandlerFunc) *geminiRecorder {
	r := &geminiRecorder{}
	r.URL = llmtest.Serve(t, func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.sent = append(r.sent, sentRequest{fmt.Sprintf("%s %s %s", req.Method, req.URL, req.Header.Get("X-Goog-Api-Key")), body})
		answer(w, req)
	}).URL
	return r
}

func geminiAt(url string, cfg gemini.Config) *gemini.Model {
	cfg.BaseURL, cfg.APIKey = url, func() string { return geminiKey }
	return gemini.New(cfg)
}

func geminiClient(t *testing.T, url string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: geminiKey, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sendGemini sends our request with the SDK.
func sendGemini(t *testing.T, url, model string, ours []byte) {
	t.Helper()
	sendWithGemini(t, geminiClient(t, url), model, ours)
}

func sendWithGemini(t *testing.T, c *genai.Client, model string, ours []byte) {
	t.Helper()
	// The SDK has signatures as bytes; this mark for calls of other models is only text.
	ours = bytes.ReplaceAll(ours, []byte("skip_thought_signature_validator"), []byte(base64.StdEncoding.EncodeToString([]byte("skipped"))))
	var r struct {
		SystemInstruction *genai.Content
		GenerationConfig  *struct {
			MaxOutputTokens int32
			ThinkingConfig  *genai.ThinkingConfig
		}
		Tools    []*genai.Tool
		Contents []*genai.Content
	}
	strict := json.NewDecoder(bytes.NewReader(ours))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&r); err != nil {
		t.Fatalf("the SDK cannot decode it: %v\n%s", err, ours)
	}
	cfg := &genai.GenerateContentConfig{SystemInstruction: r.SystemInstruction, Tools: r.Tools}
	if g := r.GenerationConfig; g != nil {
		cfg.MaxOutputTokens, cfg.ThinkingConfig = g.MaxOutputTokens, g.ThinkingConfig
	}
	for _, err := range c.Models.GenerateContentStream(t.Context(), model, r.Contents, cfg) {
		if err != nil {
			t.Fatalf("the SDK: %v\n%s", err, ours)
		}
	}
}

// asGemini returns a request without what the SDK writes otherwise: it leaves out empty values, and names a role of the system prompt.
func asGemini(t *testing.T, body []byte) any {
	t.Helper()
	body = bytes.ReplaceAll(body, []byte("skip_thought_signature_validator"), []byte(base64.StdEncoding.EncodeToString([]byte("skipped"))))
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	if system, ok := v["systemInstruction"].(map[string]any); ok {
		delete(system, "role")
	}
	return withoutEmpty(v)
}

// withoutEmpty returns JSON without empty texts, lists and objects.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, withoutEmpty(e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if e = withoutEmpty(e); e != nil && e != "" && !gocmp.Equal(e, map[string]any{}) && !gocmp.Equal(e, []any(nil)) {
				out[name] = e
			}
		}
		return out
	}
	return v
}

// A request for vectors is the one of the SDK, and both read the same from the answer.
func TestGeminiEmbeddings(t *testing.T) {
	s := recordGemini(t, llmtest.Status(200, `{"embeddings":[{"values":[0,1]},{"values":[1,0]}]}`))
	ours, err := geminiAt(s.URL, gemini.Config{Embedding: "gemini-embedding-001"}).Embedder().Embed(t.Context(), []string{"a <b>", "c"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := geminiClient(t, s.URL).Models.EmbedContent(t.Context(), "gemini-embedding-001", []*genai.Content{
		{Parts: []*genai.Part{{Text: "a <b>"}}}, {Parts: []*genai.Part{{Text: "c"}}}}, nil)
	if err != nil || len(s.sent) != 2 {
		t.Fatalf("%d requests: %v", len(s.sent), err)
	}
	for i, e := range res.Embeddings {
		if diff := gocmp.Diff(e.Values, ours[i]); diff != "" {
			t.Errorf("vector %d (-SDK +ours)\n%s", i, diff)
		}
	}
	if diff := gocmp.Diff(s.sent[1].head+fmt.Sprint(asGemini(t, s.sent[1].body)), s.sent[0].head+fmt.Sprint(asGemini(t, s.sent[0].body))); diff != "" {
		t.Errorf("another request (-SDK +ours)\n%s", diff)
	}
}

// The SDK and the adapter read the same list of models.
func TestGeminiModels(t *testing.T) {
	s := recordGemini(t, llmtest.Status(200,
		`{"models":[{"name":"models/gemini-a","displayName":"A","inputTokenLimit":9,"supportedGenerationMethods":["generateContent"]}]}`))
	ours, err := geminiAt(s.URL, gemini.Config{}).List(t.Context())
	if err != nil || len(ours) != 1 {
		t.Fatal(ours, err)
	}
	page, err := geminiClient(t, s.URL).Models.List(t.Context(), &genai.ListModelsConfig{PageSize: 1000})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(err)
	}
	if m := page.Items[0]; ours[0].Name != "gemini:"+strings.TrimPrefix(m.Name, "models/") || ours[0].Title != m.DisplayName {
		t.Errorf("got %+v, want %+v of the SDK", ours[0], m)
	}
	if s.sent[0].head != s.sent[1].head {
		t.Errorf("sent %s, want %s of the SDK", s.sent[0].head, s.sent[1].head)
	}
}

// The SDK and the adapter read the same from recorded streams.
func TestGeminiRecordedStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(openAIData, "gemini", "*.txt"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		// Failures, answers that break off, and arguments that are no object, which the SDK does not decode.
		if slices.Contains([]string{"401", "429", "500", "badkey", "daily", "failed", "cut", "malformed_call", "unreadable"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { compareGemini(t, recordedStream(t, "gemini/"+name+".txt")) })
	}
}

// The SDK and the adapter read the same from streams of any parts.
func TestGeminiRandomStreams(t *testing.T) {
	for seed := range uint64(200) {
		stream := geminiStream(rand.New(rand.NewPCG(seed, 0)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareGemini(t, stream) })
	}
}

// compareGemini reads a stream by both.
func compareGemini(t *testing.T, stream []byte) {
	t.Helper()
	s := recordGemini(t, sse(stream))
	events, err := llmtest.Collect(geminiAt(s.URL, gemini.Config{}), t.Context(), llmtest.Hello())
	if err != nil {
		t.Fatalf("ours: %v\n%s", err, stream)
	}
	if diff := gocmp.Diff(officialGemini(t, s.URL), geminiEvents(t, events)); diff != "" {
		t.Errorf("answer (-SDK +ours)\n%s\n%s", diff, stream)
	}
}

var geminiStops = map[genai.FinishReason]llm.StopReason{
	genai.FinishReasonStop: llm.StopEnd, genai.FinishReasonMaxTokens: llm.StopMaxTokens, genai.FinishReasonSafety: llm.StopRefusal,
	genai.FinishReasonRecitation: llm.StopRefusal, genai.FinishReasonProhibitedContent: llm.StopRefusal,
}

// officialGemini returns the answer that the SDK reads.
func officialGemini(t *testing.T, url string) (a answer) {
	t.Helper()
	for res, err := range geminiClient(t, url).Models.GenerateContentStream(t.Context(), "gemini-3.8-flash", genai.Text("hello"), nil) {
		if err != nil {
			t.Fatalf("the SDK: %v", err)
		}
		if res.PromptFeedback != nil {
			a.Stop = llm.StopRefusal
		}
		if u := res.UsageMetadata; u != nil {
			a.Usage = llm.Usage{Input: int(u.PromptTokenCount), Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), CacheRead: int(u.CachedContentTokenCount)}
		}
		for _, c := range res.Candidates {
			a.Stop = cmp.Or(geminiStops[c.FinishReason], a.Stop)
			if c.Content == nil {
				continue
			}
			for _, p := range c.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					args, err := json.Marshal(p.FunctionCall.Args)
					if err != nil {
						t.Fatal(err)
					}
					a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s %x", p.FunctionCall.ID, p.FunctionCall.Name, args, p.ThoughtSignature))
				case p.Thought:
					a.Blocks = append(a.Blocks, fmt.Sprintf("thought %q", p.Text))
				default:
					a.Text += p.Text
				}
			}
		}
	}
	if a.Stop == llm.StopEnd && slices.ContainsFunc(a.Blocks, func(b string) bool { return strings.HasPrefix(b, "call") }) {
		a.Stop = llm.StopTools
	}
	return a
}

// geminiEvents returns the answer in the events of the adapter.
func geminiEvents(t *testing.T, events []llm.Event) (a answer) {
	t.Helper()
	signature := ""
	for _, e := range events {
		a.Text += e.Text
		a.Stop = cmp.Or(e.Stop, a.Stop)
		switch {
		case e.Usage != nil:
			a.Usage = *e.Usage
		case e.Thought != "":
			for _, piece := range strings.SplitAfter(e.Thought, "|") { // the SDK does not join them
				if piece != "" {
					a.Blocks = append(a.Blocks, fmt.Sprintf("thought %q", piece))
				}
			}
		case e.Opaque != nil:
			var o struct{ Call, Signature string }
			if err := json.Unmarshal(e.Opaque.Data, &o); err != nil {
				t.Fatal(err)
			}
			if o.Call != "" {
				signature = o.Signature
			}
		case e.Call != nil:
			raw, err := base64.StdEncoding.DecodeString(signature)
			var args map[string]any
			if err == nil {
				err = json.Unmarshal(e.Call.Input, &args)
			}
			if err != nil {
				t.Fatal(err)
			}
			input, _ := json.Marshal(args) // it was decoded
			a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s %x", e.Call.ID, e.Call.Name, input, raw))
			signature = ""
		}
	}
	return a
}

// geminiStream returns a random stream as the API documents them. Each thought ends with "|".
func geminiStream(r *rand.Rand) []byte {
	var b bytes.Buffer
	usage := map[string]any{"promptTokenCount": 1 + r.IntN(1000), "cachedContentTokenCount": 0, "candidatesTokenCount": r.IntN(9), "thoughtsTokenCount": r.IntN(9)}
	send := func(candidate map[string]any) {
		data, err := json.Marshal(map[string]any{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": "gemini-3.8-flash"})
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "data: %s\r\n\r\n", data)
	}
	for i := range r.IntN(6) {
		var parts []any
		for j := range 1 + r.IntN(3) {
			p := map[string]any{}
			switch r.IntN(3) {
			case 0:
				p["text"] = words(r)
			case 1:
				p["text"], p["thought"] = words(r)+"|", true
			default:
				p["functionCall"] = map[string]any{"id": fmt.Sprintf("c%d_%d", i, j), "name": "read",
					"args": map[string]any{"path": words(r), "n": r.IntN(1 << 30), "deep": []any{nil, true, map[string]any{"x": words(r)}}}}
			}
			if p["thought"] == nil && r.IntN(2) == 0 {
				p["thoughtSignature"] = base64.StdEncoding.EncodeToString([]byte(words(r)))
			}
			parts = append(parts, p)
		}
		send(map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}})
	}
	reasons := []string{"STOP", "MAX_TOKENS", "SAFETY", "RECITATION"}
	send(map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": ""}}}, "finishReason": reasons[r.IntN(4)]})
	return b.Bytes()
}
