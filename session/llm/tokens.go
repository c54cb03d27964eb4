package llm

import "strings"

// imageTokens is the largest number of tokens of an image: providers scale larger images
// down.
const imageTokens = 1600

// framing is the number of tokens that a message takes besides its content.
const framing = 5

// Tokens estimates the size of a request in tokens of the model of that name; see
// TextTokens. It counts the opaque blocks of all models.
func Tokens(model string, req Request) int {
	e := estimatorOf(model)
	add(&e, req.System)
	add(&e, req.Project)
	for _, t := range req.Tools {
		add(&e, t.Name)
		add(&e, t.Description)
		add(&e, t.Schema)
	}
	for _, m := range req.Messages {
		for i := range m.Blocks {
			e.addBlock(&m.Blocks[i])
		}
	}
	return e.tokens() + framing*len(req.Messages)
}

// MessageTokens estimates the tokens of one message for the model of that name, which
// gets no opaque blocks of other models. The sum over all messages exceeds Tokens by at
// most one for each message.
func MessageTokens(m Message, model string) int {
	return estimatorOf(model).messageTokens(m, model)
}

// messageTokens is MessageTokens for an estimator that has added nothing yet.
func (e estimator) messageTokens(m Message, model string) int {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Opaque == nil || b.Opaque.Provider == model {
			e.addBlock(b)
		}
	}
	return e.tokens() + framing
}

// TextTokens estimates the tokens of a text. Real tokenizers differ by a fifth from it, for
// some languages by a third, so a budget check should leave that much room.
func TextTokens(model, text string) int {
	e := estimatorOf(model)
	add(&e, text)
	return e.tokens()
}

// BytesTokens estimates the tokens of so many bytes of English or code.
func BytesTokens(bytes int) int { return (2*bytes + 6) / 7 }

// addBlock adds what is sent of a block.
func (e *estimator) addBlock(b *Block) {
	add(e, b.Text)
	switch {
	case b.Opaque != nil: // is sent instead of the thought next to it
		e.hundredths += 100 * BytesTokens(len(b.Opaque.Data))
	case b.Thought != "": // is not sent
		return
	case b.Call != nil:
		add(e, b.Call.ID)
		add(e, b.Call.Name)
		add(e, b.Call.Input)
	case b.Result != nil:
		add(e, b.Result.ID)
		add(e, b.Result.Text)
		e.hundredths += 100 * imageTokens * len(b.Result.Images)
	case b.Image != nil:
		e.hundredths += 100 * imageTokens
	}
}

// digitByDigit lists words of the names of models whose tokenizers make one token of each
// digit. Others join up to three.
var digitByDigit = []string{
	"qwen", "qwq", "gemma", "gemini", "mistral", "mixtral", "ministral", "codestral", "devstral",
	"magistral", "smollm", "granite", "starcoder",
}

func estimatorOf(model string) estimator {
	model = strings.ToLower(model)
	for _, word := range digitByDigit {
		if strings.Contains(model, word) {
			return estimator{digit: 100, number: 10}
		}
	}
	return estimator{digit: 30, number: 80}
}
