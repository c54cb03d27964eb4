package chat

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/run"
)

// NewCommand returns the command chat.
func NewCommand(f *cli.Flags) *cobra.Command {
	r := &run.Flags{MCPProject: true, HooksProject: true, SkillsProject: true, AgentsProject: true}
	plain := false
	cmd := &cobra.Command{
		Use:   "chat [flags] [PROMPT]",
		Short: "Talk with the agent in the terminal, without an editor",
		Long: `Talk with the agent in the terminal, without an editor. "zeph-acp" alone does the same in a
terminal. PROMPT is the first prompt.

"/" lists the commands, "@" the files of the project, and /help all keys. What you type while a
turn runs is added to it. Esc interrupts the turn, and Ctrl-D leaves.

With --plain, or if TERM is dumb, the conversation is plain lines, for screen readers and simple
terminals.

  zeph-acp chat
  zeph-acp chat "why does the build fail?"
  zeph-acp chat --continue
  zeph-acp chat --resume`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("chat takes one prompt, not %q too: put it in quotes", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			first := ""
			if len(args) > 0 {
				first = args[0]
			}
			return runChat(cmd, f, r, first, plain || f.Getenv("TERM") == "dumb")
		},
	}
	f.AddPolicyFlag(cmd)
	r.AddSessionFlags(cmd)
	cmd.Flags().BoolVar(&plain, "plain", false, "print plain lines instead of a full screen, for screen readers")
	return cmd
}

// runChat runs a conversation in the terminal.
func runChat(cmd *cobra.Command, f *cli.Flags, r *run.Flags, first string, plain bool) error {
	if !cli.IsTerminal(os.Stdin) || !cli.IsTerminal(os.Stdout) {
		return cli.Usagef(`chat needs a terminal as stdin and stdout: use "zeph-acp run" in a script or a pipe`)
	}
	return run.WithRunner(cmd, f, r, func(ctx context.Context, r *run.Runner) error {
		c, err := newChat(ctx, f, r)
		if err != nil {
			return err
		}
		c.First = first
		ctx, stop := cli.StopOrInterrupt(ctx, c.Abort, c.interruptPlain)
		defer stop()
		if plain {
			err = c.runPlain(ctx)
		} else {
			err = c.Run(ctx)
		}
		r.PrintStopped("chat")
		return cmp.Or(cli.SignalExit(ctx), err)
	})
}

// newChat returns the conversation of a runner.
func newChat(ctx context.Context, f *cli.Flags, r *run.Runner) (*Chat, error) {
	opener := &opener{flags: f, runner: r}
	dir := ""
	if r.PicksSession() {
		var err error
		if dir, err = cli.Directory("--cwd", r.Dir); err != nil {
			return nil, err
		}
	} else {
		if err := r.Open(ctx, f); err != nil {
			return nil, err
		}
		opener.first, dir = r.Turn, r.Turn.Dir
	}
	mask := func(text string) string { masked, _ := r.App.Scanner(dir).Mask(text); return masked }
	keys := r.App.Config.Chat
	return &Chat{
		Vi: keys.Keys == "vi", Mouse: keys.Mouse, Notify: Notify(keys.Notify),
		Open: opener.open, Pick: r.PicksSession(), Dir: dir, DirName: shortDir(dir), Branch: branch(dir), Version: app.Version,
		Replay: r.Replay,
		Styled: f.Getenv("TERM") != "dumb", Colourless: f.Getenv("NO_COLOR") != "", ASCII: !isUTF8(f.Getenv), Editor: cmp.Or(f.Getenv("VISUAL"), f.Getenv("EDITOR")), Rules: r.File,
		History: History{Path: HistoryPath(r.Paths.State, dir), Mask: mask}, MaxBytes: r.MaxPrompt(), Attach: r.Image,
		Jobs: r.Jobs, Sandbox: r.Sandbox, Unpriced: r.Unpriced, Hint: chatHint(r),
		Sessions: func() ([]Choice, error) { return storedSessions(ctx, r, dir) },
		Turns:    func(session string) []Choice { return turnsOf(ctx, r, session) },
		IsTool:   func(session, name string) bool { return r.App.Sessions().HasTool(session, name) },
		Facts:    func(string) string { return r.Facts() + " · continue with: zeph-acp chat --continue" },
		Input:    os.Stdin, Output: os.Stdout, Environ: f.Environ,
	}, nil
}

// opener opens the turns of the conversation.
type opener struct {
	flags  *cli.Flags
	runner *run.Runner
	first  *headless.Turn // is open already; nil afterwards
	stop   func()         // ends the recording of the frames
}

// open returns a turn in a stored session, or in a new one.
func (o *opener) open(ctx context.Context, id string) (*headless.Turn, error) {
	t := o.first
	if o.first = nil; t == nil {
		if err := o.runner.Reopen(ctx, o.flags, id); err != nil {
			return nil, err
		}
		t = o.runner.Turn
	}
	if o.stop != nil {
		o.stop()
	}
	var err error
	o.stop, err = o.flags.RecordFrames(t.Server)
	return t, err
}

// storedSessions returns the sessions of a directory.
func storedSessions(ctx context.Context, r *run.Runner, dir string) ([]Choice, error) {
	all, err := r.StoredHere(ctx, dir)
	var choices []Choice
	for _, s := range all {
		choices = append(choices, Choice{s.ID, cmp.Or(s.Title, "no title"), s.Updated.Local().Format(cli.TimeLayout)})
	}
	return choices, err
}

// turnsOf returns the turns of a session.
func turnsOf(ctx context.Context, r *run.Runner, session string) (all []Choice) {
	for _, t := range r.Turns(ctx, session) {
		all = append(all, Choice{ID: strconv.Itoa(t.Number), Title: "turn " + strconv.Itoa(t.Number) + ": " + t.Text})
	}
	return all
}

// isUTF8 reports whether the terminal takes UTF-8, as far as the locale says.
func isUTF8(getenv func(string) string) bool {
	locale := strings.ToUpper(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	_, charset, named := strings.Cut(locale, ".")
	return locale == "" || strings.HasPrefix(charset, "UTF") || !named && locale != "C" && locale != "POSIX"
}

// shortDir returns a directory as a person knows it.
func shortDir(dir string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(dir, home); err == nil && ok && home != "" && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return dir
}

// chatHint returns the line that says how to begin.
func chatHint(r *run.Runner) string {
	if r.App.IsDirect("") {
		return "No model" + strings.TrimPrefix(run.ErrNoModel.Error(), "no model") + "."
	}
	return "/help lists commands and keys, Ctrl-D leaves."
}
