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
	rules := a.rulesNow()
	cfg, warnings := a.tightened(rules, roots)
	in, left, err := a.sessionDirs(cfg, roots)
	if err != nil {
		return session.Opening{}, err
	}
	models, unusable := a.helperModels(cfg, s, in.home)
	warnings = slices.Concat(a.Warnings, warnings, rules.notes, left, a.filters.ready(a.Config, a.Getenv), unusable, a.missing())
	judges := a.shellPolicy(s, roots, in.home, cfg, rules)
	tools, kept := a.chain(cfg, s, in, judges, models, terminals)
	warnings = append(warnings, kept.skills.Warnings...)
	kept.long.Summarizer = models.outputs
	kept.system = a.systemPrompt(cfg, s, in, kept.skills)
	if w := kept.box.Warning(); w != "" {
		warnings = append(warnings, w)
	}
	if cfg.Tools.Enabled {
		warnings = append(warnings, kept.set.Warnings(func() []executors.Tool {
			return slices.Concat(tools.Tools(), kept.memory.Catalogue().Tools())
		})...)
	}
	for _, w := range warnings {
		a.Log.Warn(w, "session", s.ID)
	}
	turns := a.agent(cfg, s, in, tools, kept, models)
	a.prepared.Do(func() { a.beforePrompt(s, kept, turns) })
	return session.Opening{
		Tools: kept, Mode: cfg.Agent.Mode, Warnings: warnings,
		BeforeTurn: func() {
			a.idle.end()
			a.runner().Poll()
			judges.Renew()
			kept.gates.begin(s)
			if !kept.skills.Waiting() { // else after the user was asked about some
				kept.system.ready(s.Model())
			}
			kept.memory.Look(context.Background()) // also for /tools, which is no turn of the agent
		},
		Agent: turns,
	}, nil
}

// observe lets Recorded and Spent see the events and the tokens of a session.
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
	return roots.Without(a.Own), nil
}

// sessionDirs are the directories of one session.
type sessionDirs struct {
	roots *workspace.Roots // the client's, where commands run
	files *workspace.Roots // the same and those that the file tools may use in addition
	home  string           // absolute; empty means unknown
	own   *workspace.Own   // hidden in both
	temp  string           // for temporary files; empty means the system's directories
	apart string           // a directory that commands must not write, by any setting; empty means none
	// known returns a text with the names of files that rules use; nil changes no name.
	known func(text string) string
}

// sessionDirs finds the directories of a session. It returns warnings for the user.
func (a *App) sessionDirs(cfg config.Config, roots *workspace.Roots) (in sessionDirs, warnings []string, err error) {
	in.roots, in.home, in.own = roots, a.home, a.Own
	if in.files, warnings, err = cfg.Tools.File.Roots(roots); err != nil {
		return in, nil, err
	}
	return in, warnings, nil
}

// missing warns about requests of the client or the user that cannot be met.
func (a *App) missing() (warnings []string) {
	if locked := a.locked(); locked != nil { // without a key the session would use direct and say nothing
		warnings = append(warnings, locked.Error())
	}
	return warnings
}

// agent returns the agent that runs the turns of a session with these tools.
func (a *App) agent(cfg config.Config, s session.Setup, in sessionDirs, tools executors.Executor, kept *keeper, models helperModels) *agent.Agent {
	return &agent.Agent{
		Config: cfg.Agent.Config, Session: s.ID, Chain: tools, NewID: a.NewID, Log: a.Log,
		Client: a.client(s, kept),
		State: agent.State{
			Model: s.Model, Thought: s.Thought, Record: s.Record, Spend: s.Spend,
			Mode:      func() string { return prompt.Mode(s.Mode()) },
			Memory:    kept.memory.Line,
			Suspected: func() { kept.suspects.Add(1) },
		},
		Workspace: agent.Workspace{
			Inside: func(path string) bool { _, err := in.files.Resolve(path); return err == nil },
			Exists: func(path string) bool {
				real, err := in.files.Resolve(path)
				if err == nil {
					_, err = in.files.Lstat(real)
				}
				return !errors.Is(err, fs.ErrNotExist)
			},
			Attached: kept.gates.flow.Attached,
			Resource: kept.mcp.Reader,
		},
		Overflow: agent.Overflow{
			Shorten: func(ctx context.Context, text string) string { return kept.long.Shorten(ctx, s.ID, text) },
			Keep:    func(ctx context.Context, text string) (string, bool) { return kept.long.Keep(ctx, s.ID, text) },
		},
		Helpers: agent.Helpers{Reformat: models.reformatter, Compactor: models.compaction, OpenModel: a.model},
		System:  kept.system.text, Toolset: kept.set, Disabled: kept.off, Hooks: kept.hooks, Ready: kept.ready, News: kept.news,
		Tracer: a.tracer,
	}
}

// client returns the client in the form that a turn uses.
func (a *App) client(s session.Setup, kept *keeper) agent.Client {
	caps := s.Client.Capabilities()
	c := agent.Client{
		Send: func(ctx context.Context, u acp.SessionUpdate) error {
			return s.Client.Update(ctx, s.ID, u)
		},
		Unasked: func() bool {
			return a.Yes || s.Mode() == agent.ModeAuto || s.Mode() == agent.ModeAutoJudge || kept.unasked.Load()
		},
		StopAsking:      func() { kept.unasked.Store(true) },
		ShowCompactions: caps.Compaction, Notices: caps.Notices,
		// The client's own terminals show their output themselves.
		StreamTerminals: caps.TerminalOutput && !ideproxy.HasTerminals(s.Client),
	}
	if caps.Subagents {
		c.SendAs = s.Client.Update
	}
	if !a.alone(s) {
		c.Ask = (&ideproxy.Approver{Client: s.Client, Session: s.ID}).Ask
		if caps.ElicitForm {
			c.Elicit = s.Client.Elicit
		}
	}
	return c
}
