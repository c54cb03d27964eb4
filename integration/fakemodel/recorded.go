package fakemodel

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Wire is a kind of provider as a user configures it. Its server answers with
// the recordings under session/llm/provider/testdata/wire.
type Wire struct {
	recorded  string   // directory of the recordings
	Settings  string   // of the provider, without the address
	Model     string   // the name of the provider's model in the option
	KeyEnv    string   // the variable of the key; empty if there is none
	keyHeader string   // the header with the key; empty means a bearer token
	base      string   // the end of the API's address
	path      string   // after base, where answers are asked for
	models    string   // a list of models as the service sends it
	lists     string   // its path after base, or from the root if it begins with "/"; empty means "models"
	Listed    []string // values of the option that come from this list
	Thoughts  string   // part of the thoughts that the next request to the same model has; empty if none
}

// openAIList is a list of models as OpenAI sends it, with one that holds no
// conversations.
const openAIList = `{"object":"list","data":[{"id":"gpt-6-luna","object":"model","created":1795329072,"owned_by":"openai"},` +
	`{"id":"text-embedding-3-small","object":"model","created":1705948997,"owned_by":"system"}]}`

// Wires are the kinds of providers by name.
var Wires = map[string]Wire{
	"claude": {
		recorded:  "claude",
		Settings:  `type = "claude"`,
		Model:     "claude:claude-sonnet-5-5",
		KeyEnv:    "ANTHROPIC_API_KEY",
		keyHeader: "X-Api-Key",
		base:      "/v1/",
		path:      "messages",
		models: `{"data":[{"type":"model","id":"claude-wire-1","display_name":"Claude Wire 1","created_at":"2026-02-17T00:00:00Z"}],` +
			`"has_more":false,"first_id":"claude-wire-1","last_id":"claude-wire-1"}`,
		Listed:   []string{"claude:claude-wire-1"},
		Thoughts: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h",
	},
	"openai": {
		recorded: "responses",
		Settings: `type = "openai"`,
		Model:    "openai:gpt-6.1-sol",
		KeyEnv:   "OPENAI_API_KEY",
		base:     "/v1/",
		path:     "responses",
		models:   openAIList,
		Listed:   []string{"openai:gpt-6-luna"},
		Thoughts: "gAAAAABor0Az7dWcV5qk3m",
	},
	"chat": {
		recorded: "chat",
		Settings: `type = "openai"` + "\n" + `api = "chat"` + "\n" + `model = "gpt-4.1"` + "\n" + `api_key_env = "CHAT_KEY"`,
		Model:    "chat:gpt-4.1",
		KeyEnv:   "CHAT_KEY",
		base:     "/v1/",
		path:     "chat/completions",
		models:   openAIList,
		Listed:   []string{"chat:gpt-6-luna"},
	},
	"lab": {
		recorded: "local",
		Settings: `type = "compatible"` + "\n" + `model = "qwen3-8b"`,
		Model:    "lab:qwen3-8b",
		base:     "/v1/",
		path:     "chat/completions",
		models:   `{"data":[{"id":"qwen3-8b"},{"id":"devstral"}],"object":"list"}`,
		Listed:   []string{"lab:devstral"},
	},
	"gemini": {
		recorded:  "gemini",
		Settings:  `type = "gemini"`,
		Model:     "gemini:gemini-3.8-flash",
		KeyEnv:    "GEMINI_API_KEY",
		keyHeader: "X-Goog-Api-Key",
		base:      "/v1beta/",
		path:      "models/gemini-3.8-flash:streamGenerateContent",
		models: `{"models":[{"name":"models/gemini-3-pro-preview","displayName":"Gemini 3 Pro Preview","inputTokenLimit":1048576,` +
			`"supportedGenerationMethods":["generateContent","countTokens"]},{"name":"models/gemini-embedding-001","supportedGenerationMethods":["embedContent"]}]}`,
		Listed:   []string{"gemini:gemini-3-pro-preview"},
		Thoughts: "CiQBjz1rX2b0wq9cUeT4nM7Hk3sd",
	},
	"vertex": {
		recorded: "vertex",
		Settings: `type = "vertex"` + "\n" + `project = "p"` + "\n" + `region = "europe-west4"` + "\n" + `api_key_env = "VERTEX_KEY"`,
		Model:    "vertex:gemini-3.8-flash",
		KeyEnv:   "VERTEX_KEY",
		base:     "/v1beta1/projects/p/locations/europe-west4/publishers/google/",
		path:     "models/gemini-3.8-flash:streamGenerateContent",
		lists:    "/v1beta1/publishers/google/models",
		models:   `{"publisherModels":[{"name":"publishers/google/models/gemini-2.5-pro"},{"name":"publishers/google/models/imagen-4.0"}]}`,
		Listed:   []string{"vertex:gemini-2.5-pro"},
		Thoughts: "CiQBjz1rX2b0wq9cUeT4nM7Hk3sd",
	},
	"vertex-claude": {
		recorded: "vertex-claude",
		Settings: `type = "vertex"` + "\n" + `model = "claude-sonnet-4-5@20250929"` + "\n" + `project = "p"` + "\n" + `api_key_env = "VERTEX_KEY"`,
		Model:    "vertex-claude:claude-sonnet-4-5@20250929",
		KeyEnv:   "VERTEX_KEY",
		base:     "/v1/projects/p/locations/global/publishers/anthropic/",
		path:     "models/claude-sonnet-4-5@20250929:streamRawPredict",
		lists:    "/v1beta1/publishers/anthropic/models",
		models:   `{"publisherModels":[{"name":"publishers/anthropic/models/claude-wire-1"}]}`,
		Listed:   []string{"vertex-claude:claude-wire-1"},
		Thoughts: "EqQBCgIYAhIM1gbcDa9GJwZA2b3h",
	},
	"gemini-chat": {
		recorded: "gemini-chat",
		Settings: `type = "gemini"` + "\n" + `api = "chat"`,
		Model:    "gemini-chat:gemini-3.8-flash",
		KeyEnv:   "GEMINI_API_KEY",
		base:     "/v1beta/openai/",
		path:     "chat/completions",
		models: `{"object":"list","data":[{"id":"models/gemini-3-pro-preview","object":"model","owned_by":"google"},` +
			`{"id":"models/gemini-embedding-001","object":"model","owned_by":"google"}]}`,
		Listed: []string{"gemini-chat:gemini-3-pro-preview"},
	},
	"azure": {
		recorded:  "azure",
		Settings:  `type = "azure"` + "\n" + `api = "chat"` + "\n" + `model = "gpt-4.1"`,
		Model:     "azure:gpt-4.1",
		KeyEnv:    "AZURE_OPENAI_API_KEY",
		keyHeader: "Api-Key",
		base:      "/openai/v1/",
		path:      "chat/completions",
		models:    openAIList,
	},
	"bedrock": {
		recorded: "bedrock",
		Settings: `type = "bedrock"` + "\n" + `model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"`,
		Model:    "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
		KeyEnv:   "AWS_BEARER_TOKEN_BEDROCK",
		base:     "/",
		path:     "model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse-stream",
		models: `{"inferenceProfileSummaries":[{"inferenceProfileId":"eu.anthropic.claude-haiku-4-5-20251001-v1:0",` +
			`"inferenceProfileName":"EU Claude Haiku 4.5","status":"ACTIVE","type":"SYSTEM_DEFINED"}],"modelSummaries":[]}`,
		lists:    "inference-profiles",
		Listed:   []string{"bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0"},
		Thoughts: "ErUBCkYIBxgCIkA2fQJGwZ5bedrock9x",
	},
}

