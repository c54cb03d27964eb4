// Package app composes zeph-acp: the server and the chain of every session.
// Serve, run, replay and the tests all start from [New], so no entry point
// misses a link.
//
// Call [config.Load], then [New], then [App.Server]. Until a session begins,
// only the configuration file is opened and no provider is asked.
package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/undo/copies"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/tasks"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Version is the version of the product, as agentInfo and the version command
// report it.
const Version = "0.1.0"

// App makes servers and holds the state that their sessions share. Close it
// when no server is in use. Callers may change its exported fields before the first session.
type App struct {
	Config   config.Config
	Warnings []string // about the configuration; shown in every session
	Log      *slog.Logger
	NewID    func() string // returns a new UUID
	Now      func() time.Time
	Settle   time.Duration // see session.Sessions

	ModelAccess
	Storage
	Processes
	User
	Observers
	Fixture

	facts
	shared
}

// ModelAccess is how the models of sessions are opened.
type ModelAccess struct {
	Model  string              // the model that the user chose, "provider:model"; empty means the configured one
	Getenv func(string) string // looks up the environment, then the saved keys
	Logout func() error        // removes the saved keys, and forgets those of commands
	Locked func() error        // returns the reason why the saved keys cannot be used, or nil
	// Credentials fetches the credentials of providers.
	Credentials *provider.Credentials
	// SystemAppend is a text of the user at the end of the system prompt; empty adds nothing.
	SystemAppend string
}

// Storage is the stored data. Sessions write it.
type Storage struct {
	Store *store.DB  // stores sessions; nil stores nothing
	Audit *audit.Log // records tool calls; nil records nothing
	// Overflow keeps texts that are too long for the model where Store cannot;
	// nil discards them.
	Overflow   *overflow.Memory
	Answers    *answers.Store        // the user's "always" answers
	AgentFiles *workspace.AgentFiles // the files of zeph-acp, which no tool may touch; nil means no such files
	Skills     string                // the directory of the user's skills; empty means no skills
	Commands   string                // the directory of the user's commands; empty means no commands
}

// Processes are the programs that this process starts, and the scheduled tasks that it runs.
type Processes struct {
	MCP    *mcp.Servers    // runs the MCP servers of all sessions
	Reaper *process.Reaper // ends running commands if this process is killed; nil leaves them running
	// FindServer returns the absolute path of a language server's program. Nil means that
	// no language server starts.
	FindServer func(name string) (string, error)
	// RunTask runs a scheduled task; nil means that this process runs no tasks.
	RunTask func(context.Context, tasks.Job) tasks.Report
}

// User is whom sessions ask, and what they ask about. Each of the Project fields asks about a part of
// the repository, and uses what the user approves; without it, the part is not used.
type User struct {
	Yes          bool // the user allows every call that the agent would ask about
	NoUser       bool // no user can be asked
	AwaitServers bool // the first turn of a session waits for its MCP servers before it shows its warnings
	// RoundLimit limits a turn, in place of questions whether it continues.
	RoundLimit     agent.RoundLimit
	JobsEnd        string // tells the model when commands in the background end; may be empty
	ProjectServers bool   // the MCP servers of the repository
	ProjectHooks   bool   // its hooks
	ProjectSkills  bool   // its skills and commands
	ProjectAgents  bool   // its sub-agents
}

// Jobs are the commands of a session that run in the background.
type Jobs interface {
	Commands() []string           // those that run, shortened to one line each
	AwaitAll(ctx context.Context) // waits until none runs, or ctx ends
	Finished() []shell.Finished   // those that have ended, whose end no one has read
}

// Observers see what happens in every session; each may be nil.
type Observers struct {
	Watch    executors.Middleware       // sees every call
	Recorded func(...transcript.Event)  // sees every event before the client does
	Spent    func(llm.Model, llm.Usage) // sees the tokens of every answer of a model
	Followed func(goal.Goal)            // sees the states of goals
	Changed  func(paths []string)       // sees the files that a turn changed, at its end
	// Background is called for each session with its commands in the background.
	Background func(Jobs)
	// Confined is called for each session with whether a sandbox confines its commands.
	Confined func(bool)
}

