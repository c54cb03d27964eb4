package schedule

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

//go:embed cues.txt
var cuesText string

// cues returns the cues by their first byte.
var cues = sync.OnceValue(func() (byFirst [256][]string) {
	for line := range strings.Lines(cuesText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, cue := range strings.Fields(line) {
			cue = strings.ReplaceAll(cue, "+", " ")
			byFirst[cue[0]] = append(byFirst[cue[0]], cue)
		}
	}
	return byFirst
})

// The parts of a long prompt that OfferFor examines, in bytes. A request is at the
// beginning or at the end of a prompt.
const (
	cueHead = 4 << 10
	cueTail = 1 << 10
)

// OfferFor offers the tools if a prompt seems to be about a later time.
func (e *Executor) OfferFor(prompt string) {
	if e.offered.Load() {
		return
	}
	if len(prompt) > cueHead+cueTail {
		prompt = prompt[:cueHead] + " " + prompt[len(prompt)-cueTail:]
	}
	if hasCue(line.Join(strings.ToLower(prompt))) {
		e.Offer()
	}
}

// hasCue reports whether a text has a cue, which begins where a word does. Words of
// languages without spaces begin anywhere.
func hasCue(text string) bool {
	known := cues()
	for i := range len(text) {
		if i > 0 && isLetter(text[i]) && isLetter(text[i-1]) {
			continue
		}
		for _, cue := range known[text[i]] {
			if strings.HasPrefix(text[i:], cue) {
				return true
			}
		}
	}
	return false
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }
