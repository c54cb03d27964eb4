package llm

import ()

// imageTokens is what an image costs at most: providers scale larger ones down.
const imageTokens = 1600

// Tokens estimates how many tokens a request takes of the context window: two
// for each seven bytes of UTF-8, which is three to four letters of English or
// code and a little less than one ideograph. Real tokenizers differ among each
// other by a third, so a budget check should leave that much room.
func Tokens(req Request) int {
	bytes := len(req.System)
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	images := 0
	for _, m := range req.Messages {
		bytes += 16 // role and framing
		for _, b := range m.Blocks {
			bytes += blockBytes(b)
			if b.Image != nil {
				images++
			}
		}
	}
	return EstimateTokens(bytes) + images*imageTokens
}

// tokens estimates how many a text of that many bytes is.
func EstimateTokens(bytes int) int { return (2*bytes + 6) / 7 }

func blockBytes(b Block) int {
	n := len(b.Text)
	switch {
	case b.Opaque != nil: // goes out instead of the thought beside it
		n += len(b.Opaque.Data)
	case b.Thought != "": // stays here
	case b.Call != nil:
		n += len(b.Call.ID) + len(b.Call.Name) + len(b.Call.Input)
	case b.Result != nil:
		n += len(b.Result.ID) + len(b.Result.Text)
	}
	return n
}

// MessageTokens estimates what one message takes of the window of the model of
// that name: opaque blocks of others are not sent to it. The sum over messages is
// at most one a message more than Tokens gives.
func MessageTokens(m Message, model string) int {
	bytes, images := 16, 0 // role and framing, as in Tokens
	for _, b := range m.Blocks {
		if b.Opaque != nil && b.Opaque.Provider != model {
			continue
		}
		bytes += blockBytes(b)
		if b.Image != nil {
			images++
		}
	}
	return EstimateTokens(bytes) + images*imageTokens
}
