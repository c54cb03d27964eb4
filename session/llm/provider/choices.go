package provider

import (
	"cmp"
	"path/filepath"
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
	if p.Type != TypeClaude || !isAnthropic(p, getenv) {
		return nil
	}
	var list []llm.Choice
	for _, line := range anthropic.Current {
		p.Model = line.Model
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
	c := llm.Choice{Name: p.id()}
	switch p.Type {
	case TypeDirect:
		c.Title, c.Description = "Direct", "No model: runs the tool calls that you spell out"
	case TypeScript:
		c.Title, c.Description = filepath.Base(p.Model), "Replays the answers in "+p.Model
	case TypeOllama:
		c.Title, c.Description, c.Open = strings.TrimSuffix(p.Model, ":latest"), "Model of provider "+p.name(), true
		if p.Model == "" {
			c.Title, c.Description = "Ollama", "The newest model that the Ollama server has"
		}
	default:
		c.Title, c.Description, c.Open = p.model(), "Model of provider "+p.name(), true
		if i := slices.IndexFunc(anthropic.Current, func(l anthropic.Line) bool { return l.Model == p.model() }); i >= 0 {
			c.Title, c.Description = anthropic.Current[i].Title, anthropic.Current[i].About
		}
	}
	return c
}

// isAnthropic reports whether a provider connects to Anthropic itself.
func isAnthropic(p Provider, getenv func(string) string) bool {
	return anthropic.AtAnthropic(cmp.Or(p.BaseURL, getenv(anthropicURL)))
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
		if p.keyEnv() != "" && p.Type != TypeDirect && p.Type != TypeScript {
			keys = append(keys, Key{p.name(), p.keyEnv()})
		}
	}
	for _, public := range publicTypes {
		named := func(k Key) bool { return k.Provider == public.Provider }
		if p, err := chooseProvider(ps, public.Provider); err == nil && p.Type == public.Provider && !slices.ContainsFunc(keys, named) {
			keys = append(keys, Key{public.Provider, p.keyEnv()})
		}
	}
	return keys
}
