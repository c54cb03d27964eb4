package fetch

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// savedFiles folds the files that wget saves: of many files, only the first ones stay.
type savedFiles struct {
	saved   int      // files that stay
	held    [][]byte // lines of the current file, if others stay
	omitted int      // files left out
	dropped bool     // the last line was dropped
}

const (
	maxSaved    = 8  // files that stay
	maxHeldFile = 40 // lines of one file
)

// foldSaved reports whether it holds or drops a line.
func (f *fetchPass) foldSaved(l []byte) bool {
	s := &f.files
	begins := beginsWgetFile(l)
	switch {
	case begins && s.saved >= maxSaved:
		f.flushSaved()
		s.held = append(s.held, bytes.Clone(l))
	case len(s.held) > 0 && endsWgetFile(l):
		s.held = s.held[:0]
		s.omitted++
		s.dropped, f.changed = true, true
		return true
	case len(s.held) > 0 && len(s.held) < maxHeldFile && (len(l) == 0 || isWgetFileLine(l)):
		s.held = append(s.held, bytes.Clone(l))
	case s.dropped && len(l) == 0:
	default:
		f.flushSaved()
		if endsWgetFile(l) {
			s.saved++
		}
		return false
	}
	s.dropped = s.dropped && len(l) == 0
	return true
}

// flushSaved writes the lines of a file that stays.
func (f *fetchPass) flushSaved() {
	f.files.dropped = false
	held := f.files.held
	f.files.held = nil
	for _, l := range held {
		f.handleLine(l)
	}
}

// writeSavedCount writes how many files were left out.
func (f *fetchPass) writeSavedCount() {
	f.flushSaved()
	if f.files.omitted > 0 {
		f.flushBody()
		f.out.Write(fmt.Appendf(nil, "... (%s saved) ...", quantity.Count(f.files.omitted, "more file")))
	}
}

// beginsWgetFile reports whether a line is the first one of a file: --2026-11-21 03:12:01--  URL.
func beginsWgetFile(l []byte) bool {
	return bytes.HasPrefix(l, []byte("--20")) && bytes.Contains(l[:min(len(l), 30)], []byte("--  "))
}

// endsWgetFile reports whether a line is the last one of a file that was saved: 2026-11-21
// 03:12:02 (2.1 MB/s) - 'a' saved [3/3].
func endsWgetFile(l []byte) bool {
	return bytes.HasPrefix(l, []byte("20")) && bytes.Contains(l, []byte(") - ")) && bytes.Contains(l, []byte(" saved ["))
}

// isWgetFileLine reports whether a line belongs to a file that was saved.
func isWgetFileLine(l []byte) bool {
	return bytes.HasPrefix(l, []byte("HTTP request sent, ")) && bytes.HasSuffix(l, []byte(" 200 OK")) ||
		bytes.HasPrefix(l, []byte("Saving to: ")) ||
		bytes.HasPrefix(l, []byte("Length: ")) ||
		bytes.HasPrefix(l, []byte("Connecting to ")) ||
		bytes.HasPrefix(l, []byte("Reusing existing connection to ")) ||
		isWgetProgress(l)
}
