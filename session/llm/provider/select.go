// Package provider makes the user's model from the configuration, the environment
// and the saved keys. It is the only package that imports the adapters.
//
// Start with [Select] for a model, [Models] or a [Catalogue] for the models to choose
// from, and [Config] for the table [llm] of the configuration. It promises that no
// connection is made before a model is asked, except by a Catalogue in the background.
package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/failover"
	"github.com/zeph-acp/zeph-acp/session/llm/pricelist"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// ollamaKey is the variable of the key for Ollama's own servers.
const ollamaKey = "OLLAMA_API_KEY"

// Select returns the model that the user wants. Want is "provider:model" or "provider",
// where provider is a configured name or a type; empty means the default provider, else
// the first. Without configured providers these are the public types whose key is set, such
// as Claude if ANTHROPIC_API_KEY is set; else Ollama if OLLAMA_HOST is set; else local.Direct.
//
// It does not connect. A missing key is not an error here: [llm.Ready] and the
// model's Stream report it. Both call getenv again, so a later key takes effect.
//
// The model handles failures as cfg.Retry and cfg.Fallback say, and reports that by
// events; see package failover. Memory may be nil.
func Select(cfg Config, getenv func(string) string, memory *wire.Memory, want string) (llm.Model, error) {
	return selectWith(cfg, getenv, memory, want, backoff.SystemClock())
}

// selectWith is Select with a clock.
func selectWith(cfg Config, getenv func(string) string, memory *wire.Memory, want string, c backoff.Clock) (llm.Model, error) {
	ps := availableProviders(cfg, getenv)
	p, err := chooseProvider(ps, want)
	if err != nil {
		return nil, err
	}
	m, err := p.open(getenv, memory)
	if err != nil || p.Type == TypeDirect { // direct never fails
		return m, err
	}
	models := []llm.Model{m}
	for _, name := range cfg.Fallback {
		other, err := chooseProvider(ps, name)
		if err != nil {
			return nil, fmt.Errorf("llm.fallback: %w", err)
		}
		if slices.ContainsFunc(models, func(m llm.Model) bool { return m.Name() == other.id() }) {
			continue
		}
		o, err := other.open(getenv, memory)
		if err != nil {
			return nil, fmt.Errorf("llm.fallback: %w", err)
		}
		models = append(models, o)
	}
	return failover.New(cfg.Retry, c, models[0], models[1:]...), nil
}

// open returns the provider's own model, which makes one attempt.
func (p Provider) open(getenv func(string) string, memory *wire.Memory) (llm.Model, error) {
	if memory == nil {
		memory = new(wire.Memory)
	}
	k, ok := p.kind()
	if !ok {
		return nil, fmt.Errorf("provider %q: type %q is not known; the types are %s", p.name(), p.Type, kindNames(anyKind))
	}
	o := opening{p, getenv, memory, p.onThisMachine() && p.APIKeyEnv == "", k.source}
	o.Name, o.Model, o.APIKeyEnv, o.BaseURL = p.name(), p.model(), p.keyEnv(), p.baseURL(getenv)
	if o.BaseURL != p.BaseURL && !k.bareAddress && !isWebAddress(o.BaseURL) {
		return nil, fmt.Errorf("provider %q: %s must be an address such as %s", p.name(), k.addressEnv, k.address)
	}
	if o.Price == (llm.Price{}) {
		o.Price = pricelist.Of(o.host(), o.Model)
	}
	m, err := k.open(o)
	if err != nil || k.noModels {
		return m, err
	}
	return p.withTools(m, memory), nil
}

