package headless

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/redact"
)

const (
	maxEnd   = 1 << 20 // bytes of the end of an output that a terminal keeps in memory
	maxPart  = 1 << 20 // bytes of one part
	minLimit = 4 << 10 // bytes of the whole output that are kept at least
)

// terminals are the terminals of a turn. The zero value is ready.
type terminals struct {
	mu     sync.Mutex
	open   map[string]terminal
	last   int // number in the id
	closed bool
}

// terminal is a program, and end shows the rest of its output.
type terminal struct {
	*process.Process
	whole *wholeOutput
	end   func()
}

// wholeOutput is the output of a program, on disk if it is long.
type wholeOutput struct {
	mu   sync.Mutex
	kept *process.Capture // nil once the output is complete
	full process.Captured // the complete output
}

func (w *wholeOutput) add(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept != nil {
		w.kept.Add(text)
	}
}

// complete returns the output. What a program that was killed still writes is not added.
func (w *wholeOutput) complete() process.Captured {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept != nil {
		w.full, w.kept = w.kept.Finish(), nil
	}
	return w.full
}

// part returns the part of the complete output from an offset on, in whole runes.
func (w *wholeOutput) part(from int64) (text string, truncated bool, err error) {
	all := w.complete()
	buf := make([]byte, max(0, min(maxPart, all.Full.Size()-from)))
	n, err := all.Full.ReadAt(buf, from)
	if n == len(buf) || err == io.EOF {
		err = nil
	}
	for buf = buf[:n]; n == maxPart && len(buf) > 0; buf = buf[:len(buf)-1] {
		if r, size := utf8.DecodeLastRune(buf); r != utf8.RuneError || size > 1 {
			break
		}
	}
	return string(buf), all.Lost > 0, err
}

// start runs a program in a new terminal, which keeps limit bytes of output, and returns the
// terminal's id. It passes the output to live, with the credentials that scan finds masked.
func (t *terminals) start(prog process.Program, limit int, scan *redact.Scanner, live func(id string, text []byte)) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return "", errorResponse(jsonrpc2.CodeInternalError, "the editor is closing")
	}
	t.last++
	id := fmt.Sprintf("term-%d", t.last)
	show, end := func(text []byte) { live(id, text) }, func() {}
	if scan != nil {
		show, end = filter.LiveMask(scan, show)
	}
	whole := &wholeOutput{kept: process.NewCapture(max(limit, minLimit))}
	prog.Live, prog.Tee = show, whole.add
	p, err := process.Start(prog)
	if err != nil {
		return "", err
	}
	if t.open == nil {
		t.open = map[string]terminal{}
	}
	t.open[id] = terminal{p, whole, end}
	return id, nil
}

func (t *terminals) find(id string) (terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok := t.open[id]; ok {
		return p, nil
	}
	return terminal{}, errorResponse(codeNotFound, "no terminal %q", id)
}

// release stops the terminal's processes and removes it.
func (t *terminals) release(id string) error {
	p, err := t.find(id)
	if err != nil {
		return err
	}
	p.close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, id)
	return nil
}

// close stops the terminal's processes and shows the rest of their output.
func (t terminal) close() {
	t.Release()
	t.end()
	t.whole.complete().Full.Close()
}

// close releases all terminals and prevents new ones.
func (t *terminals) close() {
	t.mu.Lock()
	t.closed = true
	var all sync.WaitGroup
	for _, p := range t.open {
		all.Go(p.close)
	}
	t.mu.Unlock()
	all.Wait()
}

// createTerminal runs a program; without a cwd in the directory of the session.
func (c *client) createTerminal(_ context.Context, p acp.CreateTerminalRequest) (any, error) {
	if p.CWD == "" {
		p.CWD = c.Dir
	}
	if err := mustBeAbsolute("cwd", p.CWD); err != nil {
		return nil, err
	}
	if p.Command == "" {
		return nil, errorResponse(jsonrpc2.CodeInvalidParams, "command: is required")
	}
	limit := p.OutputByteLimit
	if limit <= 0 {
		limit = maxEnd
	}
	env := slices.Clone(c.Env)
	for _, v := range p.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	prog := process.Program{Path: p.Command, Args: p.Args, Dir: p.CWD, Env: env, Tail: min(limit, maxEnd), Reaper: c.Reaper}
	id, err := c.terminals.start(prog, limit, c.Scan, c.View.Output)
	if err != nil {
		return nil, err
	}
	return map[string]string{"terminalId": id}, nil
}

type terminalRequest struct {
	TerminalID string          `json:"terminalId"`
	Meta       *acp.OutputPart `json:"_meta"` // asks for a part of the output
}

// terminalMethod returns a method about an open terminal.
func terminalMethod(do func(t terminal, ctx context.Context) (any, error)) method {
	return typedMethod(func(c *client, ctx context.Context, p terminalRequest) (any, error) {
		t, err := c.terminals.find(p.TerminalID)
		if err != nil {
			return nil, err
		}
		return do(t, ctx)
	})
}

// terminalOutput returns the output so far, or a part of the complete output, and the exit status if the
// program has ended.
func (c *client) terminalOutput(_ context.Context, p terminalRequest) (any, error) {
	t, err := c.terminals.find(p.TerminalID)
	if err != nil {
		return nil, err
	}
	out := acp.TerminalOutput{}
	var exit *executors.Exit
	if out.Output, out.Truncated, exit = t.Output(); exit != nil {
		t.end()
		status := exitStatus(*exit)
		out.ExitStatus = &status
	}
	if p.Meta != nil {
		out.Output, out.Truncated, err = t.whole.part(p.Meta.From)
		out.Meta = &acp.OutputPart{From: p.Meta.From + int64(len(out.Output))}
	}
	return out, err
}

func (t terminal) wait(ctx context.Context) (any, error) {
	exit, err := t.Wait(ctx)
	if err == nil {
		t.end()
	}
	return exitStatus(exit), err
}

func (t terminal) kill(context.Context) (any, error) {
	t.Kill()
	t.end()
	return struct{}{}, nil
}

func (c *client) releaseTerminal(_ context.Context, p terminalRequest) (any, error) {
	return struct{}{}, c.terminals.release(p.TerminalID)
}

func exitStatus(e executors.Exit) acp.ExitStatus {
	s := acp.ExitStatus{ExitCode: e.Code}
	if e.Signal != "" {
		s.Signal = &e.Signal
	}
	return s
}
