package doctor

import (
	"context"
	"fmt"
)

// webSearch reports whether the search service is configured. It does not ask the service, where a
// search may cost money.
func (e *examination) webSearch(context.Context) []Finding {
	cfg := e.app.Config.Tools.WebSearch
	if cfg.Backend == "" {
		return []Finding{passed("off; backend in [tools.web_search] names a search service, see docs/web-search.md")}
	}
	key := cfg.KeyVariable()
	switch {
	case e.app.Config.Tools.Scrape.Denies(cfg.Endpoint().Hostname()):
		return []Finding{warning(cfg.Service()+": tools.scrape.denied_domains names "+cfg.Endpoint().Hostname()+", so searches are refused", "correct the list, or backend in [tools.web_search]")}
	case key == "":
		return []Finding{passed(fmt.Sprintf("%s at %s, without a key; not asked", cfg.Service(), cfg.Endpoint().Host))}
	case e.app.Getenv(key) == "":
		return []Finding{warning(cfg.Service()+": there is no key, so searches fail", "set "+key+" in the environment that starts the agent")}
	}
	return []Finding{passed(fmt.Sprintf("%s at %s, with the key in %s; not asked", cfg.Service(), cfg.Endpoint().Host, key))}
}
