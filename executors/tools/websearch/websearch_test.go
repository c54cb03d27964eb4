package websearch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// key is the key of the tests. No result may contain it.
const key = "k-1234567890abcdef"

// noon is the time of the tests.
var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// request is a request as a service sees it.
type request struct {
	Method, Path, Query string
	Header              map[string]string // those that matter
	Body                string
}

// service is a search service on loopback with one answer.
func service(t testing.TB, status int, header, answer string) (address string, seen *[]request) {
	t.Helper()
	seen = &[]request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := request{r.Method, r.URL.Path, r.URL.Query().Encode(), map[string]string{}, string(body)}
		for _, name := range []string{"Authorization", "X-Subscription-Token", "X-Api-Key", "Content-Type", "Accept"} {
			if v := r.Header.Get(name); v != "" {
				got.Header[name] = v
			}
		}
		*seen = append(*seen, got)
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, seen
}

// configured returns the configuration of a service at an address.
func configured(backend, address string) Config {
	cfg := setting.Default[Config]()
	cfg.Backend, cfg.URL = backend, address
	return cfg
}

// getenv is an environment with the usual variables of keys.
func getenv(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return key
	}
	return ""
}

// do makes a call as the chain does.
func do(t testing.TB, c *client, in string) (executors.Card, executors.Result) {
	t.Helper()
	c.now = func() time.Time { return noon }
	chain := executors.Chain(tools(c), executors.Validate)
	call := &executors.Call{Tool: Name, Input: json.RawMessage(in)}
	card, err := chain.Prepare(t.Context(), call)
	if err != nil {
		return card, executors.FailWith(err)
	}
	res, err := chain.Execute(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", res); strings.Contains(text, key) {
		t.Errorf("the result has the key: %s", text)
	}
	return card, res
}

// newTest returns a client for a service.
func newTest(backend, address string) *client {
	return newClient(configured(backend, address), setting.Default[web.Config](), getenv)
}

