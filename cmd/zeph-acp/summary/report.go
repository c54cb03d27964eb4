package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/audit"
)

// Report describes many calls. Start with [NewReport].
type Report struct {
	*Counts
	Since    time.Time // zero: from the first line on
	State    State
	Sessions int

	mask     func(string) string
	zone     *time.Location
	sessions map[string]bool
	denials  map[string]*Group
	failures map[string]*Group
	answers  map[string]*Group
	filters  map[string]*Group
	days     map[string]*Calls // by date
	before   int64             // bytes of output, before and after the filters
	after    int64
}

// State is the state of the log's chain of hashes.
type State struct {
	Intact bool
	Text   string // the result of "zeph-acp audit verify"
}

// Group are calls that have something in common.
type Group struct {
	Name          string
	Tools         []string // in the order of their first call
	Calls         int
	Waited        time.Duration
	Before, After int64 // bytes of output, before and after the filters
	Last          time.Time
}

// NewReport returns an empty report. Days begin at midnight in zone. mask redacts
// credentials.
func NewReport(zone *time.Location, mask func(string) string) *Report {
	return &Report{
		Counts: NewCounts(), mask: mask, zone: zone, sessions: map[string]bool{}, days: map[string]*Calls{},
		denials: map[string]*Group{}, failures: map[string]*Group{}, answers: map[string]*Group{}, filters: map[string]*Group{},
	}
}

// Add counts a call.
func (r *Report) Add(e *audit.Entry) {
	r.Counts.Add(e)
	if !r.sessions[e.Session] {
		r.sessions[e.Session] = true
		r.Sessions++
	}
	day := e.When().In(r.zone).Format(time.DateOnly)
	if r.days[day] == nil {
		r.days[day] = newCalls()
	}
	r.days[day].add(e)
	r.before, r.after = r.before+int64(e.BytesBefore), r.after+int64(e.BytesAfter)
	switch {
	case e.Result == audit.Denied:
		r.group(r.denials, cmp.Or(Decision(e), e.Error, "Denied"), e)
	case e.Result != audit.Success:
		r.group(r.failures, cmp.Or(string(e.Category), string(e.Result)), e)
	}
	if e.Answer != "" {
		r.group(r.answers, decider(e), e)
	}
	for _, rule := range e.Filters {
		r.group(r.filters, rule, e)
	}
}

// group adds a call to the group of a name.
func (r *Report) group(groups map[string]*Group, name string, e *audit.Entry) {
	name = r.mask(name)
	g := groups[name]
	if g == nil {
		g = &Group{Name: name}
		groups[name] = g
	}
	if tool := r.mask(e.Tool); !slices.Contains(g.Tools, tool) {
		g.Tools = append(g.Tools, tool)
	}
	g.Calls++
	g.Waited += time.Duration(e.WaitedMS) * time.Millisecond
	g.Before, g.After = g.Before+int64(e.BytesBefore), g.After+int64(e.BytesAfter)
	if at := e.When(); at.After(g.Last) {
		g.Last = at
	}
}

// Saved returns the bytes that no model had to read.
func (g *Group) Saved() int64 { return max(g.Before-g.After, 0) }

// byCalls returns the groups, the one with the most calls first.
func byCalls(groups map[string]*Group) []*Group {
	return slices.SortedFunc(maps.Values(groups), func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
}

// bySavings returns the groups of filter rules, the one that saved most first.
func bySavings(groups map[string]*Group) []*Group {
	return slices.SortedFunc(maps.Values(groups), func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Saved(), a.Saved()), cmp.Compare(a.Name, b.Name))
	})
}

// maxBars is the number of days that one chart shows; more become months.
const maxBars = 62

// byTime returns the calls by day without gaps, or by month if the days are many.
func (r *Report) byTime() (labels []string, calls []*Calls, bar string) {
	names := slices.Sorted(maps.Keys(r.days))
	first, err1 := time.Parse(time.DateOnly, names[0])
	last, err2 := time.Parse(time.DateOnly, names[len(names)-1])
	days := int(last.Sub(first).Hours()/24) + 1
	if err1 != nil || err2 != nil || days > maxBars {
		return r.byMonth(names)
	}
	for i := range days {
		day := first.AddDate(0, 0, i)
		labels = append(labels, day.Format("2 Jan"))
		calls = append(calls, cmp.Or(r.days[day.Format(time.DateOnly)], newCalls()))
	}
	return labels, calls, "Day"
}

// byMonth joins the days by month; months without a call are left out.
func (r *Report) byMonth(days []string) (labels []string, calls []*Calls, bar string) {
	for _, day := range days {
		month := day[:len("2006-01")]
		if len(labels) == 0 || labels[len(labels)-1] != month {
			labels, calls = append(labels, month), append(calls, newCalls())
		}
		sum := calls[len(calls)-1]
		for outcome, n := range r.days[day].Results {
			sum.Results[outcome] += n
		}
	}
	return labels, calls, "Month"
}

// period returns the time that the calls span.
func (r *Report) period() string {
	at := func(s string) string {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t.In(r.zone).Format("2 January 2006, 15:04")
		}
		return s
	}
	return fmt.Sprintf("%s to %s", at(r.First), at(r.Last))
}
