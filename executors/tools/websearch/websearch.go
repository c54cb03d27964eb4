// Package websearch offers the tool web_search, which asks the search service that the user has
// configured.
//
// Start with [New]. The package promises that a query goes only to the configured server, with at most
// one key, and that redirects are not followed. The address of a service is on the public Internet,
// unless the user's own configuration names another one. Size and time of an answer are bounded. A
// result is one line of bounded length for each of its parts, so that no page can imitate the rest. No
// error contains the key.
//
// Why does no model search by itself, as some providers offer? Because such a search happens at the
// provider: no rule, no gate and no audit log would see it.
package websearch

import (
	"context"
	_ "embed"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// Name is the name of the tool.
const Name = "web_search"

//go:embed web_search.md
var text string

// New returns the tool; none if no service is configured. pages has the domains that are excluded from
// the results. getenv looks up the key, at each call.
func New(cfg Config, pages web.Config, getenv func(string) string) executors.Registry {
	if cfg.Backend == "" {
		return nil
	}
	return tools(newClient(cfg, pages, getenv))
}

// Catalogue returns the tool for lists of all tools. Its calls fail.
func Catalogue() executors.Registry {
	return tools(&client{backend: &backend{title: "a search service"}})
}

func tools(c *client) executors.Registry {
	return executors.Registry{executors.Bind(executors.Tool{
		Name: Name, Description: strings.TrimSpace(text), Kind: executors.KindFetch,
		Effect:  executors.Reads | executors.Network | executors.Idempotent,
		Subject: executors.URL(""), // of the service, with the query
		Names:   executors.Names{Claude: "WebSearch", Gemini: "google_web_search"},
	}, c.prepare, c.search)}
}

// client asks one search service. It may be used concurrently.
type client struct {
	Config
	*backend

	pages  web.Config
	getenv func(string) string
	now    func() time.Time
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

func newClient(cfg Config, pages web.Config, getenv func(string) string) *client {
	c := &client{Config: cfg, backend: cfg.service(), pages: pages, getenv: getenv, now: time.Now, dial: web.DialPublic}
	if cfg.URL != "" { // the user's own address may be private
		c.dial = (&net.Dialer{}).DialContext
	}
	return c
}

type input struct {
	Query          string   `json:"query"`
	MaxResults     int      `json:"max_results,omitempty" jsonschema:"minimum=1,maximum=20"`
	Domains        []string `json:"domains,omitempty" jsonschema:"maxItems=20"`
	ExcludeDomains []string `json:"exclude_domains,omitempty" jsonschema:"maxItems=20"`
	TimeRange      string   `json:"time_range,omitempty" jsonschema:"enum=day,enum=week,enum=month,enum=year"`
}

// maxQuery is the longest query with its domains, in characters: the limit of Brave, and short enough to
// be shown whole to the user.
const maxQuery = 400

// maxDomains is the largest number of domains in each list.
const maxDomains = 20

// ranges are the values of the parameter time_range, in days.
var ranges = map[string]int{"day": 1, "week": 7, "month": 31, "year": 366}

// query is a checked input.
type query struct {
	text              string
	most              int // results
	only, without     []string
	timeRange, oldest string // the day in ISO 8601 on which the time range begins; both may be empty
}

var domainName = lazyregexp.New(`^([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$`)

// query checks an input. A domain becomes a part of the query for some services, so it must be
// nothing but a domain.
func (c *client) query(in *input) (query, error) {
	q := query{text: line.Join(in.Query), most: c.MaxResults, timeRange: in.TimeRange}
	if q.text == "" {
		return q, executors.Failuref(executors.InvalidParameters, "query: is empty")
	}
	if in.MaxResults > 0 {
		q.most = min(in.MaxResults, q.most)
	}
	var err error
	if q.only, err = domains("domains", in.Domains); err == nil {
		q.without, err = domains("exclude_domains", in.ExcludeDomains)
	}
	if err != nil {
		return q, err
	}
	if n := utf8.RuneCountInString(q.withOperators()); n > maxQuery {
		return q, executors.Failuref(executors.InvalidParameters, "query: has %s with its domains, over the limit of %d", quantity.Count(n, "character"), maxQuery).
			Hint("Search with a few words, and name fewer domains.")
	}
	if in.TimeRange != "" {
		days, ok := ranges[in.TimeRange]
		if !ok {
			return q, executors.Failuref(executors.InvalidParameters, "time_range: must be day, week, month or year, is %q", in.TimeRange)
		}
		q.oldest = c.now().UTC().AddDate(0, 0, -days).Format(time.DateOnly)
	}
	return q, nil
}

// domains returns the domains of a parameter in lower case.
func domains(param string, list []string) ([]string, error) {
	if len(list) > maxDomains {
		return nil, executors.Failuref(executors.InvalidParameters, "%s: has %s, over the limit of %d", param, quantity.Count(len(list), "domain"), maxDomains)
	}
	var out []string
	for _, d := range list {
		name := strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(strings.TrimSpace(d), ".")), "*.")
		if len(name) > 253 || !domainName.MatchString(name) {
			return nil, executors.Failuref(executors.InvalidParameters, "%s: %q is not a domain", param, d).
				Hint("Name a domain without scheme and path, such as example.com.")
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

func (c *client) prepare(_ context.Context, _ *executors.Call, in *input) (executors.Card, error) {
	q, err := c.query(in)
	card := executors.Card{Title: c.shown(q.withOperators()), Kind: executors.KindFetch}
	if err != nil || c.address() == "" {
		return card, err
	}
	u := c.Endpoint()
	u.RawQuery = url.Values{"q": {q.withOperators()}}.Encode() // whatever the request looks like: this leaves the machine
	card.URL = u.String()
	if c.pages.Denies(u.Hostname()) {
		return card, executors.Failuref(executors.PolicyBlocked, "%s may not be contacted: tools.scrape.denied_domains names it", u.Hostname())
	}
	_, err = c.key()
	return card, err
}

// shown returns the title of a call. It quotes a query that a client would render differently.
func (c *client) shown(text string) string {
	text = visible.Line(line.TruncateRunes(text, maxQuery)) // a longer one is refused
	quoted := executors.Titled(text)
	if quoted == text {
		quoted = "“" + text + "”"
	}
	return "Search the web for " + quoted + " with " + c.title
}

// key returns the key of the service, "" if it needs none.
func (c *client) key() (string, error) {
	name := c.KeyVariable()
	if name == "" {
		return "", nil
	}
	key := strings.TrimSpace(c.getenv(name))
	if key == "" {
		return "", executors.Failuref(executors.PermanentFailure, "there is no key for %s: the variable %s is empty", c.title, name).
			Hint("Do not search again. The user can set %s in the environment that starts the agent; zeph-acp doctor reports it.", name)
	}
	return key, nil
}

func (c *client) search(ctx context.Context, _ *executors.Call, in *input) (executors.Result, error) {
	q, err := c.query(in)
	if err != nil {
		return executors.FailWith(err), nil
	}
	hits, err := c.ask(ctx, q)
	switch {
	case ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return executors.FailWith(err), nil
	}
	return c.result(q, hits), nil
}
