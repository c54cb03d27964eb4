package failover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

func never() float64 { return 0 }

func idleClock(c *llmtest.IdleClock) backoff.Clock {
	return backoff.Clock{Now: c.Now, Sleep: c.Sleep, Random: never}
}

// scripts returns a model that asks the scripts, named "a", "b" and so on, in
// turn. A script of "no key" is a model without a key.
func scripts(t testing.TB, c backoff.Clock, retry backoff.Limits, texts ...string) llm.Model {
	t.Helper()
	var models []llm.Model
	for i, text := range texts {
		name := string(rune('a' + i))
		s, err := local.ParseScript("m", strings.NewReader(strings.TrimPrefix(text, "no key")))
		if err != nil {
			t.Fatal(err)
		}
		s.Provider = name
		if text == "no key" {
			models = append(models, keyless{s})
		} else {
			models = append(models, s)
		}
	}
	return New(retry, c, models[0], models[1:]...)
}

// keyless is a model without a key.
type keyless struct{ *local.Script }

func (k keyless) Ready() error {
	return &llm.Error{Provider: k.Provider, Message: "there is no API key", Auth: true,
		Hint: "run zeph-acp login, or set KEY in the environment that starts the agent"}
}

func (k keyless) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) { yield(llm.Event{}, k.Ready()) }
}

// describeAnswer returns an answer as the user sees it.
func describeAnswer(m llm.Model, ctx context.Context) string {
	events, err := llmtest.Collect(m, ctx, llmtest.Hello())
	return describeEvents(events, err)
}

// describeEvents describes each event in a few words.
func describeEvents(events []llm.Event, err error) string {
	var words []string
	for _, ev := range events {
		switch {
		case ev.Text != "":
			words = append(words, ev.Text)
		case ev.Thought != "":
			words = append(words, "<"+ev.Thought+">")
		case ev.Call != nil:
			words = append(words, ev.Call.Name+"()")
		case ev.Wait != nil:
			words = append(words, "["+ev.Wait.String()+"]")
		case ev.Fallback != nil:
			provider, _, _ := strings.Cut(ev.Fallback.Model.Name(), ":")
			words = append(words, fmt.Sprintf("[%s %s:]", ev.Fallback.Reason, provider))
		case ev.Cut:
			words = append(words, "[cut]")
		case ev.Stop != "":
			words = append(words, "."+string(ev.Stop))
		}
	}
	if err != nil {
		words = append(words, "! "+err.Error())
	}
	return strings.Join(words, " ")
}

const overloaded = `{"error": "Overloaded.", "status": 529, "again": true}` + "\n\n"

var defaults = backoff.Limits{MaxAttempts: 4, BaseMS: 1000, MaxMS: 20_000, BudgetSecs: 60}

// mute is a model whose server says nothing, a number of times.
type mute struct {
	llm.Model
	left int
}

func (m *mute) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	if m.left == 0 {
		return m.Model.Stream(ctx, req)
	}
	m.left--
	return func(yield func(llm.Event, error) bool) {
		yield(llm.Event{}, &llm.Error{Provider: "a", Message: "sent nothing for 2 min", Hint: "try again", Retryable: true, Stalled: true})
	}
}

