// Package program runs the programs that zeph-acp needs for itself, such as git.
//
// [Runner.Run] is the only place that starts them. Such a program has the environment of a
// command, without keys. Where the system has a box for commands that run without a question,
// the program runs in it. It reads the directories that its [Command] names, system directories
// and toolchains, writes only what the Command names, and has no network. Output and time are
// bounded.
//
// The command in api_key_cmd is the user's own program, which asks an agent or a server for a key. Its
// Runner has the whole environment and no box.
//
// Servers, hooks and commands that the user has approved are not the business of this package:
// they start in package process.
package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Limits of a program, unless its Command has others.
const (
	defaultTimeout   = 10 * time.Minute
	defaultMaxOutput = 256 << 20
	maxMessage       = 64 << 10 // bytes of stderr
	endStep          = 200 * time.Millisecond
)

// Runner runs programs. Its methods may be called concurrently.
type Runner struct {
	Env []string // NAME=value; the whole environment, without keys
	// Confine returns the program as it runs in the box, where it reads and writes the
	// named files and directories. If it is nil, there is no box on this system, or none for these programs.
	Confine func(p process.Program, read, write []string) (process.Program, error)
	Reaper  *process.Reaper // ends the programs if this process dies; may be nil
}

// Command is a program to run.
type Command struct {
	Name  string   // looked up in PATH
	Args  []string // without the name
	Dir   string   // absolute
	Env   []string // NAME=value, in addition to the Runner's variables
	Stdin io.Reader
	// Read and Write are files and directories that the program reads, or reads and writes, with
	// everything below. A program that lies in one of them does not run.
	Read, Write []string
	MaxOutput   int           // bytes of stdout; 0 means the default
	Timeout     time.Duration // 0 means the default
}

// ExitError is the error of a program that ended with a failure.
type ExitError struct {
	Name    string // of the program
	Exit    executors.Exit
	Message string // the first line of stderr that is not a warning; may be empty
	Last    string // the last line of stderr that is not empty; may be empty
}

func (e *ExitError) Error() string { return e.Name + ": " + cmp.Or(e.Message, e.How()) }

// How returns the exit status or the signal, in words.
func (e *ExitError) How() string {
	if e.Exit.Code == nil {
		return "it was ended by " + e.Exit.Signal
	}
	return fmt.Sprintf("exit status %d", *e.Exit.Code)
}

// ExitedWith reports whether err is an ExitError with this exit status.
func ExitedWith(err error, status int) bool {
	e, ok := errors.AsType[*ExitError](err)
	return ok && e.Exit.Code != nil && *e.Exit.Code == status
}

// ErrOfProject is the error of a program that a directory of its Command contains. It does not
// run.
var ErrOfProject = errors.New("the program is a file of the project")

// ErrTooLong is the error of a program whose output exceeds its limit.
var ErrTooLong = errors.New("its output is too long")

// Run runs a program to its end and returns its output. The error is an [*ExitError] if the
// program failed; the output then counts nevertheless.
func (r *Runner) Run(ctx context.Context, c Command) ([]byte, error) {
	prog, err := r.program(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	timeout := cmp.Or(c.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s: it did not end within %s", c.Name, timeout))
	defer cancel()
	p, err := process.StartPiped(prog)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	defer p.Release()
	var pipes sync.WaitGroup
	var out, message bytes.Buffer
	limit := cmp.Or(c.MaxOutput, defaultMaxOutput)
	tooLong := make(chan struct{})
	pipes.Go(func() {
		if n, _ := io.Copy(&out, io.LimitReader(p.Stdout, int64(limit)+1)); n > int64(limit) {
			close(tooLong)
		}
		_, _ = io.Copy(io.Discard, p.Stdout) // until the program ends
	})
	pipes.Go(func() {
		_, _ = io.Copy(&message, io.LimitReader(p.Stderr, maxMessage))
		_, _ = io.Copy(io.Discard, p.Stderr)
	})
	pipes.Go(func() {
		if c.Stdin != nil {
			_, _ = io.Copy(p.Stdin, c.Stdin) // a program need not read its input
		}
		p.CloseStdin()
	})
	select {
	case <-p.Done():
	case <-tooLong:
		err = fmt.Errorf("%s: %w", c.Name, ErrTooLong)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.End(endStep)
	pipes.Wait()
	switch {
	case err != nil:
		return nil, err
	case out.Len() > limit:
		return nil, fmt.Errorf("%s: %w", c.Name, ErrTooLong)
	}
	if exit := p.Exit(); exit.Code == nil || *exit.Code != 0 {
		return out.Bytes(), &ExitError{c.Name, exit, reason(message.String()), lastLine(message.String())}
	}
	return out.Bytes(), nil
}

// reason returns the first line of a program's messages that is not a warning, else the first.
func reason(messages string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(messages, "\uFFFD")), "\n")
	for _, line := range lines {
		if line != "" && !strings.HasPrefix(line, "warning: ") {
			return line
		}
	}
	return lines[0]
}

// lastLine returns the last line of a program's messages that is not empty.
func lastLine(messages string) string {
	messages = strings.TrimSpace(strings.ToValidUTF8(messages, "\uFFFD"))
	return strings.TrimSpace(messages[strings.LastIndexByte(messages, '\n')+1:])
}

// program returns the program of a command as it starts.
func (r *Runner) program(c Command) (process.Program, error) {
	path, err := exec.LookPath(c.Name)
	if err != nil {
		return process.Program{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return process.Program{}, err
	}
	for _, dir := range slices.Concat(c.Read, c.Write) {
		if inside(dir, path) {
			return process.Program{}, fmt.Errorf("%w: %s", ErrOfProject, path)
		}
	}
	p := process.Program{
		Path: path, Args: c.Args, Dir: c.Dir, Env: slices.Concat(r.Env, c.Env), Reaper: r.Reaper,
	}
	if r.Confine == nil {
		return p, nil
	}
	return r.Confine(p, c.Read, c.Write)
}

// inside reports whether a file lies in a directory, by its name or after its links are
// resolved.
func inside(dir, path string) bool {
	names := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		rel, err := filepath.Rel(dir, name)
		return err == nil && filepath.IsLocal(rel)
	})
}
