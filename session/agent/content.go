package agent

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// toldMode returns the mode that the history last stated to the model.
func toldMode(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if transcript.TellsMode(m) {
			return m.Blocks[0].Text
		}
	}
	return ""
}

// shorten reports the embedded resources of a prompt, and stores the long ones
// elsewhere. It returns the texts that replace them for the model, by index.
func (t *turn) shorten(ctx context.Context, prompt []acp.ContentBlock) map[int]string {
	short := map[int]string{}
	for i, c := range prompt {
		if c.Type == "resource" && t.Attached != nil {
			t.Attached(c.Resource.URI)
		}
		if t.Shorten == nil || c.Type != "resource" || c.Resource.Text == nil {
			continue
		}
		if text := t.Shorten(ctx, *c.Resource.Text); text != *c.Resource.Text {
			t.Record(transcript.Attachment{Index: i + 1, Text: text})
			short[i] = text
		}
	}
	return short
}
