// Package app composes zeph-acp: configuration, server and the chain of every
// session. Serve, run, replay and the tests all start from [New], so that no
// entry point misses a link.
//
// Start with [Load], then [New], then [App.Server]. Nothing is opened or asked
// before a session begins, except the configuration.
package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Version is the version of the product, as agentInfo and the version command
// tell it.
const Version = "0.1.0"

// App makes servers.
type App struct {
	Config Config
	Model  string              // as the user picks it, "provider:model"; empty means the configured one
	Getenv func(string) string // os.Getenv
	NewID  func() string       // UUIDs
	Log    *slog.Logger
}

// New makes an App that uses this process's environment.
func New(cfg Config, log *slog.Logger) *App {
	return &App{Config: cfg, Model: os.Getenv("ZEPH_MODEL"), Getenv: os.Getenv, NewID: uuid.NewString, Log: log}
}

// Server makes a server with no sessions; it serves one connection.
func (a *App) Server() *acp.Server {
	return &acp.Server{
		Config: a.Config.ACP,
		Agent:  acp.Implementation{Name: "zeph-acp", Title: "Zeph", Version: Version},
		Sessions: &session.Sessions{
			NewAgent: a.newAgent, NewID: a.NewID, Modes: modes(),
		},
		Ready: func() error {
			_, err := a.model(a.Config.LLM)
			return err
		},
		Log: a.Log,
	}
}

// model picks the model of a session. What misses its key is refused here, so
// that the client can ask for it before the first prompt.
func (a *App) model(cfg llm.Config) (llm.Model, error) {
	m, err := llm.Select(cfg, a.Getenv, a.Model)
	if err != nil {
		return nil, err
	}
	if err := llm.Ready(m); err != nil {
		return nil, fmt.Errorf("%w: %w", acp.ErrAuthRequired, err)
	}
	return m, nil
}

// newAgent makes what one session needs: roots, chain, model, system prompt.
func (a *App) newAgent(s session.Setup) (session.Agent, string, error) {
	roots, err := workspace.New(append([]string{s.CWD}, s.Dirs...)...)
	if err != nil {
		field := "cwd"
		if _, cwdErr := workspace.New(s.CWD); cwdErr == nil {
			field = "additionalDirectories"
		}
		return nil, "", &acp.ParamsError{Field: field, Reason: err.Error()}
	}
	cfg, warnings := Tighten(a.Config, roots.Cwd())
	for _, w := range warnings {
		a.Log.Warn(w, "session", s.ID)
	}
	model, err := a.model(cfg.LLM)
	if err != nil {
		return nil, "", err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nothing is then taken for the home directory
	}
	caps := s.Client.Capabilities()
	return &agent.Agent{
		Config:  cfg.Agent,
		Session: s.ID,
		System:  prompt.System(prompt.Facts{Dirs: roots.Dirs(), OS: runtime.GOOS, Shell: "bash"}),
		Model:   model,
		Chain:   chain(cfg, s, roots, home),
		Send: func(ctx context.Context, u acp.SessionUpdate) error {
			return s.Client.Update(ctx, s.ID, u)
		},
		NewID: a.NewID,
		// A client that has terminals shows those.
		StreamTerminals: caps.TerminalOutput && !caps.Terminal,
		Log:             a.Log,
	}, cfg.Agent.Mode, nil
}
