package integration

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestStatement087ProviderFailure makes the provider fail in every way. The user must learn
// what happened and what to do, from an error in the form that clients show,
// and the conversation must go on.
func TestStatement087ProviderFailure(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close() // nobody listens there now
	repeat := func(n int, r reply) (out []reply) {
		for range n {
			out = append(out, r)
		}
		return out
	}
	for name, tt := range map[string]struct {
		script []reply
		env    []string
		want   []string // in the message
	}{
		"bad key":             {repeat(1, refuse(401, "authentication_error", "invalid x-api-key")), nil, []string{"claude", "401", "invalid x-api-key", "ANTHROPIC_API_KEY"}},
		"rate limit":          {repeat(1, refuse(429, "rate_limit_error", "slow down")), nil, []string{"claude", "429", "slow down", "try again"}},
		"overloaded":          {repeat(1, refuse(529, "overloaded_error", "Overloaded")), nil, []string{"claude", "529", "Overloaded", "try again"}},
		"bad request":         {repeat(1, refuse(400, "invalid_request_error", "max_tokens: too large")), nil, []string{"claude", "400", "max_tokens: too large"}},
		"no such model":       {repeat(1, refuse(404, "not_found_error", "model: gone")), nil, []string{"claude", "404", "model"}},
		"broken stream":       {repeat(1, breakOff(say("I was about"))), nil, []string{"claude", "try again"}},
		"error in the stream": {repeat(1, overload(say("I was about"))), nil, []string{"claude", "529", "Overloaded", "try again"}},
		"a web page": {repeat(1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>Log in</html>"))
		}), nil, []string{"claude", "text/html", "base_url"}},
		"a redirect": {repeat(1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}), nil, []string{"claude", "redirects", "base_url"}},
		"nobody there": {nil, []string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=http://" + closed.Addr().String()}, []string{"claude", "refused", "network"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, tt.script...)
			if tt.env == nil {
				tt.env = p.env()
			}
			e := (&ide{caps: canAll()}).begin(t, start{env: tt.env})
			s := e.session()
			got := within(t, patience, "answer", e.begun(s, "the first prompt"))
			f := codeOf(got.err)
			if f.Code != -32603 {
				t.Fatalf("%q, %v", got.reason, got.err)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Message, want) {
					t.Errorf("%q does not say %q", f.Message, want)
				}
			}
			if data, _ := f.Data.(map[string]any); len(data) != 1 || data["details"] != f.Message {
				t.Errorf("data is %v", f.Data)
			}
			if strings.Contains(f.Message, "\n") {
				t.Errorf("%q is not one sentence", f.Message)
			}
			if tt.script == nil {
				return // there is no next prompt that could work
			}
			n := len(p.requests())
			p.then(answer(say("Back again.")))
			e.prompt(s, "the second prompt")
			if body := p.requests()[n]; !strings.Contains(body, "the first prompt") {
				t.Errorf("the user's first message is lost:\n%s", body)
			}
		})
	}
}

// TestRetry proves that a failure which passes is not shown.
func TestRetry(t *testing.T) {
	t.Skip("a model makes one attempt; what asks it again is on its way")
	p := newProvider(t, refuse(529, "overloaded_error", "Overloaded"), refuse(429, "rate_limit_error", "slow down"), answer(say("Here.")))
	e := (&ide{}).begin(t, start{env: p.env()})
	e.prompt(e.session(), "hi")
}

// TestStatement088StopReasons passes on why the model stopped.
func TestStatement088StopReasons(t *testing.T) {
	stopped := func(reason string) reply {
		return func(w http.ResponseWriter, _ *http.Request) {
			stream(w, events([]block{say("so far")})+event("message_delta", `{"delta":{"stop_reason":%q},"usage":{"output_tokens":7}}`, reason)+event("message_stop", `{}`))
		}
	}
	for reason, want := range map[string]string{"max_tokens": "max_tokens", "refusal": "refusal", "end_turn": "end_turn", "stop_sequence": "end_turn"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, stopped(reason))
			e := (&ide{}).begin(t, start{env: p.env()})
			if got := within(t, patience, "answer", e.begun(e.session(), "hi")); string(got.reason) != want || got.err != nil {
				t.Errorf("%q, %v", got.reason, got.err)
			}
		})
	}
}
