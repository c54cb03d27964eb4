package web

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Config limits the requests to the web and the size of their responses. It is
// the table [tools.scrape].
type Config struct {
	Timeout int `toml:"timeout" default:"15" range:"1.." tighten:"lower" unit:"seconds" doc:"per fetch or web_scrape, redirects included"`
	// MaxBodyBytes is bounded because pages are parsed in memory.
	MaxBodyBytes int `toml:"max_body_bytes" default:"1MiB" range:"1..16MiB" tighten:"lower" unit:"bytes" doc:"of the largest page, compressed or not"`
	executors.OutputLimit
	// AllowedDomains include no IP address. "example.com" is that host alone,
	// "*.example.com" matches the hosts below it.
	AllowedDomains []string `toml:"allowed_domains" doc:"the only domains, if any are listed: example.com, *.example.com for its subdomains"`
	DeniedDomains  []string `toml:"denied_domains" tighten:"add" doc:"domains that are never contacted, whatever a rule says"`

	// repository are the AllowedDomains of the workspace's own file, if it sets
	// them: a host must be in both lists.
	repository *[]string
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for key, list := range map[string][]string{"allowed_domains": c.AllowedDomains, "denied_domains": c.DeniedDomains} {
		for i, d := range list {
			if _, err := domain(d); err != nil {
				wrong[fmt.Sprintf("%s[%d]", key, i)] = fmt.Sprintf("%q is not a domain: want one such as example.com or *.example.com", d)
			}
		}
	}
	return wrong
}

// Tighten makes the allowed domains of a repository's file a second list that a host must
// be in. An empty list would allow all hosts.
func (c *Config) Tighten(repo any, keys *setting.Keys) {
	allowed := repo.(Config).AllowedDomains
	keys.Adopt("allowed_domains", len(allowed) > 0, func() { c.repository = &allowed })
}

// domainProblem returns why the lists exclude a host, or "". The host is in the form
// of client.target.
func (c Config) domainProblem(host string, isAddress bool) string {
	if matches(c.DeniedDomains, host) {
		return "tools.scrape.denied_domains names it"
	}
	lists := [][]string{c.AllowedDomains}
	if c.repository != nil {
		lists = append(lists, *c.repository)
	}
	for _, list := range lists {
		if len(list) > 0 && (isAddress || !matches(list, host)) {
			return "it is not in tools.scrape.allowed_domains"
		}
	}
	return ""
}

// Excludes reports whether the lists exclude a host, such as the host of a search result.
func (c Config) Excludes(name string) bool {
	h, err := parseHost(name)
	if err != nil { // no page that could be read; the lists still count
		h.name = strings.ToLower(name)
	}
	return c.domainProblem(h.name, err != nil || h.addr.IsValid()) != ""
}

// Denies reports whether DeniedDomains include a host.
func (c Config) Denies(name string) bool {
	if h, err := parseHost(name); err == nil {
		name = h.name
	}
	return matches(c.DeniedDomains, strings.ToLower(name))
}

// matches reports whether a list of domains includes a host.
func matches(list []string, host string) bool {
	for _, d := range list {
		name, err := domain(d)
		if err != nil {
			continue // Validate refused it
		}
		if below, ok := strings.CutPrefix(name, "*"); name == host || ok && strings.HasSuffix(host, below) {
			return true
		}
	}
	return false
}

// domain normalises an entry of a list of domains like the hosts of
// client.target: lower case, ASCII.
func domain(entry string) (string, error) {
	name, below := strings.CutPrefix(entry, "*.")
	h, err := parseHost(name)
	if err != nil {
		return "", err
	}
	if below {
		return "*." + h.name, nil
	}
	return h.name, nil
}
