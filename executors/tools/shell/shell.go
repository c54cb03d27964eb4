// Package shell offers the tool "bash", which runs a shell script and returns its
// output and exit code. "bash_output" and "bash_stop" read from and end scripts
// that run in the background.
//
// Start with [Executor]. It handles input, card, timeout and the text for the
// model, and leaves the effect to a [Runner]: [Local] runs the script as a child
// of this process, another runner uses a terminal of the client. Package process
// starts programs and keeps their output; package rollback undoes a failed script;
// package sandbox restricts scripts.
//
// It promises that a script cannot hang a call: stdin is empty, there is no terminal for questions,
// and a call does not wait for a daemon that holds the output open. No process in the script's
// session outlives the call. Memory stays bounded whatever the script writes. It does not get
// variables that look like secrets. Other links decide whether a script may run at all.
//
// Why are background jobs stopped when the script ends? Because no tool could stop them later.
// "sleep 100 &" neither holds the call nor outlives it: the rest of the script's session receives
// SIGTERM and, a moment later, SIGKILL. The session and not the process group is the unit on Linux,
// because timeout(1) and "set -m" make their own groups; elsewhere it is the group. A daemon that
// leaves the session with setsid(2), such as the gc of git or the server of a build tool, keeps
// running.
//
// Why is an exit code other than 0 not a [tool_error]? Because it is an ordinary answer
// of a program: grep found nothing, a test failed. Only a script that did not really run
// is classified: 126, 127, a failed start, a timeout. The exit code alone decides, never
// the text of the output.
package shell

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the description of the tool
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/undo/rollback"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// Tool is the id of the tool.
const Tool = "bash"

//go:embed bash.md
var description string

// Runner is where a command runs: [Local] here, or a terminal of the client.
type Runner interface {
	// Background starts a command that keeps running after ctx ends, until it ends by
	// itself or is stopped. It returns the same errors as Run.
	Background(ctx context.Context, cmd Command) (Job, error)

	// Run runs one command to its end. When ctx ends first it stops the command
	// with all its children and returns the output so far with the cause of ctx.
	// If that cause is ErrGoOn, the command keeps running instead, and the Job of the
	// output is the command, with all of its output. Any other error means that the
	// command did not start; an [executors.Failure] keeps its category.
	Run(ctx context.Context, cmd Command) (Output, error)
}

// Command is a script for a Runner, with its limits.
type Command struct {
	Line string // the script, as for bash -c
	// ReadOnly says that the script was checked and runs unasked. The runner
	// restricts it to reading as far as the system can, and removes variables that
	// make programs do more than the command names.
	ReadOnly bool
	// Secrets are variables for this command alone, as NAME=value. They are not sent to the
	// client.
	Secrets []string
	Dir     string // absolute path
	Limit   int    // bytes of output that are kept, head and tail; 0 means the default
	Session string // the ACP session id
	// Notify, if not nil, receives the terminal, or the output if there is no
	// terminal, and the exit. It is not called after Run returned.
	Notify func(executors.Event)
	// Follow says that Notify also receives the output of a command in the background, as long as it runs.
	Follow bool
}

// Args returns the arguments with which bash runs the script, or sh does. A read-only command takes
// neither functions nor options nor start files from the environment, which an editor may extend.
func (c Command) Args() []string {
	script := c.Line
	if script != "" && (script[0] == '-' || script[0] == '+') {
		script = " " + script // else the shell would take it for options
	}
	if c.ReadOnly { // it is only run by bash
		return []string{"-p", "-c", script}
	}
	return []string{"-c", script}
}

// Env adds the variables that the command needs to the runner's. block are the prefixes of
// variables that the runner hides (see the function Env), and extra the variables that it
// sets, as NAME=value.
func (c Command) Env(block, extra []string) ([]string, []string) {
	extra = slices.Concat(extra, c.Secrets)
	if !c.ReadOnly {
		return block, extra
	}
	return slices.Concat(block, steeringPrefixes), slices.Concat(extra, readOnlyEnv())
}

