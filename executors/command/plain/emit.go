package plain

import (
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// controlEscape matches a spelling of a control character that a terminal obeys: ESC, or one of
// C1. Programs disagree about the spelling.
var controlEscape = lazyregexp.New(`\\+(0*33|0*2[0-3][0-7]|x0*1[bB]|x0*[89][0-9a-fA-F]|[uU]\{?0*1[bB]|[uU]\{?0*[89][0-9a-fA-F]|[eEc]|d0*27|o0*33)|[\x{80}-\x{9f}]`)

// emitter returns the expression for the words by which a program makes a control character, nil for most.
func emitter(program string) *lazyregexp.Regexp {
	text := programs.Of(program).Emits
	if text == "" {
		return nil
	}
	re, _ := emitters.LoadOrStore(text, lazyregexp.New(text))
	return re.(*lazyregexp.Regexp)
}

// emitters holds the expressions of [programs.Facts.Emits], by their text.
var emitters sync.Map

// emits returns a word by which a command may print a control character of the script's choice, ""
// if there is none. The contents of files do not count.
func emits(c *Command) string {
	own := emitter(c.Program())
	for _, w := range c.words[1:] {
		if slices.ContainsFunc(w.Values, func(v string) bool { return controlEscape.MatchString(v) || own != nil && own.MatchString(v) }) {
			return w.source
		}
	}
	if c.Program() == "echo" && len(c.words) > 1 && echoEscapes.MatchString(c.words[1].text()) {
		if i := slices.IndexFunc(c.words, func(w Word) bool { return len(w.Values) == 0 }); i >= 0 {
			return c.words[i].source
		}
	}
	return ""
}

// echoEscapes matches an option with which echo interprets escape sequences.
var echoEscapes = lazyregexp.New(`^-[nE]*e`)
