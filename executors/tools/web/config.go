package web

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config limits the requests to the web and the size of their responses. It is
// the table [tools.scrape].
type Config struct {
	// Timeout is how long one call may take, including redirects, in seconds.
	// Default 15; 0 is refused.
	Timeout int `toml:"timeout"`
	// MaxBodyBytes is the largest accepted size of a page, both compressed and
	// decompressed. Default 1048576 (1 MiB), from 1 to 16777216 (16 MiB).
	MaxBodyBytes int `toml:"max_body_bytes"`
	// MaxOutputChars is how many characters of a page the result contains.
	// Default 50000, at least 1000.
	MaxOutputChars int `toml:"max_output_chars"`
	// AllowedDomains, if not empty, are the only hosts that may be contacted;
	// no IP address is among them. "example.com" is that host alone,
	// "*.example.com" matches the hosts below it. Default none.
	AllowedDomains []string `toml:"allowed_domains"`
	// DeniedDomains may not be contacted, even if AllowedDomains includes them.
	// Default none.
	DeniedDomains []string `toml:"denied_domains"`

	// repository are the AllowedDomains of the workspace's own file, if it sets
	// them: a host must be in both lists.
	repository *[]string
}

// Bounds of the settings. MaxBodyBytes has a maximum because pages are parsed
// in memory.
const (
	maxBody  = 16 << 20
	minChars = 1000
)

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Timeout: 15, MaxBodyBytes: 1 << 20, MaxOutputChars: 50_000}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.Timeout < 1 {
		wrong["timeout"] = fmt.Sprintf("must be at least 1, is %d", c.Timeout)
	}
	if c.MaxBodyBytes < 1 || c.MaxBodyBytes > maxBody {
		wrong["max_body_bytes"] = fmt.Sprintf("must be from 1 to %d, is %d", maxBody, c.MaxBodyBytes)
	}
	if c.MaxOutputChars < minChars {
		wrong["max_output_chars"] = fmt.Sprintf("must be at least %d, is %d", minChars, c.MaxOutputChars)
	}
	for key, list := range map[string][]string{"allowed_domains": c.AllowedDomains, "denied_domains": c.DeniedDomains} {
		for _, d := range list {
			if _, err := domain(d); err != nil {
				wrong[key] = fmt.Sprintf("%q is not a domain: want one such as example.com or *.example.com", d)
			}
		}
	}
	return wrong
}

// Tighten adopts lower limits and more denied domains from a repository's file.
// Its allowed domains become a second list that a host must be in.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	wrong := repo.Validate()
	lower := func(key string, ours *int, theirs int) {
		keys.Adopt(key, wrong[key] == "" && theirs <= *ours, func() { *ours = theirs })
	}
	lower("timeout", &c.Timeout, repo.Timeout)
	lower("max_body_bytes", &c.MaxBodyBytes, repo.MaxBodyBytes)
	lower("max_output_chars", &c.MaxOutputChars, repo.MaxOutputChars)
	keys.Append("denied_domains", &c.DeniedDomains, repo.DeniedDomains)
	// An empty list would allow all hosts.
	keys.Adopt("allowed_domains", len(repo.AllowedDomains) > 0, func() { c.repository = &repo.AllowedDomains })
	return c
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
