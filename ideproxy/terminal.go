// Package ideproxy does the work of tools in the editor: [Terminal] runs commands
// in its terminals, [FS] reads and writes through its buffers, [Approver] asks its
// user.
//
// Each is made for one session, and calls only the methods that the client offers.
// Clients also differ in behaviour that no capability declares; quirks.go lists
// the differences. [Terminals] decides whether commands may run in the editor.
//
// The package promises that every terminal is released. If the client does not
// support a method, the work is done locally. If the client refuses for any
// other reason, the work is not done: the package never bypasses the editor.
package ideproxy

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// Terminal runs commands in terminals of the client; it is a shell.Runner.
type Terminal struct {
	Client *acp.Client
	// Shared decides whether to use the client's terminals; nil means to use
	// them without a probe.
	Shared *Terminals
	// Local runs the command if the client's terminals are not used.
	Local shell.Runner
	Block []string
	Extra []string // NAME=value, set for every command
	// Launch returns the program that runs argv in the box of unasked commands, with env as the
	// whole environment; nil where there is no box.
	Launch func(argv, env []string) (Launch, error)
	// NoBash means that sh runs commands, since the editor's machine, which is also
	// this one, has no bash.
	NoBash bool

	envs sync.Map // bool, whether the command only reads -> []acp.EnvVariable
}

// killTime is how long a killed command may take to end.
const killTime = time.Second

// Run runs one command. After a timeout it returns the output so far with the error.
// After a cancel it returns immediately, and Release ends the command.
func (t *Terminal) Run(ctx context.Context, cmd shell.Command) (shell.Output, error) {
	term, err := t.create(ctx, cmd, t.limit(cmd))
	if errors.Is(err, errNoTerminals) {
		return t.Local.Run(ctx, cmd)
	}
	if err != nil {
		return shell.Output{}, err
	}
	out := shell.Output{Terminal: term.ID, Release: term.Release, ReadOnly: t.boxed(cmd)}
	status, err := t.wait(ctx, term, outputInterval)
	stopped := false
	switch {
	case ctx.Err() == nil:
	case errors.Is(context.Cause(ctx), shell.ErrGoOn):
		return shell.Output{Job: t.newJob(ctx, term, cmd)}, nil
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = context.Cause(ctx)
		status, stopped = stopTerminal(ctx, term), true
	default:
		return out, context.Cause(ctx)
	}
	t.collect(ctx, term, status, &out)
	if stopped && out.ReadOnly && out.ExitCode != nil && *out.ExitCode > 128 { // the launcher's form of a signal
		out.ExitCode, out.Signal = nil, "SIGTERM"
	}
	if cmd.Notify != nil && (out.ExitCode != nil || out.Signal != "") {
		cmd.Notify(executors.Event{Exit: &executors.Exit{Code: out.ExitCode, Signal: out.Signal}})
	}
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		if out.ExitCode != nil || out.Signal != "" { // the output has the exit status
			return out, nil
		}
		err = executors.Failuref(executors.PermanentFailure, "%s did not report how the command ended: %s", noun(t.Client), refused.Message)
	}
	return out, err
}

// wait waits for the end of a command. The client may lack the method, or answer it
// while the command still runs. Then the terminal is polled for its exit status.
func (t *Terminal) wait(ctx context.Context, term *acp.Terminal, every time.Duration) (acp.ExitStatus, error) {
	status, err := term.Wait(ctx)
	refused, ok := errors.AsType[*acp.ClientError](err)
	if ok && refused.Unsupported() || err == nil && !status.Known() && t.Shared.endInOutput() {
		status = poll(ctx, term, every)
	}
	return status, err
}

// errNoTerminals reports that the command has to run locally.
var errNoTerminals = errors.New("the editor's terminals cannot be used")

// Output limits of a terminal, in bytes. Unless the client returns parts, the output arrives in one frame.
const (
	maxOutputBytes = 8 << 20 // the names of failed tests may be anywhere: few outputs should reach it
	maxJobBytes    = 1 << 20 // of a command in the background, whose output is read again and again
)

// limit returns how many bytes of a command's output a terminal keeps.
func (t *Terminal) limit(cmd shell.Command) int {
	if cmd.Limit > 0 && (cmd.Limit < maxOutputBytes || t.Client.Capabilities().OutputParts) {
		return cmd.Limit
	}
	return maxOutputBytes
}

// create starts the command in a terminal that keeps limit bytes of output, and reports the terminal as
// an event.
func (t *Terminal) create(ctx context.Context, cmd shell.Command, limit int) (*acp.Terminal, error) {
	if len(cmd.Secrets) > 0 { // they would be in the frames, and in their recordings
		return nil, errNoTerminals
	}
	if t.Shared != nil {
		probe := func(ctx context.Context) quirks { return t.probe(ctx, cmd) }
		if ok, err := t.Shared.usable(ctx, t.Client.Info(), probe); err != nil {
			return nil, err
		} else if !ok {
			return nil, errNoTerminals
		}
	}
	if quirksOf(t.Client.Info()).dropsEnd { // the end often has the error
		limit = maxOutputBytes
	}
	start := t.start
	if t.boxed(cmd) {
		start = t.startBoxed
	}
	term, err := start(ctx, cmd, limit)
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		if refused.Unsupported() {
			return nil, errNoTerminals
		}
		return nil, executors.Failuref(executors.PermanentFailure, "%s did not start the command: %s", noun(t.Client), refused.Message).
			Hint("Ask the user whether the editor's terminal works.")
	}
	if err != nil {
		return nil, err
	}
	if cmd.Notify != nil {
		cmd.Notify(executors.Event{Terminal: term.ID})
	}
	return term, nil
}

