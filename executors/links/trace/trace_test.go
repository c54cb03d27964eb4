package trace

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// collector is a server that keeps what it gets.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(http.ResponseWriter) // of the next requests
	paths   []string
	headers []http.Header
	spans   []span
	about   []resourceSpans
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths, c.headers = append(c.paths, r.URL.Path), append(c.headers, r.Header)
		if len(c.answers) > 0 {
			answer := c.answers[0]
			c.answers = c.answers[1:]
			answer(w)
			return
		}
		var got request
		decoder := json.NewDecoder(r.Body)
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil {
			t.Errorf("bad request: %v", err)
		}
		for _, of := range got.ResourceSpans {
			c.about = append(c.about, of)
			for _, scope := range of.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
		io.WriteString(w, "{}")
	}))
	t.Cleanup(c.Close)
	return c
}

// tracer returns a tracer that sends to the collector, with further variables.
func (c *collector) tracer(t *testing.T, env map[string]string) *Tracer {
	t.Helper()
	all := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}
	for name, value := range env {
		all[name] = value
	}
	tracer, warnings := New(func(name string) string { return all[name] }, Product{"zeph-acp", "1.2.3"}, slog.New(slog.DiscardHandler))
	if tracer == nil || len(warnings) > 0 {
		t.Fatalf("got %v and the warnings %q, want a tracer and none", tracer, warnings)
	}
	return tracer
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			switch v := a.Value; {
			case v.String != nil:
				return *v.String
			case v.Int != nil:
				return *v.Int
			}
		}
	}
	return ""
}

// TestSpans follows a turn with a call to the collector.
func TestSpans(t *testing.T) {
	c := newCollector(t)
	tracer := c.tracer(t, map[string]string{
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test,service.name=other", "OTEL_SERVICE_NAME": "mine",
		"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc, x-team = a",
	})
	caller := Remote{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1"}
	ctx, turn := tracer.Start(t.Context(), caller, "invoke_agent zeph-acp", slog.String("gen_ai.conversation.id", "s1"))
	chain := Calls(fakeTool{})
	if _, err := chain.Execute(ctx, &executors.Call{ID: "c1", Tool: "read"}); err != nil {
		t.Fatal(err)
	}
	if _, err := chain.Execute(ctx, &executors.Call{ID: "c2", Tool: "fail"}); err != nil {
		t.Fatal(err)
	}
	traceparent, state := Parent(ctx)
	turn.End("")
	turn.End("twice")
	tracer.Close()

	if len(c.spans) != 3 {
		t.Fatalf("%d spans, want 3", len(c.spans))
	}
	read, failed, root := c.spans[0], c.spans[1], c.spans[2]
	if root.Parent != "b7ad6b7169203331" || root.State != "vendor=1" || root.attribute("gen_ai.conversation.id") != "s1" || root.Status.Code != 0 {
		t.Errorf("the turn: %+v", root)
	}
	if want := "00-0af7651916cd43dd8448eb211c80319c-" + root.ID + "-01"; traceparent != want || state != "vendor=1" {
		t.Errorf("for others: %q, %q, want %q", traceparent, state, want)
	}
	if read.Parent != root.ID || read.Name != "execute_tool read" || read.attribute("gen_ai.tool.call.id") != "c1" || read.Status.Code != 0 {
		t.Errorf("the call: %+v", read)
	}
	if failed.attribute("error.type") != string(executors.PolicyBlocked) || failed.Status.Code != statusError {
		t.Errorf("the failed call: %+v", failed)
	}
	for _, s := range c.spans {
		if s.Trace != "0af7651916cd43dd8448eb211c80319c" || len(s.ID) != 16 || s.Began > s.Ended {
			t.Errorf("identity or times: %+v", s)
		}
	}
	about := map[string]string{}
	for _, a := range c.about[0].Resource.Attributes {
		about[a.Key] = *a.Value.String
	}
	if diff := cmp.Diff(map[string]string{"service.name": "mine", "service.version": "1.2.3", "deployment.environment": "test"}, about); diff != "" {
		t.Error(diff)
	}
	if h := c.headers[0]; h.Get("Authorization") != "Bearer abc" || h.Get("X-Team") != "a" || h.Get("Content-Type") != "application/json" || c.paths[0] !=
		"/v1/traces" {
		t.Errorf("request to %s with %v", c.paths[0], h)
	}
}

type fakeTool struct{ executors.Executor }

func (fakeTool) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	if call.Tool == "fail" {
		return executors.Result{Failure: &executors.Failure{Category: executors.PolicyBlocked}}, nil
	}
	return executors.Result{}, nil
}

// TestOff checks that nothing is recorded unless the environment asks for it.
func TestOff(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"},
	} {
		tracer, warnings := New(func(name string) string { return env[name] }, Product{}, nil)
		if tracer != nil || len(warnings) > 0 {
			t.Errorf("%v: got %v and the warnings %q, want neither", env, tracer, warnings)
		}
	}
	var tracer *Tracer
	ctx, span := tracer.Start(t.Context(), Remote{}, "turn")
	if span.Set(slog.Int("n", 1)); span != nil || ctx != t.Context() {
		t.Error("a nil tracer recorded a span")
	}
	if n := testing.AllocsPerRun(10, func() {
		_, span := Child(ctx, "x", Internal)
		span.End("")
	}); n > 0 {
		t.Errorf("%v allocations without a trace", n)
	}
	tracer.Close()
}

