package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// A refusal drops its turn and nothing else, also in a foreign log.
func TestHistoryRefusal(t *testing.T) {
	prompt := func(text string) transcript.Prompt {
		return transcript.Prompt{Content: []acp.ContentBlock{acp.TextBlock(text)}}
	}
	said := func(text string) transcript.Event { return transcript.Block{Block: llm.Block{Text: text}} }
	end, refused := transcript.TurnEnd{Reason: acp.StopEndTurn}, transcript.TurnEnd{Reason: acp.StopRefusal}
	for name, tt := range map[string]struct {
		log  []transcript.Event
		want []string
	}{
		"a turn":             {[]transcript.Event{prompt("a"), said("b"), transcript.Answer{}, end, prompt("c"), said("d"), refused}, []string{"a", "b"}},
		"after it was clear": {[]transcript.Event{prompt("a"), end, prompt("b"), transcript.Cleared{}, refused}, nil},
		"after a compaction": {[]transcript.Event{prompt("a"), said("b"), transcript.Answer{}, end, prompt("c"), transcript.Compaction{Summary: "s"}, refused},
			[]string{"[Summary of the conversation so far, in place of its messages]\ns"}},
		"after the end": {[]transcript.Event{
			prompt("a"), transcript.Result{Result: llm.ToolResult{ID: "1"}}, prompt("b"), end, refused, refused,
		}, []string{"a", "b"}},
		"without a prompt": {[]transcript.Event{said("a"), refused}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range transcript.History(tt.log) {
				got = append(got, m.Blocks[0].Text)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The log has the input of a call byte for byte as the model gets it, so that
// the provider's cache matches the conversation after it was loaded.
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
