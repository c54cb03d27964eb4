package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/executors/links/unsaved"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// sessionBuilder makes the parts of one session. Each method returns one of them, and
// features puts them together.
type sessionBuilder struct {
	app     *App
	session session.Host
	cfg     config.Config // tightened by the file of the workspace
	dirs    sessionDirs
	policy  *permission.ShellPolicyHandle
	plugins plugins
	models  helperModels
	scan    *redact.Scanner // masks what leaves the session; nil masks nothing

	emptyStore bool // the database did not exist when the session was opened
}

// newSessionBuilder returns the builder of a session, and warnings for the user.
func (a *App) newSessionBuilder(s session.Host) (b *sessionBuilder, warnings []string, err error) {
	roots, err := a.roots(s)
	if err != nil {
		return nil, nil, err
	}
	b = &sessionBuilder{app: a, session: s, emptyStore: a.Store != nil && !a.Store.Exists()}
	a.openStore()
	rules := a.currentRules()
	b.cfg, warnings = a.tightened(rules, roots)
	var dirWarnings, modelWarnings, pluginWarnings []string
	if b.dirs, dirWarnings, err = a.sessionDirs(b.cfg, roots); err != nil {
		return nil, nil, err
	}
	b.scan = a.filters.forSession(s.ID, b.cfg.Tools.Filters.Security)
	b.policy = b.shellPolicy(rules)
	b.models, modelWarnings = b.helperModels()
	b.plugins, pluginWarnings = b.loadPlugins()
	return b, slices.Concat(warnings, rules.notes, dirWarnings, modelWarnings, pluginWarnings), nil
}

// newAgent makes the parts of one session: directories, chain, system prompt,
// and the agent that runs its turns. The terminals belong to the session's
// connection.
func (a *App) newAgent(s session.Host, terminals *ideproxy.Terminals) (session.AgentSession, error) {
	a.observe(&s)
	b, warnings, err := a.newSessionBuilder(s)
	if err != nil {
		return session.AgentSession{}, err
	}
	warnings = slices.Concat(a.Warnings, warnings, a.filters.learnKeys(a.Config, a.Getenv), a.keyWarnings())
	a.filters.learnEnvironment(os.Environ(), b.environment())
	f := b.features(terminals)
	warnings = append(warnings, f.warnings()...)
	for _, w := range warnings {
		a.Log.Warn(w, "session", s.ID)
	}
	turns := b.agent(f)
	hint := ""
	if s.Client.Capabilities().SavedFilesOnly && !s.Resumed {
		hint = savedFilesOnly
	}
	var awaitStart func(context.Context)
	if a.AwaitServers {
		awaitStart = f.awaitStart
	}
	return session.AgentSession{
		Hint:  hint,
		Tools: f, Mode: b.cfg.Agent.Mode, Warnings: warnings, Agent: turns,
		BeforeTurn: f.beforeTurn, AwaitStart: awaitStart,
	}, nil
}

// savedFilesOnly is the hint for users whose editor could show the agent its buffers in another version of the
// protocol.
const savedFilesOnly = "The agent's tools read and change files on the disk: save them before you send a prompt. Unsaved text that the editor adds to the prompt reaches the model, but not the tools."

