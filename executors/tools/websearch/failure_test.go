package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		backend        string
		status         int
		header, answer string
		category       executors.Category
		after          time.Duration
		want           string // in the failure
	}{
		"refused key": {backend: "brave", status: 401, answer: "no",
			category: executors.PolicyBlocked, want: "Brave refuses the key in BRAVE_API_KEY (status 401)"},
		"forbidden": {backend: "kagi", status: 403,
			category: executors.PolicyBlocked, want: "Kagi refuses the key in KAGI_API_KEY (status 403)"},
		"no json": {backend: searxng, status: 403,
			category: executors.PolicyBlocked, want: "needs json among search.formats"},
		"key wanted": {backend: searxng, status: 401,
			category: executors.PolicyBlocked, want: "wants a key, and tools.web_search.api_key_env names none"},
		"rate limit": {backend: "brave", status: 429, header: "Retry-After: 7",
			category: executors.RateLimited, after: 7 * time.Second, want: "gets too many searches"},
		"no credit": {backend: "exa", status: 402,
			category: executors.PermanentFailure, want: "the quota or the credit of its plan is used up (status 402)"},
		"used-up plan": {backend: "tavily", status: 432,
			category: executors.PermanentFailure, want: "the quota or the credit of its plan is used up (status 432)"},
		"used-up limit": {backend: "tavily", status: 433,
			category: executors.PermanentFailure, want: "used up (status 433)"},
		"overload": {backend: "exa", status: 503, header: "Retry-After: 2",
			category: executors.ServerError, after: 2 * time.Second, want: "Exa failed (status 503)"},
		"wrong parameters": {backend: "brave", status: 422, answer: "{\"detail\": \"too\x1b[31m long\"}",
			category: executors.InvalidParameters, want: `refuses the search: {"detail": "too [31m long"} (status 422)`},
		"an answer of key": {backend: "tavily", status: 400, answer: "bad key " + key + "!",
			category: executors.InvalidParameters, want: "bad key …!"},
		"a long answer": {backend: "tavily", status: 404, answer: strings.Repeat("x", 1<<20),
			category: executors.PermanentFailure, want: "xxx… (status 404)"},
		"another success": {backend: "exa", status: 202,
			category: executors.PermanentFailure, want: "refuses the search"},
		"a redirect": {backend: "brave", status: 302, header: "Location: http://169.254.169.254/x?k",
			category: executors.PermanentFailure, want: "redirects to 169.254.169.254, which is not followed"},
		"a redirect nowhere": {backend: searxng, status: 307,
			category: executors.PermanentFailure, want: "redirects to another address"},
		"a huge answer": {backend: "exa", status: 200, answer: `{"results": [` + strings.Repeat(" ", maxAnswer),
			category: executors.PermanentFailure, want: "larger than 2097152 bytes"},
		"an odd compression": {backend: "exa", status: 200, header: "Content-Encoding: gzip", answer: "plain",
			category: executors.NetworkError, want: "Exa"},
	} {
		t.Run(name, func(t *testing.T) {
			address, seen := service(t, tt.status, tt.header, tt.answer)
			_, res := do(t, newTest(tt.backend, address), `{"query": "x"}`)
			if !res.Failed || res.Category() != tt.category || res.Denied() || !strings.Contains(res.ForModel(), tt.want) {
				t.Errorf("got %q, want %s with %q", res.ForModel(), tt.category, tt.want)
			}
			if res.Failure != nil && res.Failure.RetryAfter != tt.after {
				t.Errorf("another attempt after %s, want %s", res.Failure.RetryAfter, tt.after)
			}
			if len(*seen) != 1 {
				t.Errorf("%d requests", len(*seen))
			}
		})
	}
}

