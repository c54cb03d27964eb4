package testreport

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// programTraces shortens the stack traces of a program.
type programTraces struct{}

// newProgramTraces makes the strategy "stack_traces". Of long stack traces, the frames of
// libraries and the repeats of a recursion are dropped, and goroutines that differ only in
// numbers. All other lines stay.
func newProgramTraces(p strategy.Params) (strategy.Strategy, error) {
	return programTraces{}, p.Decode(&struct{}{})
}

func (programTraces) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	p := &programTracePass{out: out, seen: map[string]bool{}}
	p.trace.emit, p.trace.withoutComments = out.Write, true
	return p
}

// programTracePass shortens the stack traces of one output.
type programTracePass struct {
	trace       traceFilter
	out         *text.Lines
	lines       int             // of the input
	block       [][]byte        // the current goroutine, up to a blank line
	seen        map[string]bool // goroutines without their numbers
	more        int             // goroutines left out since the last one that stays
	inGoroutine bool
}

const maxGoroutineLines = 300 // of one goroutine

func (p *programTracePass) Line(l []byte) {
	p.lines++
	switch {
	case isGoroutine(l):
		p.endGoroutine()
		p.inGoroutine = true
		p.block = append(p.block, bytes.Clone(l))
	case !p.inGoroutine:
		p.writeLine(l)
	case len(l) == 0:
		p.endGoroutine()
		if p.more == 0 {
			p.writeLine(l)
		}
	case !isGoSymbol(l) && !isGoLocation(l) && l[0] != '.':
		p.endGoroutine()
		p.writeLine(l)
	default:
		if p.block = append(p.block, bytes.Clone(l)); len(p.block) > maxGoroutineLines {
			p.writeGoroutine()
		}
	}
}

// isGoroutine reports whether a line begins the trace of a goroutine.
func isGoroutine(l []byte) bool { return begins(l, "goroutine ") && ends(l, "]:") }

// endGoroutine ends a goroutine, which stays unless an equal one does.
func (p *programTracePass) endGoroutine() {
	p.inGoroutine = false
	if len(p.block) == 0 {
		return
	}
	key := goroutineKey(p.block)
	if p.seen[key] {
		p.more++
		p.block = p.block[:0]
		return
	}
	if len(p.seen) < maxNamedFailures {
		p.seen[key] = true
	}
	p.writeGoroutine()
}

func (p *programTracePass) writeGoroutine() {
	lines := p.block
	p.block = p.block[:0]
	for _, l := range lines {
		p.writeLine(l)
	}
}

// writeLine writes a line after the count of the goroutines before it.
func (p *programTracePass) writeLine(l []byte) {
	if p.more > 0 {
		p.trace.end()
		p.out.Write(fmt.Appendf(nil, "... (%s such as those above) ...", quantity.Count(p.more, "more goroutine")))
		p.out.Write(nil)
		p.more = 0
	}
	p.trace.line(l)
}

// goroutineKey returns the text of a goroutine without its number, its arguments and its
// time. The numbers of lines stay.
func goroutineKey(block [][]byte) string {
	var key []byte
	for _, l := range block {
		for i := 0; i < len(l); i++ {
			if !text.DigitSet[l[i]] || i > 0 && l[i-1] == ':' {
				end := i + 1
				if text.DigitSet[l[i]] {
					end = text.DigitSet.RunEnd(l, i)
				}
				key = append(key, l[i:end]...)
				i = end - 1
				continue
			}
			i = text.AlnumSet.RunEnd(l, i) - 1 // also hexadecimal
			key = append(key, '0')
		}
		key = append(key, '\n')
	}
	return string(key)
}

func (p *programTracePass) End() strategy.Confidence {
	p.endGoroutine()
	if p.more > 0 {
		p.writeLine(nil)
	}
	p.trace.end()
	if p.out.Count() >= p.lines {
		return strategy.Fallback
	}
	return strategy.Full
}
