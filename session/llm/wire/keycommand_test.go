package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// helper is a command that prints "key-1", "key-2" and so on, after it was released.
type helper struct {
	release chan struct{} // nil: at once
	fail    error

	mu   sync.Mutex
	runs int
}

func (h *helper) run(ctx context.Context, _ []string) (string, error) {
	h.mu.Lock()
	h.runs++
	n := h.runs
	h.mu.Unlock()
	if h.release != nil {
		select {
		case <-h.release:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return fmt.Sprintf("key-%d", n), h.fail
}

func (h *helper) command(ttl time.Duration) (*KeyCommands, *KeyCommand) {
	k := &KeyCommands{Run: h.run}
	return k, k.Command([]string{"/bin/helper", "secret"}, ttl)
}

// Requests at the same time share one run. Its key is used until it is too old, and the next run is shared again.
func TestKeyCommandIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{release: make(chan struct{})}
		k, c := h.command(5 * time.Minute)
		_, other := h.command(0)
		other.commands = k // another provider with the same command
		for round, want := range []string{"key-1", "key-2"} {
			got := make([]string, 20)
			var all sync.WaitGroup
			for i := range got {
				all.Go(func() { got[i], _ = c.key(t.Context()) })
			}
			synctest.Wait()
			if c.isAtHand() {
				t.Errorf("round %d: the key is at hand before the command has ended", round)
			}
			h.release <- struct{}{}
			all.Wait()
			if slices.ContainsFunc(got, func(key string) bool { return key != want }) {
				t.Errorf("round %d: got %q, want only %q", round, got, want)
			}
			time.Sleep(5*time.Minute - time.Second)
			if key, err := c.key(t.Context()); key != want || err != nil {
				t.Errorf("round %d: before the end of its time got %q, %v, want %q", round, key, err, want)
			}
			time.Sleep(time.Second)
		}
		if known := k.Known(); !slices.Equal(known, []string{"key-1", "key-2"}) || h.runs != 2 {
			t.Errorf("%d runs, known keys %q, want 2 runs and both keys", h.runs, known)
		}
	})
}

// A key that the server refuses is asked anew once, for all requests that had it.
func TestKeyCommandAfterRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{}
		k, c := h.command(time.Hour)
		if key, err := c.key(t.Context()); key != "key-1" || err != nil {
			t.Fatalf("got %q, %v", key, err)
		}
		for range 3 { // the second and third request were sent with the first key, too
			if key, err := c.another(t.Context(), "key-1"); key != "key-2" || err != nil || h.runs != 2 {
				t.Errorf("after a refusal got %q, %v, %d runs, want key-2 and 2 runs", key, err, h.runs)
			}
		}
		k.Run = func(context.Context, []string) (string, error) { return "key-2", nil }
		if key, err := c.another(t.Context(), "key-2"); key != "" || err != nil {
			t.Errorf("the same key again: got %q, %v, want none", key, err)
		}
		k.Forget()
		if c.isAtHand() {
			t.Error("a forgotten key is at hand")
		}
	})
}

// A failure is kept for no other request. A request that is given up leaves the command running, and Close ends it.
func TestKeyCommandFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &helper{fail: errors.New("locked")}
		k, c := h.command(time.Hour)
		for runs := 1; runs < 3; runs++ {
			_, err := c.key(t.Context())
			if _, ok := errors.AsType[*keyError](err); !ok || err.Error() != "locked" || h.runs != runs {
				t.Errorf("got %v after %d runs, want the command's error after %d", err, h.runs, runs)
			}
		}
		h.fail, h.release = nil, make(chan struct{})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("given up"))
		if _, err := c.key(ctx); err == nil || err.Error() != "given up" {
			t.Errorf("got %v, want the cause", err)
		}
		h.release <- struct{}{}
		synctest.Wait()
		if key, err := c.key(t.Context()); key != "key-3" || err != nil {
			t.Errorf("got %q, %v, want the key of the run that the first request began", key, err)
		}
		k.Forget()
		waiting := make(chan error)
		go func() { _, err := c.key(context.Background()); waiting <- err }()
		synctest.Wait()
		k.Close()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("after Close got %v, want that the run was cancelled", err)
		}
		if _, err := c.key(t.Context()); !errors.Is(err, errNoCommands) {
			t.Errorf("after Close got %v, want %v", err, errNoCommands)
		}
	})
}

// Without commands nothing runs, and a provider that needs one says so.
func TestNoKeyCommands(t *testing.T) {
	var k *KeyCommands
	if c := k.Command(nil, 0); c != nil {
		t.Errorf("no words make %v, want nil", c)
	}
	e := &Endpoint{Provider: "p", KeyCommand: k.Command([]string{"op"}, 0), KeyEnv: "K"}
	if err := e.Ready(); err != nil {
		t.Errorf("Ready: %v, want nil before the command ran", err)
	}
	f, ok := errors.AsType[*llm.Error](e.FetchKey(t.Context()))
	if !ok || !f.Auth || f.Retryable || f.Message != "no key from api_key_cmd: "+errNoCommands.Error() || e.KeyAtHand() {
		t.Errorf("FetchKey: %+v", f)
	}
	if k.Known() != nil || len(e.secrets()) > 0 {
		t.Errorf("known keys %v, secrets %v, want none", k.Known(), e.secrets())
	}
	k.Forget()
	k.Close()
}

// The message about a refused key names the program only, and shows no key that the command ever gave.
func TestFailureWithKeyCommand(t *testing.T) {
	k := &KeyCommands{Run: func(context.Context, []string) (string, error) { return "key-for-the-wire", nil }}
	e := &Endpoint{Provider: "p", KeyCommand: k.Command([]string{"/opt/bin/op", "secret-word"}, time.Hour)}
	if err := e.FetchKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Forget()
	f, _ := errors.AsType[*llm.Error](e.Failure(&StatusError{Status: http.StatusUnauthorized, Message: "bad key-for-the-wire"}))
	if f.Message != "bad [key]" || !strings.Contains(f.Hint, "check the key that op prints") || strings.Contains(f.Error(), "secret-word") {
		t.Errorf("got %v", f)
	}
}
