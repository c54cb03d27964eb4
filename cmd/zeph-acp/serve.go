package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/certify"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/schedule"
)

func newServe(f *cli.Flags) *cobra.Command {
	var tester certify.Agent
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve ACP on stdin and stdout until stdin ends",
		Example: "  zeph-acp serve --protocol auto",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tester.Report != "" {
				return serveTests(cmd, &tester)
			}
			return serve(cmd, f)
		},
	}
	f.AddPolicyFlag(cmd)
	f.AddProtocolFlag(cmd, cli.Serves)
	tester.AddFlags(cmd)
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
		fmt.Fprintln(os.Stderr, `zeph-acp: waiting for an editor's JSON on stdin; Ctrl-C ends it. "zeph-acp" alone talks with you here, "zeph-acp setup" connects an editor.`)
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

// serveTests tests the client that started this process.
func serveTests(cmd *cobra.Command, a *certify.Agent) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGPIPE) // the first one is for the client, and reaches its whole session
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	in, restore := openStdin()
	defer restore()
	return a.Serve(ctx, in, stdout{}, cmd.Flag("protocol").Value.String(), app.Version)
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
