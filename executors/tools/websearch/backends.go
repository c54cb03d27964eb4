package websearch

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// backend is a search service.
type backend struct {
	title  string // for people
	server string // its address; empty if there is no common server
	path   string // of a search
	keyEnv string // the usual variable of the key; empty if it needs none

	sign func(h http.Header, key string)
	// params returns the parameters of a GET, or body the JSON of a POST; one of them is nil.
	params func(q query) url.Values
	body   func(q query) any
	// read returns the results of an answer; nil if it has no list of results.
	read func(answer []byte) ([]hit, error)
	// refused is the hint for the status 403; empty if the key is refused.
	refused string
}

// hit is one result as the service returns it.
type hit struct{ url, title, date, snippet string }

// searxng is the service without a common server.
const searxng = "searxng"

var backends = sync.OnceValue(func() map[string]*backend {
	return map[string]*backend{
		// https://docs.searxng.org/dev/search_api.html
		searxng: {
			title: "SearXNG", path: "/search", sign: bearer,
			params: func(q query) url.Values {
				v := url.Values{"q": {q.withOperators()}, "format": {"json"}}
				if q.timeRange != "" {
					v.Set("time_range", q.timeRange)
				}
				return v
			},
			read: func(answer []byte) ([]hit, error) {
				type result struct{ URL, Title, Content, PublishedDate string }
				var a struct{ Results []result }
				err := json.Unmarshal(answer, &a)
				return hitsOf(a.Results, func(r result) hit { return hit{r.URL, r.Title, r.PublishedDate, r.Content} }), err
			},
			refused: "The server may not offer JSON: its settings.yml needs json among search.formats. Tell the user.",
		},
		// https://api-dashboard.search.brave.com/api-reference/web/search/get
		"brave": {
			title: "Brave", server: "https://api.search.brave.com", path: "/res/v1/web/search", keyEnv: "BRAVE_API_KEY",
			sign: func(h http.Header, key string) { h.Set("X-Subscription-Token", key) },
			params: func(q query) url.Values {
				v := url.Values{
					"q": {q.withOperators()}, "count": {strconv.Itoa(q.most)},
					"result_filter": {"web"}, "text_decorations": {"false"},
				}
				if q.timeRange != "" {
					v.Set("freshness", "p"+q.timeRange[:1])
				}
				return v
			},
			read: func(answer []byte) ([]hit, error) {
				type result struct {
					URL, Title, Description, Age string
					PageAge                      string `json:"page_age"`
				}
				var a struct {
					Type string
					Web  struct{ Results []result }
				}
				err := json.Unmarshal(answer, &a)
				if a.Type == "search" && a.Web.Results == nil { // nothing was found
					return []hit{}, err
				}
				return hitsOf(a.Web.Results, func(r result) hit { return hit{r.URL, r.Title, cmp.Or(r.PageAge, r.Age), r.Description} }), err
			},
		},
		// https://docs.tavily.com/documentation/api-reference/endpoint/search
		"tavily": {
			title: "Tavily", server: "https://api.tavily.com", path: "/search", keyEnv: "TAVILY_API_KEY", sign: bearer,
			body: func(q query) any {
				return struct {
					Query     string   `json:"query"`
					Most      int      `json:"max_results"`
					Only      []string `json:"include_domains,omitempty"`
					Without   []string `json:"exclude_domains,omitempty"`
					TimeRange string   `json:"time_range,omitempty"`
				}{q.text, q.most, q.only, q.without, q.timeRange}
			},
			read: func(answer []byte) ([]hit, error) {
				type result struct {
					URL, Title, Content string
					Published           string `json:"published_date"`
				}
				var a struct{ Results []result }
				err := json.Unmarshal(answer, &a)
				return hitsOf(a.Results, func(r result) hit { return hit{r.URL, r.Title, r.Published, r.Content} }), err
			},
		},
		// https://exa.ai/docs/reference/search
		"exa": {
			title: "Exa", server: "https://api.exa.ai", path: "/search", keyEnv: "EXA_API_KEY",
			sign: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
			body: func(q query) any {
				oldest := ""
				if q.oldest != "" {
					oldest = q.oldest + "T00:00:00.000Z"
				}
				return struct {
					Query    string          `json:"query"`
					Most     int             `json:"numResults"`
					Only     []string        `json:"includeDomains,omitempty"`
					Without  []string        `json:"excludeDomains,omitempty"`
					Oldest   string          `json:"startPublishedDate,omitempty"`
					Contents map[string]bool `json:"contents"`
				}{q.text, q.most, q.only, q.without, oldest, map[string]bool{"highlights": true}}
			},
			read: func(answer []byte) ([]hit, error) {
				type result struct {
					URL, Title, PublishedDate string
					Highlights                []string
				}
				var a struct{ Results []result }
				err := json.Unmarshal(answer, &a)
				return hitsOf(a.Results, func(r result) hit {
					return hit{r.URL, r.Title, r.PublishedDate, strings.Join(r.Highlights, " … ")}
				}), err
			},
		},
		// https://help.kagi.com/kagi/api/search.html
		"kagi": {
			title: "Kagi", server: "https://kagi.com", path: "/api/v1/search", keyEnv: "KAGI_API_KEY", sign: bearer,
			body: func(q query) any {
				type lens struct {
					Only    []string `json:"sites_included,omitempty"`
					Without []string `json:"sites_excluded,omitempty"`
				}
				type filters struct {
					After string `json:"after"`
				}
				body := struct {
					Query   string   `json:"query"`
					Limit   int      `json:"limit"`
					Lens    *lens    `json:"lens,omitempty"`
					Filters *filters `json:"filters,omitempty"`
				}{Query: q.text, Limit: q.most}
				if len(q.only)+len(q.without) > 0 {
					body.Lens = &lens{q.only, q.without}
				}
				if q.oldest != "" {
					body.Filters = &filters{q.oldest}
				}
				return body
			},
			read: func(answer []byte) ([]hit, error) {
				type result struct{ URL, Title, Snippet, Time string }
				var a struct{ Data *struct{ Search []result } }
				err := json.Unmarshal(answer, &a)
				switch {
				case a.Data == nil:
					return nil, err
				case a.Data.Search == nil: // nothing was found
					return []hit{}, err
				}
				return hitsOf(a.Data.Search, func(r result) hit { return hit{r.URL, r.Title, r.Time, r.Snippet} }), err
			},
		},
	}
})

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// hitsOf converts the results of a service; nil stays nil.
func hitsOf[R any](results []R, convert func(R) hit) []hit {
	if results == nil {
		return nil
	}
	hits := make([]hit, len(results))
	for i, r := range results {
		hits[i] = convert(r)
	}
	return hits
}

// withOperators returns the query for a service that has no parameters for domains.
func (q query) withOperators() string {
	text := q.text
	switch len(q.only) {
	case 0:
	case 1:
		text += " site:" + q.only[0]
	default:
		text += " (site:" + strings.Join(q.only, " OR site:") + ")"
	}
	for _, d := range q.without {
		text += " -site:" + d
	}
	return text
}
