package transcript

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/images"
)

// withoutImages returns events whose messages of the model are as the client was shown them, with
// links in place of images from the net. It changes a copy. A message of several blocks is one text.
func withoutImages(events []Event) []Event {
	out, copied := events, false
	change := func(i int, b Block) {
		if !copied {
			out, copied = slices.Clone(events), true
		}
		out[i] = b
	}
	var s images.Stream
	id, thought, last := "", false, -1 // the message, and its last block
	end := func() {
		if last < 0 {
			return
		}
		if rest := s.End(); rest != "" {
			b := out[last].(Block)
			*b.text(thought) += rest
			change(last, b)
		}
		last = -1
	}
	for i, e := range events {
		switch b := e.(type) {
		case Block:
			isThought := b.Block.Thought != ""
			text := b.text(isThought)
			if *text == "" {
				continue
			}
			if b.MessageID != id || isThought != thought {
				end()
			}
			id, thought, last = b.MessageID, isThought, i
			if shown := s.Write(*text); shown != *text {
				*text = shown
				change(i, b)
			}
		case Prompt, Steer, Call, Result, TurnEnd:
			end()
		}
	}
	end()
	return out
}

// text returns the text of a message or of a thought.
func (b *Block) text(thought bool) *string {
	if thought {
		return &b.Block.Thought
	}
	return &b.Block.Text
}
