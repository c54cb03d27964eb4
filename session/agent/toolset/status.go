package toolset

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// reasonOrder is the order in which /status lists the reasons.
var reasonOrder = []Reason{AlwaysOn, NameMentioned, AlreadyUsed, SimilarityRank, Found, ShortDescription, NoEmbedding, DependencyMet, Kept, Unfiltered}

// Status returns the lines for /status: how tools are chosen, which ones the
// last prompt got and why, and which are hidden. It is empty if filter,
// dependencies and TAFC are off.
func (s *Set) Status() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turn
	var lines []string
	if f := s.cfg.Filter; f.Enabled == On {
		lines = append(lines, fmt.Sprintf("Filter: top_k=%d, always_on=%d, embeddings=%d", f.TopK, len(f.AlwaysOn), t.embedded))
	}
	detailed := s.cfg.Filter.Enabled == On || t.left.servers
	if t.left.servers {
		lines = append(lines, "Tool search: "+t.leftOut())
	}
	if (detailed || s.cfg.Dependencies.Enabled) && t.picked != nil && len(t.offered) > 0 {
		lines = append(lines, fmt.Sprintf("Tools of the last prompt: %d of %d (%s)", len(t.offered), len(t.all), t.toolsByReason()))
	}
	if s.cfg.TAFC.Enabled {
		line := fmt.Sprintf("TAFC: from a complexity of %v on", s.thinking.threshold)
		if len(t.all) > 0 {
			n := 0
			for _, tool := range t.all {
				if complexity(tool.Schema) >= s.thinking.threshold {
					n++
				}
			}
			line += fmt.Sprintf(", which %d of %s have", n, quantity.Count(len(t.all), "tool"))
		}
		lines = append(lines, line)
	}
	lines = append(lines, s.tally.status(detailed)...)
	if hidden := s.exclusions(t); len(hidden) > 0 {
		if t.ignoresRules {
			lines = append(lines, "Dependencies: off in the last turn, since all tools would have had to wait")
		} else {
			lines = append(lines, "DependencyExclusion: "+strings.Join(hidden, ", "))
		}
	}
	return lines
}

// leftOut describes the tools that the model finds only by tool_search.
func (t *turn) leftOut() string {
	_, out := t.left.split(t.all)
	seldom := 0
	for _, tool := range out {
		if serverOf(tool.Name) == "" {
			seldom++
		}
	}
	var parts []string
	if seldom > 0 {
		parts = append(parts, quantity.Count(seldom, "tool")+" that few tasks need")
	}
	if n := len(out) - seldom; n > 0 {
		parts = append(parts, quantity.Count(n, "tool")+" of MCP servers, which would take too much of the window")
	}
	return strings.Join(parts, ", and ")
}

// toolsByReason groups the offered tools by reason.
func (t *turn) toolsByReason() string {
	var parts []string
	for _, reason := range reasonOrder {
		var names []string
		for _, tool := range t.offered {
			if t.reasons[tool.Name] == reason {
				names = append(names, tool.Name)
			}
		}
		switch {
		case len(names) == 0:
		case reason == Unfiltered:
			parts = append(parts, fmt.Sprintf("%s: %d", reason, len(names)))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s", reason, strings.Join(names, ", ")))
		}
	}
	return strings.Join(parts, "; ")
}
