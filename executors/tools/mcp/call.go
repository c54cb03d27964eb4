package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/trace"
)

const (
	// longestCall bounds a call, even if it keeps reporting progress.
	longestCall = maxTimeout * time.Second
	// progressEvery is the least time between two reports of progress to the client.
	progressEvery = 200 * time.Millisecond
)

// request is a request to a server that may take long.
type request struct {
	tool   string // the tool to call, its name at the server
	input  any
	id     string            // of the tool call
	user   *queue            // whom the server may ask; nil means that there is no user
	report func(line string) // receives the progress; nil drops it
	// waited receives the time that the call waited for the user; nil drops it.
	waited func(time.Duration)
}

// call calls a tool and returns the server's answer, and notes for the model about the
// server's questions. A failure is a *classifiedError, or the cause of ctx if ctx has ended.
func (i *instance) call(ctx context.Context, c request) (*sdk.CallToolResult, []string, error) {
	return exchange(ctx, i, c, func(ctx context.Context, session *sdk.ClientSession, token string) (*sdk.CallToolResult, error) {
		params := &sdk.CallToolParams{Meta: traceMeta(ctx), Name: c.tool, Arguments: c.input}
		params.SetProgressToken(token)
		return session.CallTool(ctx, params)
	})
}

// traceMeta returns the _meta that joins a call to the trace of ctx; nil without a trace.
func traceMeta(ctx context.Context) sdk.Meta {
	parent, state := trace.Parent(ctx)
	if parent == "" {
		return nil
	}
	meta := sdk.Meta{"traceparent": parent}
	if state != "" {
		meta["tracestate"] = state
	}
	return meta
}

// exchange sends a request to a server. It returns the answer of send, and the notes and
// the error of [instance.call]. Meanwhile the server may report progress by the token, and
// ask the user.
func exchange[T any](ctx context.Context, i *instance, c request,
	send func(ctx context.Context, session *sdk.ClientSession, token string) (T, error)) (T, []string, error) {
	session, err := i.readySession()
	if err != nil {
		return *new(T), nil, err
	}
	calling, note := recordStatus(ctx)
	calling, cancel := context.WithCancelCause(calling)
	defer cancel(nil)
	defer context.AfterFunc(i.ctx, func() { cancel(errClosed) })() // or its end would wait for the call
	clock := startClock(i.entry.timeout(), func() { cancel(errTimeout) })
	defer clock.stop()
	token, forget := i.trackProgress(clock, c.report)
	defer forget()
	a := &asker{ctx: calling, id: c.id, server: i.entry.Name, user: c.user, clock: clock}
	defer i.addAsker(a)()
	asking := context.WithValue(calling, askerKey{}, a)
	r, err := send(asking, session, token)
	if pages := neededPages(err); len(pages) > 0 && i.visitPages(asking, a, pages) { // the server has not run the call yet
		r, err = send(asking, session, token)
	}
	if c.waited != nil {
		c.waited(clock.waitedFor())
	}
	return r, a.allNotes(), i.failure(ctx, calling, session, note, err)
}

// failure classifies the failure of a request; nil if there is none.
func (i *instance) failure(ctx, calling context.Context, session *sdk.ClientSession, note *statusNote, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(calling), errTimeout):
		return &classifiedError{Code: transient, Category: executors.Timeout,
			Err: fmt.Errorf("the MCP server %s did not answer in time (timeout_secs = %d)", i.entry.Name,
				int(i.entry.timeout()/time.Second))}
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, sdk.ErrSessionMissing):
		i.spawn(func() { _ = session.Close() }) // so that run starts it again
	}
	return classify(err, note.status())
}

// clock ends a call that takes too long. Each report of progress restarts the time.
type clock struct {
	timeout  time.Duration
	deadline time.Time // the latest end of the call

	mu            sync.Mutex
	timer         *time.Timer
	openQuestions int // number of questions that the user has not answered
	stopped       bool
	pausedSince   time.Time     // of the first of those questions
	waited        time.Duration // waiting for the user, before pausedSince
}

func startClock(each time.Duration, over func()) *clock {
	return &clock{timeout: each, deadline: time.Now().Add(longestCall), timer: time.AfterFunc(each, over)}
}

func (c *clock) progress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restart()
}

func (c *clock) restart() {
	if c.openQuestions == 0 && !c.stopped {
		c.timer.Reset(max(min(c.timeout, time.Until(c.deadline)), 0))
	}
}

// hold stops the time until the function release is called.
func (c *clock) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	began := time.Now()
	if c.openQuestions++; c.openQuestions == 1 {
		c.pausedSince = began
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.openQuestions--; c.openQuestions == 0 {
			c.waited += time.Since(c.pausedSince)
		}
		c.deadline = c.deadline.Add(time.Since(began))
		c.restart()
	}
}

// waitedFor returns how long the call has waited for the user.
func (c *clock) waitedFor() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openQuestions > 0 {
		return c.waited + time.Since(c.pausedSince)
	}
	return c.waited
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.stopped = true
}

// trackProgress returns a token for the server's reports on the progress of a call. The
// function forget ends the reports.
func (i *instance) trackProgress(c *clock, report func(line string)) (token string, forget func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls++
	token = fmt.Sprintf("zeph-%d", i.calls)
	var mu sync.Mutex
	var last time.Time
	var reports sync.WaitGroup
	over, busy := false, false
	i.progress[token] = func(p sdk.ProgressNotificationParams) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		c.progress()
		if now := time.Now(); report != nil && !busy && now.Sub(last) >= progressEvery {
			last, busy = now, true
			reports.Go(func() { // the client may read slowly; meanwhile messages of the server must not pile up
				report(progressText(p))
				mu.Lock()
				defer mu.Unlock()
				busy = false
			})
		}
	}
	return token, func() {
		i.mu.Lock()
		delete(i.progress, token)
		i.mu.Unlock()
		mu.Lock()
		over = true // no report follows
		mu.Unlock()
		reports.Wait()
	}
}

// progressText returns a line about the progress of a call.
func progressText(p sdk.ProgressNotificationParams) string {
	text := fmt.Sprintf("%v", p.Progress)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %v", p.Total)
	}
	if message := oneLine(p.Message); message != "" {
		text += ": " + message
	}
	return text
}
