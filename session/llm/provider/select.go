// Package provider makes the user's model from the configuration, the environment
// and the saved keys. It is the only package that imports the adapters.
//
// Start with [Select] for a model, [Models] or a [Catalogue] for the models to choose
// from, and [Config] for the table [llm] of the configuration. It promises that no
// connection is made before a model is asked, except by a Catalogue in the background.
package provider

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/links/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/failover"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const (
	anthropicKey = anthropic.KeyEnv
	anthropicURL = "ANTHROPIC_BASE_URL"
	openAIKey    = "OPENAI_API_KEY"
	openAIURL    = "OPENAI_BASE_URL"
	geminiKey    = "GEMINI_API_KEY"
	ollamaHost   = "OLLAMA_HOST"
	ollamaKey    = "OLLAMA_API_KEY"
)

// Select returns the model that the user wants. Want is "provider:model" or "provider",
// where provider is a configured name or a type; empty means the default provider, else
// the first. Without configured providers these are Claude, OpenAI and Gemini, in this
// order, if ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY is set; else Ollama if
// OLLAMA_HOST is set; else local.Direct.
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
	if env := p.baseEnv(); env != "" && getenv(env) != "" && !isWebAddress(getenv(env)) {
		return nil, fmt.Errorf("provider %q: %s must be an address such as %s", p.name(), env, p.exampleURL())
	}
	switch p.Type {
	case TypeClaude:
		return p.withTools(newAnthropic(p, getenv), memory), nil
	case TypeOpenAI, TypeGemini, TypeCompatible:
		return p.withTools(newOpenAI(p, getenv, memory), memory), nil
	case TypeOllama:
		return p.withTools(newOllama(p, getenv, memory), memory), nil
	case TypeScript:
		s, err := local.LoadScript(p.model())
		if err != nil {
			return nil, err
		}
		s.Provider, s.ContextWindow = p.name(), p.ContextWindow
		s.NoImages, s.Price = p.Images == imagesNo, p.Price
		return p.withTools(s, memory), nil
	case TypeDirect:
		return local.Direct{Provider: p.name()}, nil
	}
	return nil, fmt.Errorf("provider %q: type %q is not known; the types are %s", p.name(), p.Type, strings.Join(providerTypes, ", "))
}

// availableProviders returns the configured providers, the default first, or the providers
// found in the environment.
func availableProviders(cfg Config, getenv func(string) string) []Provider {
	ps := slices.Clone(cfg.Providers)
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].Default && !ps[j].Default })
	if len(ps) > 0 {
		return ps
	}
	for _, k := range publicTypes {
		if getenv(k.Env) != "" {
			ps = append(ps, Provider{Type: k.Provider})
		}
	}
	switch {
	case len(ps) > 0: // a local server is probed only if no key is set
		return ps
	case getenv(ollamaHost) != "":
		return []Provider{{Type: TypeOllama}}
	}
	return []Provider{{Type: TypeDirect}}
}

// chooseProvider returns the provider that want names: by its name, else by its type, else as a
// type that needs no configuration.
func chooseProvider(ps []Provider, want string) (Provider, error) {
	if want == "" {
		return ps[0], nil
	}
	name, model, hasModel := strings.Cut(want, ":")
	i := slices.IndexFunc(ps, func(p Provider) bool { return p.name() == name })
	if i < 0 {
		i = slices.IndexFunc(ps, func(p Provider) bool { return p.Type == name })
	}
	var p Provider
	switch {
	case i >= 0:
		p = ps[i]
	case name == TypeCompatible:
		return p, fmt.Errorf("model %q needs an address: name the server in [[llm.providers]] with type = %q and base_url", want, TypeCompatible)
	case slices.Contains(providerTypes, name):
		p = Provider{Type: name}
	default:
		return p, fmt.Errorf("no provider %q for model %q; want PROVIDER:MODEL, such as %s", name, want, exampleNames(ps))
	}
	switch {
	case hasModel && model == "", p.Type == TypeScript && p.Model == "" && !hasModel:
		return p, fmt.Errorf("model %q lacks the part after %q; want PROVIDER:MODEL", want, name)
	case hasModel && p.Type == TypeDirect:
		return p, fmt.Errorf("provider %q has no models to choose from; want %q alone", name, name)
	case hasModel:
		if model != p.model() { // they belong to the configured model
			p.ContextWindow, p.Price = 0, llm.Price{}
		}
		p.Model = model
	}
	return p, nil
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