// Fixture replaces facts of this machine while a recording is played.
type Fixture struct {
	Scripted bool          // the client's answers are written down, so its terminals run nothing
	BoxState func() string // replaces the lines of /status about the box; nil describes this machine's box
}

// facts are facts of the configuration. They do not change after the first session.
type facts struct {
	envModel          string                  // the model that the environment selects
	configDir         string                  // the directory of the user's files; empty means no directory
	dataDir           string                  // the directory of the database; empty means no directory
	home              string                  // the user's home directory; empty means unknown
	environ           func(string) string     // looks up the environment of the process, without the saved keys
	origin            func(string) string     // returns the place where a key was set; nil means unknown
	isManaged         func(string) bool       // reports whether the managed file sets a key
	permits           func(mcp.Server) string // see config.Loaded.Permits
	permitsConfigured func(mcp.Server) string // see config.Loaded.PermitsConfigured
	checking          *assumedTools           // not nil if calls are only checked; see Checker
}

// shared is the state that sessions share.
type shared struct {
	rules     *rulesFile          // the permission rules, reloaded when their file changes; nil means the rules in Config
	filters   *filters            // the output filters
	vectors   toolset.Vectors     // the embeddings of tools
	tracer    *trace.Tracer       // traces turns; nil unless the environment asks for traces
	servers   provider.Memory     // facts learned about the models' servers
	catalogue *provider.Catalogue // the providers' models; nil asks no provider
	worktrees worktrees
	opening   sync.WaitGroup // goroutines that open the store

	mu       sync.Mutex
	sessions []*session.Sessions // one per server
	tasks    *tasks.Runner       // nil until the first session, and if this process runs no tasks
}

// settle is long enough for an editor's event loop to process a response.
const settle = 50 * time.Millisecond

// New makes an App from a loaded configuration and its environment.
func New(l *config.Loaded, log *slog.Logger) *App {
	saved := l.Keys()
	tracer, traceWarnings := trace.New(l.Getenv, trace.Product{Name: "zeph-acp", Version: Version}, log)
	a := &App{
		Config: l.Config, Warnings: slices.Concat(l.Warnings, traceWarnings), Log: log, NewID: uuid.NewString, Now: time.Now, Settle: settle,
		ModelAccess: ModelAccess{
			Model: l.Getenv("ZEPH_MODEL"), Locked: saved.Err,
		},
		Storage: Storage{Overflow: overflow.NewMemory(overflowMemory), AgentFiles: agentFiles(l.Paths)},
		facts: facts{
			envModel: l.Getenv("ZEPH_MODEL"), configDir: l.Paths.Config, dataDir: l.Paths.Data, home: config.HomeDir(l.Getenv),
			environ: l.Getenv, origin: l.Origin, isManaged: l.IsManaged, permits: l.Permits, permitsConfigured: l.PermitsConfigured,
		},
		shared: shared{tracer: tracer},
	}
	if l.Paths.State != "" {
		a.worktrees.dir = filepath.Join(l.Paths.State, copies.DirName)
	}
	a.rules = newRulesFile(l, func() time.Time { return a.Now() }, log)
	a.filters = newFilters(l)
	a.Log = a.maskedLog(log)
	log = a.Log
	a.Getenv = a.environment(l, saved)
	a.Credentials = a.newCredentials()
	a.servers.Credentials = a.Credentials
	a.Logout = func() error {
		a.Credentials.Forget()
		_, err := saved.RemoveAll()
		return err
	}
	a.catalogue = a.newCatalogue(l)
	a.Answers = &answers.Store{Read: keys.ReadPrivate, Edit: keys.EditFile}
	if l.Paths.Config != "" {
		a.Answers.File = filepath.Join(l.Paths.Config, answers.FileName)
	}
	a.Audit = audit.New(l.Paths.State, l.Config.Audit, a.exit)
	if l.Paths.Data != "" {
		a.Skills, a.Commands = filepath.Join(l.Paths.Data, "skills"), filepath.Join(l.Paths.Data, "commands")
		a.Store = store.New(filepath.Join(l.Paths.Data, config.StoreFile), store.Options{
			Log: log, Retention: time.Duration(l.Config.Tools.Overflow.RetentionDays) * 24 * time.Hour,
		})
	}
	a.MCP = a.mcpServers(l)
	return a
}

