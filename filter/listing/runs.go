package listing

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// nameRuns writes names. It joins consecutive names that differ only by a
// number.
type nameRuns struct {
	out         *text.Lines
	maxNames    int      // names kept of one directory; 0 means all
	named       int      // names of this directory, or runs of them
	omitted     leftOut  // names that are not written since the last line
	unusual     int      // unusual names after maxNames
	pattern     []byte   // the names of the current run, without numbers
	nextPattern []byte   // the same for the next name
	pending     [][]byte // the first names of the run
	lowest      []byte   // the name of the run with the lowest number
	highest     []byte   // the one with the highest number
	runLength   int
	changed     bool // names were joined or omitted
}

// minRun is the least number of names that are joined.
const minRun = 6

// addName adds a name to the current run, or begins another one.
func (r *nameRuns) addName(l []byte) {
	if in := bytes.TrimLeft(l, " "); text.IsOmission(in) || text.IsFolded(in) { // of an earlier pass
		r.keepLine(l)
		return
	}
	r.nextPattern = appendNumberless(r.nextPattern[:0], l)
	if r.runLength == 0 ||
		!bytes.Equal(r.nextPattern, r.pattern) ||
		bytes.IndexByte(r.pattern, text.VaryingMark) < 0 ||
		bytes.HasSuffix(l, []byte(runTail)) {
		r.flushRun()
		r.pattern, r.nextPattern = r.nextPattern, r.pattern
	}
	if r.runLength++; r.runLength < minRun {
		r.pending = append(r.pending, bytes.Clone(l))
	}
	if r.runLength == 1 || text.NumberLess(l, r.lowest) {
		r.lowest = append(r.lowest[:0], l...)
	}
	if r.runLength == 1 || text.NumberLess(r.highest, l) {
		r.highest = append(r.highest[:0], l...)
	}
}

// The texts between the lowest and the highest name of a run, and after them.
const (
	runSeparator = " … "
	runTail      = " names)"
)

// flushRun writes the pending names, joined if there are many.
func (r *nameRuns) flushRun() {
	if r.runLength >= minRun {
		line := fmt.Appendf(nil, "%s%s%s (%d%s", r.lowest, runSeparator, bytes.TrimLeft(r.highest, " "), r.runLength, runTail)
		r.writeNames(line, r.runLength, r.lowest, r.highest)
		r.changed = true
	} else {
		for _, l := range r.pending {
			r.writeName(l)
		}
	}
	r.pending, r.runLength = r.pending[:0], 0
}

// flushUnlessContinued ends the run unless a name continues it.
func (r *nameRuns) flushUnlessContinued(l []byte) {
	if r.nextPattern = appendNumberless(r.nextPattern[:0], l); !bytes.Equal(r.nextPattern, r.pattern) {
		r.flushRun()
	}
}

// writeName writes a name.
func (r *nameRuns) writeName(l []byte) { r.writeNames(l, 1, l, l) }

// writeNames writes a line that stands for names from first to last.
func (r *nameRuns) writeNames(line []byte, count int, first, last []byte) {
	if r.named++; r.maxNames > 0 && r.named > r.maxNames {
		r.omitted.addRun(count, bytes.TrimLeft(first, " "), bytes.TrimLeft(last, " "))
		r.changed = true
		return
	}
	r.out.Write(line)
}

// maxUnusual limits the names of one directory that stay because they are unusual.
const maxUnusual = 100

// addUnusual writes the line of an unusual name, whatever the number of names.
func (r *nameRuns) addUnusual(l, name []byte) {
	r.flushRun()
	if r.maxNames == 0 || r.named < r.maxNames || r.unusual == maxUnusual {
		r.writeNames(l, 1, name, name)
		return
	}
	r.unusual++
	r.keepLine(l)
}

// keepLine writes a line that stays, whatever the number of names.
func (r *nameRuns) keepLine(l []byte) {
	r.flushRun()
	r.omitted.writeTo(r.out)
	r.out.Write(l)
}

// otherLine writes a line that is not a name.
func (r *nameRuns) otherLine(l []byte) {
	r.flushRun()
	r.out.Write(l)
}

// endDirectory ends the names of one directory.
func (r *nameRuns) endDirectory() {
	r.flushRun()
	r.omitted.writeTo(r.out)
	r.named, r.unusual = 0, 0
}

// appendNumberless appends a name without its numbers.
func appendNumberless(dst, l []byte) []byte {
	for _, b := range l {
		if text.Class[b] != text.Digit {
			dst = append(dst, b)
		} else if n := len(dst); n == 0 || dst[n-1] != text.VaryingMark {
			dst = append(dst, text.VaryingMark)
		}
	}
	return dst
}
