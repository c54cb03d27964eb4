package excerpt

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// digest drops progress, joins similar lines and keeps the rest.
type digest struct {
	noise, keep *text.Patterns
	last        *text.Patterns // only the last of consecutive matches stays
	lead        *text.Patterns // the last match stays if the next line that stays reports a problem
	heads       *text.Patterns // the last match stays before another line that stays
	folds       []fold
	foldable    *text.Patterns // matches any of folds
	blocks      []block
	blockBegins *text.Patterns // matches the begin of any of blocks
	others      *text.Patterns // matches any pattern but noise and keep
	diffstat    bool
	maxLines    int
	text.Excerpt
}

// block is a part of a text to drop: from a line up to the next line of another
// part.
type block struct {
	begin, end *text.Pattern
	whole      bool // no line of it stays
	maxLines   int  // limit of lines, for a block without an end
}

// newDigest makes the strategy "digest". It drops these lines:
//   - matches of patterns
//   - matches of last, except the last of consecutive ones
//   - matches of lead, except the last one if the next line that stays reports a problem
//   - matches of heads, except the last one before another line that stays
//   - blocks, from a match of begin up to a match of end
//
// Matches of keep always stay. So do lines that report problems in a block that
// is not dropped as a whole.
//
// A fold joins the matches of its pattern after the first ones. Its line lists
// their names, which are the first group. The second group is the state of a
// name; the last state counts. The third group follows the name.
//
// With diffstat, git's statistics of changed files are shortened. If more than
// max_lines lines are left, the first head and last tail lines stay, and those
// that report problems.
func newDigest(p strategy.Params) (strategy.Strategy, error) {
	d, err := readDigest(p)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// digestParams are the parameters of a digest.
type digestParams struct {
	Patterns []string `toml:"patterns"`
	Keep     []string `toml:"keep"`
	Last     []string `toml:"last"`
	Lead     []string `toml:"lead"`
	Heads    []string `toml:"heads"`
	Fold     []struct {
		Pattern string `toml:"pattern"`
		As      string `toml:"as"`
		First   int    `toml:"first"`
	} `toml:"fold"`
	Blocks []struct {
		Begin string `toml:"begin"`
		End   string `toml:"end"`
		Whole bool   `toml:"whole"`
		Max   int    `toml:"max"`
	} `toml:"blocks"`
	Diffstat bool `toml:"diffstat"`
	MaxLines int  `toml:"max_lines"` // 0 cuts nothing
	Head     *int `toml:"head"`
	Tail     *int `toml:"tail"`
}

// digestDefaults returns the default parameters.
func digestDefaults() digestParams { return digestParams{MaxLines: 400} }

func readDigest(p strategy.Params) (*digest, error) {
	c := digestDefaults()
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	return c.compile()
}

// compile returns the digest of the parameters. The error names the invalid one.
func (c digestParams) compile() (*digest, error) {
	if len(c.Patterns)+len(c.Last)+len(c.Lead)+len(c.Heads)+len(c.Fold)+len(c.Blocks) == 0 && !c.Diffstat {
		return nil, errors.New("patterns, last, lead, heads, fold and blocks are empty")
	}
	if err := quantity.Check(quantity.Least{Name: "max_lines", Value: c.MaxLines, Least: 0}); err != nil {
		return nil, err
	}
	cut := text.Ends{Max: c.MaxLines, Head: c.Head, Tail: c.Tail}
	if c.MaxLines == 0 {
		cut.Max = math.MaxInt
	}
	head, tail, err := cut.Fit(60, 100)
	if err != nil {
		return nil, fmt.Errorf("head and tail %w (max_lines)", err)
	}
	d := &digest{diffstat: c.Diffstat, maxLines: c.MaxLines, Excerpt: text.Excerpt{Head: head, Tail: tail, Context: 2}}
	for _, set := range []struct {
		name  string
		exprs []string
		into  **text.Patterns
	}{
		{"patterns", c.Patterns, &d.noise},
		{"keep", c.Keep, &d.keep},
		{"last", c.Last, &d.last},
		{"lead", c.Lead, &d.lead},
		{"heads", c.Heads, &d.heads},
	} {
		if *set.into, err = text.CompileAll(set.exprs); err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
	}
	d.foldable, d.blockBegins = &text.Patterns{}, &text.Patterns{}
	if err := d.addFolds(c); err != nil {
		return nil, fmt.Errorf("fold: %w", err)
	}
	if err := d.addBlocks(c); err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	others := slices.Concat(c.Last, c.Lead, c.Heads)
	for _, f := range c.Fold {
		others = append(others, f.Pattern)
	}
	for _, b := range c.Blocks {
		others = append(others, b.Begin)
	}
	if d.others, err = text.CompileAll(others); err != nil {
		return nil, err
	}
	d.Excerpt.Keep = d.keep
	return d, nil
}

// addFolds compiles the folds.
func (d *digest) addFolds(c digestParams) error {
	for _, f := range c.Fold {
		pat, err := text.Compile(f.Pattern)
		if err != nil {
			return err
		}
		groups := pat.Regexp.NumSubexp()
		switch {
		case groups < 1 || groups > 3:
			return fmt.Errorf("want one to three groups in %q", f.Pattern)
		case f.As == "" && groups == 1, f.As != "" && groups > 2:
			return fmt.Errorf("want as, or a second group, with %q", f.Pattern)
		case f.First < 0:
			return errors.New("first must not be negative")
		}
		d.folds = append(d.folds, fold{pat, f.As, f.First})
		d.foldable.Add(pat)
	}
	return nil
}

// addBlocks compiles the blocks.
func (d *digest) addBlocks(c digestParams) error {
	for _, b := range c.Blocks {
		begin, err := text.Compile(b.Begin)
		if err == nil && b.End == "" {
			err = errors.New("end is missing")
		}
		if err != nil {
			return err
		}
		end, err := text.Compile(b.End)
		if err != nil {
			return err
		}
		if b.Max <= 0 {
			b.Max = 200
		}
		d.blocks = append(d.blocks, block{begin, end, b.Whole, b.Max})
		d.blockBegins.Add(begin)
	}
	return nil
}

func (d *digest) Begin(run strategy.Run, out *text.Lines) strategy.Pass { return d.begin(run, out) }

func (d *digest) begin(run strategy.Run, out *text.Lines) *digestPass {
	g := &digestPass{digest: d, run: run, out: out, rest: text.NewLines()}
	g.folded = make([]foldedNames, len(d.folds))
	return g
}

// digestPass digests one output.
type digestPass struct {
	*digest
	run          strategy.Run
	out          *text.Lines
	rest         *text.Lines // the lines that stay
	block        *block      // the block that is being dropped, or nil
	blockLines   int         // lines since its begin
	wholeLines   int         // lines of a block of which no line stays
	lastMatch    []byte      // the last of consecutive matches of last
	lastPending  bool        // lastMatch has not been written; the same applies to the next two fields
	leadMatch    []byte      // the last match of lead
	leadPending  bool
	headMatch    []byte // the last match of heads
	headPending  bool
	folded       []foldedNames // by the index in folds
	earlierFolds [][]byte      // further lines of folds, for example from an earlier pass
	changed      bool
	cutBefore    bool   // an earlier pass omitted lines, so the rest may lack the context of a failure
	lastDropped  []byte // the last dropped line while no line stayed, which is better than an empty result
	outcomeShown bool   // a line that stays shows the outcome of a failed command
	lineBuffer   []byte
}

func (g *digestPass) Line(l []byte) {
	if len(l) == 0 {
		if g.block != nil && !g.block.end.Match(l) {
			return
		}
		g.endBlock()
		g.rest.Write(nil)
		return
	}
	if g.block != nil && g.inBlock(l) {
		return
	}
	switch {
	case g.noise.Match(l) && !g.keep.Match(l):
		g.changed = true
		if g.rest.Count() == 0 {
			g.lastDropped = append(g.lastDropped[:0], l...)
		}
	case text.IsFolded(l):
		g.earlierFolds = append(g.earlierFolds, bytes.Clone(l))
	case g.others.Match(l) && g.handleOther(l):
	default:
		g.cutBefore = g.cutBefore || text.IsOmission(l)
		g.write(l)
	}
}

// handleOther handles a line that matches anything but noise and keep. It reports
// false if the line stays.
func (g *digestPass) handleOther(l []byte) bool {
	switch {
	case g.blockBegins.Match(l) && !g.keep.Match(l):
		g.beginBlock(l)
	case g.last.Match(l):
		g.changed = g.changed || g.lastPending
		g.lastMatch, g.lastPending = append(g.lastMatch[:0], l...), true
	case g.lead.Match(l):
		g.changed = g.changed || g.leadPending || g.headPending
		g.leadMatch, g.leadPending = append(g.leadMatch[:0], l...), true
	case g.heads.Match(l):
		g.writeLastMatch()
		g.changed = g.changed || g.headPending
		g.headMatch, g.headPending = append(g.headMatch[:0], l...), true
	case g.foldable.Match(l) && g.fold(l):
		g.changed = true
	default:
		return false
	}
	return true
}

// write keeps a line.
func (g *digestPass) write(l []byte) {
	g.writeLastMatch()
	if g.diffstat {
		if short, ok := text.ShortStat(g.lineBuffer[:0], l); ok {
			g.lineBuffer = short
			g.changed = g.changed || len(short) < len(l)
			l = short
		}
	}
	g.keepLine(l)
}

func (g *digestPass) keepLine(l []byte) {
	if g.headPending {
		g.headPending = false
		g.rest.Write(g.headMatch)
	}
	if g.leadPending || g.run.Exit != 0 && !g.outcomeShown {
		matters := text.Important(l)
		g.outcomeShown = g.outcomeShown || matters || g.keep.Match(l)
		switch {
		case g.leadPending && matters:
			g.rest.Write(g.leadMatch)
		case g.leadPending: // before the problem it would be out of order
			g.changed = true
		}
		g.leadPending = false
	}
	g.rest.Write(l)
}

func (g *digestPass) writeLastMatch() {
	if g.lastPending {
		g.lastPending = false
		g.keepLine(g.lastMatch)
	}
}

// beginBlock starts a block.
func (g *digestPass) beginBlock(l []byte) {
	for i := range g.blocks {
		if g.blocks[i].begin.Match(l) {
			g.endBlock()
			g.block, g.blockLines, g.changed = &g.blocks[i], 0, true
			g.wholeLines = 1
			return
		}
	}
}

// endBlock ends the current block. If none of its lines could stay, it writes their number.
func (g *digestPass) endBlock() {
	if g.block != nil && g.block.whole {
		g.rest.Write(text.Omission(g.wholeLines))
	}
	g.block = nil
}

// inBlock reports whether a line belongs to the block. It keeps the line if it
// has to stay.
func (g *digestPass) inBlock(l []byte) bool {
	g.blockLines++
	if g.block.begin.Match(l) { // before the end, which may match too
		g.blockLines = 0
		g.wholeLines++
		return true
	}
	if g.blockLines > g.block.maxLines || g.block.end.Match(l) {
		g.endBlock()
		return false
	}
	g.wholeLines++
	if !g.block.whole && (text.Important(l) || g.keep.Match(l)) {
		// as outside of blocks
		if g.noise.Match(l) || g.blockBegins.Match(l) || g.last.Match(l) || g.lead.Match(l) ||
			g.heads.Match(l) || g.foldable.Match(l) || text.IsFolded(l) {
			return false
		}
		g.write(l)
	}
	return true
}

// mixedShare is how many times the limit of lines an output may have if other
// commands may have written too.
const mixedShare = 5

func (g *digestPass) End() strategy.Confidence {
	defer g.rest.Close()
	g.endBlock()
	g.writeLastMatch()
	g.changed = g.changed || g.leadPending || g.headPending
	folded := g.foldedLines()
	most := g.maxLines
	if g.run.Mixed {
		most *= mixedShare
	}
	long := most > 0 && g.rest.Count() > most
	switch {
	case g.cutBefore, !g.changed: // a long text without a known line may be a list that was asked for
		return strategy.Fallback
	case g.run.Exit != 0 && !g.outcomeShown: // the rest would not show the failure
		return strategy.Fallback
	}
	if g.rest.Count() == 0 && len(folded) == 0 {
		g.rest.Write(g.lastDropped)
	}
	confidence := strategy.Full
	if !long {
		if g.rest.Each(g.out.Write) != nil {
			return strategy.Fallback
		}
	} else {
		cut := g.Excerpt.Cut(g.out)
		if g.rest.Each(cut.Line) != nil {
			return strategy.Fallback
		}
		if cut.End() {
			confidence = strategy.Partial
		}
	}
	for _, l := range folded {
		g.out.Write(l)
	}
	return confidence
}
