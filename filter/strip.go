package filter

import (
	"errors"
	"fmt"
)

// stripNoise drops lines.
type stripNoise struct{ noise, keep *patterns }

// newStripNoise makes the strategy "strip_noise": lines that match one of
// patterns go, save those that match one of keep.
func newStripNoise(p params) (Strategy, error) {
	var c struct {
		Patterns []string `toml:"patterns"`
		Keep     []string `toml:"keep"`
	}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	noise, keep, err := both(c.Patterns, c.Keep)
	return stripNoise{noise, keep}, err
}

// both compiles what goes and what stays all the same.
func both(noise, keep []string) (*patterns, *patterns, error) {
	if len(noise) == 0 {
		return nil, nil, errors.New("patterns is empty")
	}
	n, err := compileAll(noise)
	if err != nil {
		return nil, nil, fmt.Errorf("patterns: %w", err)
	}
	k, err := compileAll(keep)
	if err != nil {
		return nil, nil, fmt.Errorf("keep: %w", err)
	}
	return n, k, nil
}

func (s stripNoise) Begin(_ Run, out *Lines) Pass { return &stripping{stripNoise: s, out: out} }

type stripping struct {
	stripNoise
	out     *Lines
	dropped bool
}

func (s *stripping) Line(l []byte) {
	if s.noise.match(l) && !s.keep.match(l) {
		s.dropped = true
		return
	}
	s.out.Write(l)
}

func (s *stripping) End() Confidence {
	if !s.dropped {
		return Fallback
	}
	return Full
}

// keepMatching keeps lines.
type keepMatching struct{ wanted *patterns }

// newKeepMatching makes the strategy "keep_matching": only lines that match one
// of patterns stay; of a command that failed, also what tells of errors.
func newKeepMatching(p params) (Strategy, error) {
	var c struct {
		Patterns []string `toml:"patterns"`
	}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	wanted, _, err := both(c.Patterns, nil)
	return keepMatching{wanted}, err
}

func (k keepMatching) Begin(run Run, out *Lines) Pass {
	return &matching{keepMatching: k, run: run, out: out}
}

type matching struct {
	keepMatching
	run   Run
	out   *Lines
	found bool
}

func (m *matching) Line(l []byte) {
	switch {
	case m.wanted.match(l):
		m.found = true
		m.out.Write(l)
	case m.run.Exit != 0 && important(l):
		m.out.Write(l)
	}
}

func (m *matching) End() Confidence {
	if !m.found || m.run.Mixed {
		return Fallback
	}
	return Full
}
