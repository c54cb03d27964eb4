package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
)

const (
	// longestCall bounds a call, however much progress it reports.
	longestCall = mostTimeout * time.Second
	// progressEvery is the least time between two reports of progress to the client.
	progressEvery = 200 * time.Millisecond
)

// call calls a tool and returns the server's answer. A failure is an *Error, or the
// cause of ctx if ctx has ended.
func (i *instance) call(ctx context.Context, name string, input any, report func(line string)) (*sdk.CallToolResult, error) {
	session, err := i.live()
	if err != nil {
		return nil, err
	}
	calling, note := noting(ctx)
	calling, cancel := context.WithCancelCause(calling)
	defer cancel(nil)
	defer context.AfterFunc(i.ctx, func() { cancel(errClosed) })() // or its end would wait for the call
	clock := startClock(i.entry.timeout(), func() { cancel(errTimeout) })
	defer clock.stop()
	params := &sdk.CallToolParams{Name: name, Arguments: input}
	token, forget := i.follow(clock, report)
	defer forget()
	params.SetProgressToken(token)
	r, err := session.CallTool(calling, params)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(context.Cause(calling), errTimeout):
		return nil, &Error{Code: Transient, Category: executors.Timeout, Err: fmt.Errorf("the MCP server %s did not answer in time (timeout_secs = %d)", i.entry.Name, int(i.entry.timeout()/time.Second))}
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, sdk.ErrSessionMissing):
		i.spawn(func() { _ = session.Close() }) // so that run starts it again
	}
	return nil, classify(err, note.status())
}

// clock ends a call that takes too long. Each report of progress restarts the time.
type clock struct {
	each time.Duration
	last time.Time // the latest end of the call

	mu    sync.Mutex
	timer *time.Timer
}

func startClock(each time.Duration, over func()) *clock {
	return &clock{each: each, last: time.Now().Add(longestCall), timer: time.AfterFunc(each, over)}
}

func (c *clock) progress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Reset(max(min(c.each, time.Until(c.last)), 0))
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
}

// follow returns a token with which the server reports the progress of a call. The
// function forget ends the reports.
func (i *instance) follow(c *clock, report func(line string)) (token string, forget func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calls++
	token = fmt.Sprintf("zeph-%d", i.calls)
	var mu sync.Mutex
	var last time.Time
	over := false
	i.progress[token] = func(p sdk.ProgressNotificationParams) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		c.progress()
		if now := time.Now(); now.Sub(last) >= progressEvery {
			last = now
			report(progressText(p))
		}
	}
	return token, func() {
		i.mu.Lock()
		delete(i.progress, token)
		i.mu.Unlock()
		mu.Lock()
		over = true // a report that runs has ended now, and none follows
		mu.Unlock()
	}
}

// progressText returns a line about the progress of a call.
func progressText(p sdk.ProgressNotificationParams) string {
	text := fmt.Sprintf("%v", p.Progress)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %v", p.Total)
	}
	if message := line(p.Message); message != "" {
		text += ": " + message
	}
	return text
}
