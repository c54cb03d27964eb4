package backoff

import (
	"net/http"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		limits Limits
		random float64
		asked  time.Duration
		want   []time.Duration // waits; -1 means that there is no time for it
	}{
		"doubles":            {Limits{BaseMS: 100, MaxMS: 300}, 0, 0, []time.Duration{100 * ms, 200 * ms, 300 * ms, 300 * ms}},
		"half is chance":     {Limits{BaseMS: 100, MaxMS: 300}, 1, 0, []time.Duration{50 * ms, 100 * ms, 150 * ms}},
		"the server asks":    {Limits{BaseMS: 100, MaxMS: 300}, 0, time.Minute, []time.Duration{time.Minute, time.Minute}},
		"more than the most": {Limits{}, 0, 6 * time.Minute, []time.Duration{-1}},
		"a budget":           {Limits{BaseMS: 600, MaxMS: 600, BudgetSecs: 1}, 0, 0, []time.Duration{600 * ms, -1}},
		"no wait":            {Limits{}, 0, 0, []time.Duration{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			s := tt.limits.Begin(Clock{Now: func() time.Time { return now }, Random: func() float64 { return tt.random }})
			for i, want := range tt.want {
				got, ok := s.Next(tt.asked)
				if ok != (want >= 0) || ok && got != want {
					t.Errorf("wait %d: %s, %t, want %s", i+1, got, ok, want)
				}
				now = now.Add(got)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		" 120 ":                         2 * time.Minute,
		"-1":                            0,
		"1.5":                           1500 * time.Millisecond,
		"soon":                          0,
		"NaN":                           0,
		"99999999":                      maxRetryAfter,
		"1e300":                         maxRetryAfter,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0, // is over
		"Fri, 02 Jan 2099 03:04:00 GMT": maxRetryAfter,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	both := http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}
	if got := RetryAfter(both, now); got != 1500*time.Millisecond {
		t.Errorf("in milliseconds: %s", got)
	}
}