// Recorded plays such a provider: it answers requests with its recordings in
// order.
type Recorded struct {
	*httptest.Server
	Wire
	t testing.TB

	mu     sync.Mutex
	script []string
	bodies []string
}

// NewRecorded starts the server. The script names recordings; after its end the
// answer is "text". Tests run it from a directory next to session.
func NewRecorded(t testing.TB, w Wire, script ...string) *Recorded {
	r := &Recorded{t: t, Wire: w, script: script}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

// Key returns the key that the provider named by a variable must get.
func Key(env string) string { return "test-" + strings.ToLower(env) }

// listPath returns the path of the list of models.
func (w Wire) listPath() string {
	if strings.HasPrefix(w.lists, "/") {
		return w.lists
	}
	return w.base + cmp.Or(w.lists, "models")
}

func (s *Recorded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	got, want := r.Header.Get("Authorization"), ""
	if s.KeyEnv != "" {
		want = "Bearer " + Key(s.KeyEnv)
	}
	if s.keyHeader != "" {
		got = "Bearer " + r.Header.Get(s.keyHeader)
	}
	if got != want {
		s.t.Errorf("%s %s with %q, want %q", r.Method, r.URL.Path, got, want)
	}
	switch r.Method + " " + r.URL.Path {
	case "GET " + s.listPath(), "GET " + s.base + "foundation-models":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.models)
	case "POST " + s.base + s.path:
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		name := "text"
		if len(s.script) > 0 {
			name, s.script = s.script[0], s.script[1:]
		}
		s.mu.Unlock()
		s.play(w, name)
	default:
		s.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
}

// play sends a recording.
func (s *Recorded) play(w http.ResponseWriter, name string) {
	raw, err := os.ReadFile(filepath.Join("..", "session", "llm", "provider", "testdata", "wire", s.recorded, name+".txt"))
	res, broken := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err := errors.Join(err, broken); err != nil {
		s.t.Error(err)
		return
	}
	maps.Copy(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}

// Then adds to the script.
func (s *Recorded) Then(script ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// Requests returns the bodies of the requests for answers so far.
func (s *Recorded) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}
