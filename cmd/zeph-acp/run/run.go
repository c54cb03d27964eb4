// Package run is the command "zeph-acp run": one headless turn. The packages of the
// commands chat and review use its [Runner].
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Flags are the command-line flags of run.
type Flags struct {
	Dir          string        // --cwd
	Mode         string        // --mode
	Model        string        // --model
	resume       string        // --resume
	continueLast bool          // --continue
	addDirs      []string      // --add-dir
	attachFiles  []string      // --attach
	SystemAppend string        // --system-append
	schemaFile   string        // --output-schema
	MaxRounds    int           // --max-rounds; 0 means that the configuration decides
	Timeout      time.Duration // 0 means no limit
	yes          bool
	JSON         bool
	Quiet        bool

	roundsSet    bool   // --max-rounds was given
	RoundsAdvice string // how to continue after a limit of rounds, as a sentence
	goalFlags
	MCPProject    bool
	HooksProject  bool
	SkillsProject bool
	AgentsProject bool
	failOnDenied  bool
	Denials       denials // the outcome of --fail-on-denied
	WaitJobs      time.Duration
}

// NewCommand returns the command run.
func NewCommand(f *cli.Flags) *cobra.Command {
	r := &Flags{RoundsAdvice: "Go on with --continue, or allow more rounds."}
	cmd := &cobra.Command{
		Use:   "run [flags] PROMPT...",
		Short: "Run one turn in the terminal, without an editor",
		Long: `Run one turn in the terminal, without an editor. The prompt is the arguments.
Without a model it can be a tool call, such as "/bash go version".

If stdin is not a terminal, its text is added below the prompt, or in place of an
argument "-". A text over 64 KiB becomes an attachment. A prompt that begins with "/"
reads stdin only for a "-", and always as an attachment.

In a terminal, a line that is typed while the turn runs is added to it: the model
sees it after the running tool calls.

You are asked about a call that needs permission if stdin is a terminal, and stdout or
stderr is one too. Otherwise the call fails, unless --yes allows it.

A terminal shows the whole turn, with the beginning and the end of a long result. A
pipe or a file gets the answer, and stderr the rest:

  zeph-acp run "list the public functions" > functions.txt
  zeph-acp run --quiet "name this change" | git commit -F -
  zeph-acp run --json --quiet "fix the build" | jq .cost
  zeph-acp run --attach screen.png --timeout 5m "what is wrong here?"
  zeph-acp run --continue "and the tests"
  zeph-acp run --yes --goal "make the tests pass" --until "go test ./..."

A prompt such as "/bash make" exits with the command's status, and any other call of
your own that fails, such as "/read missing.txt", with 1. Otherwise:

  0    the model ended its turn, even if some tool calls failed
  1    a failure, or no model
  2    a wrong command line
  3    the model refused or reached a limit, every tool call was refused, or a
       command in the background had to be stopped
  4    the answer does not fit --output-schema
  5    the goal of --goal was not met
  130  Ctrl-C`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPrompt(cmd, f, r, args) },
	}
	f.AddPolicyFlag(cmd)
	f.AddProtocolFlag(cmd, "speak `VERSION` v1 or v2 of the protocol with the agent (default: v1); see docs/protocol.md")
	fs := cmd.Flags()
	r.AddSessionFlags(cmd)
	fs.BoolVarP(&r.yes, "yes", "y", false, "allow every tool call that needs permission")
	fs.StringArrayVar(&r.attachFiles, "attach", nil, "attach the text or image in `FILE`; may be repeated")
	cli.AddMaxRounds(fs, &r.MaxRounds, "stop after `N` rounds of tool calls; a terminal asks instead whether to continue, unless this is given")
	fs.DurationVar(&r.Timeout, "timeout", 0, "stop the turn after `DURATION`, such as 90s or 10m")
	r.goalFlags.add(fs)
	fs.StringVar(&r.schemaFile, "output-schema", "", "ask for an answer in JSON that fits the JSON Schema in `FILE`, and print it alone")
	fs.BoolVar(&r.MCPProject, "mcp-project", false, "ask about the MCP servers of the project's .mcp.json; with --yes, start them")
	fs.BoolVar(&r.HooksProject, "hooks-project", false, "ask about the hooks of the project's .claude/settings.json and .zeph/hooks.json; with --yes, run them")
	fs.BoolVar(&r.SkillsProject, "skills-project", false, "ask about the skills and commands of the project in .zeph, .claude and .agents; with --yes, use them")
	fs.BoolVar(&r.AgentsProject, "agents-project", false, "ask about the sub-agents of the project's .zeph/agents and .claude/agents; with --yes, offer them")
	fs.BoolVar(&r.failOnDenied, "fail-on-denied", false, "exit with 3 if a tool call was refused; without this flag, and unless stdout is a terminal, only if every call was")
	fs.DurationVar(&r.WaitJobs, "wait-jobs", DefaultWaitJobs, "wait for commands in the background after the turn, at most for `DURATION`")
	fs.BoolVarP(&r.Quiet, "quiet", "q", false, "print only the answer, and errors on stderr; with --json only the result")
	fs.BoolVar(&r.JSON, "json", false, "print the session updates as JSON lines, then the result")
	fs.BoolP("print", "p", false, "") // what others call a run
	_ = fs.MarkHidden("print")
	return cmd
}

