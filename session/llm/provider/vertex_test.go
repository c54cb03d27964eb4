package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/pricelist"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// vertexServer plays Vertex AI and the server of tokens. It accepts the newest token only.
type vertexServer struct {
	URL    string
	env    map[string]string
	tokens int      // returned so far
	valid  int      // number of the token that is accepted; 0 means the newest one
	asked  []string // method, URL and project of each request but those for tokens
	bodies []string
}

func serveVertex(t *testing.T, answer http.HandlerFunc) *vertexServer {
	s := &vertexServer{}
	s.URL = llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			s.tokens++
			fmt.Fprintf(w, `{"access_token":"token-of-vertex-%d","expires_in":3599}`, s.tokens)
			return
		}
		body, _ := io.ReadAll(r.Body)
		s.asked = append(s.asked, fmt.Sprintf("%s %s %s", r.Method, r.URL, r.Header.Get("X-Goog-User-Project")))
		s.bodies = append(s.bodies, string(body))
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-of-vertex-%d", cmp.Or(s.valid, s.tokens)) {
			llmtest.Status(401, `{"error":{"code":401,"message":"Bad `+r.Header.Get("Authorization")+`","status":"UNAUTHENTICATED"}}`)(w, r)
			return
		}
		answer(w, r)
	}).URL
	file := filepath.Join(t.TempDir(), "adc.json")
	content := `{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r","token_uri":"` + s.URL + `/token","quota_project_id":"paid-by"}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file, "GOOGLE_CLOUD_PROJECT": "my-project", "GOOGLE_CLOUD_LOCATION": "europe-west4"}
	return s
}

func (s *vertexServer) getenv(name string) string { return s.env[name] }

// model returns the model of a provider at the server.
func (s *vertexServer) model(t *testing.T, p Provider) llm.Model {
	t.Helper()
	p.Type, p.BaseURL = TypeVertex, s.URL
	m, err := p.open(s.getenv, &wire.Memory{Credentials: new(Credentials)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func recordedAnswer(t *testing.T, dialect string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, fixtureBody(t, fixture(t, dialect, "text")))
	}
}

// Models are asked at the path of their publisher with the token of the account, which is fetched once, and anew after a refusal.
func TestVertex(t *testing.T) {
	const places = "/projects/my-project/locations/europe-west4/publishers/"
	for model, want := range map[string]string{
		"":                               "/v1beta1" + places + "google/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
		"google/gemini-2.5-pro":          "/v1beta1" + places + "google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"models/gemini-2.5-pro":          "/v1beta1" + places + "google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"claude-sonnet-4-5@20250929":     "/v1" + places + "anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
		"anthropic/claude-opus-5-5":      "/v1" + places + "anthropic/models/claude-opus-5-5:streamRawPredict",
		"publishers/anthropic/models/mx": "/v1" + places + "anthropic/models/mx:streamRawPredict",
	} {
		t.Run(model, func(t *testing.T) {
			dialect := map[bool]string{true: "vertex-claude", false: "vertex"}[strings.Contains(want, "anthropic")]
			s := serveVertex(t, recordedAnswer(t, dialect))
			m := s.model(t, Provider{Model: model})
			for range 2 {
				if got, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err != nil || got[len(got)-1].Stop != llm.StopEnd {
					t.Fatalf("%s", llmtest.Transcript(got, err))
				}
			}
			s.valid = 2 // the first one was revoked
			if _, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err != nil {
				t.Fatal(err)
			}
			line := "POST " + want + " paid-by"
			if diff := gocmp.Diff([]string{line, line, line, line}, s.asked); diff != "" || s.tokens != 2 {
				t.Errorf("%d tokens (-want +got)\n%s", s.tokens, diff)
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(s.bodies[0]), &body); err != nil {
				t.Fatal(err)
			}
			if dialect == "vertex-claude" && (body["anthropic_version"] != "vertex-2023-10-16" || body["model"] != nil || body["stream"] != true) {
				t.Errorf("sent %s", s.bodies[0])
			}
		})
	}
}

// A token that stays refused is named in no message.
func TestVertexRefused(t *testing.T) {
	s := serveVertex(t, nil)
	s.valid = 99
	_, err := llmtest.Collect(s.model(t, Provider{}), t.Context(), llmtest.Hello())
	if err == nil || strings.Contains(err.Error(), "token-of-vertex") ||
		!strings.Contains(err.Error(), "check the credentials with: gcloud auth application-default print-access-token") {
		t.Errorf("got %v, want advice and no token", err)
	}
	s = serveVertex(t, llmtest.Status(404, `{"error":{"code":404,"message":"Publisher Model was not found","status":"NOT_FOUND"}}`))
	for _, model := range []string{"gemini-2.5-pro", "claude-opus-5-5"} {
		_, err = llmtest.Collect(s.model(t, Provider{Model: model}), t.Context(), llmtest.Hello())
		if err == nil || !strings.Contains(err.Error(), "check model \""+model+"\", region and project") {
			t.Errorf("got %v, want advice on the Model Garden", err)
		}
	}
}

// What is missing or wrong is said before a request.
func TestVertexMistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		p    Provider
		env  map[string]string
		want string
	}{
		"no project": {Provider{}, nil, "vertex: no project is set (set project of the provider, or GOOGLE_CLOUD_PROJECT, to the ID of the project)"},
		"no location": {Provider{Project: "p"}, map[string]string{"GOOGLE_CLOUD_LOCATION": "x.evil.com/"},
			`vertex: "x.evil.com/" is not the name of a location (set region of the provider, or GOOGLE_CLOUD_LOCATION, to one such as global or europe-west4)`},
		"no credentials": {Provider{Project: "p"}, map[string]string{"HOME": "/nonexistent", "APPDATA": "/nonexistent"},
			"vertex: no Google Cloud credentials: there are no application default credentials " +
				"(sign in with: gcloud auth application-default login; metadata = true of the provider asks the machine for its role)"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.p.Type = TypeVertex
			m, err := tt.p.open(func(v string) string { return tt.env[v] }, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if l, ok := llm.As[modelLister](m); !ok {
				t.Error("it lists no models")
			} else if _, err := l.List(t.Context()); err == nil {
				t.Error("it lists models")
			}
		})
	}
	_, err := Provider{Type: TypeVertex, Model: "meta/llama-4"}.open(func(string) string { return "" }, nil)
	if err == nil || !strings.Contains(err.Error(), `models of "meta"`) {
		t.Errorf("another publisher: %v", err)
	}
	wrong := setting.Check(Config{Providers: []Provider{{Type: TypeVertex, Region: "evil.com/", Project: "a/b"},
		{Type: TypeClaude, Region: "global", Project: "p", Metadata: true}}})
	for _, key := range []string{"providers[0].region", "providers[0].project", "providers[1].region", "providers[1].project", "providers[1].metadata"} {
		if wrong[key] == "" {
			t.Errorf("%s is accepted: %v", key, wrong)
		}
	}
}

// The models of the publisher are listed, in the name of the project.
func TestVertexList(t *testing.T) {
	s := serveVertex(t, func(w http.ResponseWriter, r *http.Request) {
		next := `,"nextPageToken":"n"`
		if r.URL.Query().Get("pageToken") != "" {
			next = ""
		}
		publisher := strings.Split(r.URL.Path, "/")[3]
		names := map[string][]string{"google": {"gemini-a", "imagen-4", "gemini-3-pro-image", "text-embedding-005"}, "anthropic": {"claude-a", "other"}}[publisher]
		var all []string
		for _, n := range names {
			all = append(all, fmt.Sprintf(`{"name":"publishers/%s/models/%s%s"}`, publisher, n, map[bool]string{true: "", false: "-2"}[next != ""]))
		}
		fmt.Fprintf(w, `{"publisherModels":[%s]%s}`, strings.Join(all, ","), next)
	})
	for model, want := range map[string][]string{"": {"vertex:gemini-a", "vertex:gemini-a-2"}, "claude-a": {"vertex:claude-a", "vertex:claude-a-2"}} {
		l, _ := llm.As[modelLister](s.model(t, Provider{Model: model}))
		choices, err := l.List(t.Context())
		var names []string
		for _, c := range choices {
			names = append(names, c.Name)
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%q: got %q, %v, want %q", model, names, err, want)
		}
	}
	for _, line := range s.asked {
		if !strings.HasPrefix(line, "GET /v1beta1/publishers/") || !strings.HasSuffix(line, " paid-by") {
			t.Errorf("asked %s", line)
		}
	}
}

// The models for embeddings are asked in their own ways.
func TestVertexEmbed(t *testing.T) {
	for model, tt := range map[string]struct{ path, body, answer string }{
		"gemini-embedding-001": {"predict", `{"instances":[{"content":"a"}]}`, `{"predictions":[{"embeddings":{"values":[1,2]}}]}`},
		"gemini-embedding-2":   {"embedContent", `{"content":{"parts":[{"text":"a"}]}}`, `{"embedding":{"values":[1,2]}}`},
	} {
		s := serveVertex(t, llmtest.Status(200, tt.answer))
		e, ok := llm.EmbedderOf(s.model(t, Provider{EmbeddingModel: model}))
		if !ok {
			t.Fatal("no embedder")
		}
		got, err := e.Embed(t.Context(), []string{"a", "b"})
		if diff := gocmp.Diff([][]float32{{1, 2}, {1, 2}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", model, err, diff)
		}
		want := "POST /v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/" + model + ":" + tt.path + " paid-by"
		if s.asked[0] != want || s.bodies[0] != tt.body {
			t.Errorf("asked %s with %s\nwant  %s with %s", s.asked[0], s.bodies[0], want, tt.body)
		}
	}
}

// The prices of the maker hold at the location global only.
func TestVertexPrice(t *testing.T) {
	for model, location := range map[string]string{"claude-haiku-4-5@20251001": "global", "gemini-2.5-pro": "global", "gemini-2.5-flash": "us-central1"} {
		m, err := Provider{Type: TypeVertex, Model: model, Project: "p", Region: location}.open(func(string) string { return "" }, nil)
		if err != nil {
			t.Fatal(err)
		}
		priced, ok := llm.As[interface{ Prices() llm.Price }](m)
		if !ok || (priced.Prices() == llm.Price{}) == (location == "global") {
			t.Errorf("%s at %s: got the price %+v", model, location, priced.Prices())
		}
	}
	if pricelist.Of("api.anthropic.com", "claude-haiku-4-5") == (llm.Price{}) {
		t.Error("the list has no price for the test")
	}
}
