package provider

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Probe reports whether a provider's model can be used.
type Probe struct {
	Name    string   // of the model: "provider:model"
	Type    string   // of the provider
	Address string   // of the server, without user and password; empty for direct and script
	Key     string   // the variable of the key; empty means that no key is needed
	Command []string // gives the key instead; empty means none
	Window  int      // in tokens; 0 means unknown
	// Asked says that the provider has listed its models; Listed, that the model is
	// among them. Some providers accept names that they do not list.
	Asked, Listed bool
	Err           error // an *llm.Error for a failed request
}

// Probes checks all providers concurrently. The first result is about the model that
// Select returns; want is as for Select. If ask is false, no connection is made, and no command runs.
func Probes(ctx context.Context, cfg Config, getenv func(string) string, keys *Credentials, want string, ask bool) ([]Probe, error) {
	ps := availableProviders(cfg, getenv)
	first, err := chooseProvider(ps, want)
	if err != nil {
		return nil, err
	}
	ps = slices.DeleteFunc(ps, func(p Provider) bool { return p.name() == first.name() })
	ps = append([]Provider{first}, ps...)
	probes := make([]Probe, len(ps))
	var all sync.WaitGroup
	for i, p := range ps {
		all.Go(func() { probes[i] = p.probe(ctx, getenv, keys, ask) })
	}
	all.Wait()
	return probes, nil
}

// probe checks one provider.
func (p Provider) probe(ctx context.Context, getenv func(string) string, keys *Credentials, ask bool) Probe {
	out := Probe{Name: p.id(), Type: p.Type, Address: p.address(getenv), Key: p.keyEnv(), Command: p.APIKeyCmd}
	m, err := p.open(getenv, &wire.Memory{Credentials: keys})
	if err == nil {
		err = llm.Ready(m)
	}
	if err != nil {
		out.Err = err
		return out
	}
	if l, ok := llm.As[modelLister](m); ok && ask {
		if err := llm.FetchKey(ctx, m); err != nil {
			out.Err = err
			return out
		}
		choices, err := l.List(ctx)
		if err != nil {
			out.Err = err
			return out
		}
		out.Asked, out.Listed = true, p.listedIn(choices)
		llm.Learn(ctx, m)
	}
	out.Window = m.Window()
	return out
}

// listedIn reports whether the provider's model is among those that it lists. Ollama
// means the tag latest where a name has no tag, and the first model where there is no
// name.
func (p Provider) listedIn(choices []llm.Choice) bool {
	k, _ := p.kind()
	want := p.model()
	if want == "" {
		return len(choices) > 0
	}
	return slices.ContainsFunc(choices, func(c llm.Choice) bool {
		name := strings.TrimPrefix(c.Name, p.name()+":")
		return name == want || k.latest != "" && cmp.Or(strings.TrimSuffix(name, k.latest), name) == want
	})
}
