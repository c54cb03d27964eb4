package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// customGrouping groups diagnostics whose place and rule are found by patterns.
// A place holds for the rules after it. A diagnostic ends at a blank line, or
// at the next place if it has a place and a rule. Lines without either stay as
// they are.
type customGrouping struct {
	*grouping
	para        []byte // lines with their line feeds
	place, rule []byte
	firstLine   []byte
	isError     bool
}

func (c *customGrouping) Line(l []byte) {
	if c.again || isTotal(l) || text.IsNoiseCount(l) || text.IsOmission(l) {
		c.again = true
		return
	}
	if len(l) == 0 || len(c.para) > maxRawBytes {
		c.endPara()
		c.body.text(l)
		return
	}
	place, rule := c.location.Submatch(l), c.groupByRule.rule.Submatch(l)
	if len(c.para) > 0 && len(c.place) > 0 && len(c.rule) > 0 && place != nil {
		c.endPara()
	}
	if place == nil && rule == nil && c.noise.Match(l) {
		c.endPara()
		c.dropped++
		return
	}
	if len(c.para) == 0 {
		c.firstLine = append(c.firstLine[:0], l...)
		c.isError = bytes.HasPrefix(l, []byte("error[")) || bytes.HasPrefix(l, []byte("error:"))
	}
	c.para = append(append(c.para, l...), '\n')
	if place != nil && len(c.place) == 0 {
		c.place = append(c.place, place[1]...)
	}
	if rule != nil && len(c.rule) == 0 {
		c.rule = append(c.rule, rule[1]...)
	}
}

// endPara ends the lines of one diagnostic.
func (c *customGrouping) endPara() {
	if len(c.para) == 0 {
		return
	}
	if c.isError || text.Important(c.firstLine) {
		c.failed = true
	}
	if len(c.place) == 0 || len(c.rule) == 0 || c.isError && c.run.Exit != 0 {
		writeAll(&c.body, c.para)
	} else {
		c.body.settle()
		msg := bytes.Replace(c.firstLine, c.place, nil, 1)
		c.store.add(&finding{sev: isWarning, rule: c.rule, msg: msg, file: c.place, first: c.para, unnamed: true})
	}
	c.para, c.place, c.rule = c.para[:0], c.place[:0], c.rule[:0]
}

func (c *customGrouping) End() strategy.Confidence {
	if !c.again {
		c.endPara()
	}
	return c.grouping.End()
}
