package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A refusal drops its turn and nothing else, also in a log that we never wrote.
func TestHistoryRefusal(t *testing.T) {
	prompt := func(text string) Prompt { return Prompt{Content: []acp.ContentBlock{acp.TextBlock(text)}} }
	said := func(text string) Event { return Block{Block: llm.Block{Text: text}} }
	end, refused := TurnEnd{Reason: acp.StopEndTurn}, TurnEnd{Reason: acp.StopRefusal}
	for name, tt := range map[string]struct {
		log  []Event
		want []string
	}{
		"a turn":             {[]Event{prompt("a"), said("b"), Answer{}, end, prompt("c"), said("d"), refused}, []string{"a", "b"}},
		"after it was clear": {[]Event{prompt("a"), end, prompt("b"), Cleared{}, refused}, nil},
		"after a compaction": {[]Event{prompt("a"), said("b"), Answer{}, end, prompt("c"), Compaction{Summary: "s"}, refused}, []string{summaryHead + "s"}},
		"after the end": {[]Event{
			prompt("a"), Result{Result: llm.ToolResult{ID: "1"}}, prompt("b"), end, refused, refused,
		}, []string{"a", "b"}},
		"without a prompt": {[]Event{said("a"), refused}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range History(tt.log) {
				got = append(got, m.Blocks[0].Text)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The input of a call is in the log as the model goes on to get it, to the byte:
// the cache of a provider knows the conversation after it was loaded.
func TestHistoryInput(t *testing.T) {
	const script = `{"tool": "say", "input": {"text": "a < b && c > d \u2028", "words": 1 }}` + "\n\n" + `{"text": "done"}`
	c := &client{}
	history, _, err := c.turn(t.Context(), t, newAgent(t, script, c), nil, text("go"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(history[1].Blocks[0].Call.Input), `{"text":"a < b && c > d \u2028","words":1}`; got != want {
		t.Errorf("the input is %s, want %s", got, want)
	}
}
