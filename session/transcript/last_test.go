package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestLastTurn(t *testing.T) {
	said := func(text string) Event { return Block{Block: llm.Block{Text: text}} }
	called := Block{Block: llm.Block{Call: &llm.ToolCall{ID: "c", Name: "bash"}}}
	result := Result{Result: llm.ToolResult{ID: "c", Text: "ok"}}
	ended := TurnEnd{Reason: acp.StopEndTurn}
	for name, tt := range map[string]struct {
		events []Event
		want   Last
	}{
		"no turn": {[]Event{Setting{ID: "mode", Value: "code"}}, Last{}},
		"begun":   {[]Event{Prompt{}}, Last{Begun: true}},
		"a call":  {[]Event{Prompt{}, said("I look"), called, result}, Last{Begun: true, Results: []llm.ToolResult{result.Result}}},
		"ended": {[]Event{Prompt{}, said("I look"), called, result, said("It is"), said("fine. "), ended},
			Last{Begun: true, Results: []llm.ToolResult{result.Result}, Text: "It is\n\nfine.", End: &ended}},
		"a note":   {[]Event{Prompt{}, Note{Text: "Stopped."}, TurnEnd{Error: "e"}}, Last{Begun: true, Text: "Stopped.", End: &TurnEnd{Error: "e"}}},
		"the last": {[]Event{Prompt{}, said("one"), ended, Prompt{NoModel: true}, Note{Text: "two"}}, Last{Begun: true, Text: "two"}},
	} {
		if diff := cmp.Diff(tt.want, LastTurn(tt.events)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
