package transcript

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Last is the last turn of a log.
type Last struct {
	Begun   bool             // false if the log has no turn
	Results []llm.ToolResult // the results of its calls
	Text    string           // the text after its last call: the model's, and notes of the agent
	End     *TurnEnd         // nil if the turn has not ended
}

// LastTurn returns the last turn of a log.
func LastTurn(events []Event) Last {
	var last Last
	var texts []string
	for _, e := range events {
		switch e := e.(type) {
		case Prompt:
			last, texts = Last{Begun: true}, nil
		case Block:
			switch {
			case e.Block.Call != nil:
				texts = nil
			case e.Block.Text != "":
				texts = append(texts, e.Block.Text)
			}
		case Result:
			last.Results = append(last.Results, e.Result)
		case Note:
			texts = append(texts, e.Text)
		case TurnEnd:
			last.End = &e
		}
	}
	last.Text = strings.TrimSpace(strings.Join(texts, "\n\n"))
	return last
}
