package filter

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// totals are in memory and may fail.
type totals struct {
	mu     sync.Mutex
	values map[string]int64
	writes int
	err    error
}

func (t *totals) AddCounters(_ context.Context, more map[string]int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	t.writes++
	for name, n := range more {
		t.values[name] += n
	}
	return nil
}

func (t *totals) Counters(_ context.Context, prefix string) (map[string]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := maps.Clone(t.values)
	maps.DeleteFunc(all, func(name string, _ int64) bool { return !strings.HasPrefix(name, prefix) })
	return all, t.err
}

func TestCountsText(t *testing.T) {
	for want, c := range map[string]Counts{
		"": {},
		"12 of 20 commands filtered, 81 % of 345 kB removed, about 70,000 tokens saved; 10 full, 1 partial, 1 fallback; 1 credential masked": {
			Commands: 20, Filtered: 12, BytesBefore: 345_000, BytesAfter: 65_000, Full: 10, Partial: 1, Fallback: 1, Masked: 1},
		"0 of 1 command filtered, 0 % of 0 B removed, about 0 tokens saved": {Commands: 1},
		"0 of 1 command filtered, 0 % of 2 B removed, about 0 tokens saved": {Commands: 1, BytesBefore: 2, BytesAfter: 3},
		"1,000 of 2,000 commands filtered, 99 % of 1.2 GB removed, about 310,000,000 tokens saved; 2 credentials masked": {
			Commands: 2000, Filtered: 1000, BytesBefore: 1_234_000_000, BytesAfter: 4_000_000, Masked: 2},
		"3 credentials masked": {Masked: 3},
	} {
		if got := c.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Totals receives all counts, in batches and after a failure.
func TestMetrics(t *testing.T) {
	broken := &totals{values: map[string]int64{"filter.commands": 5, "other": 1}, err: errors.New("locked")}
	m := &Metrics{Totals: broken}
	one := Counts{Commands: 1, BytesBefore: 10, BytesAfter: 4, Full: 1}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				m.add(one)
			}
		})
	}
	all.Wait()
	if got := m.Status(t.Context()); len(got) != 1 || !strings.HasPrefix(got[0], "Filters: 0 of 40 commands filtered, 60 % of 400 B ") {
		t.Errorf("status while nobody keeps it: %q", got)
	}
	broken.err = nil
	got := m.Status(t.Context())
	if len(got) != 2 || !strings.HasPrefix(got[1], "Filters, in all sessions: 0 of 45 commands filtered") {
		t.Errorf("the status is %q, want the sums of all sessions in its second line", got)
	}
	want := map[string]int64{"filter.commands": 45, "filter.bytes_before": 400, "filter.bytes_after": 160, "filter.full": 40, "other": 1}
	if diff := cmp.Diff(want, broken.values); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	broken.writes = 0
	for range 3 * countBatch {
		m.add(one)
	}
	if broken.writes != 3 {
		t.Errorf("%d writes, want 3", broken.writes)
	}
	(*Metrics)(nil).add(one)
	(&Metrics{}).Flush()
}
