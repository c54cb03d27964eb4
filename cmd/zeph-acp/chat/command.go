package chat

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/run"
)

// NewCommand returns the command chat.
func NewCommand(f *cli.Flags) *cobra.Command {
	r := &run.Flags{MCPProject: true, HooksProject: true, SkillsProject: true, AgentsProject: true}
	cmd := &cobra.Command{
		Use:   "chat [flags]",
		Short: "Talk with the agent in the terminal, without an editor",
		Long: `Talk with the agent in the terminal, without an editor. The terminal shows turns as
"zeph-acp run" does, and a line below them takes the next prompt.

While a turn runs, a text is added to it; a command waits as the next prompt, except
for /goal. Tab completes /commands, and names of files after "@". Alt-Enter or a "\" at the end of
the line begins a new line, and pasted text keeps its lines. The arrow keys and
Ctrl-R go through the earlier prompts of the project.

Ctrl-C clears the line, else cancels the turn, else leaves when it is pressed twice.
Ctrl-D and /exit leave too.

  zeph-acp chat
  zeph-acp chat --continue`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runChat(cmd, f, r) },
	}
	f.AddPolicyFlag(cmd)
	r.AddSessionFlags(cmd)
	return cmd
}

// runChat runs a conversation in the terminal.
func runChat(cmd *cobra.Command, f *cli.Flags, r *run.Flags) error {
	if !cli.IsTerminal(os.Stdin) || !cli.IsTerminal(os.Stdout) {
		return cli.Usagef(`chat needs a terminal as stdin and stdout: use "zeph-acp run" in a script or a pipe`)
	}
	if f.Getenv("TERM") == "dumb" {
		return cli.Usagef(`chat needs a terminal that can move its cursor, and TERM is dumb: use "zeph-acp run"`)
	}
	return run.WithRunner(cmd, f, r, func(ctx context.Context, r *run.Runner) error {
		if err := r.Open(ctx, f); err != nil {
			return err
		}
		if r.Turn.Resume != "" {
			if err := r.ShowSession(ctx, os.Stdout); err != nil {
				return err
			}
			if _, err := io.WriteString(os.Stdout, "\n"); err != nil {
				return err
			}
		}
		stopRecord, err := f.RecordFrames(r.Turn.Server)
		if err != nil {
			return err
		}
		defer stopRecord()
		scan := r.Turn.Scan
		c := &Chat{
			Turn: r.Turn, Input: os.Stdin, Styled: cli.Colours(os.Stdout, r.Getenv), MaxBytes: r.MaxPrompt(),
			Screen: func(w io.Writer) *headless.Screen {
				s := headless.NewScreen(w, cli.Colours(os.Stdout, r.Getenv))
				s.Columns, s.Config = cli.WidthOf(os.Stdout), r.File
				return s
			},
			Hint: chatHint(r),
			History: History{
				Path: HistoryPath(r.Paths.State, r.Turn.Dir),
				Mask: func(text string) string { masked, _ := scan.Mask(text); return masked },
			},
			Facts: func(string) string { return r.Facts() + " · continue with: zeph-acp chat --continue" },
		}
		ctx, stop := cli.StopOnSignal(ctx, c.Abort)
		defer stop()
		err = c.Run(ctx)
		r.PrintStopped("chat")
		return cmp.Or(cli.SignalExit(ctx), err)
	})
}

// chatHint returns the line that says how to begin a new conversation. An old one shows its
// turns instead.
func chatHint(r *run.Runner) string {
	switch {
	case r.Turn.Resume != "":
		return ""
	case r.App.IsDirect(""):
		return "No model" + strings.TrimPrefix(run.ErrNoModel.Error(), "no model") + "."
	}
	return "Type a prompt. /help lists the commands, Ctrl-D leaves."
}
