package mcp

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"
)

// The first prompt waits for the servers that were used in the directory before, or for all if none was, and for
// each no longer than the wait from its start.
func TestAwaitStart(t *testing.T) {
	const wait = 5 * time.Second
	for name, tt := range map[string]struct {
		used       string
		fast, slow State
		age        time.Duration // of the servers
		want       time.Duration
	}{
		"used and ready":        {used: "fast", fast: Ready, slow: Starting, want: 0},
		"used and starting":     {used: "slow", fast: Ready, slow: Starting, want: wait},
		"none used":             {fast: Ready, slow: Starting, want: wait},
		"all starting":          {fast: Starting, slow: Starting, want: wait},
		"started some time ago": {fast: Starting, slow: Starting, age: 3 * time.Second, want: wait - 3*time.Second},
		"another server used":   {used: "other", fast: Ready, slow: Starting, want: wait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				counters := memoryCounters{}
				s := &Session{pool: &Servers{Used: &Used{Counters: counters}}, dir: "/w", wait: wait}
				for name, state := range map[string]State{"fast": tt.fast, "slow": tt.slow} {
					s.servers = append(s.servers, newSessionServer(&instance{entry: Server{Name: name}, state: state, changed: make(chan struct{})}, name))
				}
				s.pool.Used.note("/elsewhere", "slow")
				if tt.used != "" {
					s.pool.Used.note("/w", tt.used)
				}
				time.Sleep(tt.age)
				began := time.Now()
				s.awaitStart(t.Context())
				if got := time.Since(began); got != tt.want {
					t.Errorf("it waited %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// memoryCounters are counters that nothing stores.
type memoryCounters map[string]int64

func (m memoryCounters) AddCounters(_ context.Context, more map[string]int64) error {
	for name, n := range more {
		m[name] += n
	}
	return nil
}

func (m memoryCounters) Counters(_ context.Context, prefix string) (map[string]int64, error) {
	all := maps.Clone(m)
	maps.DeleteFunc(all, func(name string, _ int64) bool { return len(name) < len(prefix) || name[:len(prefix)] != prefix })
	return all, nil
}
