package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// newAgent makes the parts of one session: directories, chain, system prompt,
// and the agent that runs its turns. The terminals belong to the session's
// connection.
func (a *App) newAgent(s session.Setup, terminals *ideproxy.Terminals) (session.Opening, error) {
	a.idle.end()
	a.observe(&s)
	roots, err := a.roots(s)
	if err != nil {
		return session.Opening{}, err
	}
	a.openStore()
	rules := a.currentRules()
	cfg, warnings := a.tightened(rules, roots)
	dirs, dirWarnings, err := a.sessionDirs(cfg, roots)
	if err != nil {
		return session.Opening{}, err
	}
	models, modelWarnings := a.helperModels(cfg, s, dirs.home)
	warnings = slices.Concat(
		a.Warnings,
		warnings,
		rules.notes,
		dirWarnings,
		a.filters.learnKeys(a.Config, a.Getenv),
		modelWarnings,
		a.keyWarnings(),
	)
	shellPolicy := a.shellPolicy(s, roots, dirs.home, cfg, rules)
	tools, st := a.chain(cfg, s, dirs, shellPolicy, models, terminals)
	warnings = append(warnings, st.skills.Warnings...)
	st.overflow.Summarizer = models.summarizer
	st.system = a.systemPrompt(cfg, s, dirs, st.skills)
	if w := st.sandbox.Warning(); w != "" {
		warnings = append(warnings, w)
	}
	if cfg.Tools.Enabled {
		warnings = append(warnings, st.toolset.Warnings(func() []executors.Tool {
			return slices.Concat(tools.Tools(), st.memory.Catalogue().Tools())
		})...)
	}
	for _, w := range warnings {
		a.Log.Warn(w, "session", s.ID)
	}
	turns := a.agent(cfg, s, dirs, tools, st, models)
	a.prepared.Do(func() { a.beforePrompt(s, st, turns) })
	return session.Opening{
		Tools: st, Mode: cfg.Agent.Mode, Warnings: warnings,
		BeforeTurn: func() {
			a.idle.end()
			a.runner().Poll()
			shellPolicy.Renew()
			st.gates.begin(s)
			if !st.skills.Waiting() { // else the user is asked about some of them first
				st.system.ready(s.Model())
			}
			st.memory.Refresh(context.Background()) // also for /tools, which is no turn of the agent
		},
		Agent: turns,
	}, nil
}

// observe passes the events and the tokens of a session also to Recorded and Spent.
func (a *App) observe(s *session.Setup) {
	if seen, record := a.Recorded, s.Record; seen != nil {
		s.Record = func(events ...transcript.Event) {
			seen(events...)
			record(events...)
		}
	}
	if seen, spend := a.Spent, s.Spend; seen != nil {
		s.Spend = func(m llm.Model, u llm.Usage) *acp.Cost {
			seen(m, u)
			return spend(m, u)
		}
	}
}

// roots returns the workspace roots: the directories that the client named.
func (a *App) roots(s session.Setup) (*workspace.Roots, error) {
	roots, err := workspace.New(append([]string{s.CWD}, s.Dirs...)...)
	if err != nil {
		field := "cwd"
		if _, cwdErr := workspace.New(s.CWD); cwdErr == nil {
			field = "additionalDirectories"
		}
		return nil, &acp.ParamsError{Field: field, Reason: err.Error()}
	}
	return roots.Without(a.PrivateFiles), nil
}

// sessionDirs are the directories of one session.
type sessionDirs struct {
	roots   *workspace.Roots // the directories of the client, where commands run
	files   *workspace.Roots // these and the directories that only the file tools may use
	home    string           // absolute; empty means unknown
	private *workspace.Own   // the private files, hidden in both
	temp    string           // for temporary files; empty means the system's directories
	copyTop string           // the directory of a copy, which no setting opens to commands; empty if this is no copy
	// toRuleNames replaces the names of files in a text by those that rules use; nil changes no
	// name.
	toRuleNames func(text string) string
}

// sessionDirs finds the directories of a session. It returns warnings for the user.
func (a *App) sessionDirs(cfg config.Config, roots *workspace.Roots) (dirs sessionDirs, warnings []string, err error) {
	dirs.roots, dirs.home, dirs.private = roots, a.home, a.PrivateFiles
	if dirs.files, warnings, err = cfg.Tools.File.Roots(roots); err != nil {
		return dirs, nil, err
	}
	return dirs, warnings, nil
}

// keyWarnings warns about saved keys that cannot be used.
func (a *App) keyWarnings() (warnings []string) {
	if locked := a.locked(); locked != nil { // else the session would silently use the built-in model
		warnings = append(warnings, locked.Error())
	}
	return warnings
}

// agent returns the agent that runs the turns of a session with these tools.
func (a *App) agent(
	cfg config.Config, s session.Setup, dirs sessionDirs, tools executors.Executor, st *sessionTools, models helperModels,
) *agent.Agent {
	return &agent.Agent{
		Config: cfg.Agent.Config, Session: s.ID, Chain: tools, NewID: a.NewID, Log: a.Log,
		Client: a.client(s, st),
		State: agent.State{
			Model: s.Model, Thought: s.Thought, Record: s.Record, Spend: s.Spend,
			Mode:      func() string { return prompt.Mode(s.Mode()) },
			Memory:    st.memory.Line,
			Suspected: func() { st.suspectedCalls.Add(1) },
		},
		Workspace: agent.Workspace{
			Inside: func(path string) bool { _, err := dirs.files.Resolve(path); return err == nil },
			Exists: func(path string) bool {
				real, err := dirs.files.Resolve(path)
				if err == nil {
					_, err = dirs.files.Lstat(real)
				}
				return !errors.Is(err, fs.ErrNotExist)
			},
			Attached: st.gates.flow.Attached,
			Resource: st.mcp.Reader,
		},
		Overflow: agent.Overflow{
			Shorten: func(ctx context.Context, text string) string { return st.overflow.Shorten(ctx, s.ID, text) },
			Keep:    func(ctx context.Context, text string) (string, bool) { return st.overflow.Keep(ctx, s.ID, text) },
		},
		Helpers:  agent.Helpers{Reformat: models.reformatter, Compactor: models.compaction, OpenModel: a.model},
		System:   st.system.text,
		Toolset:  st.toolset,
		Disabled: st.disabled,
		Hooks:    st.hooks,
		Ready:    st.ready,
		News:     st.news,
		Tracer:   a.tracer,
	}
}

// client returns the client in the form that a turn uses.
func (a *App) client(s session.Setup, st *sessionTools) agent.Client {
	caps := s.Client.Capabilities()
	c := agent.Client{
		Send: func(ctx context.Context, u acp.SessionUpdate) error {
			return s.Client.Update(ctx, s.ID, u)
		},
		ContinueUnasked: func() bool {
			return a.Yes || s.Mode() == agent.ModeAuto || s.Mode() == agent.ModeAutoJudge || st.unlimitedRounds.Load()
		},
		StopAsking:      func() { st.unlimitedRounds.Store(true) },
		ShowCompactions: caps.Compaction, Notices: caps.Notices,
		// The client's own terminals show their output themselves.
		StreamTerminals: caps.TerminalOutput && !ideproxy.HasTerminals(s.Client),
	}
	if caps.Subagents {
		c.SendAs = s.Client.Update
	}
	if !a.noUser(s) {
		c.Ask = (&ideproxy.Approver{Client: s.Client, Session: s.ID}).Ask
		if caps.ElicitForm {
			c.Elicit = s.Client.Elicit
		}
	}
	return c
}