// Executor offers the tools. Close it when its session ends.
type Executor struct {
	Runner      Runner           // required
	Root        string           // absolute path without links; the session's working directory
	Home        string           // absolute; empty means unknown
	Timeout     time.Duration    // of each command; 0 means no limit
	TimeoutKey  string           // the configuration key of Timeout, in messages for people
	JobsEnd     string           // tells the model when commands in the background end, as a sentence; may be empty
	HasTerminal bool             // commands have a terminal, where a person may type
	Roots       *workspace.Roots // where failed commands are undone; nil disables that
	UndoLimits  undo.Limits      // of the copies that undo failed commands
	// Follow says that the client shows commands in the background as long as they run: Call.Notify receives their
	// output and exit, also after the call.
	Follow bool

	cfg        Config
	tools      executors.Registry
	background background
	restricted restrictedCommands
}

// New returns the executor that cfg describes, for commands in the directory root.
func New(r Runner, root string, cfg Config) *Executor {
	e := &Executor{Runner: r, Root: root, Timeout: time.Duration(cfg.Timeout) * time.Second, TimeoutKey: "tools.shell.timeout", cfg: cfg}
	e.tools = e.bindTools()
	return e
}

type bashInput struct {
	Command     string `json:"command"`
	Description string `json:"description,omitempty"`
	Background  bool   `json:"background,omitempty"`
	// In seconds. bindTools replaces the maximum with the configured one.
	Timeout int `json:"timeout,omitempty" jsonschema:"maximum=600"`
}

// bindTools makes the tools.
func (e *Executor) bindTools() executors.Registry {
	// Internal, because they only reach commands that bash was allowed to start.
	jobTool := func(name, act, text, claude string) executors.Tool {
		return executors.Tool{
			Name: name, With: Tool, Act: act, Description: text, Effect: executors.Internal, Kind: executors.KindExecute,
			Names: executors.Names{Claude: claude}, IDs: `bg\d+`,
		}
	}
	bash := executors.Bind(executors.Tool{
		Name:        Tool,
		Act:         "Run",
		Description: description,
		Effect:      executors.Reads | executors.Mutates | executors.Network,
		Kind:        executors.KindExecute,
		Invocation:  executors.FencedBlock("bash", "command", "ls", "sh", "shell", "zsh", "console", "terminal"),
		Subject:     executors.Script("command"),
		Names:       executors.Names{Claude: "Bash", Codex: "shell", Gemini: "run_shell_command", Earlier: "shell sh", Models: "run_command execute_command shell_command exec_command terminal"},
		Traits:      executors.Recommended,
		Gain:        0.6,
	}, e.prepare, e.execute)
	maximum := func(timeout int) []byte { return fmt.Appendf(nil, `"maximum":%d`, timeout) }
	if e.cfg.OnTimeout == killLate {
		bash.Description = strings.Replace(bash.Description, goesOn, isLimited, 1)
	}
	bash.Schema = bytes.Replace(bash.Schema, maximum(setting.Default[Config]().MaxTimeout), maximum(e.cfg.MaxTimeout), 1)
	return executors.Registry{
		bash,
		executors.Bind(jobTool(toolOutput, "Read", outputDescription, "BashOutput Bash"), e.prepareOutput, e.output),
		executors.Bind(jobTool(toolStop, "", stopDescription, "KillShell Bash"), e.prepareStop, e.stop),
	}.Limited(e.cfg.MaxOutputChars)
}

// Tools lists the tools.
func (e *Executor) Tools() []executors.Tool { return e.tools.Tools() }

// Prepare returns the command that would run, and its directory.
func (e *Executor) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return e.tools.Prepare(ctx, call)
}

// Execute runs a command, or reads from or ends one in the background.
func (e *Executor) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return e.tools.Execute(ctx, call)
}

