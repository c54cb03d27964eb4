package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/schedule"
)

func newServe(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve ACP on stdin and stdout until stdin ends",
		Args:  cli.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	f.AddPolicyFlag(cmd)
	f.AddProtocolFlag(cmd, cli.Serves)
	return cmd
}

// serve runs the agent for the editor that started this process. Stdout is reserved
// for the protocol.
func serve(cmd *cobra.Command, f *cli.Flags) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	log, closeLog, err := app.NewLogger(l.Config.Log, l.Getenv, os.Stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, w := range l.Warnings {
		log.Warn(w)
	}
	a := app.New(l, log)
	a.Reaper = helper.NewReaper()
	a.ProjectServers, a.ProjectHooks, a.ProjectSkills, a.ProjectAgents = true, true, true, true
	a.FindServer = exec.LookPath
	a.RunTask = schedule.TaskRun{App: a, Environ: f.Environ}.Run
	defer cli.CloseApp(a)
	server := a.Server()
	stopRecord, err := f.RecordFrames(server)
	if err != nil {
		return err
	}
	defer stopRecord()
	if cli.IsTerminal(os.Stdin) {
		fmt.Fprintln(os.Stderr, `zeph-acp: waiting for an editor's JSON on stdin; Ctrl-C ends it. "zeph-acp chat" talks with you here, "zeph-acp setup" connects an editor.`)
	}

	ctx, stop := cli.StopOnSignal(context.Background(), func() {})
	defer stop()
	in, restore := openStdin()
	defer restore()
	if err := server.Serve(ctx, in, stdout{}); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("write to the client: %w", err)
	}
	return cli.SignalExit(ctx)
}

// stdout is the stream to the client. A client that closes it ends the connection,
// which is not a failure.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = io.ErrClosedPipe
	}
	return n, err
}
