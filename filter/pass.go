package filter

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/zeph-acp/zeph-acp/filter/reports"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// rulePass is a text on its way through a rule. If the rule panics, the text
// stays unchanged.
type rulePass struct {
	pass              strategy.Pass
	reports           *reports.Decoder // decodes reports for the pass; nil if the rule takes the lines as they are
	stamps            *reports.Stamps  // removes times before them; nil as reports
	out               *text.Lines
	confidence        strategy.Confidence
	readErr, panicErr error // of reading the text; of the rule, with its stack
}

func (r rule) begin(run strategy.Run) *rulePass {
	p := &rulePass{out: text.NewLines()}
	p.try(func() { p.pass = r.strategy.Begin(run, p.out) })
	if readsReports[r.strategyType] && !run.Selected {
		p.reports = &reports.Decoder{Emit: func(l []byte) { p.pass.Line(l) }}
		p.stamps = &reports.Stamps{Emit: p.reports.Line}
	}
	return p
}

// readsReports are the types of strategies for tools that can write their results as data.
var readsReports = map[string]bool{"test_summary": true, "group_by_rule": true}

// passLines sends whole lines, with their line feeds, through the rule.
func (p *rulePass) passLines(body []byte) {
	p.try(func() { text.EachLine(body, p.line()) })
}

// passText sends a whole text through the rule.
func (p *rulePass) passText(lines *text.Lines) {
	p.try(func() { p.readErr = lines.Each(p.line()) })
}

// line returns the function for the next line.
func (p *rulePass) line() func([]byte) {
	if p.reports != nil {
		return p.stamps.Line
	}
	return p.pass.Line
}

// try runs a part of the rule's work, unless the rule panicked before.
func (p *rulePass) try(do func()) {
	if p.panicErr != nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			p.panicErr = fmt.Errorf("%v\n%s", r, debug.Stack())
		}
	}()
	do()
}

// decodeOnly makes the result of the pass the text with its reports decoded, since the rule has nothing to
// remove from it.
func (p *rulePass) decodeOnly(lines *text.Lines) error {
	p.out.Close()
	p.out, p.confidence = text.NewLines(), strategy.Full
	d := reports.Decoder{Emit: p.out.Write}
	s := reports.Stamps{Emit: d.Line}
	err := lines.Each(s.Line)
	s.End()
	d.End()
	return err
}

// end returns the text after the rule, or lines itself if it stays unchanged.
// err is an error of reading the text, which end returns.
func (p *rulePass) end(lines *text.Lines, err error) (*text.Lines, error) {
	p.try(func() {
		if p.reports != nil {
			p.stamps.End()
			p.reports.End()
		}
		p.confidence = p.pass.End()
	})
	if p.panicErr != nil {
		p.confidence = strategy.Fallback
	} else if p.confidence == strategy.Fallback && p.reports != nil && p.reports.Decoded {
		err = cmp.Or(err, p.decodeOnly(lines))
	}
	if err = cmp.Or(err, p.readErr, p.out.Err()); err != nil || p.confidence == strategy.Fallback || p.out.Size() >= lines.Size() {
		p.out.Close()
		return lines, err
	}
	return p.out, nil
}
