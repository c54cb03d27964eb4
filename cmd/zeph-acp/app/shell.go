package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
)

// sessionShell runs the commands of one session.
type sessionShell struct {
	*shell.Executor
	local         shell.Local      // runs commands on this machine
	walls         *sandbox.Sandbox // confines the allowed commands; nil if it is off
	box           *sandbox.Box     // confines the commands that run without a question; nil if there is none
	terminalState func() string    // returns why commands do not run in the client's terminals; "" if they do
}

// newShell returns the shell of a session. It runs commands in the client's terminals if the
// client has any and no sandbox is required, else on this machine.
func (b *sessionBuilder) newShell(terminals *ideproxy.Terminals) *sessionShell {
	sh := &sessionShell{terminalState: func() string { return terminals.State(b.session.Client) }}
	sh.walls, sh.box = b.sandboxes("")
	sh.local = confinedShell(b.cfg, sh.walls, sh.box)
	sh.local.Reaper = b.app.Reaper
	tools := shell.New(sh.local, b.dirs.roots.Cwd(), b.cfg.Tools.Shell.Config)
	tools.Follow = b.session.Client.Capabilities().BackgroundWork
	tools.Roots, tools.Home, tools.UndoLimits = b.dirs.roots, b.dirs.home, b.cfg.Tools.Undo
	if client := b.session.Client; client.Capabilities().Terminal && !sh.walls.Required() { // a sandbox does not reach the client's terminals
		tools.Runner = &ideproxy.Terminal{
			Client: client, Shared: terminals, Local: sh.local, Block: sh.local.Block, Extra: sh.local.Extra, NoBash: !shell.HasBash(),
			Launch: b.app.launchIn(sh.box),
		}
		if !ideproxy.Ours(client) {
			tools.Timeout, tools.TimeoutKey = time.Duration(b.cfg.ACP.TerminalTimeoutSecs)*time.Second, "acp.terminal_timeout_secs"
			tools.HasTerminal = true
		}
	}
	tools.JobsEnd = b.app.JobsEnd
	if b.session.Unattended {
		tools.JobsEnd = "It ends with this turn."
	}
	if b.app.Background != nil {
		b.app.Background(tools)
	}
	if b.app.Confined != nil {
		_, inTerminals := tools.Runner.(*ideproxy.Terminal)
		b.app.Confined(sh.walls.On() && !inTerminals)
	}
	sh.Executor = tools
	return sh
}

// shellFeature has the tools that run commands, and the commands in the background.
func (b *sessionBuilder) shellFeature(sh *sessionShell) Feature {
	return Feature{
		Name:     "shell",
		Tools:    sh.walls.Middleware(sh.Executor),
		Builtins: []session.Builtin{{Name: "jobs", Description: "Show the commands in the background, or stop them", Hint: "[stop ID | stop all]", Run: sh.jobs}},
		News:     sh.news,
		Turns:    func(a *agent.Agent) { a.Background = sh.Background },
		Status: func() []string {
			if jobs := sh.Background(); len(jobs) > 0 {
				return []string{"Background: " + strings.Join(jobs, "; ")}
			}
			return nil
		},
		Close: func() {
			_ = sh.Executor.Close() // no caller could act on their failure
			_ = sh.walls.Close()
		},
	}
}

// localShell returns the shell of this machine, with secrets removed from its
// environment.
func localShell(cfg config.Config) shell.Local {
	return shell.Local{
		Block: slices.Concat(cfg.Tools.Shell.EnvBlocklist, trace.SecretVariables, cfg.KeyVariables()),
		Extra: command.GitSafeEnv(),
	}
}

// confinedShell returns the shell of this machine for one session. walls confines the commands
// that were allowed, and box those that run without a question; each may be nil.
func confinedShell(cfg config.Config, walls *sandbox.Sandbox, box *sandbox.Box) shell.Local {
	local := localShell(cfg)
	local.MaxTime = time.Duration(cfg.Tools.Shell.MaxTimeout) * time.Second
	if box != nil {
		local.Confine = box.Confined
	}
	if walls != nil {
		local.Wrap = func(p process.Program) (process.Program, error) {
			var err error
			p.Path, p.Args, p.Env, err = walls.Wrap(p.Path, p.Args, p.Env)
			return p, err
		}
	}
	return local
}

// environment returns the variables of the programs that the session starts besides commands,
// such as hooks. It has no secrets.
func (b *sessionBuilder) environment() []string {
	return shell.Env(os.Environ(), localShell(b.cfg).Block)
}

// jobs carries out the rest of the command /jobs: it lists the commands in the
// background, or stops one or all of them.
func (sh *sessionShell) jobs(ctx context.Context, rest string) string {
	words := strings.Fields(rest)
	switch {
	case len(words) == 0:
		return sh.listJobs()
	case len(words) != 2 || words[0] != "stop":
		return "Type `/jobs`, `/jobs stop ID` or `/jobs stop all`."
	}
	ids := words[1:]
	if ids[0] == "all" {
		ids = sh.Jobs()
	}
	if len(ids) == 0 {
		return sh.listJobs()
	}
	var b strings.Builder
	for _, id := range ids {
		if err := sh.StopJob(ctx, id); err != nil {
			fmt.Fprintf(&b, "- %v\n", err)
		} else {
			fmt.Fprintf(&b, "- `%s` was stopped\n", id)
		}
	}
	return b.String()
}

// news returns the commands in the background that have ended since the last turn. The model
// learns of them at the next prompt that it sees.
func (sh *sessionShell) news(_ context.Context, direct bool) (n agent.News) {
	if direct {
		return n
	}
	for _, f := range sh.Finished() {
		n.User = strings.TrimPrefix(n.User+"\n\n"+f.Text(), "\n\n")
		n.Model = executors.JoinLines(n.Model, "[background] "+f.Text()+" bash_output "+f.ID+" returns its output.")
	}
	return n
}

// listJobs describes the commands in the background, in Markdown.
func (sh *sessionShell) listJobs() string {
	jobs := sh.Background()
	if len(jobs) == 0 {
		return "There are no commands in the background."
	}
	var b strings.Builder
	for _, line := range jobs {
		id, rest, _ := strings.Cut(line, ": ")
		fmt.Fprintf(&b, "- `%s`: %s\n", id, rest)
	}
	b.WriteString("\nStop one with `/jobs stop ID`, or all with `/jobs stop all`.")
	return b.String()
}
