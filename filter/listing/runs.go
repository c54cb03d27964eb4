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
	omitted     int      // of those, not written since the last line
	unusual     int      // unusual names after maxNames
	pattern     []byte   // the names of the current run, without numbers
	nextPattern []byte   // the same for the next name
	pending     [][]byte // the first names of the run, and the last one
	runLength   int
	changed     bool // names were joined or omitted
}

// minRun is the least number of names that are joined.
const minRun = 6

// addName adds a name to the current run, or begins another one.
func (r *nameRuns) addName(l []byte) {
	if text.IsOmission(bytes.TrimLeft(l, " ")) { // of an earlier pass
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
	if r.runLength++; len(r.pending) < minRun {
		r.pending = append(r.pending, bytes.Clone(l))
	} else {
		r.pending[minRun-1] = append(r.pending[minRun-1][:0], l...)
	}
}

// The texts between the first and the last name of a run, and after them.
const (
	runSeparator = " … "
	runTail      = " names)"
)

// flushRun writes the pending names, joined if there are many.
func (r *nameRuns) flushRun() {
	if r.runLength >= minRun {
		last := bytes.TrimLeft(r.pending[minRun-1], " ")
		r.writeName(fmt.Appendf(nil, "%s%s%s (%d%s", r.pending[0], runSeparator, last, r.runLength, runTail))
		r.changed = true
	} else {
		for _, l := range r.pending[:min(r.runLength, len(r.pending))] {
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
func (r *nameRuns) writeName(l []byte) {
	if r.named++; r.maxNames > 0 && r.named > r.maxNames {
		r.omitted++
		r.changed = true
		return
	}
	r.out.Write(l)
}

// maxUnusual limits the names of one directory that stay because they are unusual.
const maxUnusual = 100

// addUnusual writes an unusual name, whatever the number of names.
func (r *nameRuns) addUnusual(l []byte) {
	r.flushRun()
	if r.maxNames == 0 || r.named < r.maxNames || r.unusual == maxUnusual {
		r.writeName(l)
		return
	}
	r.unusual++
	r.keepLine(l)
}

// keepLine writes a line that stays, whatever the number of names.
func (r *nameRuns) keepLine(l []byte) {
	r.flushRun()
	if r.omitted > 0 {
		r.out.Write(text.Omission(r.omitted))
		r.omitted = 0
	}
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
	if r.omitted > 0 {
		r.out.Write(text.Omission(r.omitted))
	}
	r.named, r.omitted, r.unusual = 0, 0, 0
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
