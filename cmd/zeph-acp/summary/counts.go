package summary

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/audit"
)

// Counts are the numbers of many calls. Start with [NewCounts].
type Counts struct {
	First string            `json:"first,omitempty"` // timestamps
	Last  string            `json:"last,omitempty"`
	All   *Calls            `json:"all"`
	Tools map[string]*Calls `json:"tools"`
}

// NewCounts returns counts of no call.
func NewCounts() *Counts { return &Counts{All: newCalls(), Tools: map[string]*Calls{}} }

// Add counts a call.
func (c *Counts) Add(e *audit.Entry) {
	if c.Last = e.Timestamp; c.First == "" {
		c.First = e.Timestamp
	}
	if c.Tools[e.Tool] == nil {
		c.Tools[e.Tool] = newCalls()
	}
	c.Tools[e.Tool].add(e)
	c.All.add(e)
}

// Finish computes the numbers that need all calls. Nothing may be added after it.
func (c *Counts) Finish() {
	c.All.finish()
	for _, t := range c.Tools {
		t.finish()
	}
}

// Calls are the numbers of one tool's calls, or of all. Times are in milliseconds, and
// without the time that calls waited for people.
type Calls struct {
	Calls   int                   `json:"calls"`
	Results map[audit.Outcome]int `json:"results"`
	Median  int64                 `json:"median_ms"`
	Max     int64                 `json:"max_ms"`
	Total   int64                 `json:"total_ms"`
	Waited  int64                 `json:"waited_ms"` // for people

	took []int64
}

func newCalls() *Calls { return &Calls{Results: map[audit.Outcome]int{}} }

func (c *Calls) add(e *audit.Entry) {
	took := max(e.DurationMS-e.WaitedMS, 0)
	c.Calls++
	c.Results[e.Result]++
	c.Total += took
	c.Waited += e.WaitedMS
	c.took = append(c.took, took)
}

func (c *Calls) finish() {
	if len(c.took) > 0 {
		slices.Sort(c.took)
		c.Median, c.Max = c.took[len(c.took)/2], c.took[len(c.took)-1]
	}
}

// Sum returns how many calls had one of the outcomes.
func (c *Calls) Sum(outcomes ...audit.Outcome) (n int) {
	for _, o := range outcomes {
		n += c.Results[o]
	}
	return n
}
