package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
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
		c.Load = func() ([]byte, error) { return readIfExists(file) }
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
	for _, s := range a.allSessions() {
		s.OptionsChanged()
	}
}

// modelSelected is called with the model that a session selects. It refreshes the facts
// about that model and the lists of the others in the background.
func (a *App) modelSelected(m llm.Model) {
	a.catalogue.Learn(a.Config.LLM, a.Getenv, m)
	a.catalogue.Refresh(a.Config.LLM, a.Getenv)
}

// learn waits a short time for unknown facts about a model that is about to be asked.
func (a *App) learn(ctx context.Context, m llm.Model) {
	a.catalogue.LearnFirst(ctx, a.Config.LLM, a.Getenv, m)
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

// environment returns the lookup of the providers' variables: the process's
// environment, then the saved keys, and a detected Ollama if no provider is
// configured.
func (a *App) environment(l *config.Loaded, stored *keys.Keys) func(string) string {
	getenv := a.filters.learningGetenv(stored)
	if !l.Config.LLM.FindOllama || len(l.Config.LLM.Providers) > 0 || l.Getenv(ollamaHost) != "" {
		return getenv
	}
	p := &ollamaProbe{ask: provider.FindOllama, now: func() time.Time { return a.Now() }}
	return p.getenv(getenv)
}