// The requests and answers are as the documentation of the services has them.
func TestBackends(t *testing.T) {
	const in = `{"query": " go  generics ", "max_results": 3, "domains": ["go.dev", "Example.org"], "exclude_domains": ["old.go.dev"], "time_range": "week"}`
	accept := map[string]string{"Accept": "application/json"}
	with := func(name, value string) map[string]string {
		return map[string]string{"Accept": "application/json", "Content-Type": "application/json", name: value}
	}
	for backend, tt := range map[string]struct {
		want   request
		answer string
		empty  string // an answer without results
	}{
		"searxng": {
			request{"GET", "/search", "format=json&q=go+generics+%28site%3Ago.dev+OR+site%3Aexample.org%29+-site%3Aold.go.dev&time_range=week", accept, ""},
			`{"query": "q", "number_of_results": 0, "results": [
				{"url": "https://go.dev/doc", "title": "Docs", "content": "All the docs.", "publishedDate": "2026-03-01T10:00:00", "engine": "x"},
				{"url": "https://old.go.dev/", "title": "Old", "content": "x", "publishedDate": null},
				{"url": "https://example.org/a", "title": "A", "content": "", "publishedDate": null}], "unresponsive_engines": []}`,
			`{"query": "q", "results": []}`,
		},
		"brave": {
			request{"GET", "/res/v1/web/search",
				"count=3&freshness=pw&q=go+generics+%28site%3Ago.dev+OR+site%3Aexample.org%29+-site%3Aold.go.dev&result_filter=web&text_decorations=false",
				map[string]string{"Accept": "application/json", "X-Subscription-Token": key}, ""},
			`{"type": "search", "query": {"original": "q"}, "web": {"type": "search", "results": [
				{"title": "Docs", "url": "https://go.dev/doc", "description": "All the docs.", "page_age": "2026-03-01T10:00:00", "age": "March 1, 2026"},
				{"title": "A", "url": "https://example.org/a"}]}}`,
			`{"type": "search", "query": {"original": "q"}}`,
		},
		"tavily": {
			request{"POST", "/search", "", with("Authorization", "Bearer "+key),
				`{"query":"go generics","max_results":3,"include_domains":["go.dev","example.org"],"exclude_domains":["old.go.dev"],"time_range":"week"}`},
			`{"query": "q", "answer": null, "images": [], "results": [
				{"title": "Docs", "url": "https://go.dev/doc", "content": "All the docs.", "score": 0.9, "published_date": "Sun, 01 Mar 2026 10:00:00 GMT"},
				{"title": "A", "url": "https://example.org/a", "content": "", "score": 0.8}], "response_time": 1.2}`,
			`{"query": "q", "results": [], "response_time": 1}`,
		},
		"exa": {
			request{"POST", "/search", "", with("X-Api-Key", key),
				`{"query":"go generics","numResults":3,"includeDomains":["go.dev","example.org"],"excludeDomains":["old.go.dev"],` +
					`"startPublishedDate":"2026-03-03T00:00:00.000Z","contents":{"highlights":true}}`},
			`{"requestId": "r", "results": [
				{"title": "Docs", "url": "https://go.dev/doc", "publishedDate": "2026-03-01T10:00:00.000Z", "highlights": ["All", "the docs."]},
				{"title": "A", "url": "https://example.org/a", "id": "x"}]}`,
			`{"requestId": "r", "results": []}`,
		},
		"kagi": {
			request{"POST", "/api/v1/search", "", with("Authorization", "Bearer "+key),
				`{"query":"go generics","limit":3,"lens":{"sites_included":["go.dev","example.org"],"sites_excluded":["old.go.dev"]},"filters":{"after":"2026-03-03"}}`},
			`{"meta": {"trace": "x"}, "data": {"search": [
				{"url": "https://go.dev/doc", "title": "Docs", "snippet": "All the docs.", "time": "2026-03-01T10:00:00Z"},
				{"url": "https://example.org/a", "title": "A"}], "video": [{"url": "https://example.org/v", "title": "V"}]}}`,
			`{"meta": {"trace": "x"}, "data": {}}`,
		},
	} {
		t.Run(backend, func(t *testing.T) {
			address, seen := service(t, 200, "", tt.answer)
			card, res := do(t, newTest(backend, address+"/"), in)
			if diff := cmp.Diff([]request{tt.want}, *seen); diff != "" {
				t.Errorf("the request (-want +got)\n%s", diff)
			}
			snippet := "All the docs."
			if backend == "exa" {
				snippet = "All … the docs."
			}
			title := backends()[backend].title
			want := "2 results of " + title + "\n\n1. Docs\n   https://go.dev/doc\n   2026-03-01: " + snippet + "\n\n2. A\n   https://example.org/a"
			if res.Failed || res.ForModel() != want {
				t.Errorf("got %q\nwant %q", res.ForModel(), want)
			}
			if want := "Search the web for `go generics (site:go.dev OR site:example.org) -site:old.go.dev` with " + title; card.Title != want {
				t.Errorf("the title is %q, want %q", card.Title, want)
			}
			if want := address + tt.want.Path + "?q=go+generics+%28site%3Ago.dev+OR+site%3Aexample.org%29+-site%3Aold.go.dev"; card.URL != want {
				t.Errorf("rules see %q, want %q", card.URL, want)
			}

			address, _ = service(t, 200, "", tt.empty)
			if _, res = do(t, newTest(backend, address), `{"query": "x"}`); res.Failed || res.ForModel() != "No results of "+title {
				t.Errorf("without results: %q", res.ForModel())
			}
			for _, answer := range []string{"<html>no</html>", `{"error": "x"}`, "", "[]", `{"results": 1, "data": 1, "web": 1}`} {
				address, _ = service(t, 200, "", answer)
				_, res = do(t, newTest(backend, address), `{"query": "x"}`)
				if !res.Failed || !strings.Contains(res.ForModel(), "the answer of "+title+" is not the expected JSON") {
					t.Errorf("for the answer %q: %q", answer, res.ForModel())
				}
			}
		})
	}
}

