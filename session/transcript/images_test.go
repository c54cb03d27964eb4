package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A replay shows the text of a message that has several blocks as it was streamed. The events stay.
func TestReplayWithoutImages(t *testing.T) {
	block := func(id, text string) Block { return Block{MessageID: id, Block: llm.Block{Text: text}} }
	thought := Block{MessageID: "t", Block: llm.Block{Thought: "![t](//e)"}}
	events := []Event{
		thought, block("a", "x!"), block("a", "[x]("), block("a", "https://e) `!"), block("b", "[y](//e)` !"),
		Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: "c"}}, block("b", "[z](//e)"),
	}
	var got []string
	for _, c := range replayed(t, events...) {
		got = append(got, c.MessageID+" "+*c.Content.Text)
	}
	want := []string{"t [image: t](//e)", "a x", "a [image: x](https://e) `!", "b [y](//e)` !", "b [z](//e)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if events[0].(Block).Block.Thought != "![t](//e)" || events[1].(Block).Block.Text != "x!" {
		t.Errorf("the events were changed: %v", events)
	}
}
