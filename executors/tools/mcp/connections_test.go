package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// Reading pauses at maxAnswers answers in flight, and continues when one has arrived.
func TestAwaitFewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newConnections()
		var arrived []func()
		for range maxAnswers {
			one, err := l.awaitSlot(t.Context())
			if err != nil {
				t.Fatalf("answer %d got no slot: %v", len(arrived)+1, err)
			}
			arrived = append(arrived, one)
		}
		reading := make(chan error, 1)
		go func() { reading <- l.awaitFewer(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-reading:
			t.Fatalf("reading continued at %d answers in flight (%v)", maxAnswers, err)
		default:
		}
		arrived[0]()
		if err := <-reading; err != nil {
			t.Errorf("after an answer arrived, reading returned %v", err)
		}
	})
}

// Reading that pauses ends with its request.
func TestAwaitFewerCancelled(t *testing.T) {
	l := newConnections()
	l.answers = maxAnswers
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errClosed)
	if err := l.awaitFewer(ctx); !errors.Is(err, errClosed) {
		t.Errorf("reading returned %v, want %v", err, errClosed)
	}
}

// A login that begins after its session was closed does not run, and nobody waits for it.
func TestLoginAfterClose(t *testing.T) {
	var l logins
	l.close()
	<-l.begin(func(context.Context) { t.Error("the login ran") })
}
