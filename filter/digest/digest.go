package digest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// digest drops what a tool says of its way, names together what it says of many
// things alike, and keeps the rest.
type digest struct {
	noise, keep *text.Patterns
	last        *text.Patterns // of a run of these only the last stays
	lead        *text.Patterns // stays before what tells of errors
	heads       *text.Patterns // stay before another line that stays
	folds       []fold
	foldable    *text.Patterns // any of folds
	blocks      []block
	blockBegins *text.Patterns // any of blocks
	others      *text.Patterns // any but noise and keep
	diffstat    bool
	max         int
	text.Excerpt
}

// block is a part of a text that goes: from a line to the next one that is
// another part's.
type block struct {
	begin, end *text.Pattern
	whole      bool // nothing of it stays
	max        int  // lines, so that a begin whose end never comes takes no more
}

// newDigest makes the strategy "digest". Lines that match one of patterns go,
// and of a run of lines that match one of last only the last stays. Of lines that
// match one of lead one stays before the next line that tells of an error, since
// that does not name what it is of; one that matches one of heads stays before any
// other line that stays, up to the next head. A block goes
// from a line that matches its begin to before one that matches its end. What
// matches one of keep stays all the same, in a block that does not go as a whole
// also what tells of errors. Of
// lines that match the pattern of a fold the first ones stay, and of the others
// the names, which are its first group, stand together in one line; the last of the
// states, which are its second group, counts for each name, and its third group
// stands behind the name. With diffstat, lines
// such as git's of changed files get short. Of what is left more than max_lines,
// the first head and last tail lines stay, and what tells of errors.
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

// digestDefaults are what is not said.
func digestDefaults() digestParams { return digestParams{MaxLines: 400} }

func readDigest(p strategy.Params) (*digest, error) {
	c := digestDefaults()
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	return c.compile()
}

func (c digestParams) compile() (*digest, error) {
	if len(c.Patterns)+len(c.Last)+len(c.Lead)+len(c.Heads)+len(c.Fold)+len(c.Blocks) == 0 && !c.Diffstat {
		return nil, errors.New("patterns, last, lead, heads, fold and blocks are empty")
	}
	if c.MaxLines < 0 {
		return nil, errors.New("max_lines must not be negative")
	}
	cut := text.Ends{Max: c.MaxLines, Head: c.Head, Tail: c.Tail}
	if c.MaxLines == 0 {
		cut.Max = math.MaxInt
	}
	head, tail, err := cut.Fit(60, 100)
	if err != nil {
		return nil, fmt.Errorf("head and tail %w (max_lines)", err)
	}
	d := &digest{diffstat: c.Diffstat, max: c.MaxLines, Excerpt: text.Excerpt{Head: head, Tail: tail, Context: 2}}
	for _, set := range []struct {
		name  string
		exprs []string
		into  **text.Patterns
	}{{"patterns", c.Patterns, &d.noise}, {"keep", c.Keep, &d.keep}, {"last", c.Last, &d.last}, {"lead", c.Lead, &d.lead}, {"heads", c.Heads, &d.heads}} {
		if *set.into, err = text.CompileAll(set.exprs); err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
	}
	d.foldable, d.blockBegins = &text.Patterns{}, &text.Patterns{}
	others := slices.Concat(c.Last, c.Lead, c.Heads)
	for _, f := range c.Fold {
		pat, err := text.Compile(f.Pattern)
		switch groups := 0; {
		case err != nil:
			return nil, fmt.Errorf("fold: %w", err)
		default:
			if groups = pat.Regexp.NumSubexp(); groups < 1 || groups > 3 {
				return nil, fmt.Errorf("fold: want one to three groups in %q", f.Pattern)
			}
			if (groups == 1) != (f.As != "") {
				return nil, fmt.Errorf("fold: want as, or a second group, with %q", f.Pattern)
			}
		}
		if f.First < 0 {
			return nil, errors.New("fold: first must not be negative")
		}
		d.folds = append(d.folds, fold{pat, f.As, f.First})
		d.foldable.Add(pat)
		others = append(others, f.Pattern)
	}
	for _, b := range c.Blocks {
		begin, err := text.Compile(b.Begin)
		if err == nil && b.End == "" {
			err = errors.New("there is no end")
		}
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		end, err := text.Compile(b.End)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		if b.Max <= 0 {
			b.Max = 200
		}
		d.blocks = append(d.blocks, block{begin, end, b.Whole, b.Max})
		d.blockBegins.Add(begin)
		others = append(others, b.Begin)
	}
	if d.others, err = text.CompileAll(others); err != nil {
		return nil, err
	}
	d.Excerpt.Keep = d.keep
	return d, nil
}

func (d *digest) Begin(run strategy.Run, out *text.Lines) strategy.Pass { return d.begin(run, out) }

