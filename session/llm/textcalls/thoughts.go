package textcalls

import (
	"strings"
)

// thinkTags are the tags that models write around their reasoning in the text of an answer. The second
// ones are Gemini's.
var thinkTags = [][2]string{
	{"<think>", "</think>"}, {"<thought>", "</thought>"}, {"<thinking>", "</thinking>"}, {"<reasoning>", "</reasoning>"},
	{"[THINK]", "[/THINK]"}, {"<seed:think>", "</seed:think>"}, {"<|START_THINKING|>", "<|END_THINKING|>"}, {"◁think▷", "◁/think▷"},
	{"<|channel|>analysis<|message|>", "<|end|>"}, {"<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"},
}

// maxOpening is how much text is held back, in bytes, because it may still begin a tag or
// a block. A model may write blank lines or backticks without end, and each piece of them
// is looked at with all earlier ones.
const maxOpening = 4 << 10

// ThoughtSplitter separates the reasoning at the beginning of an answer from its text.
// Tags further on are text: the answer may be about them. The zero value is ready for
// use.
type ThoughtSplitter struct {
	held   string // the end of the text so far, which may begin a tag
	close  string // closing tag to look for; empty before a tag
	inText bool   // the reasoning is over, and the text has begun
	gap    bool   // only line breaks followed the tag so far
	marked bool   // the server itself marked the reasoning; it may lack its closing tag
	// assumed is the closing tag of the model's answers that have no opening one; empty for other models.
	assumed string
	guessed bool // close is the assumed one
}

// ReadThought reads a piece that the server itself marks as reasoning. It may come at any
// time: Gemini writes the opening tag before it, and the closing tag before the text
// that follows.
func (t *ThoughtSplitter) ReadThought(piece string) (thought, text string) {
	if t.close == "" || t.inText {
		*t = ThoughtSplitter{close: thinkTags[1][1], marked: true}
		piece = strings.TrimPrefix(piece, thinkTags[1][0])
	}
	return t.part(piece)
}

// ReadText reads a piece of text and returns the thought and text that are certain.
func (t *ThoughtSplitter) ReadText(piece string) (thought, text string) {
	if rest := t.held + piece; t.marked && piece != "" && !strings.HasPrefix(rest, t.close) && !strings.HasPrefix(t.close, rest) {
		t.held, t.inText = "", true // the closing tag is missing
		return "", rest
	}
	return t.part(piece)
}

// part reads a piece of either kind.
func (t *ThoughtSplitter) part(piece string) (thought, text string) {
	if t.inText {
		return "", t.text(piece)
	}
	t.held += piece
	if t.close == "" {
		rest := strings.TrimLeft(t.held, " \t\r\n")
		if len(t.held)-len(rest) > maxOpening {
			return t.End()
		}
		undecided := rest == ""
		for _, tag := range thinkTags {
			if after, ok := strings.CutPrefix(rest, tag[0]); ok {
				t.close, t.held = tag[1], after
				break
			}
			undecided = undecided || strings.HasPrefix(tag[0], rest)
		}
		if t.close == "" {
			if undecided {
				return "", ""
			}
			if t.assumed == "" {
				return t.End()
			}
			t.close, t.guessed = t.assumed, true
		}
	}
	thought, rest, found := strings.Cut(t.held, t.close)
	if !found {
		thought, t.held = splitPartialTag(t.held, t.close)
		return thought, ""
	}
	t.held, t.inText, t.gap, t.marked = "", true, true, false
	return thought, t.text(rest)
}

// text removes the line breaks between reasoning and text.
func (t *ThoughtSplitter) text(piece string) string {
	if t.gap {
		piece = strings.TrimLeft(piece, "\r\n")
		t.gap = piece == ""
	}
	return piece
}

// End returns the text that was held back.
func (t *ThoughtSplitter) End() (thought, text string) {
	held := t.held
	t.held = ""
	if t.close != "" {
		return held, ""
	}
	t.inText = true
	return "", held
}

// isAssumed reports whether the text so far is taken for reasoning without an opening tag, and no closing one has come.
func (t *ThoughtSplitter) isAssumed() bool { return t.guessed && !t.inText }

// splitPartialTag splits text where its end may be the beginning of a tag.
func splitPartialTag(text, tag string) (before, partial string) {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}
