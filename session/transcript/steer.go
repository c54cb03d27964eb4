package transcript

import (
	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Steer is a text that the user added to a running turn. The model sees it before its
// next answer.
type Steer struct {
	MessageID string             `json:"messageId"`
	Content   []acp.ContentBlock `json:"content" texts:"-"`
	// Attachments are the short forms of long embedded resources in Content.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Context is a text of hooks for the model, below the content.
	Context string `json:"context,omitempty"`
	Key     string `json:"key,omitempty" texts:"-"` // see Prompt
}

func (Steer) Kind() string { return "steer" }

// steerMark distinguishes the text from the results before it.
const steerMark = "[The user adds, while you work:]"

// Message returns the message for the model.
func (s Steer) Message() llm.Message {
	instead := map[int]Replacement{}
	for _, a := range s.Attachments {
		instead[a.Index-1] = Replacement{Text: a.Text}
	}
	blocks := Prompt{Content: s.Content, Context: s.Context}.Blocks(instead)
	return llm.Message{Role: llm.User, Blocks: append([]llm.Block{{Text: steerMark}}, blocks...)}
}

// check checks a steer that may come from elsewhere.
func (s Steer) check() error {
	for _, a := range s.Attachments {
		if err := checkEvent(a); err != nil {
			return err
		}
	}
	return checkBlocks("content", s.Content)
}
