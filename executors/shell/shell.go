// Package shell offers the tool "bash": it runs a shell script and gives back
// what it wrote and how it ended.
//
// Start with [Executor]. It knows the tool (input, card, timeout, the text for
// the model) and leaves the effect to a [Runner]: [Local] runs the script as a
// child of this process, another one runs it in a terminal of the client.
// Below Local lies [Process], which starts any program and keeps its output;
// who plays an editor's terminal uses it directly.
//
// It promises that a script cannot hang a call (stdin is empty, there is no
// terminal to ask on, what holds the output open is left behind), that nothing
// a script started runs on in its session after the call, that memory stays
// bounded whatever is written, and that variables which look like secrets do
// not reach it. Whether a script may run at all is decided by other links.
//
// Why are background jobs stopped when the script ends? Because nobody could
// stop them later. "sleep 100 &" neither holds the call nor outlives it: what
// is left of the script's session gets SIGTERM and, a moment later, SIGKILL.
// The session and not the process group is the unit on Linux, because
// timeout(1) and "set -m" make groups of their own; elsewhere it is the group.
// A program that makes itself a daemon with setsid(2), such as the gc of git or
// the server of a build tool, has left on purpose and lives on.
//
// Why is an exit code other than 0 no [tool_error]? Because it is an ordinary
// answer of a program: grep found nothing, a test failed. Only what says that
// the script did not really run is classified (126, 127, a failed start, a
// timeout), by the code alone and never by the words of the output.
package shell

import (
	"context"
	_ "embed" // the description of the tool
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Tool is the id of the tool.
const Tool = "bash"

//go:embed bash.md
var description string

// Runner is where a command runs: [Local] here, or a terminal of the client.
type Runner interface {
	// Run runs one command to its end. When ctx ends first it stops the command
	// with all its children and returns what came so far with the cause of ctx.
	// Any other error means that the command did not start; an
	// [executors.Failure] keeps its category.
	Run(ctx context.Context, cmd Command) (Output, error)
}

// Command is what a Runner runs.
type Command struct {
	Line    string // the script, as bash -c takes it
	Dir     string // absolute path
	Limit   int    // bytes of output that are kept of each stream, head and tail; 0 means the default
	Session string // the ACP session id
	// Notify, if not nil, hears of the terminal, or of output where there is
	// none, and of the exit. It is not called after Run returned.
	Notify func(executors.Event)
}

// Output is what a command came to. All texts are valid UTF-8.
type Output struct {
	Text      string // both streams, in the order of arrival
	Stdout    string // from a terminal, which has one stream, everything
	Stderr    string
	ExitCode  *int   // nil if a signal ended it, or nobody knows
	Signal    string // e.g. "SIGKILL"
	Truncated bool   // more was written than is here
	Terminal  string // id of the terminal at the client, to be shown before the text
	Release   func() // if not nil, frees the terminal; after the final update was sent
}

// Executor offers the tool "bash".
type Executor struct {
	Runner  Runner        // required
	Root    string        // absolute path; the session's working directory
	Timeout time.Duration // of each command; 0 means none
	Bytes   int           // of output that the runner keeps; 0 means the default
	Chars   int           // runes of a result's text; 0 means the default
}

// New makes the executor that cfg describes.
func New(r Runner, root string, cfg Config) *Executor {
	return &Executor{
		Runner:  r,
		Root:    root,
		Timeout: time.Duration(cfg.Timeout) * time.Second,
		Bytes:   cfg.MaxOutputBytes,
		Chars:   cfg.MaxOutputChars,
	}
}

type input struct {
	Command     string `json:"command" jsonschema_description:"The script to run, as bash -c takes it."`
	Description string `json:"description,omitempty" jsonschema_description:"What it does, in five to ten words for the user."`
}

func (e *Executor) registry() executors.Registry {
	return executors.Registry{executors.Bind(executors.Tool{
		Name:        Tool,
		Description: description,
		Effect:      executors.Reads | executors.Mutates | executors.Network,
		Kind:        executors.KindExecute,
		Invocation:  executors.FencedBlock("bash", "command"),
	}, e.prepare, e.execute)}
}

// Tools lists the tool.
func (e *Executor) Tools() []executors.Tool { return e.registry().Tools() }

// Prepare tells what would run and where.
func (e *Executor) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return e.registry().Prepare(ctx, call)
}

// Execute runs the command.
func (e *Executor) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return e.registry().Execute(ctx, call)
}

func (e *Executor) prepare(_ context.Context, _ *executors.Call, in input) (executors.Card, error) {
	if f := in.check(); f != nil {
		return executors.Card{}, f
	}
	return executors.Card{
		Title:   oneLine(in.Command),
		Kind:    executors.KindExecute,
		Command: in.Command,
		Dir:     e.Root,
	}, nil
}

func (e *Executor) execute(ctx context.Context, call *executors.Call, in input) (executors.Result, error) {
	if f := in.check(); f != nil {
		return f.Result(), nil
	}
	cmdCtx, cancel := withTimeout(ctx, e.Timeout)
	defer cancel()
	out, err := e.Runner.Run(cmdCtx, Command{
		Line: in.Command, Dir: e.Root, Limit: e.Bytes, Session: call.Session, Notify: call.Notify,
	})
	if ctx.Err() != nil { // the turn was cancelled
		return executors.Result{Done: out.Release}, context.Cause(ctx)
	}
	if err != nil && cmdCtx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		err = executors.Failuref(executors.Timeout, "stopped after %s, before the command ended", e.Timeout).
			Hint("Let the command do less at once; do not run servers or watchers in the foreground.")
	}
	chars := e.Chars
	if chars == 0 {
		chars = Defaults().MaxOutputChars
	}
	res := out.result(err, chars)
	if call.Record != nil {
		call.Record.ExitCode, call.Record.Truncated = out.ExitCode, res.Raw.(Envelope).Truncated
	}
	return res, nil
}

// maxCommand is the longest script, in bytes: systems give one argument of a
// program not much more (128 KiB on Linux), and the user is to see it whole.
const maxCommand = 64 << 10

// check refuses what no shell can be given.
func (in input) check() *executors.Failure {
	switch {
	case len(in.Command) > maxCommand:
		return executors.Failuref(executors.InvalidParameters, "bash: command has %d bytes, and %d is the most", len(in.Command), maxCommand).
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

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// oneLine shows a whole script on one line. What could make a client show
// another script than the one that runs, control characters and characters that
// change the direction of text, is spelt out.
func oneLine(script string) string {
	script = strings.ReplaceAll(strings.TrimSpace(script), "\r\n", "\n")
	var b strings.Builder
	for _, r := range script {
		switch {
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
