package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// await waits for a matching frame of the agent.
func (a *agent) await(what string, fits func(frame) bool) frame {
	a.t.Helper()
	return a.awaitWithin(patience, what, fits)
}

func (a *agent) awaitWithin(d time.Duration, what string, fits func(frame) bool) frame {
	a.t.Helper()
	timeout := time.After(d)
	for next := 0; ; {
		a.mu.Lock()
		frames, more := a.frames, a.newFrame
		a.mu.Unlock()
		for ; next < len(frames); next++ {
			if f := frames[next]; f.side == agentSide && fits(f) {
				return f
			}
		}
		select {
		case <-more:
		case <-a.exited:
			a.mu.Lock()
			done := len(a.frames) == next
			a.mu.Unlock()
			if done {
				a.t.Fatalf("the agent exited (%d) before %s\nstderr: %s", a.status, what, &a.stderr)
			}
		case <-timeout:
			a.t.Fatalf("no %s after %s; the agent's last frames:\n%s", what, d, a.tail())
		}
	}
}

// tail returns the last frames, for a failure.
func (a *agent) tail() string {
	frames := a.agentFrames()
	var b strings.Builder
	for _, f := range frames[max(0, len(frames)-8):] {
		fmt.Fprintf(&b, "%.600s\n", strings.TrimSpace(f.line))
	}
	return b.String()
}

// answer waits for the response with that id, which is JSON.
func (a *agent) answer(id string) frame {
	a.t.Helper()
	return a.await("answer to "+id, func(f frame) bool { return f.Method == "" && string(f.ID) == id })
}

// within waits for a value of the channel.
func within[T any](t testing.TB, d time.Duration, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(d):
		t.Fatalf("no %s after %s", what, d)
		panic("unreachable")
	}
}

// eventually polls for a condition without an event, such as the end of another
// process's child.
func eventually(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(d)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("after %s still waiting for %s", d, what)
		}
	}
}
