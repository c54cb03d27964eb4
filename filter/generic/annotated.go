package generic

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// stripAnnotated drops matching lines, counts them, and cuts a long rest.
type stripAnnotated struct {
	noise    *text.Patterns
	summary  *text.Pattern // may be nil
	maxLines int           // the rest is cut if it has more lines
	text.Excerpt
}

// newStripAnnotated makes the strategy "strip_annotated". Lines that match one
// of patterns are dropped and counted. The last line that matches
// summary_pattern comes first. If more than long_output_threshold lines are
// left, keep_head and keep_tail of them stay, and the lines that report
// problems. An output without any match stays unchanged.
func newStripAnnotated(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Patterns       []string `toml:"patterns"`
		SummaryPattern string   `toml:"summary_pattern"`
		Threshold      int      `toml:"long_output_threshold"`
		Head           *int     `toml:"keep_head"`
		Tail           *int     `toml:"keep_tail"`
	}{Threshold: 30}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	noise, _, err := compilePatterns(c.Patterns, nil)
	if err != nil {
		return nil, err
	}
	if err := quantity.Check(quantity.Least{Name: "long_output_threshold", Value: c.Threshold, Least: 0}); err != nil {
		return nil, err
	}
	head, tail, err := text.Ends{Max: c.Threshold, Head: c.Head, Tail: c.Tail}.Fit(10, 5)
	if err != nil {
		return nil, fmt.Errorf("keep_head and keep_tail %w (long_output_threshold)", err)
	}
	s := stripAnnotated{noise: noise, maxLines: c.Threshold, Excerpt: text.Excerpt{Head: head, Tail: tail, Context: 2}}
	if c.SummaryPattern != "" {
		if s.summary, err = text.Compile(c.SummaryPattern); err != nil {
			return nil, fmt.Errorf("summary_pattern: %w", err)
		}
	}
	return s, nil
}

func (s stripAnnotated) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	return &annotatedPass{stripAnnotated: s, out: out, rest: text.NewLines()}
}

// annotatedPass drops and counts lines of one output.
type annotatedPass struct {
	stripAnnotated
	out            *text.Lines
	rest           *text.Lines // the lines that were not dropped
	summaryLine    []byte
	dropped        int
	filteredBefore bool // the input is the result of an earlier pass
}

func (a *annotatedPass) Line(l []byte) {
	switch {
	case text.IsNoiseCount(l):
		a.filteredBefore = true
	case a.summary != nil && a.summary.Match(l):
		a.summaryLine = append(a.summaryLine[:0], bytes.TrimSpace(l)...)
		a.dropped++
	case a.noise.Match(l):
		a.dropped++
	default:
		a.rest.Write(l)
	}
}

func (a *annotatedPass) End() strategy.Confidence {
	defer a.rest.Close()
	long := a.rest.Count() > a.maxLines
	if a.filteredBefore || a.dropped == 0 {
		return strategy.Fallback
	}
	if a.summaryLine != nil {
		a.out.Write(a.summaryLine)
	}
	a.out.Write(text.NoiseCount(a.dropped))
	if a.rest.Count() > 0 {
		a.out.Write(nil)
	}
	if !long {
		if a.rest.Each(a.out.Write) != nil {
			return strategy.Fallback
		}
		return strategy.Full
	}
	cut := a.Cut(a.out)
	if a.rest.Each(cut.Line) != nil {
		return strategy.Fallback
	}
	cut.End()
	return strategy.Partial
}
