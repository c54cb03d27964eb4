package integration

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestProviderFailure makes the provider fail in every way. An error in
// the form that clients show has the cause and advice, and the conversation goes on.
//
// Statement 87.
func TestProviderFailure(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close() // no server listens there now
	repeat := func(n int, r fakemodel.Reply) (out []fakemodel.Reply) {
		for range n {
			out = append(out, r)
		}
		return out
	}
	for name, tt := range map[string]struct {
		script []fakemodel.Reply
		env    []string
		want   []string // parts of the message
	}{
		"bad key": {
			repeat(1, fakemodel.Refuse(401, "authentication_error", "invalid x-api-key")),
			nil,
			[]string{"claude", "401", "invalid x-api-key", "ANTHROPIC_API_KEY"},
		},
		"rate limit": {
			repeat(2, fakemodel.Refuse(429, "rate_limit_error", "slow down")),
			nil,
			[]string{"claude", "429", "slow down", "try again"},
		},
		"overloaded": {
			repeat(2, fakemodel.Refuse(529, "overloaded_error", "Overloaded")),
			nil,
			[]string{"claude", "529", "Overloaded", "try again"},
		},
		"bad request": {
			repeat(1, fakemodel.Refuse(400, "invalid_request_error", "max_tokens: too large")),
			nil,
			[]string{"claude", "400", "max_tokens: too large"},
		},
		"no such model": {repeat(1, fakemodel.Refuse(404, "not_found_error", "model: gone")), nil, []string{"claude", "404", "model"}},
		"broken stream": {repeat(2, fakemodel.BreakOff(fakemodel.Say("I was about"))), nil, []string{"claude", "send another prompt"}},
		"error in the stream": {
			repeat(2, fakemodel.Overload(fakemodel.Say("I was about"))),
			nil,
			[]string{"claude", "529", "Overloaded", "try again"},
		},
		"a web page": {repeat(1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>Log in</html>"))
		}), nil, []string{"claude", "text/html", "base_url"}},
		"a redirect": {repeat(1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}), nil, []string{"claude", "redirects", "base_url"}},
		"no server": {
			nil,
			[]string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=http://" + closed.Addr().String()},
			[]string{"claude", "refused", "network"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, tt.script...)
			if tt.env == nil {
				tt.env = p.Env()
			}
			e := (&ide{caps: fakeide.CanAll()}).begin(t, start{env: slices.Concat(oneRetry, tt.env)})
			s := e.session()
			got := within(t, patience, "answer", e.startPrompt(s, "the first prompt"))
			f := codeOf(got.err)
			code := -32603
			if name == "bad key" {
				code = -32000
			}
			if f.Code != code {
				t.Fatalf("%q, %v, want the code %d", got.reason, got.err, code)
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
				return // no next prompt could work
			}
			n := len(p.Requests())
			p.Then(fakemodel.Answer(fakemodel.Say("Back again.")))
			e.prompt(s, "the second prompt")
			if body := p.Requests()[n]; !strings.Contains(body, "the first prompt") {
				t.Errorf("the user's first message is lost:\n%s", body)
			}
		})
	}
}

// oneRetry retries a failing provider once, without a wait.
var oneRetry = []string{"ZEPH_LLM_RETRY_MAX_ATTEMPTS=1", "ZEPH_LLM_RETRY_BASE_MS=0", "ZEPH_LLM_RETRY_MAX_MS=0"}

// TestRetry checks that a temporary failure is retried after a wait, and that the
// user sees each wait.
func TestRetry(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Refuse(529, "overloaded_error", "Overloaded"), fakemodel.Refuse(429, "rate_limit_error", "slow down"),
		fakemodel.Answer(fakemodel.Say("Here.")))
	e := (&ide{}).begin(t, start{env: append([]string{"ZEPH_LLM_RETRY_BASE_MS=1", "ZEPH_LLM_RETRY_MAX_MS=1"}, p.Env()...)})
	s := e.session()
	e.prompt(s, "hi")
	want := "claude:claude-sonnet-5-5 answered 529: Overloaded. Trying again in 1 ms (2 of 5).\n\n" +
		"claude:claude-sonnet-5-5 answered 429: slow down. Trying again in 1 ms (3 of 5).\n\nHere."
	if got := e.Text(s); got != want {
		t.Errorf("the user sees %q, want %q", got, want)
	}
	if all := p.Requests(); len(all) != 3 || all[0] != all[1] || all[1] != all[2] {
		t.Errorf("%d requests, want the same three times", len(all))
	}
}

// TestCutStream breaks an answer off. Its text appears once, and the model goes on
// from there.
func TestCutStream(t *testing.T) {
	for name, rest := range map[string]string{"goes on": "to look at it.", "begins anew": "I was about to look at it."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.BreakOff(fakemodel.Say("I was about ")), fakemodel.Answer(fakemodel.Say(rest)),
				fakemodel.Answer(fakemodel.Say("Yes.")))
			e := (&ide{}).begin(t, start{env: slices.Concat(oneRetry, p.Env())})
			s := e.session()
			e.prompt(s, "hi")
			if got := e.Text(s); got != "I was about to look at it." {
				t.Errorf("the user sees %q", got)
			}
			e.prompt(s, "did you?")
			if all := p.Requests(); strings.Count(all[2], "I was about") != 1 || !strings.Contains(all[2], "to look at it.") {
				t.Errorf("the model got %s", all[2])
			}
		})
	}
}

// TestFallback lets another provider answer after the first failed permanently.
func TestFallback(t *testing.T) {
	bad, good := fakemodel.NewAnthropic(t, fakemodel.Refuse(401, "authentication_error", "invalid x-api-key")), fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Say("Here.")), fakemodel.Answer(fakemodel.Say("Still here.")))
	e := (&ide{}).begin(t, start{env: good.Env(), config: `
[llm]
fallback = ["backup"]

[[llm.providers]]
name = "main"
type = "claude"
model = "m"
base_url = "` + bad.URL + `"

[[llm.providers]]
name = "backup"
type = "claude"
model = "n"
base_url = "` + good.URL + `"
`})
	s := e.session()
	e.prompt(s, "hi")
	want := "main:m answered 401: invalid x-api-key (check the key in ANTHROPIC_API_KEY, or run zeph-acp login). backup:n answers instead.\n\nHere."
	if got := e.Text(s); got != want {
		t.Errorf("the user sees %q, want %q", got, want)
	}
	e.prompt(s, "and now?") // neither asks the failed provider again nor reports it
	if got := e.Text(s); got != want+"Still here." {
		t.Errorf("the user sees %q", got)
	}
}
