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
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
)

func newServe(f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve ACP on stdin and stdout until stdin ends",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	f.addPolicyFlag(cmd)
	return cmd
}

// serve runs the agent for the editor that started this process. Stdout is reserved
// for the protocol.
func serve(cmd *cobra.Command, f *flags) error {
	l, err := f.load(cmd)
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
	a.Reaper = newReaper()
	a.ProjectServers, a.ProjectHooks, a.ProjectSkills, a.ProjectAgents = true, true, true, true
	a.FindServer = exec.LookPath
	a.RunTask = taskRun{app: a, environ: f.environ}.run
	defer closeApp(a)
	server := a.Server()
	stopRecord, err := f.recordFrames(server)
	if err != nil {
		return err
	}
	defer stopRecord()
	if isTerminal(os.Stdin) {
		fmt.Fprintln(os.Stderr, `zeph-acp: waiting for an editor's JSON on stdin; Ctrl-C ends it. "zeph-acp chat" talks with you here, "zeph-acp setup" connects an editor.`)
	}

	ctx, stop := stopOnSignal(context.Background(), func() {})
	defer stop()
	in, restore := openStdin()
	defer restore()
	if err := server.Serve(ctx, in, stdout{}); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("write to the client: %w", err)
	}
	return signalExit(ctx)
}

// closeTimeout limits the wait for the database after the server waited for turns and
// frames. Both fit into the 2 seconds in which the process must end.
const closeTimeout = 200 * time.Millisecond

// closeApp stops everything that runs in the background and closes the database.
// All important data is committed by then, so it does not wait for a lock that
// another program holds.
func closeApp(a *app.App) {
	a.CloseTools()
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			a.Log.Warn("close the database", "err", err)
		}
	case <-time.After(closeTimeout):
		a.Log.Warn("close the database", "err", "it is still in use")
	}
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

// signalError is the cause of a context that a signal cancelled.
type signalError syscall.Signal

func (s signalError) Error() string { return "got " + syscall.Signal(s).String() }

// signalExit returns the error with the exit status if a signal cancelled the context, else nil.
func signalExit(ctx context.Context) error {
	if got, ok := errors.AsType[signalError](context.Cause(ctx)); ok {
		return &exitError{code: 128 + int(got)}
	}
	return nil
}

// commandGrace is how long commands may run after the first signal: 300 ms to end by
// themselves, and a moment for the kill.
const commandGrace = time.Second

// stopOnSignal cancels the context at the first SIGINT, SIGTERM or SIGHUP. At the
// second the process ends after abort, which kills all commands. SIGPIPE is
// ignored, so that the writer gets an error. Otherwise the runtime would end the
// process while its children still run.
func stopOnSignal(ctx context.Context, abort func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	ignored := make(chan os.Signal, 1) // a separate channel, so that it does not fill the other
	signal.Notify(ignored, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case s := <-signals:
				n, _ := s.(syscall.Signal)
				if !first.IsZero() {
					abort()
					time.Sleep(time.Until(first.Add(commandGrace)))
					os.Exit(128 + int(n))
				}
				first = time.Now()
				cancel(signalError(n))
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); signal.Stop(ignored); close(done); cancel(nil) }
}

// recordFrames writes every frame of the server to the new fixture file of --record, if it is set.
// An existing file is rejected: an editor may start the agent twice, and the second start must not
// overwrite the first recording.
func (f *flags) recordFrames(server *acp.Server) (stop func(), err error) {
	if f.record == "" {
		return func() {}, nil
	}
	if err := needDirectory("--record", f.record); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s is not empty: name a new file, or delete that one first", f.record)
	}
	if err != nil {
		return nil, fmt.Errorf("--record: %w", errors.Join(err, file.Close()))
	}
	r := fixtures.NewRecorder(file)
	logged := server.Trace
	server.Trace = func(side acp.Side, line []byte) {
		r.Trace(string(side), line)
		if logged != nil {
			logged(side, line)
		}
	}
	return func() {
		if err := errors.Join(r.Err(), file.Close()); err != nil {
			server.Log.Error("record", "err", err)
		}
	}, nil
}