// scriptOf returns the script of a call, which Prepare parsed unless the input is another one by now.
func (e *Executor) scriptOf(call *executors.Call, in *bashInput) *command.Script {
	if s := call.Card.Script; s != nil && s.Text == in.Command {
		return s
	}
	return command.Parse(in.Command, command.Shell{Dir: e.Root, Home: e.Home})
}

func (e *Executor) prepare(_ context.Context, call *executors.Call, in *bashInput) (executors.Card, error) {
	if f := e.checkInput(call, in); f != nil {
		return executors.Card{}, f
	}
	title := executors.Quoted(executors.WholeLine(in.Command))
	if in.Background {
		title += " in the background"
	}
	card := executors.Card{
		Title:  title,
		Kind:   executors.KindExecute,
		Script: e.scriptOf(call, in),

		FullAccess: e.restricted.contains(in.Command),
	}
	if f := e.refuseKeys(card.Script); f != nil {
		return card, f
	}
	return card, nil
}

func (e *Executor) execute(ctx context.Context, call *executors.Call, in *bashInput) (executors.Result, error) {
	if f := e.checkInput(call, in); f != nil {
		return f.Result(), nil
	}
	if f := cmp.Or(e.refuseKeys(e.scriptOf(call, in)), e.checkDirectory()); f != nil {
		return f.Result(), nil
	}
	snap, note, err := e.takeSnapshot(ctx, call, in)
	switch {
	case err != nil && ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return asFailure(err).Result(), nil
	case in.Background:
		return e.start(ctx, call, in, note)
	}
	defer snap.Close()
	return e.run(ctx, call, in, snap, note)
}

// run runs a command to its end, and undoes it if it failed and there is a
// snapshot.
func (e *Executor) run(
	ctx context.Context, call *executors.Call, in *bashInput, snap *rollback.Snapshot, note string,
) (executors.Result, error) {
	timeout, goOn := e.timeLimit(call, in, snap != nil)
	cmdCtx, cancel := withTimeout(ctx, timeout, goOn)
	defer cancel()
	cmd, began := e.command(call, in), time.Now()
	out, err := e.Runner.Run(cmdCtx, cmd)
	var refused *executors.Failure
	if out.Job != nil {
		var res executors.Result
		if res, refused, err = e.goOn(ctx, call, in, cmd, out.Job, began, note); refused == nil {
			return res, err
		}
		out, err = e.endJob(ctx, out.Job), context.DeadlineExceeded
	}
	switch {
	case ctx.Err() == nil:
	case out.Text == "" && out.Full == nil:
		return executors.Result{Done: out.Release}, context.Cause(ctx)
	default: // the turn was cancelled: the output so far is shown
		return out.result(ending{failed: true}, e.cfg.MaxOutputChars), context.Cause(ctx)
	}
	timedOut := err != nil && (refused != nil || cmdCtx.Err() != nil && errors.Is(err, context.DeadlineExceeded))
	if timedOut {
		err = e.timeoutFailure(in, timeout)
	}
	if refused != nil {
		note = executors.JoinLines(note, "[it could not go on in the background: "+refused.Message+"]")
	}
	if call.Plain != nil && call.Plain.ReadOnly {
		note = executors.JoinLines(note, e.restricted.record(in.Command, out))
	}
	undone, undoErr := e.rollBack(snap, call, out.ExitCode, timedOut)
	if undoErr != nil {
		err = undoErr
	}
	out.Note = executors.JoinLines(out.Note, out.noTerminalNote(), note, undone)
	res := out.result(out.ending(err), e.cfg.MaxOutputChars)
	out.recordOutcome(call.Record, res)
	return res, nil
}

func (e *Executor) command(call *executors.Call, in *bashInput) Command {
	cmd := Command{
		Line: in.Command, Dir: e.Root, Limit: e.cfg.MaxOutputBytes, Session: call.Session, Notify: call.Notify, Secrets: call.Env,
		Follow: e.Follow,
	}
	if call.Plain != nil {
		cmd.Line, cmd.ReadOnly = call.Plain.Script, call.Plain.ReadOnly
	}
	if cmd.ReadOnly { // the user was not asked about the command, and it could print the secrets in another form
		cmd.Secrets = nil
		cmd.Line = "exec 0</dev/null; " + cmd.Line // in a terminal it would read what the user types
	}
	return cmd
}

