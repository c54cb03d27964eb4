package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/stdio"
)

const (
	// startTimeout bounds one start: a launcher may first download the server.
	startTimeout = 2 * time.Minute
	// firstWait is the wait before a server is started again. It doubles with each
	// failure, up to longestWait.
	firstWait   = time.Second
	longestWait = 5 * time.Minute
	// steadyTime is the time that a server must run until its earlier failures no longer
	// count.
	steadyTime = time.Minute
)

var errLate = fmt.Errorf("it did not start within %s: %w", startTimeout, errTimeout)

// instance is a server that is started, and started again when it fails, until its
// context ends.
type instance struct {
	entry  Server
	roots  []string // absolute; where programs run, then other directories
	forms  bool     // the server may ask users to fill in forms
	pages  bool     // and to open pages
	pool   *Servers
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it has ended, with its processes

	legacy bool // used by run alone

	mu       sync.Mutex
	state    State
	changed  chan struct{} // closed at each change of the fields below
	session  *sdk.ClientSession
	program  *stdio.Server // of the session; nil for a server on the web
	remote   *remote       // the connections to a server on the web, else nil
	tools    []tool
	lists    otherLists
	revision string
	// Duration of the last start, and of the last listing of tools.
	connected, listed time.Duration

	err      error             // the cause of the state Failed
	watchers map[*watcher]bool // whether the failure was reported to it
	progress map[string]func(sdk.ProgressNotificationParams)
	askers   map[*asker]bool // the calls in which the server may ask the user
	visits   map[string]*pageVisit
	calls    int            // so far, for progress tokens
	stopping bool           // nothing is spawned any more
	work     sync.WaitGroup // of spawn

	listing changes // of the tools
}

func newInstance(p *Servers, e Server, roots []string, user *queue) *instance {
	i := &instance{
		entry: e, roots: roots, forms: user.forms(), pages: user.pages(), pool: p, done: make(chan struct{}),
		state: Starting, changed: make(chan struct{}),
		watchers: map[*watcher]bool{}, progress: map[string]func(sdk.ProgressNotificationParams){}, askers: map[*asker]bool{},
	}
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	return i
}

// run starts the server again and again.
func (i *instance) run() {
	defer close(i.done)
	for wait := firstWait; i.ctx.Err() == nil; {
		began := time.Now()
		err := i.serve()
		if i.ctx.Err() != nil {
			break
		}
		if time.Since(began) > steadyTime {
			wait = firstWait
			i.forgetReports()
		}
		i.recordFailure(err)
		if !i.pause(wait, err) {
			break
		}
		wait = min(2*wait, longestWait)
		i.update(func() { i.state = Starting })
	}
	i.update(func() { i.state, i.session, i.tools, i.stopping = Stopped, nil, nil, true })
	i.work.Wait()
}

// spawn runs f in the background; run waits for it.
func (i *instance) spawn(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.stopping {
		i.work.Go(f)
	}
}

// forgetReports makes the next failure count as a new one, which is reported to all sessions.
func (i *instance) forgetReports() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for w := range i.watchers {
		i.watchers[w] = false
	}
}

// serve starts the server once and returns when it has ended, with the reason.
func (i *instance) serve() error {
	err := i.attempt()
	if c, ok := errors.AsType[*connectError](err); ok && !i.legacy && c.ended && i.ctx.Err() == nil {
		i.legacy = true // it may have ended because of server/discover
		if other := i.attempt(); other != nil {
			if again, ok := errors.AsType[*connectError](other); ok && again.ended {
				i.legacy = false
			}
			return other
		}
	}
	return err
}

// connectError is the failure of a start. ended reports that the program ended by
// itself.
type connectError struct {
	err   *classifiedError
	ended bool
}

func (e *connectError) Error() string { return e.err.Error() }

func (e *connectError) Unwrap() error { return e.err }

// newConnectError returns the failure of a start, and ends the program if there is one.
func newConnectError(err error, program *stdio.Server, s status) *connectError {
	if program == nil {
		return &connectError{classify(err, s), false}
	}
	ended := endsSoon(program)
	program.End(shutdownStep)
	if ended {
		err = withExit(err, program)
	} else {
		err = withLastLine(err, program)
	}
	return &connectError{classify(err, s), ended}
}