// availableProviders returns the configured providers, the default first, or the providers
// found in the environment.
func availableProviders(cfg Config, getenv func(string) string) []Provider {
	if ps := slices.Clone(cfg.Providers); len(ps) > 0 {
		i := max(0, slices.IndexFunc(ps, func(p Provider) bool { return p.Default }))
		return slices.Insert(slices.Delete(ps, i, i+1), 0, cfg.Providers[i])
	}
	var ps []Provider
	for _, k := range kinds {
		if k.public && getenv(k.keyEnv) != "" {
			ps = append(ps, Provider{Type: k.name})
		}
	}
	for _, k := range kinds { // a local server is used only if no key is set
		if len(ps) == 0 && !k.public && k.needs == nil && k.addressEnv != "" && getenv(k.addressEnv) != "" {
			ps = append(ps, Provider{Type: k.name})
		}
	}
	if len(ps) == 0 {
		return []Provider{{Type: TypeDirect}}
	}
	return ps
}

// chooseProvider returns the provider that want names: by its name, else by its type, else as a
// type that needs no configuration, else by a name for one of its models.
func chooseProvider(ps []Provider, want string) (Provider, error) {
	if want == "" {
		return ps[0], nil
	}
	name, model, hasModel := strings.Cut(want, ":")
	i := slices.IndexFunc(ps, func(p Provider) bool { return p.name() == name })
	if i < 0 {
		i = slices.IndexFunc(ps, func(p Provider) bool { return p.Type == name })
	}
	p := Provider{Type: name}
	if i >= 0 {
		p = ps[i]
	}
	k, known := p.kind()
	switch {
	case i < 0 && k.needs["base_url"] != "":
		return p, fmt.Errorf("model %q needs an address: name the server in [[llm.providers]] with type = %q and base_url", want, name)
	case i < 0 && !known && !hasModel && nameOfModel(ps, want) != "":
		return chooseProvider(ps, nameOfModel(ps, want))
	case i < 0 && !known:
		return p, fmt.Errorf("no provider %q for model %q; want PROVIDER:MODEL, such as %s", name, want, exampleNames(ps))
	}
	switch {
	case hasModel && model == "", k.needs["model"] != "" && p.Model == "" && !hasModel:
		return p, fmt.Errorf("model %q lacks the part after %q; want PROVIDER:MODEL", want, name)
	case hasModel && k.noModels:
		return p, fmt.Errorf("provider %q has no models to choose from; want %q alone", name, name)
	case hasModel:
		if model != p.model() { // they belong to the configured model
			p.ContextWindow, p.Price = 0, llm.Price{}
		}
		p.Model = model
	}
	return p, nil
}

// nameOfModel returns PROVIDER:MODEL for the name of a model without its provider, such as "gpt-5.6", or for a word of
// one that is configured or current, such as "opus"; "" if no model has that name.
func nameOfModel(ps []Provider, want string) string {
	all := slices.Clone(ps)
	for _, k := range kinds {
		if k.public && !slices.ContainsFunc(ps, func(p Provider) bool { return p.Type == k.name }) {
			all = append(all, Provider{Type: k.name})
		}
	}
	for _, p := range all {
		k, _ := p.kind()
		names := []string{p.model()}
		if k.builtIn != nil {
			names = append(names, k.builtIn(cmp.Or(p.BaseURL, k.address))...)
		}
		for _, model := range names {
			if model == want || len(want) > 2 && slices.Contains(strings.Split(model, "-"), want) {
				return p.name() + ":" + model
			}
		}
	}
	for _, p := range all {
		k, _ := p.kind()
		if pricelist.Of(Provider{BaseURL: cmp.Or(p.BaseURL, k.address)}.host(), want) != (llm.Price{}) {
			return p.name() + ":" + want
		}
	}
	return ""
}

// exampleNames returns names of models for an error message.
func exampleNames(ps []Provider) string {
	ids := make([]string, len(ps))
	for i, p := range ps {
		ids[i] = p.id()
	}
	if !slices.ContainsFunc(ps, func(p Provider) bool { return p.Type == TypeClaude }) {
		ids = append(ids, TypeClaude+":"+anthropic.DefaultModel)
	}
	return strings.Join(ids, ", ")
}
