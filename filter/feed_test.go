package filter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// listening is a strategy that records its input.
type listening struct {
	got   bytes.Buffer
	ended bool
}

func (p *listening) Begin(strategy.Run, *text.Lines) strategy.Pass { return p }

func (p *listening) Line(l []byte) {
	p.got.Write(l)
	p.got.WriteByte('\n')
}

func (p *listening) End() strategy.Confidence {
	p.ended = true
	return strategy.Fallback
}

func (p *listening) filter() *Filter {
	return &Filter{rules: compiledRules(rule{name: "listening", match: matcher{exact: "listen"}, strategy: p})}
}

func manyLines(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", i%200))
	}
	return b.String()
}

// A pass receives all lines of short and long texts.
func TestFeed(t *testing.T) {
	for _, lines := range []int{0, 1, 100, 1000, 50_000} {
		text := strings.ReplaceAll(manyLines(lines), "line 7", "\n\n \nline 7")
		p := &listening{}
		o, err := p.filter().Apply("listen", 0, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if full := strategytest.Text(t, o.Full); full != p.got.String() || !p.ended {
			t.Errorf("%d lines: the pass got %d bytes of %d, ended: %v", lines, p.got.Len(), len(full), p.ended)
		}
		o.Close()
	}
}

// An output that cannot be read also ends the pass, which may hold files.
func TestFeedError(t *testing.T) {
	broken := errors.New("broken")
	for _, lines := range []int{10, 50_000} {
		p := &listening{}
		_, err := p.filter().Apply("listen", 0, io.MultiReader(strings.NewReader(manyLines(lines)), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || !p.ended {
			t.Errorf("%d lines: %v, ended: %v, want %v", lines, err, p.ended, broken)
		}
	}
}
