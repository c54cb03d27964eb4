package websearch

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Config is the table [tools.web_search]. A workspace can only lower its numbers: it chooses neither
// the server that gets the queries nor the variable that the server gets.
type Config struct {
	Backend     string `toml:"backend" oneof:"searxng,brave,tavily,exa,kagi" zero:"no web search" doc:"the search service"`
	URL         string `toml:"url" zero:"the service's own; searxng needs one" doc:"address of the server"`
	APIKeyEnv   string `toml:"api_key_env" zero:"BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY or KAGI_API_KEY, and no key for searxng" doc:"the variable with the key"`
	MaxResults  int    `toml:"max_results" default:"8" range:"1..20" tighten:"lower" unit:"results" doc:"of a search, at the most"`
	TimeoutSecs int    `toml:"timeout_secs" default:"15" range:"1..300" tighten:"lower" unit:"seconds" doc:"for the answer to a search"`
}

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate returns a message for each wrong key. No message contains a value that may be a key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if text := c.urlProblem(); text != "" {
		wrong["url"] = text
	}
	if c.APIKeyEnv != "" && !envName.MatchString(c.APIKeyEnv) {
		wrong["api_key_env"] = "must be the name of an environment variable, not the key itself"
	}
	return wrong
}

// urlProblem returns why the address is wrong, or "". Queries and keys leave a private network only
// by https.
func (c Config) urlProblem() string {
	if c.URL == "" {
		if c.Backend == searxng {
			return "is missing: searxng is a server of your own, or one that somebody offers you"
		}
		return ""
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https":
		return "must be an address such as https://search.example.com"
	case u.User != nil:
		return "must not contain a user or password; api_key_env names the variable of a key"
	case u.RawQuery != "" || u.Fragment != "":
		return "must be the address of a server, without a query"
	case u.Scheme == "http" && web.IsPublic(u.Hostname()):
		return "must begin with https:// for a host outside of a private network"
	}
	return ""
}

func (c Config) service() *backend { return backends()[c.Backend] }

// Service returns the name of the configured service for people; "" if there is none.
func (c Config) Service() string {
	if b := c.service(); b != nil {
		return b.title
	}
	return ""
}

// KeyVariable returns the variable of the service's key; "" if no key is sent.
func (c Config) KeyVariable() string {
	if c.Backend == "" {
		return ""
	}
	return cmp.Or(c.APIKeyEnv, c.service().keyEnv)
}

// address returns the address of the server.
func (c Config) address() string {
	if c.service() == nil {
		return ""
	}
	return cmp.Or(c.URL, c.service().server)
}

// Endpoint returns the address that is requested, without a query; empty if there is none.
func (c Config) Endpoint() *url.URL {
	u, err := url.Parse(c.address())
	if err != nil || u.Host == "" { // Validate refused it
		return &url.URL{}
	}
	u.Host = strings.ToLower(u.Host)
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), c.service().path) + c.service().path
	u.RawPath = ""
	return u
}
