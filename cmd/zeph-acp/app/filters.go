package app

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// filters are the output filters of a process. The rules take some milliseconds
// to compile, so the first session does it, for all of them.
type filters struct {
	rules func() (*filter.Filter, []string)

	mu       sync.Mutex
	keys     []string                   // that are masked wherever they are
	scanners map[string]*filter.Scanner // by their patterns
}

func newFilters(l *Loaded) *filters {
	return &filters{
		rules:    sync.OnceValues(func() (*filter.Filter, []string) { return filter.New(l.FiltersFile()) }),
		scanners: map[string]*filter.Scanner{},
	}
}

// FiltersFile is where the user's filter rules are; empty if there is no such
// place.
func (l *Loaded) FiltersFile() string {
	path := l.Config.Tools.Filters.FiltersPath
	if path == "" {
		if l.Paths.Config == "" {
			return ""
		}
		return filepath.Join(l.Paths.Config, "filters.toml")
	}
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok {
		if home := homeDir(os.Getenv); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	path = filepath.Join(filepath.Dir(cmp.Or(l.File, ".")), path)
	if abs, err := filepath.Abs(path); err == nil { // else the working directory is gone
		return abs
	}
	return path
}

// checkFilters warns of rules that cannot be used.
func (l *Loaded) checkFilters() []string {
	_, warnings := filter.New(l.FiltersFile())
	return warnings
}

// filter makes the link that filters what the tools of a session give.
func (a *App) filter(cfg Config) *filter.Link {
	rules := &filter.Filter{}
	if cfg.Tools.Filters.Enabled {
		rules, _ = a.filters.rules()
	}
	link := &filter.Link{
		Filter:   rules.Scanning(a.filters.scanner(cfg.Tools.Filters.Security)),
		Metrics:  &filter.Metrics{},
		MaxChars: cfg.Tools.Shell.MaxOutputChars,
	}
	if a.Store != nil { // a nil *store.DB would be Totals all the same
		link.Metrics.Totals = a.Store
	}
	return link
}

// ready has the keys of all providers masked wherever they are, and tells what of
// the user's rules cannot be used.
func (f *filters) ready(a *App) []string {
	for _, k := range llm.Keys(a.Config.LLM) {
		f.learn(a.Getenv(k.Env))
	}
	for _, p := range a.Config.LLM.Providers {
		if p.APIKeyEnv != "" {
			f.learn(a.Getenv(p.APIKeyEnv))
		}
	}
	if !a.Config.Tools.Filters.Enabled {
		return nil
	}
	_, warnings := f.rules()
	return warnings
}

// scanner gives what looks for credentials; nil if nothing is to.
func (f *filters) scanner(cfg filter.Security) *filter.Scanner {
	if !cfg.Enabled {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.Join(cfg.ExtraPatterns, "\x00")
	if s := f.scanners[name]; s != nil {
		return s
	}
	s, err := filter.NewScanner(cfg.ExtraPatterns)
	if err != nil { // Validate has refused those
		s = &filter.Scanner{}
	}
	s.Learn(f.keys...)
	f.scanners[name] = s
	return s
}

// learn has a key masked from now on.
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
}

// mask gives what masks credentials in a text.
func (f *filters) mask(cfg filter.Security) func(string) string {
	return func(text string) string {
		text, _ = f.scanner(cfg).Mask(text)
		return text
	}
}