// start runs a command in a terminal that keeps limit bytes of output.
func (t *Terminal) start(ctx context.Context, cmd shell.Command, limit int) (*acp.Terminal, error) {
	return t.Client.CreateTerminal(ctx, acp.CreateTerminalRequest{
		SessionID: cmd.Session, Command: t.shell(), Args: cmd.Args(), CWD: cmd.Dir,
		Env: t.env(cmd), OutputByteLimit: limit,
	})
}

// stopTerminal kills a command that exceeded its time limit.
func stopTerminal(ctx context.Context, term *acp.Terminal) acp.ExitStatus {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	_ = term.Kill(ctx)          // the command may have ended already
	status, _ := term.Wait(ctx) // an unknown status is left empty
	return status
}

// headCut begins an output whose beginning the terminal dropped, endCut ends one whose
// end it dropped.
const (
	headCut = "[… the beginning is cut …]\n"
	endCut  = "\n[… the end is cut …]"
)

// collect reads the output of a command that has ended or was stopped.
func (t *Terminal) collect(ctx context.Context, term *acp.Terminal, status acp.ExitStatus, out *shell.Output) {
	kept := process.NewCapture(math.MaxInt) // the terminal has applied the limit
	shown, err := t.readAll(ctx, term, func(text string) { kept.Add([]byte(text)) })
	if err != nil {
		kept.Add([]byte(noOutput(err)))
	}
	if !status.Known() && shown.ExitStatus != nil {
		status = *shown.ExitStatus
	}
	read := shell.OneStream(kept)
	out.Text, out.Full, out.Stdout, out.CutStreams, out.Note = read.Text, read.Full, read.Stdout, read.CutStreams, read.Note
	out.Truncated, out.Lost = read.Truncated || shown.Truncated, read.Lost
	setExit(out, status)
}

// readAll reads an output: in parts if the client returns parts, else in one frame. After a timeout each
// answer has to arrive within killTime.
func (t *Terminal) readAll(ctx context.Context, term *acp.Terminal, add func(text string)) (shown acp.TerminalOutput, err error) {
	request := func(ask func(context.Context) (acp.TerminalOutput, error)) {
		ctx := ctx
		if ctx.Err() != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), killTime)
			defer cancel()
		}
		shown, err = ask(ctx)
	}
	if !t.Client.Capabilities().OutputParts {
		request(term.Output)
		switch {
		case shown.Truncated && quirksOf(t.Client.Info()).dropsEnd:
			add(shown.Output + endCut)
		case shown.Truncated:
			add(headCut + shown.Output)
		default:
			add(shown.Output)
		}
		return shown, err
	}
	for from := int64(0); ; from = shown.Meta.From {
		request(func(ctx context.Context) (acp.TerminalOutput, error) { return term.OutputFrom(ctx, from) })
		if err != nil || shown.Output == "" {
			return shown, err
		}
		add(shown.Output)
	}
}

// noOutput returns the text in place of an output that the terminal did not return.
func noOutput(err error) string {
	return "[the terminal did not return the output: " + err.Error() + "]"
}

// setExit stores the exit status in out.
func setExit(out *shell.Output, status acp.ExitStatus) {
	out.ExitCode = status.ExitCode
	if status.Signal != nil {
		out.Signal = *status.Signal
	}
}

// env returns the variables of a local command. They are the same for all commands with
// the same rights, since commands with secrets do not run in the client.
func (t *Terminal) env(cmd shell.Command) []acp.EnvVariable {
	env, ok := t.envs.Load(cmd.ReadOnly)
	if !ok {
		env, _ = t.envs.LoadOrStore(cmd.ReadOnly, t.newEnv(cmd))
	}
	return env.([]acp.EnvVariable)
}

// newEnv makes the variables. Withheld ones are set to "", because the protocol cannot
// unset them.
func (t *Terminal) newEnv(cmd shell.Command) []acp.EnvVariable {
	block, extra := cmd.Env(t.Block, t.Extra)
	var env []acp.EnvVariable
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(v acp.EnvVariable) bool { return v.Name == name }) // once: clients differ in which duplicate they use
		env = append(env, acp.EnvVariable{Name: name, Value: value})
	}
	for _, name := range shell.Blocked(os.Environ(), block) {
		set(name, "")
	}
	for _, v := range slices.Concat(shell.Quiet(), extra) {
		name, value, _ := strings.Cut(v, "=")
		set(name, value)
	}
	if path := os.Getenv("PATH"); cmd.ReadOnly && path != "" { // the programs that were checked: an editor may add directories of the project
		set("PATH", path)
	}
	return env
}

// shell returns the name of the shell to start.
func (t *Terminal) shell() string {
	if t.NoBash {
		if _, err := exec.LookPath("sh"); err == nil {
			return "sh"
		}
	}
	return "bash"
}
