package filter

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Counts are the numbers that filters count.
type Counts struct {
	Commands, Filtered      int64 // commands with an output, and those whose output got shorter
	BytesBefore, BytesAfter int64
	LinesBefore, LinesAfter int64
	Full, Partial, Fallback int64 // commands by the confidence of their rules; those without a rule count in neither
	Masked                  int64 // credentials in the results of any tool
}

// newCounts counts an outcome, as if nothing had been removed yet.
func newCounts(o *Outcome) Counts {
	c := Counts{Commands: 1, BytesBefore: o.Raw, LinesBefore: int64(o.Full.Count()), Masked: redact.Count(o.Found)}
	if len(o.Rules) > 0 {
		*[]*int64{&c.Full, &c.Partial, &c.Fallback}[o.Confidence] = 1
	}
	return c
}

// countAfter counts the lines and bytes that were kept.
func (c *Counts) countAfter(l *text.Lines) {
	c.BytesAfter, c.LinesAfter = l.Size(), int64(l.Count())
	if c.LinesAfter < c.LinesBefore {
		c.Filtered = 1
	}
}

// TokensSaved estimates how many tokens the model did not have to read.
func (c Counts) TokensSaved() int64 { return max(c.BytesBefore-c.BytesAfter, 0) / 4 }

// counterNames are the names of the stored counters, in the order of fields.
var counterNames = [...]string{
	"filter.commands", "filter.filtered", "filter.bytes_before", "filter.bytes_after", "filter.lines_before", "filter.lines_after",
	"filter.full", "filter.partial", "filter.fallback", "filter.masked",
}

func (c *Counts) fields() [len(counterNames)]*int64 {
	return [...]*int64{
		&c.Commands, &c.Filtered, &c.BytesBefore, &c.BytesAfter, &c.LinesBefore, &c.LinesAfter,
		&c.Full, &c.Partial, &c.Fallback, &c.Masked,
	}
}

func (c *Counts) add(more Counts) {
	from := more.fields()
	for i, n := range c.fields() {
		*n += *from[i]
	}
}

// String returns the counts on one line, or "" if there are none.
func (c Counts) String() string {
	grouped := quantity.Grouped
	var parts []string
	if c.Commands > 0 {
		removed := max(c.BytesBefore-c.BytesAfter, 0)
		parts = append(parts, fmt.Sprintf("%s of %s filtered, %d %% of %s removed, about %s tokens saved",
			grouped(c.Filtered), quantity.CountGrouped(c.Commands, "command"),
			removed*100/max(c.BytesBefore, 1), quantity.Bytes(c.BytesBefore), grouped(roundedEstimate(c.TokensSaved()))))
	}
	if c.Full+c.Partial+c.Fallback > 0 {
		parts = append(parts, fmt.Sprintf("%s full, %s partial, %s fallback", grouped(c.Full), grouped(c.Partial), grouped(c.Fallback)))
	}
	if c.Masked > 0 {
		parts = append(parts, quantity.CountGrouped(c.Masked, "credential")+" masked")
	}
	return strings.Join(parts, "; ")
}

// roundedEstimate rounds n to two digits.
func roundedEstimate(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

// Totals stores the counts of all sessions by name. It must be safe for
// concurrent use, even by several processes.
type Totals interface {
	// AddCounters adds to counters, which start at 0.
	AddCounters(ctx context.Context, more map[string]int64) error
	// Counters returns the counters whose names begin with prefix.
	Counters(ctx context.Context, prefix string) (map[string]int64, error)
}

// Metrics counts the work of one session's filters. It is safe for concurrent
// use and must not be copied. A nil Metrics counts nothing.
type Metrics struct {
	Totals Totals // also stores the counts; nil stores nothing

	mu      sync.Mutex
	session Counts // of this session
	unsaved Counts // not yet in Totals
	calls   int    // the calls in unsaved
}

// countBatch is the number of calls that are counted before they are stored.
// Storing costs as much as the rest of the work on a short output.
const countBatch = 16

func (m *Metrics) add(c Counts) {
	if m == nil || c == (Counts{}) {
		return
	}
	m.mu.Lock()
	m.session.add(c)
	m.unsaved.add(c)
	m.calls++
	full := m.calls >= countBatch
	m.mu.Unlock()
	if full {
		m.Flush()
	}
}

// Flush stores the counts that Totals does not have yet. If that fails, they
// are stored with the next calls.
func (m *Metrics) Flush() {
	if m == nil || m.Totals == nil {
		return
	}
	m.mu.Lock()
	unsaved := m.unsaved
	m.unsaved, m.calls = Counts{}, 0
	m.mu.Unlock()
	more := map[string]int64{}
	for i, n := range unsaved.fields() {
		if *n != 0 {
			more[counterNames[i]] = *n
		}
	}
	if len(more) == 0 {
		return
	}
	if err := m.Totals.AddCounters(context.Background(), more); err != nil {
		m.mu.Lock()
		m.unsaved.add(unsaved)
		m.mu.Unlock()
	}
}

// Session returns the counts of the session.
func (m *Metrics) Session() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session
}

// Status returns the lines of /status: the counts of this session and of all
// sessions.
func (m *Metrics) Status(ctx context.Context) []string {
	var lines []string
	session := m.Session()
	if session != (Counts{}) {
		lines = append(lines, "Filters: "+session.String())
	}
	if all, err := m.allSessions(ctx); err == nil && all != session && all != (Counts{}) {
		lines = append(lines, "Filters, in all sessions: "+all.String())
	}
	return lines
}

// allSessions returns the counts of all sessions, or zeros if they are unknown.
func (m *Metrics) allSessions(ctx context.Context) (c Counts, err error) {
	if m.Totals == nil {
		return c, nil
	}
	m.Flush()
	stored, err := m.Totals.Counters(ctx, "filter.")
	for i, n := range c.fields() {
		*n = stored[counterNames[i]]
	}
	return c, err
}