// TestMistakes checks that a mistake in a variable is a warning that repeats no secret.
func TestMistakes(t *testing.T) {
	cases := []struct {
		name, value string
		on          bool
		want        string
	}{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", false, "not an http or https URL"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@", false, "not an http or https URL"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://x", false, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", false, "http/json"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", true, ""},
		{"OTEL_TRACES_SAMPLER", "sometimes", true, "is unknown"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "soon", true, "milliseconds"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization hunter2", true, "NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0ahunter2", true, "NAME=VALUE"},
	}
	for _, c := range cases {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}
		env[c.name] = c.value
		tracer, warnings := New(func(name string) string { return env[name] }, Product{}, slog.New(slog.DiscardHandler))
		text := strings.Join(warnings, "\n")
		if (tracer != nil) != c.on || (c.want == "") != (text == "") || !strings.Contains(text, c.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s=%s: tracer %v, warnings %q, want %q", c.name, c.value, tracer != nil, text, c.want)
		}
	}
}

// TestSampling checks which traces are sent.
func TestSampling(t *testing.T) {
	low, high := [16]byte{8: 0x10}, [16]byte{8: 0xf0}
	sampled, unsampled := identity{trace: low, sampled: true}, identity{trace: low}
	cases := []struct {
		sampler, arg string
		trace        [16]byte
		remote       identity
		want         bool
	}{
		{"", "", high, identity{}, true},
		{"", "", high, unsampled, false},
		{"always_on", "", high, unsampled, true},
		{"always_off", "", low, sampled, false},
		{"parentbased_always_off", "", low, identity{}, false},
		{"parentbased_always_off", "", low, sampled, true},
		{"traceidratio", "0.5", low, unsampled, true},
		{"traceidratio", "0.5", high, sampled, false},
		{"traceidratio", "", high, unsampled, true},
		{"parentbased_traceidratio", "0", low, identity{}, false},
		{"parentbased_traceidratio", "0", low, sampled, true},
	}
	for _, c := range cases {
		env := map[string]string{"OTEL_TRACES_SAMPLER": c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg}
		s, err := samplerOf(func(name string) string { return env[name] })
		if got := s.sample(c.trace, c.remote); err != nil || got != c.want {
			t.Errorf("%s %s: %v, %v, want %v", c.sampler, c.arg, got, err, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for s, want := range map[string]bool{
		good: true,
		"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more": true, // a later version
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more": false,
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":      false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":      false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01":      false,
		strings.ToUpper(good): false,
		"00-0af7651916cd43dd8448eb211c8031-9c-b7ad6b7169203331-01": false,
		"":                             false,
		strings.Repeat("-", len(good)): false,
		"0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":            false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz":            false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nx: evil": false,
	} {
		if _, ok := parse(s); ok != want {
			t.Errorf("%q: %v, want %v", s, ok, want)
		}
	}
}

// TestCollectorFails checks that failures delay no one and are tried again if that can help.
func TestCollectorFails(t *testing.T) {
	cases := []struct {
		name    string
		answers []func(http.ResponseWriter)
		spans   int
		tries   int
	}{
		{"busy, then ready", []func(http.ResponseWriter){status503, status503}, 1, 3},
		{"refused", []func(http.ResponseWriter){func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }}, 0, 1},
		{"redirected", []func(http.ResponseWriter){func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}}, 0, 1},
		{"always busy", []func(http.ResponseWriter){status503, status503, status503, status503, status503}, 0, 4},
		{"partial", []func(http.ResponseWriter){func(w http.ResponseWriter) {
			io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}`)
		}}, 0, 1},
	}
	for _, c := range cases {
		server := newCollector(t)
		server.answers = c.answers
		tracer := server.tracer(t, nil)
		tracer.export.clock.Sleep = func(context.Context, time.Duration) error { return nil }
		_, span := tracer.Start(t.Context(), Remote{}, "turn")
		tracer.export.send(t.Context(), []*Span{span})
		if len(server.spans) != c.spans || len(server.paths) != c.tries {
			t.Errorf("%s: %d spans after %d requests, want %d after %d", c.name, len(server.spans), len(server.paths), c.spans, c.tries)
		}
	}
}

func status503(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }

// TestSlowCollector checks that spans are dropped, and that nobody waits for a collector
// that hangs.
func TestSlowCollector(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	c := &collector{Server: server}
	tracer := c.tracer(t, map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "5"})
	tracer.export.clock.Sleep = func(context.Context, time.Duration) error { return nil }
	for range maxQueue + 2*maxBatch {
		_, span := tracer.Start(t.Context(), Remote{}, "turn")
		span.End("")
	}
	tracer.export.mu.Lock()
	dropped := tracer.export.dropped
	tracer.export.mu.Unlock()
	if dropped == 0 {
		t.Error("more spans than the queue holds, but no span was dropped")
	}
	tracer.Close()
	_, span := tracer.Start(t.Context(), Remote{}, "after the end")
	span.End("")
}

func TestFailure(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{{t.Context(), nil, ""}, {t.Context(), errors.New("x"), "_OTHER"}, {ended, errors.New("x"), "cancelled"}} {
		if got := Failure(c.ctx, c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := parse(s); ok && (id.trace == [16]byte{} || id.span == [8]byte{}) {
			t.Errorf("%q has no identity", s)
		}
	})
}

func BenchmarkOff(b *testing.B) {
	chain := Calls(fakeTool{})
	call := &executors.Call{Tool: "read"}
	for b.Loop() {
		_, _ = chain.Execute(b.Context(), call)
	}
}
