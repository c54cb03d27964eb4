package session

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A model that a provider lists later is offered from then on; any name of a
// provider that takes any can be set, and of no other.
func TestModelsChange(t *testing.T) {
	s := newSessions(steered{})
	var mu sync.Mutex
	models := []llm.Choice{{Name: "direct", Title: "Direct"}, {Name: "lab:a", Title: "A", Open: true}}
	s.Models = func() []llm.Choice {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(models)
	}
	var taken []string
	s.Taken = func(m llm.Model) { taken = append(taken, m.Name()) }
	s.Model = func(name string) (llm.Model, error) {
		if name == "" {
			name = "direct"
		}
		return llm.Direct{Provider: name}, nil
	}
	s.Now = time.Now
	sess := open(t, s)
	offered := func() int { return len(sess.(*Session).shownModel().Options) }
	sess.(*Session).announce(t.Context())
	if offered() != 2 {
		t.Errorf("%d models are offered", offered())
	}
	mu.Lock()
	models = append(models, llm.Choice{Name: "lab:b", Title: "B", Open: true})
	mu.Unlock()
	s.OptionsChanged()
	if offered() != 3 {
		t.Errorf("%d models are offered after the list has changed", offered())
	}
	for name, ok := range map[string]bool{"lab:b": true, "lab:never-heard-of": true, "direct": true, "script:/etc/passwd": false, "directly": false} {
		if err := sess.SetOption(optionModel, acp.OptionValue{Text: name}); (err == nil) != ok {
			t.Errorf("set %s: %v", name, err)
		}
	}
	if !slices.Contains(taken, "lab:never-heard-of") || taken[0] != "direct" {
		t.Errorf("taken are %q", taken)
	}
}

// shownModel is the option as the client has it.
func (s *Session) shownModel() acp.ConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.shown, func(o acp.ConfigOption) bool { return o.ID == optionModel })
	return s.shown[i]
}
