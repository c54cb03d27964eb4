package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/stdio"
)

// legacyRevision is the newest revision without server/discover. Some servers end
// when they get that request.
const legacyRevision = "2025-11-25"

// exitGrace is the wait for a program to end after its connection broke.
const exitGrace = 100 * time.Millisecond

// endsSoon reports whether a program ends by itself within exitGrace.
func endsSoon(program *stdio.Server) bool {
	select {
	case <-program.Done():
		return true
	case <-time.After(exitGrace):
		return false
	}
}

// withExit adds the program's exit and its last line of stderr to an error. It waits for the
// exit.
func withExit(err error, program *stdio.Server) error {
	if endsSoon(program) {
		err = &exitedError{exitText(program.Exit()), err}
	}
	return withLastLine(err, program)
}

// exitedError is the error of a request to a program that has ended.
type exitedError struct {
	exit  string
	cause error
}

// Error leaves out which end of the pipe was noticed first, since that is chance.
func (e *exitedError) Error() string {
	if errors.Is(e.cause, io.EOF) || errors.Is(e.cause, syscall.EPIPE) || errors.Is(e.cause, fs.ErrClosed) {
		return e.exit
	}
	return fmt.Sprintf("%v (%s)", e.cause, e.exit)
}

func (e *exitedError) Unwrap() error { return e.cause }

// withLastLine adds the program's last line of stderr to an error.
func withLastLine(err error, program *stdio.Server) error {
	if last := program.LastLine(); last != "" {
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

func exitText(e executors.Exit) string {
	if e.Code != nil {
		return fmt.Sprintf("the program ended with exit code %d", *e.Code)
	}
	return "the program was ended by " + e.Signal
}

// connect starts the program or reaches the address. If the program was started, it is
// returned even with an error.
func (i *instance) connect(ctx context.Context) (*sdk.ClientSession, *stdio.Server, error) {
	if i.entry.URL != "" {
		session, err := i.connectRemote(ctx)
		return session, nil, err
	}
	env, err := i.environment()
	if err == nil {
		err = i.entry.checkFiles()
	}
	if err != nil {
		return nil, nil, err
	}
	prog := process.Program{Path: i.entry.Command, Args: i.entry.Args, Env: env, Dir: i.roots[0]}
	if i.pool.Reaper != nil {
		prog.Reaper = i.pool.Reaper()
	}
	masks := map[string]func(string) string{"stdout": i.pool.maskLines(), "stderr": i.pool.maskLines()}
	program, err := stdio.Start(prog, func(stream, text string) {
		if mask := masks[stream]; mask != nil {
			text = mask(text)
		}
		i.pool.Log.Info("mcp", "server", i.entry.Name, "stream", stream, "line", text)
	})
	if err != nil {
		return nil, nil, err
	}
	i.update(func() { i.program = program })
	session, err := i.newClient().Connect(ctx, repairing{program}, i.sessionOptions())
	return session, program, err
}

// environment returns the environment of the program: the environment of commands plus the
// entry's own variables.
func (i *instance) environment() ([]string, error) {
	env := slices.Clone(i.pool.Env())
	for _, name := range i.entry.EnvFrom {
		if i.pool.Getenv == nil || i.pool.Getenv(name) == "" {
			return nil, fmt.Errorf("the variable %s is not set", name)
		}
		env = append(env, name+"="+i.pool.Getenv(name))
	}
	for _, name := range slices.Sorted(maps.Keys(i.entry.Env)) {
		env = append(env, name+"="+i.entry.Env[name])
	}
	return env, nil
}

// connectRemote connects to an address. Without a transport of the entry it tries the older
// one where the server refuses the newer one.
func (i *instance) connectRemote(ctx context.Context) (*sdk.ClientSession, error) {
	r, err := i.pool.openRemote(i.entry, i.pool.Open)
	if err != nil {
		return nil, err
	}
	i.update(func() { i.remote = r })
	context.AfterFunc(ctx, func() { time.AfterFunc(stdio.GracePeriod, r.connections.closeAll) })
	ctx, note := recordStatus(ctx)
	session, err := i.newClient().Connect(ctx, r.transport(i.entry.URL, i.entry.Transport), i.sessionOptions())
	switch note.status().code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		if err != nil && i.entry.Transport == "" {
			older, olderErr := i.newClient().Connect(ctx, r.transport(i.entry.URL, transportSSE), i.sessionOptions())
			if olderErr == nil {
				r.opened.Store(true)
				return older, nil
			}
		}
	}
	if err != nil {
		r.close()
		return session, classify(err, note.status())
	}
	r.opened.Store(true)
	return session, nil
}

func (i *instance) sessionOptions() *sdk.ClientSessionOptions {
	if i.legacy {
		return &sdk.ClientSessionOptions{ProtocolVersion: legacyRevision}
	}
	return nil
}

// newClient returns the client of one connection.
func (i *instance) newClient() *sdk.Client {
	options := &sdk.ClientOptions{
		//lint:ignore SA1019 revisions before 2026-07-28 have roots
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}, // no sampling
		ToolListChangedHandler: func(_ context.Context, r *sdk.ToolListChangedRequest) {
			i.rereadLater(&i.listing, func() { i.rereadTools(r.Session) })
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			i.mu.Lock()
			report := i.progress[fmt.Sprint(r.Params.ProgressToken)]
			i.mu.Unlock()
			if report != nil {
				report(*r.Params)
			}
		},
	}
	i.offerQuestions(options)
	i.watchLists(options)
	c := sdk.NewClient(&sdk.Implementation{Name: "zeph-acp", Title: "Zeph", Version: i.pool.Version}, options)
	for _, dir := range i.roots {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
		//lint:ignore SA1019 revisions before 2026-07-28 have roots
		c.AddRoots(&sdk.Root{URI: u.String(), Name: filepath.Base(dir)}) // for revisions that have roots
	}
	return c
}
