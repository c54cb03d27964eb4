package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// sentSpan is the part of a span that the tests read.
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	Attributes                          []struct {
		Key   string
		Value json.RawMessage
	}
}

// fakeCollector takes traces as OTLP over HTTP.
type fakeCollector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	spans  map[string]sentSpan // by name
}

func newFakeCollector(t *testing.T) *fakeCollector {
	c := &fakeCollector{spans: map[string]sentSpan{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []sentSpan }
			}
		}
		if err := json.Unmarshal(body, &request); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies = append(c.bodies, string(body))
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans[s.Name] = s
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// TestTraces checks the spans of a turn with a model's call, below the span of the client.
func TestTraces(t *testing.T) {
	collector := newFakeCollector(t)
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("t1", "bash", map[string]string{"command": "echo said-by-a-command; env"})),
		fakemodel.Answer(fakemodel.Say("said-by-the-model")))
	a := connect(t, start{
		config: "[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n",
		env:    append(p.Env(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20hunter2"),
	})
	session := a.open()
	params := promptParams(session, "said-by-the-user")
	a.request(`"p"`, "session/prompt", strings.TrimSuffix(params, "}")+`,"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`)
	if f := a.answer(`"p"`); f.Error != nil {
		t.Fatal(f.line)
	}
	for _, f := range a.agentFrames() {
		if strings.Contains(f.line, "hunter2") {
			t.Errorf("a command saw the credentials of the collector: %s", f.line)
		}
	}
	a.stop()
	collector.mu.Lock()
	defer collector.mu.Unlock()
	turn, ok := collector.spans["invoke_agent zeph-acp"]
	if !ok || turn.TraceID != "0af7651916cd43dd8448eb211c80319c" || turn.ParentSpanID != "b7ad6b7169203331" {
		t.Errorf("the turn: %+v", turn)
	}
	chats := 0
	for name, s := range collector.spans {
		if s.TraceID != turn.TraceID || s.SpanID != turn.SpanID && s.ParentSpanID != turn.SpanID {
			t.Errorf("%s is not below the turn: %+v", name, s)
		}
		if strings.HasPrefix(name, "chat ") && s.Kind == 3 {
			chats++
		}
	}
	if _, ok := collector.spans["execute_tool bash"]; !ok || chats == 0 {
		t.Errorf("spans: %v", collector.spans)
	}
	for _, body := range collector.bodies {
		if strings.Contains(body, "said-by") || strings.Contains(body, "hunter2") {
			t.Errorf("a span has text of the conversation: %s", body)
		}
	}
}

// TestTracesToNowhere checks that a collector that refuses costs a turn nothing.
func TestTracesToNowhere(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	a := connect(t, start{env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + closed.URL}})
	session := a.open()
	a.request(`"p"`, "session/prompt", promptParams(session, "/bash echo hello"))
	if f := a.answer(`"p"`); f.Error != nil {
		t.Fatal(f.line)
	}
}
