// Package app composes zeph-acp: configuration, server and the chain of every
// session. Serve, run, replay and the tests all start from [New], so that no
// entry point misses a link.
//
// Start with [Load], then [New], then [App.Server]. Nothing is opened or asked
// before a session begins, except the configuration.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/executors/overflow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// Version is the version of the product, as agentInfo and the version command
// tell it.
const Version = "0.1.0"

// App makes servers. Close it when none of them serves any more.
type App struct {
	Config Config
	Model  string              // as the user picks it, "provider:model"; empty means the configured one
	Getenv func(string) string // the environment with the saved keys
	Store  *store.DB           // of sessions; nil keeps nothing
	Audit  *audit.Log          // of tool calls; nil records nothing
	// Overflow keeps what is too long for the model where Store cannot; nil
	// lets it go.
	Overflow *overflow.Memory
	Logout   func() error   // removes the saved keys
	Locked   func() error   // why the saved keys cannot be used; nil means that they can
	Own      *workspace.Own // the files that no tool touches; nil means none
	Skills   string         // the directory of the user's skills; empty means none
	NewID    func() string  // UUIDs
	Now      func() time.Time
	Settle   time.Duration // see session.Sessions
	Log      *slog.Logger

	byEnv   string              // the model that the environment names
	whence  func(string) string // where a key was set; nil if nobody knows
	rules   *rulesFile          // what may run, as the file says it now; nil: as Config says
	filters *filters            // of what tools give
	vectors toolset.Vectors     // of tools, for all sessions

	catalogue *llm.Catalogue // of what the providers list; nil asks nobody

	mu     sync.Mutex
	served []*session.Sessions // by the servers
}

// settle is long enough for an editor's loop to take a response in.
const settle = 50 * time.Millisecond

// New makes an App that uses this process's environment.
func New(l *Loaded, log *slog.Logger) *App {
	keys := l.Keys()
	a := &App{
		Config: l.Config, Model: os.Getenv("ZEPH_MODEL"),
		Logout: func() error { _, err := keys.RemoveAll(); return err }, Locked: keys.Err, Own: own(l.Paths),
		Overflow: overflow.NewMemory(overflowMemory),
		NewID:    uuid.NewString, Now: time.Now, Settle: settle, Log: log,
	}
	a.byEnv, a.whence = a.Model, l.whence
	a.rules = newRulesFile(l, func() time.Time { return a.Now() }, log)
	a.filters = newFilters(l)
	a.Getenv = a.environment(l, keys)
	a.catalogue = a.newCatalogue(l)
	a.Audit = audit.New(l.Paths.State, l.Config.Audit, a.filters.mask(l.Config.Tools.Filters.Security))
	if l.Paths.Data != "" {
		a.Skills = filepath.Join(l.Paths.Data, "skills")
		a.Store = store.New(filepath.Join(l.Paths.Data, storeFile), store.Options{
			Log: log, Retention: time.Duration(l.Config.Tools.Overflow.RetentionDays) * 24 * time.Hour,
		})
	}
	return a
}

// overflowMemory is how many bytes of long texts are kept of all sessions where
// the database cannot be used.
const overflowMemory = 32 << 20

// storeFile is the name of the database in the data directory.
const storeFile = "zeph.db"

// CloseTools ends what still runs in the background of the sessions. It takes
// less than two seconds.
func (a *App) CloseTools() {
	for _, s := range a.serving() {
		s.CloseTools()
	}
}

// serving are the sessions of the servers so far.
func (a *App) serving() []*session.Sessions {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.served)
}

// Close stores what could not be stored before, and closes the files.
func (a *App) Close() error {
	a.catalogue.Close()
	for _, s := range a.serving() {
		s.Finish()
	}
	err := a.Audit.Close()
	if a.Store != nil {
		err = errors.Join(err, a.Store.Close())
	}
	return err
}