// The common servers of services are reached by the same client.
func TestAddresses(t *testing.T) {
	for backend, want := range map[string]string{
		"brave": "https://api.search.brave.com/res/v1/web/search", "tavily": "https://api.tavily.com/search",
		"exa": "https://api.exa.ai/search", "kagi": "https://kagi.com/api/v1/search",
	} {
		if got := configured(backend, "").Endpoint().String(); got != want {
			t.Errorf("%s is at %s, want %s", backend, got, want)
		}
	}
	for address, want := range map[string]string{
		"https://Search.example.org": "https://search.example.org/search", "https://x.org/searx/": "https://x.org/searx/search",
		"https://x.org/search": "https://x.org/search", "http://[::1]:8888": "http://[::1]:8888/search",
	} {
		if got := configured(searxng, address).Endpoint().String(); got != want {
			t.Errorf("%s is asked at %s, want %s", address, got, want)
		}
	}
}

func TestOff(t *testing.T) {
	if got := New(setting.Default[Config](), setting.Default[web.Config](), getenv).Tools(); len(got) != 0 {
		t.Errorf("without a service there are tools: %v", got)
	}
	_, res := do(t, &client{backend: &backend{title: "a search service"}}, `{"query": "x"}`)
	if !strings.Contains(res.ForModel(), "no search service is configured") {
		t.Errorf("the tool of the catalogue: %q", res.ForModel())
	}
}

func TestInput(t *testing.T) {
	long := strings.Repeat("é", maxQuery)
	for in, want := range map[string]string{
		`{"query": "  "}`:            "query: is empty",
		`{"query": "` + long + `x"}`: "query: has 401 characters with its domains, over the limit of 400",
		`{"query": "` + long[:780] + `", "domains": ["example.org"]}`: "query: has 407 characters with its domains",
		`{"query": "x", "domains": ["https://go.dev/x"]}`:             `domains: "https://go.dev/x" is not a domain`,
		`{"query": "x", "domains": ["go.dev OR x.org"]}`:              `domains: "go.dev OR x.org" is not a domain`,
		`{"query": "x", "exclude_domains": ["localhost"]}`:            `exclude_domains: "localhost" is not a domain`,
		`{"query": "x", "exclude_domains": [""]}`:                     `exclude_domains: "" is not a domain`,
		`{"query": "x", "time_range": "century"}`:                     "time_range",
		`{"query": "x", "max_results": 0}`:                            "max_results",
		`{"max_results": 3}`:                                          "query",
	} {
		address, seen := service(t, 200, "", `{"results": []}`)
		_, res := do(t, newTest(searxng, address), in)
		if res.Category() != executors.InvalidParameters || !strings.Contains(res.ForModel(), want) || len(*seen) > 0 {
			t.Errorf("%.80s: %s, %d requests; want %q", in, res.ForModel(), len(*seen), want)
		}
	}
	for in, want := range map[string]string{
		`{"query": "` + long + `"}`:                         "format=json&q=" + strings.Repeat("%C3%A9", maxQuery),
		`{"query": "a\nb&c=d#e"}`:                           "format=json&q=a+b%26c%3Dd%23e",
		`{"query": "x", "domains": ["*.Go.dev", "go.dev"]}`: "format=json&q=x+site%3Ago.dev",
		`{"query": "x", "exclude_domains": ["go.dev."]}`:    "format=json&q=x+-site%3Ago.dev",
	} {
		address, seen := service(t, 200, "", `{"results": []}`)
		_, res := do(t, newTest(searxng, address), in)
		if res.Failed || len(*seen) != 1 || (*seen)[0].Query != want {
			t.Errorf("%.80s: %s, requests %+v; want %q", in, res.ForModel(), *seen, want)
		}
	}
}

// The title shows the whole query, and no client renders it as something else.
func TestTitle(t *testing.T) {
	for query, want := range map[string]string{
		"go":                   "Search the web for “go” with SearXNG",
		"a: b":                 "Search the web for `a: b` with SearXNG",
		"a `b`":                "Search the web for `` a `b` `` with SearXNG",
		"a\nb":                 "Search the web for “a b” with SearXNG",
		"pass\u202ew\u200bord": "Search the web for “pass<U+202E>w<U+200B>ord” with SearXNG",
	} {
		in, _ := json.Marshal(input{Query: query})
		card, _ := do(t, newTest(searxng, "http://127.0.0.1:1"), string(in))
		if card.Title != want {
			t.Errorf("for %q the title is %q, want %q", query, card.Title, want)
		}
	}
}
