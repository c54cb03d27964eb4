package agent

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// toldMode is what a history last told the model of the mode.
func toldMode(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if transcript.TellsMode(m) {
			return m.Blocks[0].Text
		}
	}
	return ""
}

// shorten keeps what is too long of the embedded resources of a prompt elsewhere,
// and returns by index what the model gets of them.
func (t *turn) shorten(ctx context.Context, prompt []acp.ContentBlock) map[int]string {
	short := map[int]string{}
	for i, c := range prompt {
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
