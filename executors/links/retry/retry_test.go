package retry

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

const web = executors.Reads | executors.Network | executors.Idempotent

// tool returns the results in order, the last one repeatedly; each attempt
// takes a while.
type tool struct {
	effect  executors.Effect
	results []executors.Result
	err     error // in addition to the last result
	takes   time.Duration

	begun    time.Time
	at       []time.Duration // when each try began
	attempts []int
	seen     []executors.Record
	done     int
}

func (t *tool) Tools() []executors.Tool { return []executors.Tool{{Name: "fetch", Effect: t.effect}} }
func (t *tool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}
func (t *tool) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	t.at = append(t.at, time.Since(t.begun))
	t.attempts = append(t.attempts, call.Attempt)
	t.seen = append(t.seen, *call.Record)
	call.Record.Truncated = true
	if err := backoff.Sleep(ctx, t.takes); err != nil && ctx.Err() != nil {
		return executors.Result{}, err
	}
	i := min(len(t.at), len(t.results)) - 1
	res := t.results[i]
	res.Done = func() { t.done++ }
	if i == len(t.results)-1 {
		return res, t.err
	}
	return res, nil
}

func failure(c executors.Category) executors.Result { return executors.Failf(c, "no") }

func later(c executors.Category, after time.Duration) executors.Result {
	f := executors.Failuref(c, "no")
	f.RetryAfter = after
	return f.Result()
}

func TestExecute(t *testing.T) {
	ok := executors.Result{Text: "page"}
	const sec = time.Second
	for name, tt := range map[string]struct {
		change  func(*Config)
		effect  executors.Effect
		results []executors.Result
		takes   time.Duration
		at      []time.Duration
		text    string // the last line
	}{
		"works":            {nil, web, []executors.Result{ok}, 0, []time.Duration{0}, "page"},
		"second try works": {nil, web, []executors.Result{failure(executors.Timeout), ok}, 0, []time.Duration{0, sec / 2}, "page"},
		"all kinds": {nil, web, []executors.Result{failure(executors.RateLimited), failure(executors.ServerError), ok}, 0,
			[]time.Duration{0, sec / 2, 3 * sec / 2}, "page"},
		"never works": {nil, web, []executors.Result{failure(executors.NetworkError)}, 0, []time.Duration{0, sec / 2, 3 * sec / 2}, "[tried 3 times]"},
		"off": {func(c *Config) { c.MaxAttempts = 0 }, web, []executors.Result{failure(executors.NetworkError)}, 0, []time.Duration{0},
			"retryable: true"},
		"one more": {func(c *Config) { c.MaxAttempts = 1 }, web, []executors.Result{failure(executors.NetworkError)}, 0, []time.Duration{0, sec / 2},
			"[tried 2 times]"},
		"no wait": {func(c *Config) { c.BaseMS, c.MaxMS = 0, 0 }, web, []executors.Result{failure(executors.NetworkError)}, 0, []time.Duration{0, 0, 0},
			"[tried 3 times]"},
		"capped": {func(c *Config) { c.MaxAttempts, c.MaxMS = 4, 1000 }, web, []executors.Result{failure(executors.NetworkError)}, 0,
			[]time.Duration{0, sec / 2, 3 * sec / 2, 5 * sec / 2, 7 * sec / 2}, "[tried 5 times]"},
		"becomes permanent": {nil, web, []executors.Result{failure(executors.ServerError), failure(executors.PermanentFailure)}, 0, []time.Duration{0, sec / 2},
			"retryable: false"},
		"permanent":      {nil, web, []executors.Result{failure(executors.PermanentFailure)}, 0, []time.Duration{0}, "retryable: false"},
		"quality":        {nil, web, []executors.Result{failure(executors.InvalidParameters)}, 0, []time.Duration{0}, "retryable: false"},
		"policy":         {nil, web, []executors.Result{failure(executors.PolicyBlocked)}, 0, []time.Duration{0}, "retryable: false"},
		"mutates":        {nil, web | executors.Mutates, []executors.Result{failure(executors.Timeout)}, 0, []time.Duration{0}, "retryable: true"},
		"not idempotent": {nil, executors.Reads | executors.Network, []executors.Result{failure(executors.Timeout)}, 0, []time.Duration{0}, "retryable: true"},
		"says nothing":   {nil, 0, []executors.Result{failure(executors.Timeout)}, 0, []time.Duration{0}, "retryable: true"},
		"asked to wait":  {nil, web, []executors.Result{later(executors.RateLimited, 12*sec), ok}, 0, []time.Duration{0, 12 * sec}, "page"},
		"asked for less": {nil, web, []executors.Result{later(executors.RateLimited, 1), ok}, 0, []time.Duration{0, sec / 2}, "page"},
		"asked for too much": {nil, web, []executors.Result{later(executors.RateLimited, 31*sec)}, 0, []time.Duration{0},
			"[tried once; the server accepts another attempt in 31s]"},
		"no budget, an age": {func(c *Config) { c.BudgetSecs = 0 }, web, []executors.Result{later(executors.RateLimited, time.Hour)}, 0, []time.Duration{0},
			"[tried once; the server accepts another attempt in 1h0m0s]"},
		"no budget, a while": {func(c *Config) { c.BudgetSecs = 0 }, web, []executors.Result{later(executors.RateLimited, time.Minute), ok}, 0,
			[]time.Duration{0, time.Minute}, "page"},
		"budget spent": {nil, web, []executors.Result{failure(executors.Timeout)}, 30 * sec, []time.Duration{0, 30*sec + sec/2},
			"[tried 2 times; there was no time for another attempt]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				allowed := []executors.Verdict{{Gate: executors.PermissionGate, Decision: executors.Allow}}
				cfg := setting.Default[Config]()
				if tt.change != nil {
					tt.change(&cfg)
				}
				inner := &tool{effect: tt.effect, results: tt.results, takes: tt.takes, begun: time.Now()}
				chain := still(inner, cfg)
				call := &executors.Call{Tool: "fetch", Attempt: 1, Record: &executors.Record{Verdicts: allowed}}
				res, err := chain.Execute(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.at, inner.at); diff != "" {
					t.Errorf("tries (-want +got)\n%s", diff)
				}
				lines := strings.Split(res.ForModel(), "\n")
				if got := lines[len(lines)-1]; got != tt.text {
					t.Errorf("text ends with %q, want %q", got, tt.text)
				}
				for i, n := range inner.attempts {
					if n != i+1 || !cmp.Equal(inner.seen[i], executors.Record{Verdicts: allowed}) {
						t.Errorf("try %d was attempt %d with %+v", i, n, inner.seen[i])
					}
				}
				if !call.Record.Truncated || call.Attempt != len(inner.at) {
					t.Errorf("got attempt %d with %+v, want attempt %d, truncated", call.Attempt, call.Record, len(inner.at))
				}
				res.Done()
				if inner.done != len(inner.at) {
					t.Errorf("%d of %d results given back", inner.done, len(inner.at))
				}
			})
		})
	}
}

