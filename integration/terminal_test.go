package integration

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

func (t *terminal) kill() {
	killGroup(t.cmd)
	<-t.done
}

// exit tells how the command ended.
func (t *terminal) exit() (code *int, signal *string) {
	if name := signalOf(t.cmd); name != "" {
		return nil, &name
	}
	return new(t.cmd.ProcessState.ExitCode()), nil
}

func (e *ide) CreateTerminal(ctx context.Context, p sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	if err := e.called(ctx, "terminal/create"); err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	t := &terminal{cmd: exec.Command(p.Command, p.Args...), done: make(chan struct{})}
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
	ownGroup(t.cmd)
	if err := t.cmd.Start(); err != nil {
		return sdk.CreateTerminalResponse{}, err
	}
	go func() {
		defer close(t.done)
		_ = t.cmd.Wait() // exit tells
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made++
	id := fmt.Sprintf("term-%d", e.made)
	e.terminals[id] = t
	return sdk.CreateTerminalResponse{TerminalId: id}, nil
}

// find gives a terminal that was not released.
func (e *ide) find(ctx context.Context, method, id string) (*terminal, error) {
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

func (e *ide) TerminalOutput(ctx context.Context, p sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
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

func (e *ide) WaitForTerminalExit(ctx context.Context, p sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
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

func (e *ide) KillTerminal(ctx context.Context, p sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	t, err := e.find(ctx, "terminal/kill", p.TerminalId)
	if err == nil {
		t.kill()
	}
	return sdk.KillTerminalResponse{}, err
}

func (e *ide) ReleaseTerminal(ctx context.Context, p sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	t, err := e.find(ctx, "terminal/release", p.TerminalId)
	if err == nil {
		t.kill()
		e.mu.Lock()
		delete(e.terminals, p.TerminalId)
		e.mu.Unlock()
	}
	return sdk.ReleaseTerminalResponse{}, err
}