func (d *digest) begin(run strategy.Run, out *text.Lines) *digesting {
	g := &digesting{digest: d, run: run, out: out, rest: text.NewLines()}
	g.folded = make([]folding, len(d.folds))
	return g
}

type digesting struct {
	*digest
	run     strategy.Run
	out     *text.Lines
	rest    *text.Lines // what is left
	in      *block      // that is being dropped
	inLines int
	held    []byte // the last line of a run
	holds   bool
	leader  []byte // what the next error may be of
	leads   bool
	head    []byte // what the next line that stays is below
	headed  bool   // head waits for one
	folded  []folding
	again   [][]byte // what an earlier pass wrote of folds
	changed bool
	cut     bool   // an earlier pass has left lines out: what is left of a text does not always tell what they were
	gone    []byte // the last line that went while nothing was left: better than no line at all
	told    bool   // something of what is left tells how it went
	short   []byte
}

func (g *digesting) Line(l []byte) {
	if len(l) == 0 {
		if g.in != nil && !g.in.end.Match(l) {
			return
		}
		g.in = nil
		g.rest.Write(nil)
		return
	}
	if g.in != nil && g.inBlock(l) {
		return
	}
	switch {
	case g.noise.Match(l) && !g.keep.Match(l):
		g.changed = true
		if g.rest.Count() == 0 {
			g.gone = append(g.gone[:0], l...)
		}
	case text.IsFolded(l):
		g.again = append(g.again, bytes.Clone(l))
	case g.others.Match(l) && g.other(l):
	default:
		g.cut = g.cut || text.IsOmission(l)
		g.write(l)
	}
}

// other takes a line that is more than noise or what stays. It reports false for
// one that stays all the same.
func (g *digesting) other(l []byte) bool {
	switch {
	case g.blockBegins.Match(l) && !g.keep.Match(l):
		g.begins(l)
	case g.last.Match(l):
		g.changed = g.changed || g.holds
		g.held, g.holds = append(g.held[:0], l...), true
	case g.lead.Match(l):
		g.changed = g.changed || g.leads || g.headed
		g.leader, g.leads = append(g.leader[:0], l...), true
	case g.heads.Match(l):
		g.release()
		g.changed = g.changed || g.headed
		g.head, g.headed = append(g.head[:0], l...), true
	case g.foldable.Match(l) && g.fold(l):
		g.changed = true
	default:
		return false
	}
	return true
}

// write keeps a line.
func (g *digesting) write(l []byte) {
	g.release()
	if g.diffstat {
		if short, ok := text.ShortStat(g.short[:0], l); ok {
			g.short = short
			g.changed = g.changed || len(short) < len(l)
			l = short
		}
	}
	g.keepLine(l)
}

func (g *digesting) keepLine(l []byte) {
	if g.headed {
		g.headed = false
		g.rest.Write(g.head)
	}
	if g.leads || g.run.Exit != 0 && !g.told {
		matters := text.Important(l)
		g.told = g.told || matters || g.keep.Match(l)
		if g.leads && matters {
			g.leads = false
			g.rest.Write(g.leader)
		}
	}
	g.rest.Write(l)
}

func (g *digesting) release() {
	if g.holds {
		g.holds = false
		g.keepLine(g.held)
	}
}

// begins begins a block.
func (g *digesting) begins(l []byte) {
	for i := range g.blocks {
		if g.blocks[i].begin.Match(l) {
			g.in, g.inLines, g.changed = &g.blocks[i], 0, true
			return
		}
	}
}

// inBlock reports whether a line is a block's, and keeps it if it has to stay.
func (g *digesting) inBlock(l []byte) bool {
	g.inLines++
	if g.in.begin.Match(l) { // before its end, which may look alike
		g.inLines = 0
		return true
	}
	if g.inLines > g.in.max || g.in.end.Match(l) {
		g.in = nil
		return false
	}
	if !g.in.whole && (text.Important(l) || g.keep.Match(l)) {
		if g.noise.Match(l) || g.blockBegins.Match(l) || g.last.Match(l) || g.lead.Match(l) || g.heads.Match(l) || g.foldable.Match(l) || text.IsFolded(l) { // as outside
			return false
		}
		g.write(l)
	}
	return true
}

func (g *digesting) End() strategy.Confidence {
	defer g.rest.Close()
	g.release()
	g.changed = g.changed || g.leads || g.headed
	folded := g.unfold()
	long := g.max > 0 && g.rest.Count() > g.max
	switch {
	case g.cut, !g.changed && !long:
		return strategy.Fallback
	case g.run.Exit != 0 && !g.told: // what would be left does not tell what is wrong
		return strategy.Fallback
	}
	if g.rest.Count() == 0 && len(folded) == 0 {
		g.rest.Write(g.gone)
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