// still is a chain whose retry link always waits the longest time.
func still(inner executors.Executor, cfg Config) executors.Executor {
	return executors.Chain(inner, func(next executors.Executor) executors.Executor {
		link := cfg.Middleware(next)
		if r, ok := link.(*retrier); ok {
			r.clock.Random = func() float64 { return 0 }
		}
		return link
	})
}

var errStop = errors.New("stop")

func TestCancel(t *testing.T) {
	for name, after := range map[string]time.Duration{
		"before":       0,
		"in a try":     time.Second / 2,
		"in the wait":  time.Second + time.Millisecond,
		"in the next":  2 * time.Second,
		"in the third": 4 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				begun := time.Now()
				time.AfterFunc(after, func() { cancel(errStop) })
				if after == 0 {
					cancel(errStop)
				}
				inner := &tool{effect: web, results: []executors.Result{failure(executors.ServerError)}, takes: time.Second, begun: begun}
				_, err := still(inner, setting.Default[Config]()).Execute(ctx, &executors.Call{Tool: "fetch", Record: &executors.Record{}})
				if !errors.Is(err, errStop) || time.Since(begun) != after {
					t.Errorf("%v after %s", err, time.Since(begun))
				}
				tries := inner.done
				if tries > len(inner.at) || tries < len(inner.at)-1 {
					t.Errorf("%d of %d results given back", tries, len(inner.at))
				}
			})
		})
	}
}

