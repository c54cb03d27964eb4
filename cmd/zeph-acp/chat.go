package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

func newChat(f *flags) *cobra.Command {
	r := &runFlags{mcpProject: true, hooksProject: true, skillsProject: true, agentsProject: true}
	cmd := &cobra.Command{
		Use:   "chat [flags]",
		Short: "Talk with the agent in the terminal, without an editor",
		Long: `Talk with the agent in the terminal, without an editor. The terminal shows turns as
"zeph-acp run" does, and a line below them takes the next prompt.

While a turn runs, a text is added to it; a command waits as the next prompt. Tab
completes /commands, and names of files after "@". Alt-Enter or a "\" at the end of
the line begins a new line, and pasted text keeps its lines. The arrow keys and
Ctrl-R go through the earlier prompts of the project.

Ctrl-C clears the line, else cancels the turn, else leaves when it is pressed twice.
Ctrl-D and /exit leave too.

  zeph-acp chat
  zeph-acp chat --continue`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runChat(cmd, f, r) },
	}
	f.addPolicyFlag(cmd)
	r.sessionFlags(cmd)
	return cmd
}

// runChat runs a conversation in the terminal.
func runChat(cmd *cobra.Command, f *flags, r *runFlags) error {
	if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
		return usageError(`chat needs a terminal as stdin and stdout: use "zeph-acp run" in a script or a pipe`)
	}
	if f.getenv("TERM") == "dumb" {
		return usageError(`chat needs a terminal that can move its cursor, and TERM is dumb: use "zeph-acp run"`)
	}
	return withRunner(cmd, f, r, func(ctx context.Context, run *runner) error {
		if err := run.open(ctx, f); err != nil {
			return err
		}
		if run.turn.Resume != "" {
			if err := run.showSession(ctx, os.Stdout); err != nil {
				return err
			}
			if _, err := io.WriteString(os.Stdout, "\n"); err != nil {
				return err
			}
		}
		stopRecord, err := f.recordFrames(run.turn.Server)
		if err != nil {
			return err
		}
		defer stopRecord()
		scan := run.turn.Scan
		c := &chat.Chat{
			Turn: run.turn, Input: os.Stdin, Styled: colours(os.Stdout, run.Getenv), MaxBytes: run.stdin().maxBytes,
			Screen: func(w io.Writer) *headless.Screen {
				s := headless.NewScreen(w, colours(os.Stdout, run.Getenv))
				s.Columns, s.Config = widthOf(os.Stdout), run.File
				return s
			},
			Hint: chatHint(run),
			History: chat.History{
				Path: chat.HistoryPath(run.Paths.State, run.turn.Dir),
				Mask: func(text string) string { masked, _ := scan.Mask(text); return masked },
			},
			Facts: func(string) string { return run.tally.facts() + " · continue with: zeph-acp chat --continue" },
		}
		ctx, stop := stopOnSignal(ctx, c.Abort)
		defer stop()
		err = c.Run(ctx)
		run.tally.printStopped(os.Stderr, "chat")
		return cmp.Or(signalExit(ctx), err)
	})
}

// chatHint returns the line that says how to begin a new conversation. An old one shows its
// turns instead.
func chatHint(r *runner) string {
	switch {
	case r.turn.Resume != "":
		return ""
	case isDirect(r.app, ""):
		return "No model" + strings.TrimPrefix(errNoModel.Error(), "no model") + "."
	}
	return "Type a prompt. /help lists the commands, Ctrl-D leaves."
}

// showSession shows the turns of the stored session that the chat continues.
func (r *runner) showSession(ctx context.Context, screen *os.File) error {
	s, events, _, err := r.app.Sessions().Stored(ctx, r.turn.Resume)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := showSession(&b, s, events, colours(screen, r.Getenv)); err != nil {
		return err
	}
	_, err = b.WriteTo(screen)
	return err
}
