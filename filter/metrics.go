package filter

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Counts are what filters did.
type Counts struct {
	Commands, Filtered      int64 // whose output was there to be filtered, and of which some went away
	BytesBefore, BytesAfter int64
	LinesBefore, LinesAfter int64
	Full, Partial, Fallback int64 // how sure the rules were; a command that no rule is for counts in none
	Masked                  int64 // credentials, in what any tool gave
}

// newCounts counts an outcome, as if all of it were kept.
func newCounts(o *Outcome) Counts {
	c := Counts{Commands: 1, BytesBefore: o.Raw, LinesBefore: int64(o.Full.Count()), Masked: redact.Count(o.Found)}
	if len(o.Rules) > 0 {
		*[]*int64{&c.Full, &c.Partial, &c.Fallback}[o.Confidence] = 1
	}
	return c
}

// kept counts what was kept.
func (c *Counts) kept(l *text.Lines) {
	c.BytesAfter, c.LinesAfter = l.Size(), int64(l.Count())
	if c.LinesAfter < c.LinesBefore {
		c.Filtered = 1
	}
}

// TokensSaved is about how many tokens the model did not have to read.
func (c Counts) TokensSaved() int64 { return max(c.BytesBefore-c.BytesAfter, 0) / 4 }

// counterNames are the names that the counters are stored under, in the order of
// fields.
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

// String tells of the counts on one line, empty if there is nothing to tell.
func (c Counts) String() string {
	var parts []string
	if c.Commands > 0 {
		gone := max(c.BytesBefore-c.BytesAfter, 0)
		parts = append(parts, fmt.Sprintf("%s of %s filtered, %d %% of %s taken out, about %s tokens saved",
			executors.Grouped(c.Filtered), plural(c.Commands, "command"), gone*100/max(c.BytesBefore, 1), kilobytes(c.BytesBefore), executors.Grouped(estimate(c.TokensSaved()))))
	}
	if c.Full+c.Partial+c.Fallback > 0 {
		parts = append(parts, fmt.Sprintf("%s full, %s partial, %s fallback", executors.Grouped(c.Full), executors.Grouped(c.Partial), executors.Grouped(c.Fallback)))
	}
	if c.Masked > 0 {
		parts = append(parts, plural(c.Masked, "credential")+" masked")
	}
	return strings.Join(parts, "; ")
}

// plural is "1 command", "1,234 commands".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return executors.Grouped(n) + " " + noun + "s"
}

// kilobytes shows bytes as people do.
func kilobytes(n int64) string {
	unit := "B"
	f := float64(n)
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, next
	}
	if f >= 10 || unit == "B" {
		return strconv.FormatFloat(f, 'f', 0, 64) + " " + unit
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " " + unit
}

// estimate leaves two digits of an estimate.
func estimate(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

// Totals keeps what all sessions counted, by name. It may be used concurrently,
// by several processes too.
type Totals interface {
	// AddCounters adds to counters, which begin with 0.
	AddCounters(ctx context.Context, more map[string]int64) error
	// Counters gives those whose names begin so.
	Counters(ctx context.Context, prefix string) (map[string]int64, error)
}

// Metrics counts what the filters of one session did. It may be used
// concurrently, and must not be copied; a nil one counts nothing.
type Metrics struct {
	Totals Totals // takes the counts too; nil: nobody does

	mu    sync.Mutex
	own   Counts
	owed  Counts // not in Totals yet
	calls int    // these are of
}

// countBatch is how many calls are counted before Totals hears of them: it costs as
// much as the rest of the filter's work on a short output.
const countBatch = 16

func (m *Metrics) add(c Counts) {
	if m == nil || c == (Counts{}) {
		return
	}
	m.mu.Lock()
	m.own.add(c)
	m.owed.add(c)
	m.calls++
	full := m.calls >= countBatch
	m.mu.Unlock()
	if full {
		m.Flush()
	}
}

// Flush gives Totals what it does not have. What it does not take is given again
// with the next calls.
func (m *Metrics) Flush() {
	if m == nil || m.Totals == nil {
		return
	}
	m.mu.Lock()
	owed := m.owed
	m.owed, m.calls = Counts{}, 0
	m.mu.Unlock()
	more := map[string]int64{}
	for i, n := range owed.fields() {
		if *n != 0 {
			more[counterNames[i]] = *n
		}
	}
	if len(more) == 0 {
		return
	}
	if err := m.Totals.AddCounters(context.Background(), more); err != nil {
		m.mu.Lock()
		m.owed.add(owed)
		m.mu.Unlock()
	}
}

// Session tells what the session counted.
func (m *Metrics) Session() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.own
}

// Status gives the lines of /status: what this session counted, and what all did.
func (m *Metrics) Status(ctx context.Context) []string {
	var lines []string
	own := m.Session()
	if own != (Counts{}) {
		lines = append(lines, "Filters: "+own.String())
	}
	if all, err := m.all(ctx); err == nil && all != own && all != (Counts{}) {
		lines = append(lines, "Filters, in all sessions: "+all.String())
	}
	return lines
}

// all tells what all sessions counted; nothing, where nobody knows.
func (m *Metrics) all(ctx context.Context) (c Counts, err error) {
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
