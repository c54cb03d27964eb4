package textcalls

import (
	"strings"
)

// thinkTags are the tags that models write around their reasoning, in the text of
// the answer: most, and Gemini.
var thinkTags = [][2]string{{thinkOpen, thinkClose}, {"<thought>", "</thought>"}}

// tagged parts the reasoning at the beginning of an answer's text from the rest.
// Only there is it reasoning: later it may be what the answer is about.
type ThoughtSplitter struct {
	held  string // may become a tag
	close string // of the tag that we are in; empty outside of it
	past  bool   // the text has begun, or what is before it
	gap   bool   // nothing but line breaks came after the tag
	told  bool   // the server itself said that the piece is reasoning
}

// thought takes a piece that the server itself calls reasoning, which may come at
// any time: Gemini does, and puts the first tag before it and the last one before
// the text that follows.
func (t *ThoughtSplitter) Thought(piece string) (thought, text string) {
	if t.close == "" || t.past {
		*t = ThoughtSplitter{close: thinkTags[1][1], told: true}
		piece = strings.TrimPrefix(piece, thinkTags[1][0])
	}
	return t.part(piece)
}

// take gives what is certain with one more piece of text.
func (t *ThoughtSplitter) Take(piece string) (thought, text string) {
	if rest := t.held + piece; t.told && piece != "" && !strings.HasPrefix(rest, t.close) && !strings.HasPrefix(t.close, rest) {
		t.held, t.past = "", true // without the last tag
		return "", rest
	}
	return t.part(piece)
}

func (t *ThoughtSplitter) part(piece string) (thought, text string) {
	if t.past {
		return "", t.text(piece)
	}
	t.held += piece
	if t.close == "" {
		rest := strings.TrimLeft(t.held, " \t\r\n")
		may := rest == ""
		for _, tag := range thinkTags {
			if after, ok := strings.CutPrefix(rest, tag[0]); ok {
				t.close, t.held = tag[1], after
				break
			}
			may = may || strings.HasPrefix(tag[0], rest)
		}
		if t.close == "" {
			if may {
				return "", ""
			}
			return t.End()
		}
	}
	thought, rest, found := strings.Cut(t.held, t.close)
	if !found {
		thought, t.held = cutPartial(t.held, t.close)
		return thought, ""
	}
	t.held, t.past, t.gap, t.told = "", true, true, false
	return thought, t.text(rest)
}

// text leaves out the line breaks between the reasoning and the text.
func (t *ThoughtSplitter) text(piece string) string {
	if t.gap {
		piece = strings.TrimLeft(piece, "\r\n")
		t.gap = piece == ""
	}
	return piece
}

// end gives what was held back for want of more.
func (t *ThoughtSplitter) End() (thought, text string) {
	held := t.held
	t.held = ""
	if t.close != "" {
		return held, ""
	}
	t.past = true
	return "", held
}