// The end of the turn's own time looks like a timeout of the call.
func TestTurnsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		inner := &late{tool{effect: web, results: []executors.Result{failure(executors.Timeout)}}}
		res, err := still(inner, setting.Default[Config]()).Execute(ctx, &executors.Call{Tool: "fetch", Record: &executors.Record{}})
		if err != nil || strings.Contains(res.ForModel(), "tried") || len(inner.at) != 1 {
			t.Errorf("%+v, %v, %d tries", res, err, len(inner.at))
		}
	})
}

// late outlasts its context.
type late struct{ tool }

func (l *late) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	l.takes = 2 * time.Second
	return l.tool.Execute(context.Background(), call)
}

func TestError(t *testing.T) {
	inner := &tool{effect: web, results: []executors.Result{failure(executors.Timeout)}, err: errStop}
	if _, err := executors.Chain(inner, setting.Default[Config]().Middleware).Execute(t.Context(),
		&executors.Call{Tool: "fetch", Record: &executors.Record{}}); !errors.Is(err, errStop) || len(inner.at) != 1 {
		t.Errorf("%v, %d tries", err, len(inner.at))
	}
}

func TestConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config)
		wrong  []string
	}{
		"defaults": {func(*Config) {}, nil},
		"zeros":    {func(c *Config) { *c = Config{} }, nil},
		"negative": {func(c *Config) {
			*c = Config{backoff.Limits{MaxAttempts: -1, BaseMS: -1, MaxMS: -1, BudgetSecs: -1}, ""}
		}, []string{"base_ms", "budget_secs", "max_attempts", "max_ms"}},
		"huge": {func(c *Config) {
			*c = Config{backoff.Limits{MaxAttempts: 1 << 40, BaseMS: 1 << 40, MaxMS: 1 << 40, BudgetSecs: 1 << 40}, ""}
		}, []string{"base_ms", "budget_secs", "max_attempts", "max_ms"}},
		"crossed": {func(c *Config) { c.BaseMS, c.MaxMS = 2, 1 }, []string{"max_ms"}},
	} {
		c := setting.Default[Config]()
		tt.change(&c)
		var wrong []string
		for _, key := range []string{"base_ms", "budget_secs", "max_attempts", "max_ms"} {
			if setting.Check(c)[key] != "" {
				wrong = append(wrong, key)
			}
		}
		if diff := cmp.Diff(tt.wrong, wrong); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestTighten(t *testing.T) {
	ours := Config{backoff.Limits{MaxAttempts: 2, BaseMS: 500, MaxMS: 5000, BudgetSecs: 30}, "judge"}
	for name, tt := range map[string]struct {
		repo, want Config
		ignored    []string
	}{
		"less": {Config{backoff.Limits{MaxAttempts: 1, BaseMS: 500, MaxMS: 5000, BudgetSecs: 10}, ""},
			Config{backoff.Limits{MaxAttempts: 1, BaseMS: 500, MaxMS: 5000, BudgetSecs: 10}, ""}, nil},
		"off": {Config{backoff.Limits{MaxAttempts: 0, BaseMS: 500, MaxMS: 5000, BudgetSecs: 30}, "judge"},
			Config{backoff.Limits{MaxAttempts: 0, BaseMS: 500, MaxMS: 5000, BudgetSecs: 30}, "judge"}, nil},
		"more": {Config{backoff.Limits{MaxAttempts: 3, BaseMS: 0, MaxMS: 9000, BudgetSecs: 31}, "theirs"}, ours,
			[]string{"base_ms", "budget_secs", "max_attempts", "max_ms", "parameter_reformat_provider"}},
		"unlimited": {Config{backoff.Limits{MaxAttempts: 2, BaseMS: 500, MaxMS: 5000, BudgetSecs: 0}, "judge"}, ours, []string{"budget_secs"}},
	} {
		got, ignored := setting.Tighten(ours, tt.repo, setting.Paths[Config]()...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s: ignored (-want +got)\n%s", name, diff)
		}
	}
	if got, ignored := setting.Tighten(ours, Config{}); got != ours || ignored != nil {
		t.Errorf("got %v, %v, want %v and nil", got, ignored, ours)
	}
}

func BenchmarkPass(b *testing.B) {
	chain := executors.Chain(passed{}, setting.Default[Config]().Middleware)
	call := &executors.Call{Tool: "fetch", Attempt: 1, Record: &executors.Record{}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chain.Execute(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}

type passed struct{ executors.CompositeExecutor }

func (passed) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return executors.Result{Text: "page"}, nil
}
