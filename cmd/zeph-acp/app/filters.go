package app

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// filters holds the output filters of a process, which share their rules.
type filters struct {
	rules func() (rules *filter.Filter, warnings []string)

	mu       sync.Mutex
	keys     []string                   // the redacted keys
	scanners map[string]*redact.Scanner // by their extra patterns, joined by NUL
	sessions map[string]sessionScanner  // by the session's ID
}

// sessionScanner is the scanner of one session, and the scanner that it was made of.
type sessionScanner struct {
	own, of *redact.Scanner
	users   int // how often the session was opened and not closed
}

func newFilters(l *config.Loaded) *filters {
	return &filters{
		rules:    sync.OnceValues(func() (*filter.Filter, []string) { return l.FilterRules() }),
		scanners: map[string]*redact.Scanner{},
		sessions: map[string]sessionScanner{},
	}
}

// filterFor returns the filter for a configuration.
func (f *filters) filterFor(cfg filter.Config, scan *redact.Scanner) *filter.Filter {
	rules := &filter.Filter{}
	if cfg.Enabled {
		rules, _ = f.rules()
	}
	return rules.Scanning(scan)
}

// filter returns the link that filters the results of a session's tools.
func (b *sessionBuilder) filter() *filter.Link {
	link := &filter.Link{
		Filter: b.app.filters.filterFor(b.cfg.Tools.Filters, b.scan), Metrics: &filter.Metrics{}, Log: b.app.Log,
	}
	if b.app.Store != nil { // a nil *store.DB would be Totals that are not nil
		link.Metrics.Totals = b.app.Store
	}
	return link
}

// filterFeature filters and masks results.
func (b *sessionBuilder) filterFeature(link *filter.Link) Feature {
	return Feature{
		Name: "filter", Link: link.Middleware, OwnCalls: true, Close: link.Metrics.Flush,
		Status: func() []string { return link.Metrics.Status(context.Background()) },
	}
}

// learnKeys adds the keys of all providers to the redacted texts. It returns a
// warning for each of the user's rules that cannot be used.
func (f *filters) learnKeys(cfg config.Config, getenv func(string) string) (warnings []string) {
	for _, k := range provider.Keys(cfg.LLM) {
		f.learn(getenv(k.Env))
	}
	for _, name := range cfg.KeyVariables() {
		f.learn(getenv(name))
	}
	if cfg.Tools.Filters.Enabled {
		_, warnings = f.rules()
	}
	return warnings
}

// OutputFilter returns the filter of a session, and a warning for each of the
// user's rules that cannot be used.
func OutputFilter(l *config.Loaded) (*filter.Filter, []string) {
	f := newFilters(l)
	warnings := f.learnKeys(l.Config, l.Keys().Getenv)
	return f.filterFor(l.Config.Tools.Filters, f.scanner(l.Config.Tools.Filters.Security)), warnings
}

// scanner returns the credential scanner, or nil if scanning is off.
func (f *filters) scanner(cfg filter.Security) *redact.Scanner {
	if !cfg.Enabled {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.Join(cfg.ExtraPatterns, "\x00")
	if s := f.scanners[name]; s != nil {
		return s
	}
	s, err := redact.NewScanner(cfg.ExtraPatterns)
	if err != nil { // Validate has refused these patterns
		s = &redact.Scanner{}
	}
	s.Learn(f.keys...)
	f.scanners[name] = s
	return s
}

// Scanner returns the credential scanner of the sessions in a directory; nil if scanning
// is off.
func (a *App) Scanner(dir string) *redact.Scanner {
	cfg, _ := config.Tighten(a.Config, dir)
	return a.filters.scanner(cfg.Tools.Filters.Security)
}

// learn adds a key to the redacted texts.
func (f *filters) learn(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.keys, key) {
		return
	}
	f.keys = append(f.keys, key)
	for _, s := range f.scanners {
		s.Learn(key)
	}
	for _, s := range f.sessions {
		s.own.Learn(key)
	}
}

// learnEnvironment adds the values of the variables that commands do not get, if they look like
// credentials there.
func (f *filters) learnEnvironment(environ, passed []string) {
	kept := map[string]bool{}
	for _, entry := range passed {
		kept[entry] = true
	}
	for _, entry := range environ {
		_, value, _ := strings.Cut(entry, "=")
		if _, found := new(redact.Scanner).Mask(entry); !kept[entry] && len(found) > 0 {
			f.learn(value)
		}
	}
}

// forSession returns the scanner of a session; nil if scanning is off.
func (f *filters) forSession(id string, cfg filter.Security) *redact.Scanner {
	of := f.scanner(cfg)
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[id]
	if s.users == 0 || s.of != of {
		s.own, s.of = of.Session(), of
	}
	s.users++
	f.sessions[id] = s
	return s.own
}

// forget ends one use that forSession began. The last one drops the scanner of the session.
func (f *filters) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[id]
	if s.users--; s.users > 0 {
		f.sessions[id] = s
	} else {
		delete(f.sessions, id)
	}
}

// exit returns the function that masks what leaves a session or one of its child sessions. An ID
// without an open session, such as "", is masked by cfg.
func (f *filters) exit(id string, cfg filter.Security) texts.Change {
	id, _, _ = strings.Cut(id, "/") // of a child session
	f.mu.Lock()
	s, known := f.sessions[id]
	f.mu.Unlock()
	if known {
		return s.own.Exit()
	}
	return f.scanner(cfg).Exit()
}

// exit returns the function that masks what leaves a session; see [filters.exit].
func (a *App) exit(session string) texts.Change {
	return a.filters.exit(session, a.Config.Tools.Filters.Security)
}

// learningGetenv returns a lookup of variables that redacts each key which it finds: a key
// may be saved after a session began.
func (f *filters) learningGetenv(stored *keys.Keys) func(name string) string {
	return func(name string) string {
		value := stored.Getenv(name)
		if stored.Known(name) {
			f.learn(value)
		}
		return value
	}
}

// mask returns a function that redacts the credentials in a text of the session.
func (b *sessionBuilder) mask() func(string) string { return b.scan.Text }

// mask returns a function that redacts the credentials in a text.
func (f *filters) mask(cfg filter.Security) func(string) string {
	return func(text string) string {
		text, _ = f.scanner(cfg).Mask(text)
		return text
	}
}