// observe passes the events and the tokens of a session also to Recorded and Spent.
func (a *App) observe(s *session.Host) {
	if seen, record := a.Recorded, s.Record; seen != nil {
		s.Record = func(events ...transcript.Event) {
			seen(texts.Map(events, a.exit(s.ID))...)
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
func (a *App) roots(s session.Host) (*workspace.Roots, error) {
	roots, err := workspace.New(append([]string{s.CWD}, s.Dirs...)...)
	if err != nil {
		field := "cwd"
		if _, cwdErr := workspace.New(s.CWD); cwdErr == nil {
			field = "additionalDirectories"
		}
		return nil, &acp.ParamsError{Field: field, Reason: err.Error()}
	}
	return roots.Without(a.AgentFiles), nil
}

// sessionDirs are the directories of one session.
type sessionDirs struct {
	roots      *workspace.Roots      // the directories of the client, where commands run
	files      *workspace.Roots      // these and the directories that only the file tools may use
	home       string                // absolute; empty means unknown
	agentFiles *workspace.AgentFiles // the files of zeph-acp, hidden in both
	temp       string                // for temporary files; empty means the system's directories
	copyTop    string                // the directory of a copy, which no setting opens to commands; empty if this is not a copy
	// toRuleNames replaces the names of files in a text by those that rules use; nil changes no
	// name.
	toRuleNames func(text string) string
}

// sessionDirs finds the directories of a session. It returns warnings for the user.
func (a *App) sessionDirs(cfg config.Config, roots *workspace.Roots) (dirs sessionDirs, warnings []string, err error) {
	dirs.roots, dirs.home, dirs.agentFiles = roots, a.home, a.AgentFiles
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

// agent returns the agent that runs the turns of a session with these features.
func (b *sessionBuilder) agent(f *sessionFeatures) *agent.Agent {
	a := &agent.Agent{
		Config: b.cfg.Agent.Config, Session: b.session.ID, Chain: f.chain, NewID: b.app.NewID, Log: b.app.Log,
		Client: b.client(), Exit: b.scan.Exit(),
		State: agent.State{
			Model: b.session.Model, Thought: b.session.Thought, Record: b.session.Record, Stored: b.session.Stored, Spend: b.session.Spend,
			Learn: b.app.learn,
			Mode:  func() string { return prompt.Mode(b.session.Mode()) },
		},
		Workspace: agent.Workspace{
			IsProgram: programs.Known,
			Inside:    func(path string) bool { _, err := b.dirs.files.Resolve(path); return err == nil },
			Exists: func(path string) bool {
				real, err := b.dirs.files.Resolve(path)
				if err == nil {
					_, err = b.dirs.files.Lstat(real)
				}
				return !errors.Is(err, fs.ErrNotExist)
			},
		},
		Helpers:  agent.Helpers{Reformat: b.models.reformatter, Compactor: b.models.compaction, OpenModel: b.app.model},
		Disabled: f.disabled,
		Ready:    f.ready,
		News:     f.news,
		Tracer:   b.app.tracer,
	}
	f.each(func(one Feature) {
		if one.Turns != nil {
			one.Turns(a)
		}
	})
	return a
}

// unsavedFeature protects files with unsaved changes in editors whose buffers the tools cannot see.
func (b *sessionBuilder) unsavedFeature(fs files.FS) Feature {
	if !b.session.Client.Capabilities().SavedFilesOnly {
		return Feature{Name: "unsaved"}
	}
	f := &unsaved.Files{Read: fs.ReadFile}
	return Feature{
		Name: "unsaved", Link: f.Middleware, Turns: func(a *agent.Agent) {
			others := a.Attached
			a.Attached = func(ctx context.Context, r *acp.Resource) {
				if others != nil {
					others(ctx, r)
				}
				if path := transcript.LinkTarget(r.URI); r.Text != nil && filepath.IsAbs(path) {
					if path, err := b.dirs.files.Resolve(path); err == nil {
						f.Attached(ctx, path, *r.Text)
					}
				}
			}
		},
	}
}

// budgetFeature stops turns at their budget.
func (b *sessionBuilder) budgetFeature() Feature {
	w := agent.NewWatch(b.cfg.Agent.Budget, b.session.Spent)
	if w == nil {
		return Feature{Name: "budget"}
	}
	w.Unasked = b.app.Yes
	return Feature{
		Name: "budget", Turns: func(a *agent.Agent) { a.Watch = w },
		Status: func() []string { return w.Status(context.Background()) },
	}
}

// suspicionFeature counts the calls with values that the model may have made up.
func suspicionFeature() Feature {
	var suspected atomic.Int64
	return Feature{
		Name: "suspicion", Turns: func(a *agent.Agent) { a.Suspected = func() { suspected.Add(1) } },
		Status: func() []string {
			if n := suspected.Load(); n > 0 {
				return []string{fmt.Sprintf("Suspected hallucinations: %d; audit.jsonl names the values", n)}
			}
			return nil
		},
	}
}

// roundLimit returns the limit of turns whose rounds no one is asked about.
func (b *sessionBuilder) roundLimit() agent.RoundLimit {
	if b.session.Unattended {
		return agent.RoundLimit{Rounds: b.cfg.Tools.Scheduler.MaxRounds, Name: "tools.scheduler.max_rounds", Next: "Continue its session, or allow more rounds."}
	}
	return b.app.RoundLimit
}

// client returns the client in the form that a turn uses.
func (b *sessionBuilder) client() agent.Client {
	caps := b.session.Client.Capabilities()
	c := agent.Client{
		Send: func(ctx context.Context, u acp.SessionUpdate) error {
			return b.session.Update(ctx, b.session.ID, u)
		},
		ContinueUnasked: func() bool {
			mode := b.session.Mode()
			return b.app.Yes || mode == agent.ModeAuto || mode == agent.ModeAutoJudge
		},
		RoundLimit:      b.roundLimit(),
		ShowCompactions: caps.Compaction, Notices: caps.Notices,
		// The client's own terminals show their output themselves.
		StreamTerminals: caps.TerminalOutput && !ideproxy.HasTerminals(b.session.Client),
		ShowsErrors:     ideproxy.Ours(b.session.Client),
		CancelsCalls:    caps.BackgroundWork,
		TitlesTerminals: ideproxy.TitlesTerminals(b.session.Client),
	}
	if caps.Subagents {
		c.SendAs = b.session.Update
	}
	if !b.noUser() {
		c.Ask = (&ideproxy.Approver{Client: b.session.Client, Session: b.session.ID}).Ask
		if caps.ElicitForm {
			c.Elicit = b.session.Client.Elicit
		}
	}
	return c
}
