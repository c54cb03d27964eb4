// Package ideproxy is the editor as the place of effect: [Terminal] runs
// commands in its terminals, [FS] reads and writes through its buffers,
// [Approver] asks its user.
//
// Each is made for one session and used only as far as the client said that it
// can. The package promises that every terminal is released, that a client
// which does not know a method after all costs nothing but a local execution,
// and that any other refusal of the client is a refusal: the work is then not
// done behind its back.
package ideproxy

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/shell"
)

// Terminal runs commands in terminals of the client; it is a shell.Runner.
type Terminal struct {
	Client *acp.Client
	// Shared decides whether the client's terminals are used; nil means that they
	// are, without a probe.
	Shared *Terminals
	// Local runs the command where the client's terminals are not used.
	Local shell.Runner
	Block []string // prefixes of variables that are withheld besides those of shell.Env
	Extra []string // NAME=value, set for every command
}

// settle is how long a killed command may take to write its last.
const settle = time.Second

// Run runs one command. After a timeout its output so far comes with the error;
// after a cancel nothing is waited for, and Release ends the command.
func (t *Terminal) Run(ctx context.Context, cmd shell.Command) (shell.Output, error) {
	term, err := t.create(ctx, cmd)
	if errors.Is(err, errNoTerminals) {
		return t.Local.Run(ctx, cmd)
	}
	if err != nil {
		return shell.Output{}, err
	}
	out := shell.Output{Terminal: term.ID, Release: term.Release, ReadOnly: t.holds(cmd)}
	status, err := term.Wait(ctx)
	switch {
	case ctx.Err() == nil:
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = context.Cause(ctx)
		status = stop(ctx, term)
	default:
		return out, context.Cause(ctx)
	}
	collect(ctx, term, status, &out)
	if cmd.Notify != nil && (out.ExitCode != nil || out.Signal != "") {
		cmd.Notify(executors.Event{Exit: &executors.Exit{Code: out.ExitCode, Signal: out.Signal}})
	}
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		if out.ExitCode != nil || out.Signal != "" { // the output told
			return out, nil
		}
		err = executors.Failuref(executors.PermanentFailure, "the editor could not tell how the command ended: %s", refused.Message)
	}
	return out, err
}

// errNoTerminals says that the command has to run here.
var errNoTerminals = errors.New("the editor's terminals cannot be used")

// maxTerminal is how many bytes of output a terminal is asked to keep: all of
// them come in one frame.
const maxTerminal = 1 << 20

// create starts the command in a terminal, and reports the terminal as an event.
func (t *Terminal) create(ctx context.Context, cmd shell.Command) (*acp.Terminal, error) {
	if t.Shared != nil {
		probe := func(ctx context.Context) (arguments, string) { return t.probe(ctx, cmd) }
		if ok, err := t.Shared.usable(ctx, t.Client.Info(), probe); err != nil {
			return nil, err
		} else if !ok {
			return nil, errNoTerminals
		}
	}
	limit := cmd.Limit
	if limit <= 0 || limit > maxTerminal {
		limit = maxTerminal
	}
	term, err := t.start(ctx, cmd, limit)
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		if refused.Unsupported() {
			return nil, errNoTerminals
		}
		return nil, executors.Failuref(executors.PermanentFailure, "the editor did not start the command: %s", refused.Message).
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
	req := acp.CreateTerminalRequest{
		SessionID: cmd.Session, Command: shellName(), Args: cmd.Args(), CWD: cmd.Dir,
		Env: t.env(cmd), OutputByteLimit: limit,
	}
	if t.holds(cmd) {
		req.Meta = map[string]any{ReadOnlyMeta: true}
	}
	return t.Client.CreateTerminal(ctx, req)
}

// holds reports whether the client has the kernel hold the command.
func (t *Terminal) holds(cmd shell.Command) bool {
	return cmd.ReadOnly && quirksOf(t.Client.Info()).holds
}

// stop kills a command that ran out of time.
func stop(ctx context.Context, term *acp.Terminal) acp.ExitStatus {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settle)
	defer cancel()
	_ = term.Kill(ctx)          // it may have ended by itself meanwhile
	status, _ := term.Wait(ctx) // what is not known is not said
	return status
}

// headCut stands before an output of which the terminal kept only the end.
const headCut = "[… the beginning is cut …]\n"

// collect reads the output, also that of a command that was stopped.
func collect(ctx context.Context, term *acp.Terminal, status acp.ExitStatus, out *shell.Output) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), settle)
		defer cancel()
	}
	shown, err := term.Output(ctx)
	switch {
	case err != nil:
		out.Text = "[the editor did not give the output: " + err.Error() + "]"
	case shown.Truncated:
		out.Text, out.Truncated = headCut+shown.Output, true
	default:
		out.Text = shown.Output
	}
	out.Stdout = out.Text // a terminal has one stream
	if status.ExitCode == nil && status.Signal == nil && shown.ExitStatus != nil {
		status = *shown.ExitStatus
	}
	ended(out, status)
}

// ended notes how the command ended.
func ended(out *shell.Output, status acp.ExitStatus) {
	out.ExitCode = status.ExitCode
	if status.Signal != nil {
		out.Signal = *status.Signal
	}
}

// env sets what a local command gets, and empties what it must not see: the
// protocol cannot take variables away.
func (t *Terminal) env(cmd shell.Command) []acp.EnvVariable {
	block, extra := cmd.Env(t.Block, t.Extra)
	var env []acp.EnvVariable
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(v acp.EnvVariable) bool { return v.Name == name }) // once, whichever a client would take
		env = append(env, acp.EnvVariable{Name: name, Value: value})
	}
	for _, name := range shell.Blocked(os.Environ(), block) {
		set(name, "")
	}
	for _, v := range slices.Concat(shell.Quiet(), extra) {
		name, value, _ := strings.Cut(v, "=")
		set(name, value)
	}
	return env
}

// shellName is the shell that the editor starts, which runs on this machine.
func shellName() string {
	if !shell.HasBash() {
		if _, err := exec.LookPath("sh"); err == nil {
			return "sh"
		}
	}
	return "bash"
}
