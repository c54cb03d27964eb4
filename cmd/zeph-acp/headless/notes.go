package headless

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// A tool's own notes are at the end of its text, in lines such as "[exit 1]",
// "[full output: …]" or "[shell] 900 lines -> 12 lines, …".

const (
	maxNotes = 8    // lines that count as a tool's own
	maxTail  = 2000 // bytes of a terminal's output that are kept to compare
)

var (
	notePattern = lazyregexp.New(`^\[(.+\]|[a-z]+\] .*)$`)
	// endNote reports how a command ended, and is short.
	endNote = lazyregexp.New(`^\[((?:exit \d|killed by |ended; |cancelled).{0,40})\]$`)
)

// linesOf returns the lines of a text without terminal control characters.
func linesOf(text string) []string {
	var clean cleaner
	text = strings.Trim(clean.clean(text), "\r\n")
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	for i, l := range all {
		all[i] = strings.TrimRight(l, "\r")
	}
	return all
}

// toolNotes returns the tool's own notes among the last lines.
func toolNotes(text []string) []string {
	n := len(text)
	for n > max(0, len(text)-maxNotes) && notePattern.MatchString(text[n-1]) {
		n--
	}
	return text[n:]
}

// forModels matches the parts of notes that advise a model how to continue.
var forModels = lazyregexp.New(`: read_overflow overflow:[0-9a-f-]+|` +
	`; (continue with offset \d+|if you need it, rerun the call with a narrower scope)[^\]]*`)

// forPeople returns a tool's own notes without advice for the model.
func forPeople(notes []string) []string {
	all := slices.Clone(notes)
	for i, n := range all {
		all[i] = forModels.ReplaceAllLiteralString(n, "")
	}
	return all
}

// unshownNotes returns the tool's own notes at the end of a text whose output a terminal has
// shown. tail is the end of that output: it may have lines in the form of notes, which are
// left out.
func unshownNotes(text []string, tail string) []string {
	own := toolNotes(text)
	shown := linesOf(tail)
	if len(shown) == 0 {
		return own
	}
	last := shown[len(shown)-1]
	if i := slices.Index(own, last[strings.LastIndexByte(last, '\r')+1:]); i >= 0 {
		own = own[i+1:]
	}
	return own
}

// reasonOf returns the first line of a failed call's text if it is a sentence with the
// reason of the failure. Otherwise the text is output, and the tool's own notes say how the
// command ended.
func reasonOf(text []string) (reason string, ok bool) {
	own := toolNotes(text)
	if len(text) == len(own) || slices.ContainsFunc(own, endNote.MatchString) {
		return "", false
	}
	return text[0], strings.HasSuffix(text[0], ".")
}

// tailOf returns the end of a terminal's output that is kept to compare.
func tailOf(text string) string { return text[max(0, len(text)-maxTail):] }