// Where nothing can be asked, the call fails before the user is asked about it.
func TestRefusedBefore(t *testing.T) {
	address, seen := service(t, 200, "", `{"results": []}`)
	empty := func(string) string { return " \n" }
	denied := setting.Default[web.Config]()
	denied.DeniedDomains = []string{"search.example.org"}
	own := configured("brave", address)
	own.APIKeyEnv = "MY_SEARCH"
	for want, c := range map[string]*client{
		"there is no key for Brave: the variable BRAVE_API_KEY is empty": newClient(configured("brave", address), web.Config{}, empty),
		"there is no key for Brave: the variable MY_SEARCH is empty":     newClient(own, web.Config{}, getenv),
		"search.example.org may not be contacted: tools.scrape.denied_domains names it": newClient(
			configured(searxng, "https://Search.example.org"), denied, getenv),
	} {
		chain := executors.Chain(tools(c), executors.Validate)
		_, err := chain.Prepare(t.Context(), &executors.Call{Tool: Name, Input: json.RawMessage(`{"query": "x"}`)})
		if err == nil || !strings.Contains(err.Error(), want) || len(*seen) > 0 {
			t.Errorf("got %v, %d requests; want %q", err, len(*seen), want)
		}
	}
}

// A service that does not answer ends with a timeout, and a cancelled turn with its cause.
func TestNoAnswer(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	defer close(release)
	c := newTest(searxng, server.URL)
	c.TimeoutSecs = 1
	_, res := do(t, c, `{"query": "x"}`)
	if res.Category() != executors.Timeout || !strings.Contains(res.ForModel(), "SearXNG took longer than 1 second") {
		t.Errorf("got %q", res.ForModel())
	}
	<-arrived

	c.TimeoutSecs = 60
	cause := errors.New("the user cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-arrived; cancel(cause) }()
	_, err := tools(c).Execute(ctx, &executors.Call{Tool: Name, Input: json.RawMessage(`{"query": "x"}`)})
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

// The address of a service that the user did not choose must be public.
func TestPublicOnly(t *testing.T) {
	address, seen := service(t, 200, "", `{"results": []}`)
	c := newTest("exa", "")
	c.URL = address
	_, err := c.ask(t.Context(), query{text: "x", most: 1})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1 may not be contacted") || len(*seen) > 0 {
		t.Errorf("got %v, %d requests", err, len(*seen))
	}
}

func TestConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want string // the wrong key, and a part of its message
	}{
		"off":             {Config{}, ""},
		"an address":      {configured(searxng, "https://search.example.org/x"), ""},
		"this machine":    {configured(searxng, "http://localhost:8888"), ""},
		"a local network": {configured(searxng, "http://192.168.1.5"), ""},
		"a gateway":       {configured("brave", "http://10.0.0.1/brave"), ""},
		"no address":      {configured(searxng, ""), "url: is missing"},
		"no scheme":       {configured(searxng, "search.example.org"), "url: must be an address"},
		"a file":          {configured(searxng, "file:///etc/passwd"), "url: must be an address"},
		"a password":      {configured(searxng, "https://a:b@search.example.org"), "url: must not contain a user"},
		"a query":         {configured(searxng, "https://search.example.org/?q="), "url: must be the address of a server"},
		"plain http":      {configured(searxng, "http://search.example.com"), "url: must begin with https://"},
		"unknown":         {configured("bing", ""), `backend: "bing" is not one of searxng, brave, tavily, exa, kagi`},
		"a key":           {Config{Backend: "exa", APIKeyEnv: "ab-" + key, MaxResults: 1, TimeoutSecs: 1}, "api_key_env: must be the name"},
		"no results":      {Config{Backend: "exa", TimeoutSecs: 1}, "max_results: 0 is not from 1 to 20"},
	} {
		if name == "off" {
			tt.cfg = setting.Default[Config]()
		}
		var got []string
		for k, text := range setting.Check(tt.cfg) {
			got = append(got, k+": "+text)
		}
		all := strings.Join(got, "\n")
		if (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) || len(got) > 1 || strings.Contains(all, key) {
			t.Errorf("%s: got %q, want %q", name, all, tt.want)
		}
	}

	ours, theirs := configured("brave", ""), configured(searxng, "https://evil.example.org")
	theirs.APIKeyEnv, theirs.MaxResults, theirs.TimeoutSecs = "AWS_SECRET_ACCESS_KEY", 3, 300
	got, ignored := setting.Tighten(ours, theirs, setting.Paths[Config]()...)
	want := ours
	want.MaxResults = 3
	if got != want || strings.Join(ignored, " ") != "api_key_env backend timeout_secs url" {
		t.Errorf("a workspace makes of it %+v, ignored %q", got, ignored)
	}
}
