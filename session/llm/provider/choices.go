package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
)

// maxOffered bounds the offered models that are not configured. Some providers list
// hundreds, which no menu can show. The others can be picked by name.
const maxOffered = 100

// Models returns the models of all providers that Select can return: the configured
// ones first, with the default at the top, then the current generation at
// Anthropic. A [Catalogue] adds the lists of the providers.
func Models(cfg Config, getenv func(string) string) []llm.Choice {
	return listChoices(cfg, getenv, func(Provider) []llm.Choice { return nil })
}

// listChoices is Models with the lists of the providers.
func listChoices(cfg Config, getenv func(string) string, listed func(Provider) []llm.Choice) []llm.Choice {
	ps := availableProviders(cfg, getenv)
	var choices []llm.Choice
	add := func(c llm.Choice) bool {
		if slices.ContainsFunc(choices, func(other llm.Choice) bool { return other.Name == c.Name }) {
			return false
		}
		choices = append(choices, c)
		return true
	}
	for _, p := range ps {
		c := p.choice()
		for _, known := range listed(p) {
			if known.Name == c.Name {
				c = known
			}
		}
		add(c)
	}
	for _, p := range ps {
		list := listed(p)
		if len(list) == 0 {
			list = builtIn(p, getenv)
		}
		left := max(maxOffered/len(ps), 1)
		for _, c := range list {
			if left > 0 && add(c) {
				left--
			}
		}
	}
	distinguishTitles(choices)
	return choices
}

// builtIn returns the models that a provider has without asking it.
func builtIn(p Provider, getenv func(string) string) []llm.Choice {
	k, _ := p.kind()
	if k.builtIn == nil {
		return nil
	}
	var list []llm.Choice
	for _, model := range k.builtIn(p.baseURL(getenv)) {
		p.Model = model
		list = append(list, p.choice())
	}
	return list
}

// distinguishTitles makes equal titles differ, by the provider or else by the whole name.
func distinguishTitles(choices []llm.Choice) {
	count := func(title func(llm.Choice) string) map[string]int {
		n := map[string]int{}
		for _, c := range choices {
			n[title(c)]++
		}
		return n
	}
	provided := func(c llm.Choice) string {
		provider, _, _ := strings.Cut(c.Name, ":")
		return c.Title + " (" + provider + ")"
	}
	alone, both := count(func(c llm.Choice) string { return c.Title }), count(provided)
	for i, c := range choices {
		switch {
		case both[provided(c)] > 1:
			choices[i].Title = c.Name
		case alone[c.Title] > 1:
			choices[i].Title = provided(c)
		}
	}
}

// choice describes the provider's own model.
func (p Provider) choice() llm.Choice {
	k, _ := p.kind()
	c := llm.Choice{Name: p.id(), Title: p.model(), Open: !k.offline}
	if k.describe != nil {
		c.Title, c.Description = k.describe(p.model())
	}
	c.Description = cmp.Or(c.Description, "Model of provider "+p.name())
	if i := slices.IndexFunc(anthropic.Current, func(l anthropic.Line) bool { return l.Model == c.Title }); i >= 0 {
		c.Title, c.Description = anthropic.Current[i].Title, anthropic.Current[i].About
	}
	return c
}

// Key names the environment variable of a provider's key.
type Key struct {
	Provider string // as configured, else the type
	Env      string // the environment variable
}

// Keys returns the providers that need a key: the configured ones, the default first,
// then the types that need no configuration, in the order of Select.
func Keys(cfg Config) []Key {
	ps := availableProviders(cfg, func(string) string { return "" })
	var keys []Key
	for _, p := range ps {
		if k, _ := p.kind(); p.keyEnv() != "" && !k.offline {
			keys = append(keys, Key{p.name(), p.keyEnv()})
		}
	}
	for _, k := range kinds {
		if !k.public {
			continue
		}
		named := func(key Key) bool { return key.Provider == k.name }
		if p, err := chooseProvider(ps, k.name); err == nil && p.Type == k.name && p.keyEnv() != "" && !slices.ContainsFunc(keys, named) {
			keys = append(keys, Key{k.name, p.keyEnv()})
		}
	}
	return keys
}

// KeyCommand returns the command that gives the key of a provider or model, by a name as for Select; nil if
// there is none.
func KeyCommand(cfg Config, name string) []string {
	p, err := chooseProvider(availableProviders(cfg, func(string) string { return "" }), name)
	if err != nil {
		return nil
	}
	return p.APIKeyCmd
}

// WithKeyCommand returns the names of the providers whose keys commands give.
func WithKeyCommand(cfg Config) (names []string) {
	for _, p := range cfg.Providers {
		if len(p.APIKeyCmd) > 0 {
			names = append(names, p.name())
		}
	}
	return names
}