// AddSessionFlags adds the flags about the session.
func (r *Flags) AddSessionFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&r.Dir, "cwd", "", "work in `DIR` instead of the current directory")
	fs.StringVar(&r.Mode, "mode", "", "begin in the session mode `MODE`: ask, architect, code, auto or auto-judge")
	fs.StringVarP(&r.Model, "model", "m", "", "use the model `PROVIDER:MODEL`, the configured one of PROVIDER, or one by a name such as opus")
	fs.StringVar(&r.resume, "resume", "", "continue the stored session `ID`, in its directory; without ID, list the sessions")
	fs.BoolVarP(&r.continueLast, "continue", "c", false, "continue the last session of this directory")
	fs.StringArrayVar(&r.addDirs, "add-dir", nil, "also work in `DIR`; may be repeated")
	fs.StringVar(&r.SystemAppend, "system-append", "", "add `TEXT` to the system prompt, for this time only")
}

// check checks the flags that need no file, and sets those that are configuration keys.
func (r *Flags) check(cmd *cobra.Command, f *cli.Flags) error {
	fs := cmd.Flags()
	switch {
	case r.continueLast && r.resume != "":
		return cli.Usagef("want --continue or --resume, not both")
	case fs.Changed("protocol") && r.protocol(cmd) != acp.Protocol1 && r.protocol(cmd) != acp.Protocol2:
		return cli.Usagef("--protocol: want v1 or v2, not %q", r.protocol(cmd))
	case r.WaitJobs < 0:
		return cli.Usagef("--wait-jobs: want a duration, such as 90s or 10m, or 0")
	case fs.Changed("timeout") && r.Timeout <= 0:
		return cli.Usagef("--timeout: want a duration above 0, such as 90s or 10m")
	}
	var err error
	if r.roundsSet, err = cli.GivenRounds(fs); err != nil {
		return err
	}
	if r.roundsSet {
		n := strconv.Itoa(r.MaxRounds)
		f.Values = map[string]string{"agent.max_tool_iterations": n, "agent.max_tool_iterations_hard": n}
	}
	switch {
	case r.failOnDenied:
		r.Denials = anyDenied
	case !fs.Changed("fail-on-denied") && !cli.IsTerminal(os.Stdout):
		r.Denials = allDenied
	}
	return nil
}

// DefaultWaitJobs is the default of --wait-jobs.
const DefaultWaitJobs = 10 * time.Minute

