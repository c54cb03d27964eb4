package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// caller is a model that calls a tool in its first answers and then ends its turn. It
// records the texts of each request.
type caller struct {
	rounds int
	during func(request int) // called in each request

	mu       sync.Mutex
	requests []string
}

func (m *caller) Name() string { return "fake:caller" }
func (m *caller) Window() int  { return 0 }

func (m *caller) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, requestText(req))
		n := len(m.requests)
		m.mu.Unlock()
		if m.during != nil {
			m.during(n)
		}
		if ctx.Err() != nil {
			yield(llm.Event{}, context.Cause(ctx))
			return
		}
		if n <= m.rounds {
			call := llm.ToolCall{ID: fmt.Sprint("c", n), Name: "say", Input: []byte(fmt.Sprintf(`{"text":"round %d of this turn"}`, n))}
			_ = yield(llm.Event{Call: &call}, nil) && yield(llm.Event{Stop: llm.StopTools}, nil)
			return
		}
		_ = yield(llm.Event{Text: fmt.Sprint("answer ", n)}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
	}
}

// add adds a text as a client does: it acknowledges the outcome.
func add(b *Inbox, text string) func() error {
	a := b.Add([]acp.ContentBlock{acp.TextBlock(text)}, "")
	if a == nil {
		return func() error { return ErrNotAccepted }
	}
	outcome := make(chan error, 1)
	go func() {
		outcome <- a.Wait(context.Background())
		a.Answered()
	}()
	return func() error { return <-outcome }
}

// calling returns an agent with that model.
func calling(t *testing.T, m *caller, c *client) *Agent {
	a := newAgent(t, "", c)
	a.Model = func() llm.Model { return m }
	return a
}

// steerable returns a prompt to whose turn the user can add texts.
func steerable(b *Inbox) Input {
	in := text("go")
	in.Inbox = b
	return in
}

// A text that arrives during a call of a tool or an answer enters before the next
// request, also after the last call and after the last answer.
func TestSteered(t *testing.T) {
	for name, tt := range map[string]struct {
		rounds, at int // the request during which the text arrives
		want       int // the first request that has it
	}{
		"before the calls":       {1, 1, 2},
		"during the last answer": {1, 2, 3},
		"without calls":          {0, 1, 2},
		"before many calls":      {5, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var inbox Inbox
			outcome := func() error { return errors.New("never added") }
			m := &caller{rounds: tt.rounds}
			m.during = func(n int) {
				if n == tt.at {
					outcome = add(&inbox, "with care")
				}
			}
			c := &client{}
			_, reason, err := c.turn(t.Context(), t, calling(t, m, c), nil, steerable(&inbox))
			if err != nil || reason != acp.StopEndTurn || outcome() != nil {
				t.Fatalf("%v, %q", err, reason)
			}
			for i, r := range m.requests {
				if got, want := strings.Count(r, "with care"), min(1, max(0, i+2-tt.want)); got != want {
					t.Errorf("request %d has the text %d times, want %d", i+1, got, want)
				}
			}
			if inbox.Add(text("late").Content, "") != nil {
				t.Error("the inbox is open after the turn")
			}
		})
	}
}

// Texts and cancels at any time: a text is in the history exactly once if its sender got
// the outcome "injected", else never.
func TestSteeredRace(t *testing.T) {
	for round := range 300 {
		ctx, cancel := context.WithCancelCause(t.Context())
		inbox := &Inbox{}
		m := &caller{rounds: round % 4}
		outcomes := map[string]func() error{}
		var mu sync.Mutex
		var adding sync.WaitGroup
		send := func(name string) {
			adding.Go(func() {
				outcome := add(inbox, name)
				mu.Lock()
				outcomes[name] = outcome
				mu.Unlock()
			})
		}
		m.during = func(n int) {
			if n > 6 {
				return
			}
			send(fmt.Sprintf("<first of %d>", n))
			send(fmt.Sprintf("<second of %d>", n))
			if n == round%5 && round%2 == 0 {
				adding.Go(func() { cancel(acp.ErrTurnCancelled) })
			}
		}
		c := &client{}
		history, _, err := calling(t, m, c).Turn(ctx, nil, steerable(inbox))
		inbox.Close(errors.Join(err, ErrNotAccepted))
		adding.Wait()
		all := requestText(llm.Request{Messages: history})
		for name, outcome := range outcomes {
			want := 1
			if outcome() != nil {
				want = 0
			}
			if got := strings.Count(all, name); got != want {
				t.Fatalf("round %d: %s is in the history %d times, want %d (%v)", round, name, got, want, err)
			}
		}
		cancel(nil)
	}
}

