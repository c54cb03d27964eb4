package transcript

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Last is the last turn of a log.
type Last struct {
	Begun   bool             // there is a turn
	Results []llm.ToolResult // of its calls
	Said    string           // the text after its last call: the model's, and notes of the agent
	End     *TurnEnd         // nil if it has not ended
}

// LastTurn returns the last turn of a log.
func LastTurn(events []Event) Last {
	var last Last
	var said []string
	for _, e := range events {
		switch e := e.(type) {
		case Prompt:
			last, said = Last{Begun: true}, nil
		case Block:
			switch {
			case e.Block.Call != nil:
				said = nil
			case e.Block.Text != "":
				said = append(said, e.Block.Text)
			}
		case Result:
			last.Results = append(last.Results, e.Result)
		case Note:
			said = append(said, e.Text)
		case TurnEnd:
			last.End = &e
		}
	}
	last.Said = strings.TrimSpace(strings.Join(said, "\n\n"))
	return last
}
