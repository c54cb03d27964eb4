package git

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxNamedFiles limits the files that are named.
const maxNamedFiles = 1000

// minShown is the least number of lines worth showing of a file.
const minShown = 10

// maxHeads limits the hunks of which only the head is written: the header and the first change.
const maxHeads = 100

// minTelling is the least length of a change that says what a hunk is about.
const minTelling = 8

// isTelling reports whether a line of a hunk is a change that says what the hunk is about.
func isTelling(l []byte) bool {
	return len(l) > 0 && (l[0] == '+' || l[0] == '-') && len(bytes.TrimSpace(l[1:])) > minTelling
}

// omission counts lines of a file that are not written.
type omission struct{ lines, added, deleted int }

func (o *omission) count(kind diffKind, l []byte) {
	o.lines++
	switch {
	case kind == hunkLine || len(l) == 0:
	case l[0] == '+':
		o.added++
	case l[0] == '-':
		o.deleted++
	}
}

// share returns how many lines of a file are written. It is at most room, the limit for
// one file, and at most left, the lines left for all files.
func (f *diffFile) share(room, left int) int {
	lines := min(f.hunkLines, room)
	if f.generated && f.added+f.deleted > maxGenerated || lines > left && left < minShown {
		return 0
	}
	return min(lines, left)
}

// writeShares writes as many lines of each file as there is room for.
func (d *diffPass) writeShares() strategy.Confidence {
	room := d.roomPerFile()
	left := d.maxLines
	file := -1              // the current file
	share := 0              // lines of the file that may be written
	perHunk, inHunk := 0, 0 // lines of a hunk that may be written if the file has more, and lines of the hunk so far
	var omitted omission
	unnamed := 0                // files after maxNamedFiles
	heads, headOpen := 0, false // of hunks without their lines; the next change may belong to one
	confidence := strategy.Full
	var position diffPosition
	mark := func() {
		if omitted.lines > 0 {
			confidence = strategy.Partial
			d.out.WriteString(fmt.Sprintf("... (+%d -%d, %s omitted) ...", omitted.added, omitted.deleted, quantity.Count(omitted.lines, "line")))
		}
		omitted = omission{}
	}
	end := func() {
		mark()
		headOpen = false
	}
	err := d.body.Each(func(l []byte) {
		kind := position.advance(l)
		if kind != hunkLine && kind != codeLine {
			end()
		}
		if kind == fileLine {
			file++
			share, perHunk = 0, 0
			if file < len(d.files) {
				share = d.files[file].share(room, left)
				left -= share
				perHunk = largestShare(d.files[file].hunks, 0, share)
			}
		}
		switch {
		case file >= maxNamedFiles && kind == fileLine:
			unnamed++
			return
		case file >= maxNamedFiles && (kind == headerLine || kind == hunkLine || kind == codeLine):
			return
		case file >= 0 && (kind == hunkLine || kind == codeLine): // file is -1 if the beginning of the diff is cut off
			if inHunk++; kind == hunkLine {
				inHunk = 1
			}
			if inHunk <= perHunk {
				if kind == hunkLine {
					mark()
				}
				break
			}
			switch {
			case kind == hunkLine && heads < maxHeads && file < len(d.files) && !d.files[file].generated:
				heads++
				headOpen = true
				mark()
			case headOpen && isTelling(l):
				headOpen = false
			default:
				omitted.count(kind, l)
				return
			}
		case kind == headerLine && (l[0] == '-' || l[0] == '+'):
			if file >= 0 && file < len(d.files) && share == 0 && d.files[file].hunkLines > 0 {
				return // "--- a/x" or "+++ b/x": the line that begins the file names it
			}
		}
		d.out.Write(l)
	})
	end()
	if unnamed > 0 {
		confidence = strategy.Partial
		d.out.WriteString(fmt.Sprintf("... (%s omitted) ...", quantity.Count(unnamed, "more file")))
	}
	if err != nil {
		return strategy.Fallback
	}
	return confidence
}

// roomPerFile returns the maximum number of lines of one file with which all files fit,
// so that small files stay whole.
func (d *diffPass) roomPerFile() int {
	lines := make([]int, 0, len(d.files))
	total := 0
	for _, f := range d.files {
		if !f.generated || f.added+f.deleted <= maxGenerated {
			lines = append(lines, f.hunkLines)
			total += f.hunkLines
		}
	}
	if total <= d.maxLines {
		return d.maxLines
	}
	return largestShare(lines, minShown, d.maxLines)
}

// largestShare returns the largest number of lines of each part with which all parts have at most this many
// lines, so that small parts stay whole.
func largestShare(parts []int, least, lines int) int {
	low, high := min(least, lines), lines
	for low < high {
		mid := (low + high + 1) / 2
		sum := 0
		for _, n := range parts {
			sum += min(n, mid)
		}
		if sum <= lines {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