// A withdrawn text does not enter.
func TestSteerWithdrawn(t *testing.T) {
	var inbox Inbox
	a := inbox.Add(text("wrong").Content, "")
	arrived := inbox.Arrived()
	<-arrived
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.Canceled)
	if err := a.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-inbox.Arrived():
		t.Error("a withdrawn text still waits")
	default:
	}
	if !inbox.closeIfEmpty() {
		t.Error("the inbox is not empty")
	}
}

// The built-in provider takes no texts: it would run them as commands.
func TestSteeredDirect(t *testing.T) {
	var inbox Inbox
	outcome := add(&inbox, "/say no")
	in := text(`/say {"text":"hi"}`)
	in.Inbox = &inbox
	a := newAgent(t, `{"error":"no one asks"}`, &client{})
	if _, _, err := a.Turn(t.Context(), nil, in); err != nil {
		t.Fatal(err)
	}
	if err := outcome(); !errors.Is(err, ErrNotAccepted) {
		t.Error(err)
	}
}

// A hook can keep a text from the model, and a text restarts the rounds of the turn.
func TestSteeredLimits(t *testing.T) {
	var inbox Inbox
	var outcomes []func() error
	m := &caller{rounds: 4}
	m.during = func(n int) {
		if n == 2 {
			outcomes = append(outcomes, add(&inbox, "secret"), add(&inbox, "go on"))
		}
	}
	a := calling(t, m, &client{})
	a.Config.MaxToolIterations, a.Ask = 2, nil
	a.Hooks = blocking("secret")
	_, reason, err := a.Turn(t.Context(), nil, steerable(&inbox))
	if err != nil || reason != acp.StopMaxTurnRequests || len(m.requests) != 4 {
		t.Errorf("%v, %q after %d requests", err, reason, len(m.requests))
	}
	if err := outcomes[0](); err == nil || err.Error() != "no secrets" || outcomes[1]() != nil {
		t.Error(err)
	}
	if strings.Contains(m.requests[3], "secret") {
		t.Error("the model saw a text that a hook blocked")
	}
}

// A hook for the end of the turn runs only when no text of the user waits.
func TestSteeredBeforeStopHook(t *testing.T) {
	var inbox Inbox
	m := &caller{}
	m.during = func(n int) {
		if n == 1 {
			add(&inbox, "one thing more")
		}
	}
	a, stops := calling(t, m, &client{}), 0
	a.Hooks = stopCounter{&stops}
	if _, reason, err := a.Turn(t.Context(), nil, steerable(&inbox)); err != nil || reason != acp.StopEndTurn || len(m.requests) != 2 || stops != 1 {
		t.Errorf("%v, %v after %d requests and %d runs of the hook, want 2 requests and 1 run", reason, err, len(m.requests), stops)
	}
}

// stopCounter are hooks that count the ends of turns.
type stopCounter struct{ stops *int }

func (stopCounter) Prompt(context.Context, string) (text, blocked string, err error) {
	return "", "", nil
}

func (c stopCounter) Stop(context.Context, string, bool) (string, error) {
	*c.stops++
	return "", nil
}
func (stopCounter) Stopped() (string, bool) { return "", false }

// blocking are hooks that block a prompt.
type blocking string

func (r blocking) Prompt(_ context.Context, prompt string) (text, blocked string, err error) {
	if prompt == string(r) {
		return "", "no secrets", nil
	}
	return "", "", nil
}
func (blocking) Stop(context.Context, string, bool) (string, error) { return "", nil }
func (blocking) Stopped() (string, bool)                            { return "", false }
