package plain

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// controlEscape matches a spelling of a control character that a terminal obeys: ESC, or one of
// C1. Programs disagree about the spelling.
var controlEscape = lazyregexp.New(`\\+(0*33|0*2[0-3][0-7]|x0*1[bB]|x0*[89][0-9a-fA-F]|[uU]\{?0*1[bB]|[uU]\{?0*[89][0-9a-fA-F]|[eEc]|d0*27|o0*33)|[\x{80}-\x{9f}]`)

// The words by which a program makes a control character in a way of its own: from a number, from
// parts of a text, or by a range of characters.
var (
	awkEmits    = lazyregexp.New(`%[-+ #0-9.*]*c`)
	printfEmits = lazyregexp.New(`%[-+ #0-9.*]*b`)
	gitEmits    = lazyregexp.New(`%x?(1[bB]|[89][0-9a-fA-F])`)
	jqEmits     = lazyregexp.New(`implode|@base64d|@urid|from_?json|from_yaml|\bascii\b`)
	trEmits     = lazyregexp.New(`\\0*[1-7]|\\.*-|-\\`)
	decodes     = lazyregexp.New(`^(-[a-zA-Z]*[dD]|--decode)`)
)

// emitter returns the expression for the words of a program, nil for most.
func emitter(program string) *lazyregexp.Regexp {
	switch program {
	case "awk", "gawk", "mawk":
		return awkEmits
	case "printf":
		return printfEmits
	case "git":
		return gitEmits
	case "jq", "yq":
		return jqEmits
	case "tr":
		return trEmits
	case "base64":
		return decodes
	}
	return nil
}

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
