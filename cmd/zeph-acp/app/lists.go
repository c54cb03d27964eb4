package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// listsFile is the name of the file in the data directory that caches the
// providers' lists of models.
const listsFile = "models.json"

// newCatalogue returns the catalogue of the providers' models, or nil if no
// provider may be asked.
func (a *App) newCatalogue(l *config.Loaded) *provider.Catalogue {
	if !l.Config.LLM.ListModels {
		return nil
	}
	c := &provider.Catalogue{
		Now:     func() time.Time { return a.Now() },
		Memory:  &a.servers,
		Changed: a.modelsChanged,
		Log:     func(err error) { a.Log.Debug("the list of models", "err", err) },
	}
	if dir := l.Paths.Data; dir != "" {
		file := filepath.Join(dir, listsFile)
		c.Load = func() ([]byte, error) {
			data, err := keys.ReadPrivate(file)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return data, err
		}
		c.Save = func(data []byte) error {
			if err := keys.MakeDir(dir); err != nil {
				return err
			}
			return keys.ReplaceFile(file, data, 0o600)
		}
	}
	return c
}

// modelsChanged sends the new list of models to the clients.
func (a *App) modelsChanged() {
	for _, s := range a.serving() {
		s.OptionsChanged()
	}
}

// taken is called with the model that a session selects. It refreshes the facts
// about that model and the lists of the others in the background.
func (a *App) taken(m llm.Model) {
	a.catalogue.Learn(m)
	a.catalogue.Refresh(a.Config.LLM, a.Getenv)
}

// models returns the models to choose from, including one that was selected by
// name.
func (a *App) models() []llm.Choice {
	list := a.catalogue.Models(a.Config.LLM, a.Getenv)
	if strings.Contains(a.Model, ":") && !slices.ContainsFunc(list, func(c llm.Choice) bool { return c.Name == a.Model }) {
		list = append(list, llm.Choice{Name: a.Model, Title: a.Model})
	}
	return list
}

const (
	ollamaHost = "OLLAMA_HOST"
	// probeTimeout limits the wait for an Ollama's answer, since a session
	// waits for it. Where nothing listens, the connection fails at once.
	probeTimeout = 200 * time.Millisecond
	// probeFound and probeMissed are how long a result is reused.
	probeFound  = time.Minute
	probeMissed = 10 * time.Second
)

// ollamaProbe reports whether an Ollama answers at its default address. It
// sends a request only when it is called, that is, when no provider is
// configured.
type ollamaProbe struct {
	ask func(context.Context) bool
	now func() time.Time

	mu    sync.Mutex
	at    time.Time // zero: not yet asked
	found bool
}

// getenv wraps next so that OLLAMA_HOST is set if an Ollama answers.
func (p *ollamaProbe) getenv(next func(string) string) func(string) string {
	return func(name string) string {
		value := next(name)
		if name == ollamaHost && value == "" && p.answers() {
			return provider.DefaultOllama
		}
		return value
	}
}

func (p *ollamaProbe) answers() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	holds := probeMissed
	if p.found {
		holds = probeFound
	}
	if age := p.now().Sub(p.at); !p.at.IsZero() && age >= 0 && age < holds {
		return p.found
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	p.found, p.at = p.ask(ctx), p.now()
	return p.found
}

// environment returns the lookup of the providers' variables: the process's
// environment, then the saved keys, and a detected Ollama if no provider is
// configured.
func (a *App) environment(l *config.Loaded, keys *keys.Keys) func(string) string {
	getenv := a.filters.learning(keys)
	if !l.Config.LLM.FindOllama || len(l.Config.LLM.Providers) > 0 || l.Getenv(ollamaHost) != "" {
		return getenv
	}
	p := &ollamaProbe{ask: provider.FindOllama, now: func() time.Time { return a.Now() }}
	return p.getenv(getenv)
}
