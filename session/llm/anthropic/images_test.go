package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// A conversation with images continues with a model that accepts no images.
func TestNoImages(t *testing.T) {
	s := llmtest.ServeAnthropic(t, llmtest.SSE(t, "testdata/text.sse"))
	m := modelAt(s.URL)
	m.cfg.NoImages = true
	history := []llm.Message{llmtest.UserBlocks(llm.Block{Text: "look"}, llmtest.Picture(34<<10)), {Role: llm.Assistant, Blocks: []llm.Block{{Text: "nice"}}},
		llmtest.UserBlocks(llmtest.Picture(3), llmtest.Picture(5<<19))}
	before := llm.Message{Role: llm.User, Blocks: append([]llm.Block(nil), history[0].Blocks...)}
	if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil {
		t.Fatal(err)
	}
	text := func(s string) any { return map[string]any{"type": "text", "text": s} }
	last := text("[image/png, 2.5 MiB, not shown: claude:claude-sonnet-5-5 takes no images]")
	last.(map[string]any)["cache_control"] = map[string]any{"type": "ephemeral"}
	want := []any{
		map[string]any{"role": "user", "content": []any{text("look"), text("[image/png, 34 KiB, not shown: claude:claude-sonnet-5-5 takes no images]")}},
		map[string]any{"role": "assistant", "content": []any{text("nice")}},
		map[string]any{"role": "user", "content": []any{text("[image/png, 3 bytes, not shown: claude:claude-sonnet-5-5 takes no images]"), last}},
	}
	if diff := cmp.Diff(want, s.Bodies[0]["messages"]); diff != "" {
		t.Errorf("messages (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, history[0]); diff != "" {
		t.Errorf("the history changed (-want +got)\n%s", diff)
	}
}
