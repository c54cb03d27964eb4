package session

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// A model that a provider lists later is then offered. Any name can be set of a
// provider that accepts every name, but not of others.
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
	s.Selected = func(m llm.Model) { taken = append(taken, m.Name()) }
	s.Model = func(name string) (llm.Model, error) {
		if name == "" {
			name = "direct"
		}
		return local.Direct{Provider: name}, nil
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

// shownModel returns the option as the client last got it.
func (s *Session) shownModel() acp.ConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.sentOptions, func(o acp.ConfigOption) bool { return o.ID == optionModel })
	return s.sentOptions[i]
}

// thinker is a model with thought levels.
type thinker struct{ local.Direct }

func (thinker) Levels() []string { return []string{"low", "xhigh"} }

func TestNamesOfThoughtLevels(t *testing.T) {
	s := newSessions(steered{})
	s.Model = func(string) (llm.Model, error) { return thinker{}, nil }
	var names []string
	for _, o := range open(t, s).State().ConfigOptions {
		if o.ID == optionThought {
			for _, c := range o.Options {
				names = append(names, c.Name)
			}
		}
	}
	if want := []string{"Default", "Low", "Extra high"}; !slices.Equal(names, want) {
		t.Errorf("named %q, want %q", names, want)
	}
}

// /status shows tokens counted by another model as such, with the current
// window.
func TestStatusAfterAnotherModel(t *testing.T) {
	w := connect(t, filepath.Join(t.TempDir(), "zeph.db"), script, `{}`)
	windows := map[string]int{"": 1000, "script:one": 1000, "script:small": 100}
	models, model := w.all.Models, w.all.Model
	w.all.Models = func() []llm.Choice { return append(models(), llm.Choice{Name: "script:small"}) }
	w.all.Model = func(name string) (llm.Model, error) {
		if window, ok := windows[name]; ok {
			m, err := local.ParseScript(strings.TrimPrefix(cmp.Or(name, "script:one"), "script:"), strings.NewReader(script))
			m.ContextWindow = window
			return m, err
		}
		return model(name)
	}
	id := w.open(t.TempDir())
	w.prompt(id, "hi")
	for _, tt := range []struct{ model, want string }{
		{"script:small", "- Context: about 11 of 100 tokens (11 %)\n"}, {"direct", "- Context: about 11 tokens\n"},
		{"script:one", "- Context: 11 of 1000 tokens (1 %)\n"},
	} {
		w.want("model", w.call("session/set_config_option", params("sessionId", id, "configId", "model", "value", tt.model)), "configOptions")
		w.prompt(id, "/status")
		if seen := strings.Join(w.seen, "\n"); !strings.Contains(seen, tt.want) {
			t.Errorf("%s: %s, want %s", tt.model, seen, tt.want)
		}
	}
}
