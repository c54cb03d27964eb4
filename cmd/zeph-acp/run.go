package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// runFlags are the command-line flags of run.
type runFlags struct {
	dir, mode, model, resume string
	yes, json, quiet         bool
	mcpProject, hooksProject bool
	skillsProject            bool
	agentsProject            bool
	failOnDenied             bool
}

func newRun(f *flags) *cobra.Command {
	r := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [flags] PROMPT...",
		Short: "Run one turn in the terminal, without an editor",
		Long: `Run one turn in the terminal, without an editor. The prompt is the arguments.
Without a model it can be a tool call, such as "/bash go version".

A stdin that is not a terminal joins the prompt: below it, or in place of an
argument "-". Above 64 KiB it is an attachment. A prompt that begins with "/" reads
stdin only for a "-", and always as an attachment.

In a terminal, a line that is typed while the turn runs is added to it: the model
sees it after the running tool calls.

A call that needs permission is asked about, if stdin and stdout or stderr are a
terminal; else it fails, unless --yes allows it.

A terminal shows the whole turn, with the beginning and the end of a long result. A
pipe or a file gets the answer, and stderr the rest:

  zeph-acp run "list the public functions" > functions.txt
  zeph-acp run --quiet "name this change" | git commit -F -
  zeph-acp run --json --quiet "fix the build" | jq .cost

The exit status is 0 if the model ended its turn, also one in which some tool calls
failed, 1 after a failure or without a model, 2 for a wrong command line, 3 if the
model refused or reached a limit, or if every tool call was refused, and 130 after
Ctrl-C. After a prompt such as "/bash make" it is that of the command.`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPrompt(cmd, f, r, args) },
	}
	f.policyFile(cmd)
	fs := cmd.Flags()
	fs.StringVar(&r.dir, "cwd", "", "work in `DIR` instead of the current directory")
	fs.BoolVar(&r.yes, "yes", false, "allow every tool call that needs permission")
	fs.StringVar(&r.mode, "mode", "", "start in the session mode `MODE`")
	fs.StringVar(&r.model, "model", "", "use the model `PROVIDER:MODEL`")
	fs.StringVar(&r.resume, "resume", "", "continue the stored session `ID`, in its directory")
	fs.BoolVar(&r.mcpProject, "mcp-project", false, "ask about the MCP servers of the project's .mcp.json; with --yes, start them")
	fs.BoolVar(&r.hooksProject, "hooks-project", false, "ask about the hooks of the project's .claude/settings.json and .zeph/hooks.json; with --yes, run them")
	fs.BoolVar(&r.skillsProject, "skills-project", false, "ask about the skills and commands of the project in .zeph, .claude and .agents; with --yes, use them")
	fs.BoolVar(&r.agentsProject, "agents-project", false, "ask about the sub-agents of the project's .zeph/agents and .claude/agents; with --yes, offer them")
	fs.BoolVar(&r.failOnDenied, "fail-on-denied", false, "exit with 3 if every tool call was refused; the default unless stdout is a terminal")
	fs.BoolVarP(&r.quiet, "quiet", "q", false, "print only the answer, and errors on stderr; with --json only the result")
	fs.BoolVar(&r.json, "json", false, "print the session updates as JSON lines, then the result")
	return cmd
}

// runPrompt acts as the editor for one turn of its own server.
func runPrompt(cmd *cobra.Command, f *flags, r *runFlags, args []string) error {
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	log, closeLog, err := app.NewLogger(l.Config.Log, l.Getenv, os.Stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	if !r.quiet {
		printWarnings(cmd, l)
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	out := &output{w: os.Stdout, failed: cancel}
	a := app.New(l, log)
	a.Warnings = nil // printed above
	a.Reaper, a.ProjectServers, a.ProjectHooks, a.ProjectSkills = newReaper(), r.mcpProject, r.hooksProject, r.skillsProject
	a.ProjectAgents = r.agentsProject
	calls := newTally()
	a.Watch, a.Recorded, a.Spent, a.Changed = calls.watch, calls.recorded, calls.spent, calls.changed
	defer closeApp(a)
	name, err := pickModel(a, r.model)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("resume") && r.resume == "" {
		return usageError("--resume: want the id of a session")
	}
	// The prompt must fit on a line, where a byte may be encoded as six.
	in := stdin{File: os.Stdin, most: max(a.Config.ACP.MaxLineBytes/6-1<<10, 0), quiet: r.quiet, attach: func() bool { return isDirect(a) }}
	prompt, err := in.promptOf(args)
	if err != nil {
		return err
	}
	turn := &headless.Turn{Server: a.Server(), Mode: r.mode, Prompt: prompt, Reaper: a.Reaper, Env: f.environ, Started: calls.started}
	if turn.Dir, turn.Resume, err = r.session(ctx, l, a); err != nil {
		return err
	}
	turn.Scan = a.Scanner(turn.Dir)
	if turn.Resume != "" {
		turn.Model = name
	}
	var user *headless.User
	turn.View, user = audience(out, r, l, calls, in.read)
	turn.Listen = user.Listen
	turn.Approver, a.Yes, a.Alone = user, user.Yes, !user.Yes && user.Keyboard == nil
	if f.record != "" {
		stop, err := recordFrames(turn.Server, f.record)
		if err != nil {
			return err
		}
		defer stop()
	}
	ctx, stop := stopOnSignal(ctx, turn.Abort)
	defer stop()
	if user.Screen != nil && (isTerminal(os.Stdout) || isTerminal(os.Stderr)) {
		defer context.AfterFunc(ctx, user.Screen.Interrupted)()
		if !r.json && !r.quiet {
			defer user.Screen.Spin()()
		}
	}
	if !cmd.Flags().Changed("fail-on-denied") {
		r.failOnDenied = !isTerminal(os.Stdout)
	}
	said := &headless.Said{View: turn.View}
	turn.View = said
	reason, err := turn.Run(ctx)
	if err == nil && reason == acp.StopEndTurn && context.Cause(ctx) == nil {
		err = calls.endError(said.Last(), r.failOnDenied)
	} else {
		err = turnError(reason, err, context.Cause(ctx), said.Last())
	}
	if r.json {
		calls.result(reason, err).write(out)
	}
	return err
}

// pickModel makes a model the default one and returns its name. The server reports
// a missing key.
func pickModel(a *app.App, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a.Model = name
	m, err := a.Sessions().Model(name)
	switch {
	case errors.Is(err, acp.ErrAuthRequired):
		return name, nil
	case err != nil:
		return "", usageError("--model: %w", err)
	}
	a.Model = m.Name()
	return a.Model, nil
}

// session returns the session's cwd and the id of the session to resume. A resumed
// session keeps its own cwd unless another is named.
func (r *runFlags) session(ctx context.Context, l *config.Loaded, a *app.App) (dir, resume string, err error) {
	if r.resume != "" {
		all, err := storedSessions(ctx, l, a)
		if err != nil {
			return "", "", err
		}
		s, err := findSession(all, r.resume)
		if err != nil {
			return "", "", fmt.Errorf("--resume: %w", err)
		}
		if resume = s.ID; r.dir == "" {
			return s.CWD, resume, nil
		}
	}
	abs, err := filepath.Abs(r.dir)
	if err != nil {
		return "", "", err
	}
	if info, err := os.Stat(abs); err != nil {
		return "", "", usageError("--cwd: %w", err)
	} else if !info.IsDir() {
		return "", "", usageError("--cwd: %s is not a directory", abs)
	}
	return abs, resume, nil
}
