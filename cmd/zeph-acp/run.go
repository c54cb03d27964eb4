package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// runFlags are the command-line flags of run.
type runFlags struct {
	dir          string        // --cwd
	mode         string        // --mode
	model        string        // --model
	resume       string        // --resume
	continueLast bool          // --continue
	addDirs      []string      // --add-dir
	attachFiles  []string      // --attach
	systemAppend string        // --system-append
	schemaFile   string        // --output-schema
	maxRounds    int           // --max-rounds; 0 means the configured number
	timeout      time.Duration // 0 means no limit
	yes          bool
	json         bool
	quiet        bool

	mcpProject    bool
	hooksProject  bool
	skillsProject bool
	agentsProject bool
	failOnDenied  bool
}

func newRun(f *flags) *cobra.Command {
	r := &runFlags{}
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

You are asked about a call that needs permission, if stdin and also stdout or stderr are
a terminal. Otherwise the call fails, unless --yes allows it.

A terminal shows the whole turn, with the beginning and the end of a long result. A
pipe or a file gets the answer, and stderr the rest:

  zeph-acp run "list the public functions" > functions.txt
  zeph-acp run --quiet "name this change" | git commit -F -
  zeph-acp run --json --quiet "fix the build" | jq .cost
  zeph-acp run --attach screen.png --timeout 5m "what is wrong here?"
  zeph-acp run --continue "and the tests"

A prompt such as "/bash make" exits with the command's status, and any other call of
your own that fails, such as "/read missing.txt", with 1. Otherwise:

  0    the model ended its turn, even if some tool calls failed
  1    a failure, or no model
  2    a wrong command line
  3    the model refused or reached a limit, or every tool call was refused
  4    the answer does not fit --output-schema
  130  Ctrl-C`,
		RunE: func(cmd *cobra.Command, args []string) error { return runPrompt(cmd, f, r, args) },
	}
	f.addPolicyFlag(cmd)
	fs := cmd.Flags()
	r.sessionFlags(cmd)
	fs.BoolVar(&r.yes, "yes", false, "allow every tool call that needs permission")
	fs.StringArrayVar(&r.attachFiles, "attach", nil, "attach the text or image in `FILE`; may be repeated")
	fs.IntVar(&r.maxRounds, "max-rounds", 0, "stop after `N` rounds of tool calls, without asking whether to continue")
	fs.DurationVar(&r.timeout, "timeout", 0, "stop the turn after `DURATION`, such as 90s or 10m")
	fs.StringVar(&r.schemaFile, "output-schema", "", "ask for an answer in JSON that fits the JSON Schema in `FILE`, and print it alone")
	fs.BoolVar(&r.mcpProject, "mcp-project", false, "ask about the MCP servers of the project's .mcp.json; with --yes, start them")
	fs.BoolVar(&r.hooksProject, "hooks-project", false, "ask about the hooks of the project's .claude/settings.json and .zeph/hooks.json; with --yes, run them")
	fs.BoolVar(&r.skillsProject, "skills-project", false, "ask about the skills and commands of the project in .zeph, .claude and .agents; with --yes, use them")
	fs.BoolVar(&r.agentsProject, "agents-project", false, "ask about the sub-agents of the project's .zeph/agents and .claude/agents; with --yes, offer them")
	fs.BoolVar(&r.failOnDenied, "fail-on-denied", false, "exit with 3 if every tool call was refused; the default unless stdout is a terminal")
	fs.BoolVarP(&r.quiet, "quiet", "q", false, "print only the answer, and errors on stderr; with --json only the result")
	fs.BoolVar(&r.json, "json", false, "print the session updates as JSON lines, then the result")
	return cmd
}

// sessionFlags adds the flags about the session.
func (r *runFlags) sessionFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&r.dir, "cwd", "", "work in `DIR` instead of the current directory")
	fs.StringVar(&r.mode, "mode", "", "begin in the session mode `MODE`: ask, architect, code, auto or auto-judge")
	fs.StringVar(&r.model, "model", "", "use the model `PROVIDER:MODEL`, or the configured one of PROVIDER")
	fs.StringVar(&r.resume, "resume", "", "continue the stored session `ID`, in its directory")
	fs.BoolVarP(&r.continueLast, "continue", "c", false, "continue the last session of this directory")
	fs.StringArrayVar(&r.addDirs, "add-dir", nil, "also work in `DIR`; may be repeated")
	fs.StringVar(&r.systemAppend, "system-append", "", "add `TEXT` to the system prompt, for this time only")
}

// check checks the flags that need no file, and sets those that are configuration keys.
func (r *runFlags) check(cmd *cobra.Command, f *flags) error {
	fs := cmd.Flags()
	switch {
	case r.continueLast && r.resume != "":
		return usageError("want --continue or --resume, not both")
	case fs.Changed("timeout") && r.timeout <= 0:
		return usageError("--timeout: want a duration above 0, such as 90s or 10m")
	case fs.Changed("max-rounds") && (r.maxRounds < 1 || r.maxRounds > roundsLimit):
		return usageError("--max-rounds: want a number from 1 to %d", roundsLimit)
	}
	if r.maxRounds > 0 {
		n := strconv.Itoa(r.maxRounds)
		f.values = map[string]string{"agent.max_tool_iterations": n, "agent.max_tool_iterations_hard": n}
	}
	if !fs.Changed("fail-on-denied") {
		r.failOnDenied = !isTerminal(os.Stdout)
	}
	return nil
}

// roundsLimit is the highest value of --max-rounds.
const roundsLimit = 10_000

// runner makes one run.
type runner struct {
	*runFlags
	*config.Loaded
	app          *app.App
	out          *output // stdout
	tally        *tally
	answerSchema *answerSchema // of the answer; nil means a text
	turn         *headless.Turn
	user         *headless.User
	noUser       bool // no one is asked
	stdinRead    bool // stdin was a part of the prompt, so the user's answers cannot come from it
	// formatAnswer returns the text to print for an answer that fits answerSchema, and an
	// error with the exit status; nil prints the answer itself.
	formatAnswer func(answer []byte) (text []byte, err error)
}

// runPrompt acts as the editor for one turn of its own server.
func runPrompt(cmd *cobra.Command, f *flags, r *runFlags, args []string) error {
	return withRunner(cmd, f, r, func(ctx context.Context, run *runner) error {
		if err := run.open(ctx, f); err != nil {
			return err
		}
		in := run.stdin()
		if run.turn.Resume != "" && len(args) == 0 && canAsk() {
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
		if run.turn.Prompt, err = run.completePrompt(prompt); err != nil {
			return err
		}
		run.stdinRead = in.wasRead
		return run.runTurn(ctx, f)
	})
}

// stdin returns the standard input, which may be a part of the prompt. The prompt must fit
// on a line, where a byte may be encoded as six.
func (r *runner) stdin() *stdin {
	return &stdin{
		File: os.Stdin, maxBytes: max(r.app.Config.ACP.MaxLineBytes/6-1<<10, 0), quiet: r.quiet,
		alwaysAttach: func() bool { return isDirect(r.app, "") },
	}
}

// completePrompt adds the attachments to a prompt, and the instruction to answer by the schema.
// In the text of a command the instruction would be an argument, so it goes to the system prompt.
func (r *runner) completePrompt(prompt []acp.ContentBlock) ([]acp.ContentBlock, error) {
	files, err := attachments(r.attachFiles, r.app.Config.ACP.MaxAttachmentBytes)
	switch {
	case err != nil || r.answerSchema == nil:
	case isCommand(transcript.TypedText(prompt)):
		r.app.SystemAppend = paragraphs(r.app.SystemAppend, r.answerSchema.instruction())
	default:
		prompt = append(prompt, acp.TextBlock(r.answerSchema.instruction()))
	}
	return append(prompt, files...), err
}

// withRunner calls do with a new runner, and closes its parts afterwards.
func withRunner(cmd *cobra.Command, f *flags, r *runFlags, do func(context.Context, *runner) error) error {
	if err := r.check(cmd, f); err != nil {
		return err
	}
	l, err := f.load(cmd)
	if err != nil {
		return err
	}
	run := &runner{runFlags: r, Loaded: l, tally: newTally()}
	if r.schemaFile != "" {
		if run.answerSchema, err = readAnswerSchema(r.schemaFile); err != nil {
			return usageError("--output-schema: %w", err)
		}
	}
	return useApp(l, func(a *app.App) error {
		if !r.quiet {
			printWarnings(cmd, l.Warnings)
		}
		ctx, cancel := context.WithCancelCause(cmd.Context())
		defer cancel(nil)
		run.out = &output{w: os.Stdout, failed: cancel}
		run.setApp(a)
		return do(ctx, run)
	})
}

// setApp sets the app, which reports its work to the tally.
func (r *runner) setApp(a *app.App) {
	r.app = a
	a.Warnings = nil // printed before
	a.Reaper, a.SystemAppend = newReaper(), r.systemAppend
	a.ProjectServers, a.ProjectHooks = r.mcpProject, r.hooksProject
	a.ProjectSkills, a.ProjectAgents = r.skillsProject, r.agentsProject
	a.FindServer = exec.LookPath
	a.Watch = r.tally.middleware
	a.Recorded = r.tally.recorded
	a.Spent = r.tally.spent
	a.Changed = r.tally.changed
	a.Background = r.tally.background
}

// runTurn runs the turn and returns its error, which has the exit status.
func (r *runner) runTurn(ctx context.Context, f *flags) error {
	r.connectUser()
	stopRecord, err := f.recordFrames(r.turn.Server)
	if err != nil {
		return err
	}
	defer stopRecord()
	ctx, stop := stopOnSignal(ctx, r.turn.Abort)
	defer stop()
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.timeout, timeoutError(r.timeout))
		defer cancel()
	}
	if s := r.user.Screen; s != nil && (isTerminal(os.Stdout) || isTerminal(os.Stderr)) {
		defer context.AfterFunc(ctx, s.Interrupted)()
		if !r.json && !r.quiet {
			defer s.Spin()()
		}
	}
	lastMessage := &headless.LastMessage{View: r.turn.View}
	r.turn.View = lastMessage
	reason, err := r.turn.Run(ctx)
	if !r.quiet {
		r.tally.printStopped(os.Stderr, "run")
	}
	if err == nil && reason == acp.StopEndTurn && context.Cause(ctx) == nil {
		err = r.finishTurn(lastMessage.Text())
	} else {
		err = turnError(reason, err, context.Cause(ctx), r.withFlagName(lastMessage.Text()))
	}
	if r.json {
		if failed := r.tally.result(reason, err, r.answerSchema).write(r.out); failed != nil {
			return &outputError{failed}
		}
	}
	return err
}

// withFlagName replaces the configuration key in the agent's message about a limit by the
// flag that set the limit.
func (r *runner) withFlagName(lastMessage string) string {
	if r.maxRounds == 0 {
		return lastMessage
	}
	return strings.Replace(lastMessage, "(agent.max_tool_iterations)", "(--max-rounds)", 1)
}

// finishTurn returns the error of a turn that ended by itself. If the answer must fit a schema,
// finishTurn prints it.
func (r *runner) finishTurn(lastMessage string) error {
	if err := r.tally.endError(lastMessage, r.failOnDenied); err != nil || r.answerSchema == nil {
		return err
	}
	value, err := r.answerSchema.turnAnswer(r.tally)
	if err != nil {
		if !r.quiet && !r.json {
			fmt.Fprintln(os.Stderr, headless.Visible(r.tally.answer(acp.StopEndTurn)))
		}
		return err
	}
	text := append(value, '\n')
	if r.formatAnswer != nil {
		text, err = r.formatAnswer(value)
	}
	if r.json {
		return err
	}
	if _, failed := r.out.Write(text); failed != nil {
		return &outputError{failed}
	}
	return err
}
