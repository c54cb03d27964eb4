package git

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
)

// maxNamedFiles limits the files that are named.
const maxNamedFiles = 1000

// leastRoom is the least number of lines worth showing of a file.
const leastRoom = 10

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

// share returns how many lines of a file are written: at most room, and at most left,
// which is the room left for all files.
func (f *diffFile) share(room, left int) int {
	lines := min(f.lines, room)
	if f.generated && f.added+f.del > maxGenerated || lines > left && left < leastRoom {
		return 0
	}
	return min(lines, left)
}

// divide writes as many lines of each file as there is room for.
func (d *diffPass) divide() strategy.Confidence {
	room := d.room()
	left := d.max
	file, lines := -1, 0 // the current file and its lines so far
	shown := 0           // lines of the file that may be written
	var hidden omission
	beyond := 0 // files that are not named
	confidence := strategy.Full
	var at diffPlace
	end := func() {
		if hidden.lines > 0 {
			confidence = strategy.Partial
			d.out.WriteString(fmt.Sprintf("... (+%d -%d, %d lines omitted) ...", hidden.added, hidden.deleted, hidden.lines))
		}
		hidden, lines = omission{}, 0
	}
	err := d.body.Each(func(l []byte) {
		kind := at.next(l)
		if kind != hunkLine && kind != codeLine {
			end()
		}
		if kind == fileLine {
			file++
			shown = 0
			if file < len(d.files) {
				shown = d.files[file].share(room, left)
				left -= shown
			}
		}
		if file >= maxNamedFiles && (kind == fileLine || kind == headerLine || kind == hunkLine || kind == codeLine) {
			if kind == fileLine {
				beyond++
			}
			return
		}
		switch kind {
		case hunkLine, codeLine:
			if file < 0 { // the beginning of the diff is cut off
				break
			}
			if lines++; lines > shown {
				hidden.count(kind, l)
				return
			}
		case headerLine:
			if file < len(d.files) && file >= 0 && shown == 0 && d.files[file].lines > 0 && (l[0] == '-' || l[0] == '+') {
				return // the line before names the file
			}
		}
		d.out.Write(l)
	})
	end()
	if beyond > 0 {
		confidence = strategy.Partial
		d.out.WriteString(fmt.Sprintf("... (%d more files omitted) ...", beyond))
	}
	if err != nil {
		return strategy.Fallback
	}
	return confidence
}

// room returns the largest number of lines of one file for which all files fit,
// so that small files stay whole.
func (d *diffPass) room() int {
	lines := make([]int, 0, len(d.files))
	total := 0
	for _, f := range d.files {
		if !f.generated || f.added+f.del <= maxGenerated {
			lines = append(lines, f.lines)
			total += f.lines
		}
	}
	if total <= d.max {
		return d.max
	}
	low, high := leastRoom, d.max
	for low < high { // find the largest number that fits
		mid := (low + high + 1) / 2
		sum := 0
		for _, n := range lines {
			sum += min(n, mid)
		}
		if sum <= d.max {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