// checkDirectory checks that the session's directory was not replaced: a link in its
// place would lead commands out of the roots.
func (e *Executor) checkDirectory() *executors.Failure {
	real, err := filepath.EvalSymlinks(e.Root)
	switch {
	case err != nil:
		err = workspace.Cause(err)
	case real != e.Root:
		err = fmt.Errorf("a link to %s took its place", real)
	default:
		return nil
	}
	return executors.Failuref(executors.PermanentFailure, "the session's directory %s can no longer be used: %v", e.Root, err).
		Hint("Ask the user to bring it back, or to open a new session.")
}

// maxCommandBytes is the length of the longest script. Systems limit one argument of a
// program to not much more (128 KiB on Linux), and the user must see it whole.
const maxCommandBytes = 64 << 10

// timeoutFailure returns the failure of a command that did not end in time. People see
// the command, and the key of the limit, unless the call set it.
func (e *Executor) timeoutFailure(in *bashInput, timeout time.Duration) *executors.Failure {
	key := ""
	if in.Timeout == 0 {
		key = " (" + e.TimeoutKey + ")"
	}
	return executors.Failuref(executors.Timeout, "stopped after %s, before the command ended", timeout).
		Hint("%sSplit the work into shorter commands; run servers and watchers with background.", e.longerTimeoutHint(timeout)).
		ForUser("%s was stopped after %s%s, before it ended.", executors.Quoted(brief(in.Command)), seconds(timeout), key)
}

// longerTimeoutHint returns the advice to allow a command more time, "" at the maximum.
func (e *Executor) longerTimeoutHint(timeout time.Duration) string {
	if timeout >= time.Duration(e.cfg.MaxTimeout)*time.Second {
		return ""
	}
	return fmt.Sprintf("Call it with a longer timeout, up to %s. ", quantity.Count(e.cfg.MaxTimeout, "second"))
}

// checkInput refuses input that no shell can run, or that may not run.
func (e *Executor) checkInput(call *executors.Call, in *bashInput) *executors.Failure {
	switch {
	case in.Background && len(call.Env) > 0: // it would hold the secrets for longer than the skill runs
		return executors.Failuref(executors.PolicyBlocked, "a command with the secrets of a skill does not run in the background")
	case in.Timeout < 0 || in.Timeout > e.cfg.MaxTimeout:
		return executors.Failuref(executors.InvalidParameters, "bash: timeout must be from 1 to %s, got %d", quantity.Count(e.cfg.MaxTimeout, "second"), in.Timeout)
	case len(in.Command) > maxCommandBytes:
		return executors.Failuref(executors.InvalidParameters, "bash: command has %s; the limit is %d", quantity.Count(len(in.Command), "byte"), maxCommandBytes).
			Hint("Put the script into a file with write and run that.")
	case strings.TrimSpace(in.Command) == "":
		return executors.Failuref(executors.InvalidParameters, "bash: command is empty").
			Hint(`Call it with {"command": "..."}.`)
	case strings.ContainsRune(in.Command, 0):
		return executors.Failuref(executors.InvalidParameters, "bash: command contains a NUL character").
			Hint(`Write it as \0 inside of printf.`)
	}
	return nil
}

// withTimeout returns a context that ends after d, with ErrGoOn as its cause if the command goes on.
func withTimeout(ctx context.Context, d time.Duration, goOn bool) (context.Context, context.CancelFunc) {
	switch {
	case d <= 0:
		return context.WithCancel(ctx)
	case goOn:
		return context.WithTimeoutCause(ctx, d, ErrGoOn)
	}
	return context.WithTimeout(ctx, d)
}
