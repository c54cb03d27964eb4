package generic

import (
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// stripNoise drops lines.
type stripNoise struct{ noise, keep, heads *text.Patterns }

// newStripNoise makes the strategy "strip_noise": lines that match one of
// patterns are dropped, except those that match one of keep, and the blank and indented lines
// below a match of keep_below.
func newStripNoise(p strategy.Params) (strategy.Strategy, error) {
	var c struct {
		Patterns []string `toml:"patterns"`
		Keep     []string `toml:"keep"`
		Below    []string `toml:"keep_below"`
	}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	noise, keep, err := compilePatterns(c.Patterns, c.Keep)
	if err != nil {
		return nil, err
	}
	heads, err := text.CompileAll(c.Below)
	if err != nil {
		return nil, fmt.Errorf("keep_below: %w", err)
	}
	return stripNoise{noise, keep, heads}, nil
}

// compilePatterns compiles the parameters patterns, which must not be empty, and keep.
func compilePatterns(patterns, keep []string) (*text.Patterns, *text.Patterns, error) {
	if len(patterns) == 0 {
		return nil, nil, errors.New("patterns is empty")
	}
	p, err := text.CompileAll(patterns)
	if err != nil {
		return nil, nil, fmt.Errorf("patterns: %w", err)
	}
	k, err := text.CompileAll(keep)
	if err != nil {
		return nil, nil, fmt.Errorf("keep: %w", err)
	}
	return p, k, nil
}

func (s stripNoise) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	return &strippingPass{stripNoise: s, out: out}
}

// strippingPass drops lines of one output.
type strippingPass struct {
	stripNoise
	out     *text.Lines
	dropped bool
	below   bool // a match of keep_below stands above
}

func (s *strippingPass) Line(l []byte) {
	if len(l) > 0 && l[0] != ' ' && l[0] != '\t' {
		s.below = s.heads.Match(l)
	}
	if !s.below && s.noise.Match(l) && !s.keep.Match(l) {
		s.dropped = true
		return
	}
	s.out.Write(l)
}

func (s *strippingPass) End() strategy.Confidence {
	if !s.dropped {
		return strategy.Fallback
	}
	return strategy.Full
}

// keepMatching keeps lines.
type keepMatching struct{ wanted *text.Patterns }

// newKeepMatching makes the strategy "keep_matching": only lines that match one
// of patterns stay. If the command failed, lines that report problems stay too.
func newKeepMatching(p strategy.Params) (strategy.Strategy, error) {
	var c struct {
		Patterns []string `toml:"patterns"`
	}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	wanted, _, err := compilePatterns(c.Patterns, nil)
	return keepMatching{wanted}, err
}

func (k keepMatching) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &matchingPass{keepMatching: k, run: run, out: out}
}

// matchingPass keeps the matching lines of one output.
type matchingPass struct {
	keepMatching
	run   strategy.Run
	out   *text.Lines
	found bool
}

func (m *matchingPass) Line(l []byte) {
	switch {
	case m.wanted.Match(l):
		m.found = true
		m.out.Write(l)
	case m.run.Exit != 0 && text.Important(l):
		m.out.Write(l)
	}
}

func (m *matchingPass) End() strategy.Confidence {
	if !m.found || m.run.Mixed {
		return strategy.Fallback
	}
	return strategy.Full
}