// attempt starts the server, makes it ready, and waits for its end.
func (i *instance) attempt() error {
	ctx, note := recordStatus(i.ctx)
	// The context of a connection must not end before the connection: the SDK reads
	// a stream of sse with it.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(startTimeout, func() { cancel(errLate) })
	began := time.Now()
	session, program, err := i.connect(ctx)
	if !late.Stop() && i.ctx.Err() == nil {
		if err == nil {
			disconnect(session, program)
		}
		err = errLate
	}
	if err != nil {
		return newConnectError(err, program, note.status())
	}
	defer disconnect(session, program)
	i.update(func() { i.session, i.program, i.connected = session, program, time.Since(began) })
	if res := session.InitializeResult(); res != nil {
		i.update(func() { i.revision = res.ProtocolVersion })
	}
	if err := i.readTools(ctx, session, i.readOtherLists(session)); err != nil {
		if program != nil {
			err = withLastLine(err, program)
		}
		return classify(err, note.status())
	}
	err = i.awaitEnd(session)
	if program != nil {
		err = withExit(err, program)
	}
	return classify(err, status{})
}

// awaitEnd waits until a session or the instance ends, and returns the reason.
func (i *instance) awaitEnd(session *sdk.ClientSession) error {
	defer i.update(func() { i.session = nil })
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return cmp.Or(err, sdk.ErrConnectionClosed)
	case <-i.ctx.Done():
		return context.Cause(i.ctx)
	}
}

// disconnect ends the program, if there is one, and then the session, which waits for the
// answers that it is writing to the program.
func disconnect(session *sdk.ClientSession, program *stdio.Server) {
	if program != nil {
		program.End(stdio.GracePeriod)
	}
	_ = session.Close()
}

// end stops the program, or ends the connections, without the protocol's full grace
// period.
func (i *instance) end(grace time.Duration) {
	i.mu.Lock()
	program, remote := i.program, i.remote
	i.mu.Unlock()
	if remote != nil {
		time.AfterFunc(grace, remote.connections.closeAll)
	}
	if program != nil {
		program.End(grace)
	}
}

// update changes the state and wakes the goroutines that wait for a change.
func (i *instance) update(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
	close(i.changed)
	i.changed = make(chan struct{})
}

// recordFailure records the error with which the server failed. It reports the error to the
// sessions that have not received one since the server last ran.
func (i *instance) recordFailure(err error) {
	var report []*watcher
	i.mu.Lock()
	for w, reported := range i.watchers {
		if !reported {
			report = append(report, w)
			i.watchers[w] = true
		}
	}
	i.mu.Unlock()
	i.pool.Log.Warn("mcp", "server", i.entry.Name, "err", i.pool.mask(err.Error()))
	for _, w := range report {
		w.failed(i, err)
	}
	i.update(func() { i.state, i.err = Failed, err })
	i.notifyPrompts()
}

func (i *instance) watch(w *watcher) {
	i.mu.Lock()
	failed, err := i.state == Failed, i.err
	i.watchers[w] = failed
	i.mu.Unlock()
	if failed {
		w.failed(i, err)
	}
}

func (i *instance) unwatch(w *watcher) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.watchers, w)
}

// started waits until the first start has succeeded or failed, or ctx ends.
func (i *instance) started(ctx context.Context) {
	i.await(ctx, func(s State) bool { return s != Starting })
}

// ready waits until the server is ready or stopped, or ctx ends.
func (i *instance) ready(ctx context.Context) {
	i.await(ctx, func(s State) bool { return s == Ready || s == Stopped })
}

// await waits until the state satisfies the condition, or ctx ends.
func (i *instance) await(ctx context.Context, wanted func(State) bool) {
	for {
		i.mu.Lock()
		state, changed := i.state, i.changed
		i.mu.Unlock()
		if wanted(state) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// wantsLogin reports whether the server does not run because the user has to log in.
func (i *instance) wantsLogin() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	e, ok := errors.AsType[*oauth.Error](i.err)
	return ok && e.Login && i.state != Ready
}

// readySession returns the session of a ready server, or the reason why it has no session.
func (i *instance) readySession() (*sdk.ClientSession, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.session != nil && i.state == Ready:
		return i.session, nil
	case i.err != nil:
		return nil, &classifiedError{Code: transient, Category: executors.ServerError,
			Err: fmt.Errorf("the MCP server %s does not run: %w", i.entry.Name, i.err)}
	}
	return nil, &classifiedError{Code: transient, Category: executors.ServerError,
		Err: fmt.Errorf("the MCP server %s does not run now (%s)", i.entry.Name, i.state)}
}
