package llm

// imageTokens is the largest number of tokens of an image: providers scale larger images
// down.
const imageTokens = 1600

// Tokens estimates the size of a request in tokens: two tokens for each seven bytes of UTF-8.
// That is three to four letters of English or code, and a little less than one ideograph.
// Real tokenizers differ by a third, so a budget check should leave that much room.
func Tokens(req Request) int {
	bytes := len(req.System)
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	images := 0
	for _, m := range req.Messages {
		bytes += 16 // role and framing
		for i := range m.Blocks {
			b := &m.Blocks[i]
			bytes += blockBytes(b)
			images += blockImages(b)
		}
	}
	return EstimateTokens(bytes) + images*imageTokens
}

// EstimateTokens estimates the tokens of a text of that many bytes.
func EstimateTokens(bytes int) int { return (2*bytes + 6) / 7 }

// blockBytes returns the number of bytes of a block that are sent, without images.
func blockBytes(b *Block) int {
	n := len(b.Text)
	switch {
	case b.Opaque != nil: // is sent instead of the thought next to it
		n += len(b.Opaque.Data)
	case b.Thought != "": // is not sent
	case b.Call != nil:
		n += len(b.Call.ID) + len(b.Call.Name) + len(b.Call.Input)
	case b.Result != nil:
		n += len(b.Result.ID) + len(b.Result.Text)
	}
	return n
}

// blockImages returns the number of images of a block.
func blockImages(b *Block) int {
	switch {
	case b.Image != nil:
		return 1
	case b.Result != nil:
		return len(b.Result.Images)
	}
	return 0
}

// MessageTokens estimates the tokens of one message for the model of that name, which
// gets no opaque blocks of other models. The sum over all messages exceeds Tokens by at
// most one for each message.
func MessageTokens(m Message, model string) int {
	bytes, images := 16, 0 // role and framing, as in Tokens
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Opaque != nil && b.Opaque.Provider != model {
			continue
		}
		bytes += blockBytes(b)
		images += blockImages(b)
	}
	return EstimateTokens(bytes) + images*imageTokens
}
