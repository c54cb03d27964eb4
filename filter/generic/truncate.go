package generic

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// truncate cuts long outputs.
type truncate struct {
	text.Excerpt
	maxLines int
}

// newTruncate makes the strategy "truncate". If an output has more than
// max_lines lines, its first head and its last tail lines stay. Between them
// stay lines that report problems or match one of keep, each with the context
// lines after it.
func newTruncate(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		MaxLines int      `toml:"max_lines"`
		Head     *int     `toml:"head"`
		Tail     *int     `toml:"tail"`
		Keep     []string `toml:"keep"`
		Context  int      `toml:"context"`
	}{Context: 2}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if err := quantity.Check(
		quantity.Least{Name: "max_lines", Value: c.MaxLines, Least: 1}, quantity.Least{Name: "context", Value: c.Context, Least: 0},
	); err != nil {
		return nil, err
	}
	head, tail, err := text.Ends{Max: c.MaxLines, Head: c.Head, Tail: c.Tail}.Fit(20, 20)
	if err != nil {
		return nil, fmt.Errorf("head and tail %w (max_lines)", err)
	}
	keep, err := text.CompileAll(c.Keep)
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return truncate{text.Excerpt{Head: head, Tail: tail, Keep: keep, Context: c.Context}, c.MaxLines}, nil
}

func (t truncate) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	return &truncatePass{maxLines: t.maxLines, cutter: t.Cut(out)}
}

// truncatePass cuts one output.
type truncatePass struct {
	maxLines int
	lines    int
	cutter   *text.Cutter
}

func (t *truncatePass) Line(l []byte) {
	t.lines++
	t.cutter.Line(l)
}

func (t *truncatePass) End() strategy.Confidence {
	if t.lines <= t.maxLines || !t.cutter.End() {
		return strategy.Fallback
	}
	return strategy.Partial
}
