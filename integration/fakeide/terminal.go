package fakeide

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"
)

// terminal is a terminal of the fake editor: a real child in its own process
// group.
type terminal struct {
	cmd   *exec.Cmd
	limit int           // bytes kept, of the tail
	done  chan struct{} // closed when the command has ended

	mu        sync.Mutex
	output    []byte
	truncated bool
}

// Write keeps the tail of the output, from the start of a character on.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.output = append(t.output, p...)
	if over := len(t.output) - t.limit; t.limit > 0 && over > 0 {
		for over < len(t.output) && !utf8.RuneStart(t.output[over]) {
			over++
		}
		t.output, t.truncated = t.output[over:], true
	}
	return len(p), nil
}

// kill kills the command with all its children, and waits for its end.
func (t *terminal) kill() {
	KillGroup(t.cmd)
	<-t.done
}

// exit returns the exit code of the command, or the signal that ended it.
func (t *terminal) exit() (code *int, signal *string) {
	if name := signalOf(t.cmd); name != "" {
		return nil, &name
	}
	return new(t.cmd.ProcessState.ExitCode()), nil
}

// CreateTerminal starts the command in a new terminal.
func (e *IDE) CreateTerminal(ctx context.Context, p sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	if err := e.called(ctx, "terminal/create"); err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	spawn := func(program string, args []string) *exec.Cmd { return exec.Command(program, args...) }
	if e.Spawn != nil {
		spawn = e.Spawn
	}
	t := &terminal{cmd: spawn(p.Command, p.Args), done: make(chan struct{})}
	if p.OutputByteLimit != nil {
		t.limit = *p.OutputByteLimit
	}
	if p.Cwd != nil {
		t.cmd.Dir = *p.Cwd
	}
	t.cmd.Env = os.Environ()
	for _, v := range p.Env {
		t.cmd.Env = append(t.cmd.Env, v.Name+"="+v.Value)
	}
	t.cmd.Stdout, t.cmd.Stderr = t, t
	OwnGroup(t.cmd)
	if err := t.cmd.Start(); err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	go func() {
		defer close(t.done)
		_ = t.cmd.Wait() // exit returns the status
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made++
	id := fmt.Sprintf("term-%d", e.made)
	e.terminals[id] = t
	return sdk.CreateTerminalResponse{TerminalId: id}, nil
}

// find returns a terminal that was not released.
func (e *IDE) find(ctx context.Context, method, id string) (*terminal, error) {
	if err := e.called(ctx, method); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t, ok := e.terminals[id]; ok {
		return t, nil
	}
	e.t.Errorf("%s of terminal %q, which does not exist or was released", method, id)
	return nil, &sdk.RequestError{Code: -32002, Message: "no such terminal"}
}

// TerminalOutput returns the output so far.
func (e *IDE) TerminalOutput(ctx context.Context, p sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	t, err := e.find(ctx, "terminal/output", p.TerminalId)
	if err != nil {
		return sdk.TerminalOutputResponse{}, err
	}
	var r sdk.TerminalOutputResponse
	select {
	case <-t.done:
		code, signal := t.exit()
		r.ExitStatus = &sdk.TerminalExitStatus{ExitCode: code, Signal: signal}
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Output, r.Truncated = string(t.output), t.truncated
	return r, nil
}

// WaitForTerminalExit waits for the end of the command.
func (e *IDE) WaitForTerminalExit(ctx context.Context, p sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	t, err := e.find(ctx, "terminal/wait_for_exit", p.TerminalId)
	if err != nil {
		return sdk.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		return sdk.WaitForTerminalExitResponse{}, ctx.Err()
	}
	code, signal := t.exit()
	return sdk.WaitForTerminalExitResponse{ExitCode: code, Signal: signal}, nil
}

// KillTerminal kills the command; the terminal stays.
func (e *IDE) KillTerminal(ctx context.Context, p sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	t, err := e.find(ctx, "terminal/kill", p.TerminalId)
	if err == nil {
		t.kill()
	}
	return sdk.KillTerminalResponse{}, err
}

// ReleaseTerminal kills the command and forgets the terminal.
func (e *IDE) ReleaseTerminal(ctx context.Context, p sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	t, err := e.find(ctx, "terminal/release", p.TerminalId)
	if err == nil {
		t.kill()
		e.mu.Lock()
		delete(e.terminals, p.TerminalId)
		e.mu.Unlock()
	}
	return sdk.ReleaseTerminalResponse{}, err
}