// protocol returns the version that the client speaks; empty means its default. The configuration is for editors.
func (r *Flags) protocol(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("protocol"); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// Runner makes one run.
type Runner struct {
	*Flags
	*config.Loaded
	App          *app.App
	out          *output // stdout
	tally        *tally
	AnswerSchema *AnswerSchema // of the answer; nil means a text
	Turn         *headless.Turn
	user         *headless.User
	NoUser       bool // no one is asked
	confined     atomic.Bool
	stdinRead    bool // stdin was a part of the prompt, so the user's answers cannot come from it
	// FormatAnswer returns the text to print for an answer that fits AnswerSchema, and an
	// error with the exit status; nil prints the answer itself.
	FormatAnswer func(answer []byte) (text []byte, err error)
}

// runPrompt acts as the editor for one turn of its own server.
func runPrompt(cmd *cobra.Command, f *cli.Flags, r *Flags, args []string) error {
	if err := r.goalFlags.check(cmd.Flags(), args); err != nil {
		return err
	}
	return WithRunner(cmd, f, r, func(ctx context.Context, run *Runner) error {
		args := r.goalFlags.prompt(args, r)
		if err := run.Open(ctx, f); err != nil {
			return err
		}
		run.Turn.Protocol = r.protocol(cmd)
		in := run.stdin()
		if run.Turn.Resume != "" && len(args) == 0 && canAsk() {
			asked, err := run.askPrompt(ctx)
			if err != nil {
				return err
			}
			args = asked
		}
		prompt, err := in.promptOf(args)
		if err != nil {
			return err
		}
		if run.Turn.Prompt, err = run.CompletePrompt(prompt); err != nil {
			return err
		}
		run.stdinRead = in.wasRead
		return run.RunTurn(ctx, f)
	})
}

// stdin returns the standard input, which may be a part of the prompt.
func (r *Runner) stdin() *stdin {
	return &stdin{File: os.Stdin, maxBytes: r.MaxPrompt(), quiet: r.Quiet, alwaysAttach: func() bool { return r.App.IsDirect("") }}
}

// MaxPrompt returns the limit of a prompt in bytes. It must fit on a line, where a byte may be
// encoded as six.
func (r *Runner) MaxPrompt() int { return max(r.App.Config.ACP.MaxLineBytes/6-1<<10, 0) }

// CompletePrompt adds the attachments to a prompt, and the instruction to answer by the schema.
// In the text of a command the instruction would be an argument, so it goes to the system prompt.
func (r *Runner) CompletePrompt(prompt []acp.ContentBlock) ([]acp.ContentBlock, error) {
	files, err := attachments(r.attachFiles, r.App.Config.ACP.MaxAttachmentBytes)
	switch {
	case err != nil || r.AnswerSchema == nil:
	case isCommand(transcript.TypedText(prompt)):
		r.App.SystemAppend = paragraphs(r.App.SystemAppend, r.AnswerSchema.instruction())
	default:
		prompt = append(prompt, acp.TextBlock(r.AnswerSchema.instruction()))
	}
	return append(prompt, files...), err
}

// WithRunner calls do with a new runner, and closes its parts afterwards.
func WithRunner(cmd *cobra.Command, f *cli.Flags, r *Flags, do func(context.Context, *Runner) error) error {
	if err := r.check(cmd, f); err != nil {
		return err
	}
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	run := &Runner{Flags: r, Loaded: l, tally: newTally()}
	if r.schemaFile != "" {
		if run.AnswerSchema, err = readAnswerSchema(r.schemaFile); err != nil {
			return cli.Usagef("--output-schema: %w", err)
		}
	}
	return cli.UseApp(l, func(a *app.App) error {
		if !r.Quiet {
			cli.PrintWarnings(cmd, l.Warnings)
		}
		ctx, cancel := context.WithCancelCause(cmd.Context())
		defer cancel(nil)
		run.out = &output{w: os.Stdout, failed: cancel}
		run.setApp(a)
		return do(ctx, run)
	})
}

// setApp sets the app, which reports its work to the tally.
func (r *Runner) setApp(a *app.App) {
	r.App = a
	a.Warnings = nil // printed before
	a.Reaper, a.SystemAppend = helper.NewReaper(), r.SystemAppend
	a.ProjectServers, a.ProjectHooks = r.MCPProject, r.HooksProject
	a.ProjectSkills, a.ProjectAgents = r.SkillsProject, r.AgentsProject
	a.FindServer = exec.LookPath
	a.Watch = r.tally.middleware
	a.Recorded = r.tally.recorded
	a.Spent = r.tally.spent
	a.Followed = r.tally.followed
	a.Changed = r.tally.changed
	a.Background = r.tally.background
	a.Confined = func(confined bool) { r.confined.Store(confined) }
}

// RunTurn runs the turn and returns its error, which has the exit status.
func (r *Runner) RunTurn(ctx context.Context, f *cli.Flags) error {
	r.connectUser()
	stopRecord, err := f.RecordFrames(r.Turn.Server)
	if err != nil {
		return err
	}
	defer stopRecord()
	ctx, stop := cli.StopOnSignal(ctx, r.Turn.Abort)
	defer stop()
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, timeoutError(r.Timeout))
		defer cancel()
	}
	if s := r.user.Screen; s != nil && (cli.IsTerminal(os.Stdout) || cli.IsTerminal(os.Stderr)) {
		defer context.AfterFunc(ctx, s.Interrupted)()
		if !r.JSON && !r.Quiet {
			defer s.Spin()()
		}
	}
	r.App.AwaitServers = true
	if r.WaitJobs > 0 {
		r.App.JobsEnd = fmt.Sprintf("It ends with this run, at most %s after your last answer.", r.WaitJobs)
	} else {
		r.App.JobsEnd = "It ends with this run, right after your last answer."
	}
	reason, err := r.Turn.Run(ctx)
	r.PrintStopped("run")
	r.tally.printLosses(os.Stderr, cli.IsTerminal(os.Stdout) && !r.Quiet && !r.JSON, r.Quiet)
	_, broken := errors.AsType[*outputError](context.Cause(ctx))
	if err == nil && reason == acp.StopEndTurn && !broken {
		err = r.finishTurn()
	} else {
		err = turnError(reason, err, context.Cause(ctx), r.tally.lastMessage(), r.tally.name())
	}
	if err == nil {
		err = r.tally.jobsError(context.Cause(ctx))
	}
	err = r.tally.goalError(err, context.Cause(ctx))
	if r.JSON {
		if failed := r.tally.result(reason, err, r.AnswerSchema).write(r.out); failed != nil {
			return (&outputError{failed}).exit()
		}
	}
	return err
}

// finishTurn returns the error of a turn that ended by itself. If the answer must fit a schema,
// finishTurn prints it.
func (r *Runner) finishTurn() error {
	if err := r.tally.endError(r.Denials); err != nil || r.AnswerSchema == nil {
		return err
	}
	value, err := r.AnswerSchema.turnAnswer(r.tally)
	if err != nil {
		if !r.Quiet && !r.JSON {
			fmt.Fprintln(os.Stderr, headless.Visible(r.tally.answer(acp.StopEndTurn)))
		}
		return err
	}
	text := append(value, '\n')
	if r.FormatAnswer != nil {
		text, err = r.FormatAnswer(value)
	}
	if r.JSON {
		return err
	}
	if _, failed := r.out.Write(text); failed != nil {
		return (&outputError{failed}).exit()
	}
	return err
}
