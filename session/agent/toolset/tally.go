package toolset

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// tally counts the effects of the rules on the tools of a conversation: one
// count per tool and prompt, unless a field says otherwise.
type tally struct {
	prompts int
	offered map[Reason]int // by the reason
	leftOut int            // omitted by the filter
	hidden  map[string]int // hidden by the dependency rule of that tool
	refused map[string]int // refused calls of a hidden tool, by its name
}

func newTally() tally {
	return tally{offered: map[Reason]int{}, hidden: map[string]int{}, refused: map[string]int{}}
}

// countTools counts the tools of the new prompt and logs the counts; the caller
// holds mu.
func (s *Set) countTools() {
	t, c := &s.turn, &s.tally
	c.prompts++
	for _, tool := range t.all {
		reason, kept := t.reasons[tool.Name]
		picked, ok := t.picked[tool.Name]
		switch {
		case s.isHidden(t, tool.Name):
			c.hidden[tool.Name]++
			s.log.Debug("DependencyExclusion", "tool", tool.Name, "requires", s.unmet(tool.Name))
		case kept:
			c.offered[reason]++
		case ok:
			c.offered[picked]++
		default:
			c.leftOut++
		}
	}
	s.log.Debug("tool_filter", c.attrs()...)
}

// countRefused counts a call of a hidden tool.
func (s *Set) countRefused(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.refused[tool]++
	s.log.Debug("DependencyExclusion refused a call", "tool", tool, "requires", s.unmet(tool), "refused", s.tally.refused[tool])
}

// attrs returns the counts for the log.
func (c *tally) attrs() []any {
	attrs := []any{slog.Int("prompts", c.prompts)}
	for _, reason := range reasonOrder {
		if n := c.offered[reason]; n > 0 {
			attrs = append(attrs, slog.Int(string(reason), n))
		}
	}
	if c.leftOut > 0 {
		attrs = append(attrs, slog.Int("left_out", c.leftOut))
	}
	if n := sumCounts(c.hidden); n > 0 {
		attrs = append(attrs, slog.Int("hidden", n))
	}
	return attrs
}

// status returns the lines for /status: one for the filter's rules, one for
// dependency rules.
func (c *tally) status(filter bool) []string {
	var lines []string
	if filter && c.prompts > 0 {
		var parts []string
		for _, reason := range reasonOrder {
			if n := c.offered[reason]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s %d", reason, n))
			}
		}
		parts = append(parts, fmt.Sprintf("left out %d", c.leftOut))
		lines = append(lines, fmt.Sprintf("Filter rules in %s: %s", quantity.Count(c.prompts, "prompt"), strings.Join(parts, ", ")))
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.hidden)) {
		part := fmt.Sprintf("%s hidden in %s", name, quantity.Count(c.hidden[name], "prompt"))
		if n := c.refused[name]; n > 0 {
			part += fmt.Sprintf(", %s refused", quantity.Count(n, "call"))
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		lines = append(lines, "Dependency rules: "+strings.Join(parts, "; "))
	}
	return lines
}

func sumCounts(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