// overflowMemory is the number of bytes of long texts that are kept, of all
// sessions together, where the database cannot be used.
const overflowMemory = 32 << 20

// CloseTools ends the background commands and the MCP servers of all sessions, in
// less than two seconds.
func (a *App) CloseTools() {
	a.mu.Lock()
	running := a.tasks
	a.mu.Unlock()
	running.Close(closeTasks)
	var servers sync.WaitGroup
	servers.Go(a.MCP.Close)
	defer servers.Wait()
	for _, s := range a.allSessions() {
		s.CloseTools()
	}
}

// allSessions returns the sessions of every server made so far.
func (a *App) allSessions() []*session.Sessions {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.sessions)
}

// openStore opens the database in the background, before the first prompt needs it. If
// that fails, the first turn retries it and warns the user.
func (a *App) openStore() {
	if a.Store == nil {
		return
	}
	a.opening.Go(func() {
		if err := a.Store.Open(context.Background()); err != nil {
			a.Log.Debug("open the database", "err", err)
		}
	})
}

// Close retries the writes that failed before, and closes the files.
func (a *App) Close() error {
	a.worktrees.close()
	a.opening.Wait()
	a.Credentials.Close()
	a.catalogue.Close()
	a.Reaper.Close()
	for _, s := range a.allSessions() {
		s.Finish()
	}
	a.tracer.Close()
	err := a.Audit.Close()
	if a.Store != nil {
		err = errors.Join(err, a.Store.Close())
	}
	return err
}

// Server returns a server with no sessions. It serves one connection.
func (a *App) Server() *acp.Server { return a.server(a.Sessions()) }

// server returns a server for sessions, and remembers them for CloseTools and Close.
func (a *App) server(sessions *session.Sessions) *acp.Server {
	a.mu.Lock()
	a.sessions = append(a.sessions, sessions)
	a.mu.Unlock()
	program, err := os.Executable()
	if err != nil {
		program = "" // clients that want a whole command line are then offered no login
	}
	s := &acp.Server{
		Config:   a.Config.ACP,
		Agent:    acp.Implementation{Name: "zeph-acp", Title: "Zeph", Version: Version},
		Sessions: sessions,
		Ready: func() error {
			_, err := a.model(a.Model)
			return err
		},
		Initialized: func() {
			if a.Store != nil && a.Store.Exists() { // no new file for a client that only asks for capabilities
				a.openStore()
			}
			a.worktrees.clean(a)
		},
		Logout:     a.Logout,
		Command:    program,
		Extensions: extensions(sessions),
		Exit:       a.exit,
		Fit:        ideproxy.Fit,
		Log:        a.Log,
	}
	if a.Log.Enabled(context.Background(), slog.LevelDebug) {
		s.Trace = logFrames(a.Log)
	}
	return s
}

// Sessions returns the sessions of one connection. Without a connection it
// opens the stored ones.
func (a *App) Sessions() *session.Sessions {
	terminals := &ideproxy.Terminals{}
	return &session.Sessions{
		NewAgent: func(s session.Host) (session.AgentSession, error) { return a.newAgent(s, terminals) },
		Model: func(name string) (llm.Model, error) {
			return a.model(cmp.Or(name, a.Model))
		},
		Models: a.models, Selected: a.modelSelected,
		Prepare:  func() { a.runner().Poll() },
		Imported: importedLabels, Deleted: a.forgetFiles, Exit: a.exit,
		Modes: a.modes(), Goal: a.Config.Agent.Goal, Followed: a.Followed, Store: a.Store, NewID: a.NewID, Now: a.Now, Settle: a.Settle, Log: a.Log,
	}
}

// modes returns the modes that a session may have, the strictest first. No mode is looser
// than a managed one.
func (a *App) modes() []acp.SessionMode {
	var out []acp.SessionMode
	for _, m := range permission.Modes() {
		out = append(out, acp.SessionMode{ID: m.ID, Name: m.Name, Description: m.Description})
		if m.ID == a.Config.Agent.Mode && a.isManaged("agent.mode") {
			break
		}
	}
	return out
}
