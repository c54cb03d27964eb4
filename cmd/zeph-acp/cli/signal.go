package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// SignalError is the cause of a context that a signal cancelled.
type SignalError syscall.Signal

func (s SignalError) Error() string { return "got " + syscall.Signal(s).String() }

// SignalExit returns the error with the exit status if a signal cancelled the context, else nil.
func SignalExit(ctx context.Context) error {
	if got, ok := errors.AsType[SignalError](context.Cause(ctx)); ok {
		return &ExitError{Code: 128 + int(got)}
	}
	return nil
}

// commandGrace is how long commands may run after the first signal: 300 ms to end by
// themselves, and a moment for the kill.
const commandGrace = time.Second

// StopOnSignal cancels the context at the first SIGINT, SIGTERM or SIGHUP. At the
// second the process ends after abort, which kills all commands. SIGPIPE is
// ignored, so that the writer gets an error. Otherwise the runtime would end the
// process while its children still run.
func StopOnSignal(ctx context.Context, abort func()) (context.Context, func()) {
	return StopOrInterrupt(ctx, abort, func() bool { return false })
}

// StopOrInterrupt is StopOnSignal for a program that may have something to interrupt by SIGINT. interrupt reports whether
// it had: then the signal does not count.
func StopOrInterrupt(ctx context.Context, abort func(), interrupt func() bool) (context.Context, func()) {
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
				if n == syscall.SIGINT && first.IsZero() && interrupt() {
					continue
				}
				if !first.IsZero() {
					abort()
					time.Sleep(time.Until(first.Add(commandGrace)))
					os.Exit(128 + int(n))
				}
				first = time.Now()
				cancel(SignalError(n))
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); signal.Stop(ignored); close(done); cancel(nil) }
}
