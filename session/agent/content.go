package agent

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// statedMode returns the mode that the history last stated to the model.
func statedMode(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if transcript.HasModeLine(m) {
			return m.Blocks[0].Text
		}
	}
	return ""
}

// newMemoryLine returns the line on saved memories, or "" if the history has one.
func newMemoryLine(history []llm.Message, line string) string {
	if line == "" || slices.ContainsFunc(history, func(m llm.Message) bool { return transcript.MemoryLineIndex(m) >= 0 }) {
		return ""
	}
	return line
}

// shortenAttachments records the short forms of the embedded resources of a prompt. It returns
// their replacements for the model, by index.
func (t *turn) shortenAttachments(ctx context.Context, prompt []acp.ContentBlock) map[int]transcript.Replacement {
	instead := map[int]transcript.Replacement{}
	for _, a := range t.shortForms(ctx, prompt) {
		t.Record(a)
		instead[a.Index-1] = transcript.Replacement{Text: a.Text}
	}
	return instead
}

// shortForms passes the embedded resources to Attached, and stores the long ones by Shorten. It
// returns the short forms of those.
func (t *turn) shortForms(ctx context.Context, content []acp.ContentBlock) (short []transcript.Attachment) {
	for i, c := range content {
		if c.Type == "resource" && t.Attached != nil {
			t.Attached(ctx, c.Resource)
		}
		if t.Shorten == nil || c.Type != "resource" || c.Resource.Text == nil {
			continue
		}
		if text := t.Shorten(ctx, *c.Resource.Text); text != *c.Resource.Text {
			short = append(short, transcript.Attachment{Index: i + 1, Text: text})
		}
	}
	return short
}
