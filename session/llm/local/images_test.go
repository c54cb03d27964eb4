package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// Direct mentions the images of the last prompt, and ignores them in commands.
func TestDirectImages(t *testing.T) {
	const note = "\n\n[image/png, 1 KiB, not shown: direct takes no images]"
	help := strings.TrimSpace(connectHelp)
	for name, tt := range map[string]struct {
		history []llm.Message
		calls   []string
		answer  string
	}{
		"a command": {[]llm.Message{llmtest.UserBlocks(llm.Block{Text: "/bash ls"}, llmtest.Picture(1024))}, []string{`bash {"command":"ls"}`},
			"bash: done." + note},
		"an image alone": {[]llm.Message{llmtest.UserText("/bash ls"), llmtest.UserBlocks(llmtest.Picture(1024))}, nil, help + note},
		"two":            {[]llm.Message{llmtest.UserBlocks(llmtest.Picture(1024), llm.Block{Text: "hi"}, llmtest.Picture(1024))}, nil, help + note + note},
		"an earlier one": {[]llm.Message{llmtest.UserBlocks(llmtest.Picture(1024)), {Role: llm.Assistant, Blocks: []llm.Block{{Text: "a"}}},
			llmtest.UserText("hi")}, nil, help},
	} {
		t.Run(name, func(t *testing.T) {
			calls, answer := converse(t, tt.history)
			if diff := cmp.Diff(tt.calls, calls) + cmp.Diff(tt.answer, answer); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