// Server makes a server with no sessions; it serves one connection.
func (a *App) Server() *acp.Server {
	sessions := a.Sessions()
	a.mu.Lock()
	a.served = append(a.served, sessions)
	a.mu.Unlock()
	program, err := os.Executable()
	if err != nil {
		program = "" // no login is then offered to clients that want a whole command line
	}
	s := &acp.Server{
		Config:   a.Config.ACP,
		Agent:    acp.Implementation{Name: "zeph-acp", Title: "Zeph", Version: Version},
		Sessions: sessions,
		Ready: func() error {
			_, err := a.model(a.Model)
			return err
		},
		Logout:     a.Logout,
		Command:    program,
		Extensions: extensions(sessions),
		Log:        a.Log,
	}
	if a.Log.Enabled(context.Background(), slog.LevelDebug) {
		s.Trace = trace(a.Log)
	}
	return s
}

// Sessions makes what keeps the sessions of one connection, or looks at the
// stored ones without any.
func (a *App) Sessions() *session.Sessions {
	return &session.Sessions{
		NewAgent: a.newAgent,
		Model: func(name string) (llm.Model, error) {
			return a.model(cmp.Or(name, a.Model))
		},
		Models: a.models, Taken: a.taken,
		Modes: modes(), Store: a.Store, NewID: a.NewID, Now: a.Now, Settle: a.Settle, Log: a.Log,
	}
}

// model makes a model. What misses its key is refused here, so that the client
// can ask for it before the first prompt; that it may be in a file which cannot
// be used is said too.
func (a *App) model(name string) (llm.Model, error) {
	return a.modelOf(a.Config.LLM, name)
}

func (a *App) modelOf(cfg llm.Config, name string) (llm.Model, error) {
	m, err := llm.Select(cfg, a.Getenv, name)
	if err != nil {
		return nil, a.placed(name, err)
	}
	if err := llm.Ready(m); err != nil {
		err = fmt.Errorf("%w: %w", acp.ErrAuthRequired, err)
		if locked := a.locked(); locked != nil {
			err = fmt.Errorf("%w; %w", err, locked)
		}
		return nil, err
	}
	return m, nil
}

// placed adds to what is wrong with a model where it is named: in the environment,
// or by the only provider there is. Any other name its user has just given.
func (a *App) placed(name string, err error) error {
	switch {
	case name != "" && name == a.byEnv:
		return fmt.Errorf("ZEPH_MODEL: %w", err)
	case name == "" && a.whence != nil && len(a.Config.LLM.Providers) == 1:
		const key = "llm.providers[0].model"
		return fmt.Errorf("%s: key %q: %w", printable(a.whence(key)), key, err)
	}
	return err
}

// locked tells why the saved keys cannot be used, if so.
func (a *App) locked() error {
	if a.Locked == nil {
		return nil
	}
	return a.Locked()
}

