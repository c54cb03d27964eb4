package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// customPass groups diagnostics whose place and rule are found by patterns. A
// place holds for the rules after it. A diagnostic ends at a blank line, or at
// the next place if it has a place and a rule. Lines without either may be of a
// known format.
type customPass struct {
	*groupingPass
	lines       []byte // the lines of the current diagnostic, with line feeds
	place, rule []byte
	firstLine   []byte
	isError     bool
}

func (c *customPass) Line(l []byte) {
	if c.unchanged || isTotalLine(l) || text.IsNoiseCount(l) || text.IsOmission(l) {
		c.unchanged = true
		return
	}
	if len(l) == 0 || len(c.lines) > maxLineBytes {
		c.endLines()
		c.groupingPass.Line(l)
		return
	}
	place, rule := c.location.Submatch(l), c.groupByRule.rule.Submatch(l)
	if len(c.lines) > 0 && len(c.place) > 0 && len(c.rule) > 0 && place != nil {
		c.endLines()
	}
	if place == nil && rule == nil && c.noise.Match(l) {
		if len(c.place) > 0 && len(c.rule) > 0 {
			c.endLines()
		}
		c.dropped++
		return
	}
	if len(c.lines) == 0 {
		c.firstLine = append(c.firstLine[:0], l...)
		c.isError = bytes.HasPrefix(l, []byte("error[")) || bytes.HasPrefix(l, []byte("error:"))
	}
	c.lines = append(append(c.lines, l...), '\n')
	if place != nil && len(c.place) == 0 {
		c.place = append(c.place, place[1]...)
	}
	if rule != nil && len(c.rule) == 0 {
		c.rule = append(c.rule, rule[1]...)
	}
}

// endLines ends the lines of one diagnostic.
func (c *customPass) endLines() {
	if len(c.lines) == 0 {
		return
	}
	if c.isError || text.Important(c.firstLine) {
		c.failureShown = true
	}
	switch {
	case len(c.place) == 0 || len(c.rule) == 0:
		for l := range bytes.Lines(c.lines) {
			c.groupingPass.Line(bytes.TrimSuffix(l, []byte("\n")))
		}
	case c.isError && c.run.Exit != 0:
		c.endDiagnostic()
		c.flushText()
		addLines(&c.body, c.lines)
	default:
		c.endDiagnostic()
		c.flushText()
		c.body.flush()
		msg := bytes.Replace(c.firstLine, c.place, nil, 1)
		c.store.add(&finding{sev: isWarning, rule: c.rule, msg: msg, file: c.place, firstLines: c.lines, ruleNotShown: true})
	}
	c.lines, c.place, c.rule = c.lines[:0], c.place[:0], c.rule[:0]
}

func (c *customPass) End() strategy.Confidence {
	if !c.unchanged {
		c.endLines()
	}
	return c.groupingPass.End()
}
