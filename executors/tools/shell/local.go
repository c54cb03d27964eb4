package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Local runs commands as children of this process. Its zero value works.
type Local struct {
	Block []string // more prefixes of variables to hide, see Env
	Extra []string // NAME=value, set for every command
	// Wrap, if not nil, receives every program with its whole environment right
	// before it starts, and returns the program to start instead. On an error
	// nothing is started.
	Wrap func(process.Program) (process.Program, error)
	// Confine, if not nil, returns a read-only command as it runs confined; Wrap does not receive it.
	// An error refuses the command. If Confine is nil, read-only commands run unconfined.
	Confine func(process.Program) (process.Program, error)
	MaxTime time.Duration   // of a read-only command, in the background too; 0 means [process.MaxTime]
	Reaper  *process.Reaper // ends the programs if this process dies; may be nil
}

// Run runs the command with bash, or sh where there is no bash.
func (l Local) Run(ctx context.Context, c Command) (Output, error) {
	if ctx.Err() != nil {
		return Output{}, context.Cause(ctx)
	}
	j := l.newJob(c)
	prog := process.Program{Head: maxStreamBytes / 2, Tail: maxStreamBytes / 2, Split: true, Sink: j.write}
	if c.Notify != nil {
		prog.Live = j.live(c.Notify)
	}
	p, err := l.startShell(c, prog)
	if err != nil {
		return Output{}, err
	}
	j.process = p
	if _, err = p.Wait(ctx); errors.Is(err, ErrGoOn) {
		if !c.Follow {
			j.detach()
		}
		return Output{Job: j}, nil
	}
	p.Release()
	_, _, exit := p.Output()
	if c.Notify != nil {
		c.Notify(executors.Event{Exit: exit})
	}
	out := outputOf(j.kept)
	out.Stdout, out.Stderr, out.CutStreams = p.Streams()
	out.ExitCode, out.Signal = exit.Code, exit.Signal
	out.ReadOnly = c.ReadOnly && l.Confine != nil
	return out, err
}

// startShell starts prog as the shell that runs the command.
func (l Local) startShell(c Command, prog process.Program) (*process.Process, error) {
	var err error
	if prog.Path, err = FindShell(); err != nil {
		return nil, err
	}
	if c.ReadOnly {
		prog.MaxTime = cmp.Or(l.MaxTime, process.MaxTime)
	}
	prog.Args, prog.Dir = c.Args(), c.Dir
	l.Block, l.Extra = c.Env(l.Block, l.Extra)
	switch {
	case c.ReadOnly && l.Confine != nil:
		if prog, err = l.Confine(prog); err != nil {
			return nil, startFailure(err, c)
		}
		l.Wrap = nil // its helper could not run, and would restrict less
	case c.ReadOnly:
		prog = prog.Limited()
	}
	p, err := l.Start(prog)
	if err != nil {
		return nil, startFailure(err, c)
	}
	return p, nil
}

// Start starts a program as Run starts its shell. Its environment is prog.Env added
// to the part of this process's environment that a command may see.
func (l Local) Start(prog process.Program) (*process.Process, error) {
	prog.Env = slices.Concat(Environ(l.Block, l.Extra), prog.Env)
	prog.Reaper = l.Reaper
	if l.Wrap != nil {
		var err error
		if prog, err = l.Wrap(prog); err != nil {
			return nil, err
		}
	}
	return process.Start(prog)
}

// HasBash reports whether commands are run by bash here, and not by another shell.
func HasBash() bool {
	_, err := exec.LookPath("bash")
	return err == nil
}

// FindShell returns the path of the shell that runs commands: bash, or sh where there is no
// bash.
func FindShell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", executors.Failuref(executors.PermanentFailure, "no shell: neither bash nor sh is in PATH").
		Hint("Do without bash, or ask the user to install it (on Windows: Git for Windows).")
}

// startFailure explains why a shell did not start.
func startFailure(err error, c Command) *executors.Failure {
	if f, ok := errors.AsType[*executors.Failure](err); ok {
		return f
	}
	if st, statErr := os.Stat(c.Dir); statErr != nil {
		return executors.Failuref(executors.PermanentFailure, "the directory to run in cannot be used: %v", statErr).
			Hint("Create it, or ask the user.")
	} else if !st.IsDir() {
		return executors.Failuref(executors.PermanentFailure, "%s is not a directory to run in", c.Dir).Hint("Ask the user.")
	}
	if errors.Is(err, syscall.E2BIG) {
		return executors.Failuref(executors.InvalidParameters, "the command is too long for this system (%s bytes)", quantity.Grouped(int64(len(c.Line)))).
			Hint("Put the script into a file with write and run that.")
	}
	return asFailure(fmt.Errorf("start the shell: %w", err))
}

// asFailure returns err as a failure. It classifies an error that is not one yet.
func asFailure(err error) *executors.Failure {
	if f, ok := errors.AsType[*executors.Failure](err); ok {
		return f
	}
	return executors.Failuref(executors.ClassifyIO(err), "run the command: %v", err).Outside()
}