// newAgent makes what one session needs: roots, chain, system prompt.
func (a *App) newAgent(s session.Setup) (session.Opening, error) {
	roots, err := workspace.New(append([]string{s.CWD}, s.Dirs...)...)
	if err != nil {
		field := "cwd"
		if _, cwdErr := workspace.New(s.CWD); cwdErr == nil {
			field = "additionalDirectories"
		}
		return session.Opening{}, &acp.ParamsError{Field: field, Reason: err.Error()}
	}
	roots = roots.Without(a.Own)
	rules := a.rulesNow()
	cfg, warnings := a.tightened(rules, roots)
	warnings = append(warnings, rules.notes...)
	files, left, err := cfg.Tools.File.Roots(roots)
	if err != nil {
		return session.Opening{}, err
	}
	left = append(left, a.filters.ready(a.Config, a.Getenv)...)
	reformat, err := a.reformatter(cfg)
	if err != nil {
		left = append(left, err.Error())
	}
	summariser, err := a.helper(cfg, "agent.compress_provider", cfg.Agent.CompressProvider)
	if err != nil { // the session's own model does it then
		left = append(left, err.Error())
	}
	warnings = append(warnings, left...)
	for _, m := range s.MCPServers {
		warnings = append(warnings, fmt.Sprintf("MCP servers are not supported yet: %s is left out.", m.Name))
	}
	if locked := a.locked(); locked != nil { // else direct would answer without a word
		warnings = append(warnings, locked.Error())
	}
	known, left := skills.Load(a.Skills)
	warnings = append(warnings, left...)
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nothing is then taken for the home directory
	}
	caps := s.Client.Capabilities()
	judges := a.shellPolicy(s, roots, home, cfg, rules)
	tools, kept := a.chain(cfg, s, places{roots, files, home, known}, judges)
	if kept.long.Summarizer, err = a.summarizer(cfg, s); err != nil {
		warnings = append(warnings, err.Error())
	}
	kept.system = a.systemPrompt(cfg, s, roots, files, known)
	if w := kept.box.Warning(); w != "" {
		warnings = append(warnings, w)
	}
	if cfg.Tools.Enabled {
		warnings = append(warnings, kept.set.Warnings(tools.Tools())...)
	}
	for _, w := range warnings {
		a.Log.Warn(w, "session", s.ID)
	}
	return session.Opening{
		Tools: kept, Mode: cfg.Agent.Mode, Warnings: warnings,
		Look: func() {
			judges.Renew()
			kept.system.ready(s.Model())
		},
		Agent: &agent.Agent{
			Config:  cfg.Agent.Config,
			Session: s.ID,
			System:  kept.system.text,
			Mode:    func() string { return prompt.Mode(s.Mode()) },
			Chain:   tools,
			Send: func(ctx context.Context, u acp.SessionUpdate) error {
				return s.Client.Update(ctx, s.ID, u)
			},
			NewID: a.NewID,
			Model: s.Model, Thought: s.Thought, Record: s.Record, Spend: s.Spend,
			Inside: func(path string) bool { _, err := files.Resolve(path); return err == nil },
			Exists: func(path string) bool {
				real, err := files.Resolve(path)
				if err == nil {
					_, err = files.Lstat(real)
				}
				return !errors.Is(err, fs.ErrNotExist)
			},
			Suspected:  func() { kept.suspects.Add(1) },
			Toolset:    kept.set,
			Off:        kept.off,
			Reformat:   reformat,
			Shorten:    func(ctx context.Context, text string) string { return kept.long.Shorten(ctx, s.ID, text) },
			Keep:       func(ctx context.Context, text string) (string, bool) { return kept.long.Keep(ctx, s.ID, text) },
			Summariser: summariser, ShowCompactions: caps.Compaction,
			// A client that has terminals shows those.
			StreamTerminals: caps.TerminalOutput && !caps.Terminal,
			Notices:         caps.Notices,
			Log:             a.Log,
		},
	}, nil
}

// reformatter makes what puts right inputs that do not fit their tool; nil if
// nobody is to. The error is for the user: the main model is never taken instead.
func (a *App) reformatter(cfg Config) (*agent.Reformatter, error) {
	m, err := a.helper(cfg, "tools.retry.parameter_reformat_provider", cfg.Tools.Retry.ParameterReformatProvider)
	if m == nil {
		return nil, err
	}
	return &agent.Reformatter{Model: m, Timeout: cfg.Tools.Retry.ReformatTimeout()}, nil
}

// helper makes the model that a key of the configuration names for some work
// beside the conversation; nil if it names none. The error is for the user.
func (a *App) helper(cfg Config, key, name string) (llm.Model, error) {
	if name == "" {
		return nil, nil
	}
	alone := cfg.LLM
	alone.Fallback = nil // it was named for the purpose
	m, err := a.modelOf(alone, name)
	if err == nil {
		return m, nil
	}
	if a.whence != nil {
		return nil, fmt.Errorf("%s: key %q is not used: %w", printable(a.whence(key)), key, err)
	}
	return nil, fmt.Errorf("%s is not used: %w", key, err)
}

// summaryTimeout is how long a summary may take: the call waits for it.
const summaryTimeout = time.Minute

// summarizer makes what sums up long outputs; nil if nobody is to.
func (a *App) summarizer(cfg Config, s session.Setup) (overflow.Summarizer, error) {
	if !cfg.Tools.SummarizeOutput {
		return nil, nil
	}
	model := s.Model
	if name := cfg.Tools.SummarizeProvider; name != "" {
		m, err := a.helper(cfg, "tools.summarize_provider", name)
		if err != nil {
			return nil, err
		}
		model = func() llm.Model { return m }
	}
	mask := a.filters.mask(cfg.Tools.Filters.Security)
	return &agent.OutputSummarizer{
		Model: model, Timeout: summaryTimeout,
		Count: func(m llm.Model, u llm.Usage) {
			s.Spend(m, u)
			s.Record(agent.Answer{Model: m.Name(), Usage: &u})
		},
		Clean: func(text string) string { return mask(string(filter.Sanitize([]byte(text)))) },
	}, nil
}