// A server that says nothing is asked once more, whatever the number of attempts; then the next
// model answers.
func TestStalled(t *testing.T) {
	for name, tt := range map[string]struct {
		times  int
		others bool
		want   string
	}{
		"once":            {1, false, "[a: sent nothing for 2 min. Trying again in 1 s (2 of 2).] hi .end"},
		"always":          {9, false, "[a: sent nothing for 2 min. Trying again in 1 s (2 of 2).] ! a: sent nothing for 2 min (tried 2 times; try again)"},
		"with a fallback": {9, true, "[a: sent nothing for 2 min. Trying again in 1 s (2 of 2).] [a: sent nothing for 2 min. b:] hi .end"},
	} {
		t.Run(name, func(t *testing.T) {
			models := make([]llm.Model, 2)
			for i := range models {
				s, err := local.ParseScript("m", strings.NewReader(`{"text": "hi"}`))
				if err != nil {
					t.Fatal(err)
				}
				s.Provider = string(rune('a' + i))
				models[i] = s
			}
			m := New(defaults, idleClock(&llmtest.IdleClock{}), &mute{models[0], tt.times})
			if tt.others {
				m = New(defaults, idleClock(&llmtest.IdleClock{}), &mute{models[0], tt.times}, models[1])
			}
			if got := describeAnswer(m, t.Context()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		retry  backoff.Limits
		want   string
		waits  []time.Duration
	}{
		"good at once": {`{"text": "hi"}`, defaults, "hi .end", nil},
		"good the third time": {
			overloaded + overloaded + `{"text": "hi"}`, defaults,
			"[a answered 529: Overloaded. Trying again in 1 s (2 of 5).] [a answered 529: Overloaded. Trying again in 2 s (3 of 5).] hi .end",
			[]time.Duration{time.Second, 2 * time.Second},
		},
		"never good": {
			strings.Repeat(overloaded, 9), backoff.Limits{MaxAttempts: 2, BaseMS: 300, MaxMS: 400, BudgetSecs: 9},
			"[a answered 529: Overloaded. Trying again in 300 ms (2 of 3).] [a answered 529: Overloaded. Trying again in 400 ms (3 of 3).] ! a answered 529: " +
				"Overloaded (tried 3 times)",
			[]time.Duration{300 * time.Millisecond, 400 * time.Millisecond},
		},
		"no budget left": {
			strings.Repeat(overloaded, 9), backoff.Limits{MaxAttempts: 9, BaseMS: 600, MaxMS: 9000, BudgetSecs: 1},
			"[a answered 529: Overloaded. Trying again in 600 ms (2 of 10).] ! a answered 529: Overloaded (tried 2 times)",
			[]time.Duration{600 * time.Millisecond},
		},
		"asks to wait": {
			`{"error": "slow down", "status": 429, "again": true, "retry_after_ms": 7500}` + "\n\n" + `{"text": "hi"}`, defaults,
			"[a answered 429: slow down. Trying again in 8 s (2 of 5).] hi .end", []time.Duration{7500 * time.Millisecond},
		},
		"asks to wait for too long": {
			`{"error": "slow down", "status": 429, "again": true, "retry_after_ms": 600000}`, defaults,
			"! a answered 429: slow down (wait 10 min, then try again)", nil,
		},
		"no budget, but patience": {
			strings.Repeat(`{"error": "x", "again": true, "retry_after_ms": 240000}`+"\n\n", 2) + `{"error": "x", "again": true, "retry_after_ms": 301000}`,
			backoff.Limits{MaxAttempts: 9},
			"[a: x. Trying again in 4 min (2 of 10).] [a: x. Trying again in 4 min (3 of 10).] ! a: x (tried 3 times; wait 6 min, then try again)",
			[]time.Duration{4 * time.Minute, 4 * time.Minute},
		},
		"not to be tried again": {`{"error": "no", "status": 400}`, defaults, "! a answered 400: no", nil},
		"switched off":          {overloaded, backoff.Limits{}, "! a answered 529: Overloaded.", nil},
		"counts that come first are nothing of the answer": {
			`{"usage": {"input": 3}}` + "\n" + overloaded + `{"text": "hi"}`, backoff.Limits{MaxAttempts: 1},
			"[a answered 529: Overloaded. Trying again (2 of 2).] hi .end", []time.Duration{0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c llmtest.IdleClock
			got := describeAnswer(scripts(t, idleClock(&c), tt.retry, tt.script), t.Context())
			if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.waits, c.Waits); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Up to half of a pause is random, but never less than the provider's
// Retry-After.
func TestRetryJitter(t *testing.T) {
	var c llmtest.IdleClock
	clock := idleClock(&c)
	clock.Random = func() float64 { return 1 }
	m := scripts(t, clock, defaults, overloaded+`{"error": "x", "again": true, "retry_after_ms": 5000}`+"\n\n"+`{"text": "hi"}`)
	describeAnswer(m, t.Context())
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, 5 * time.Second}, c.Waits); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A cancel during a pause ends the stream with its cause. No model is asked
// afterwards, not even the fallback.
func TestRetryCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	c := llmtest.IdleClock{Wait: func(context.Context) { cancel(stop) }}
	events, err := llmtest.Collect(scripts(t, idleClock(&c), defaults, overloaded, `{"text": "b"}`), ctx, llmtest.Hello())
	if len(events) != 1 || events[0].Wait == nil || !errors.Is(err, stop) {
		t.Errorf("%s", describeEvents(events, err))
	}
}

// BenchmarkRelay passes chunks through every wrapper that handles failures.
func BenchmarkRelay(b *testing.B) {
	const chunks = 10_000
	script := strings.Repeat(`{"text": "some words"}`+"\n", chunks)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		m := scripts(b, backoff.SystemClock(), defaults, script, script)
		b.StartTimer()
		n := 0
		for range m.Stream(b.Context(), llmtest.Hello()) {
			n++
		}
		if n != chunks+1 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(chunks*b.N)/b.Elapsed().Seconds(), "chunks/s")
}
