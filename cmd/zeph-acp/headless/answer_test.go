package headless

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
)

// saying returns an update with a message of the agent.
func saying(id, text string) string {
	return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","messageId":%q,"content":{"type":"text","text":%q}}`, id, text)
}

const (
	readCall  = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"a.txt","kind":"read","status":"pending"}`
	readEnd   = `{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"1 line"}}]}`
	ownCall   = `{"sessionUpdate":"tool_call","toolCallId":"own","title":"ls","kind":"execute","status":"pending"}`
	ownEnd    = `{"sessionUpdate":"tool_call_update","toolCallId":"own","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a\u001b[2Jb"}}]}`
	ownFailed = `{"sessionUpdate":"tool_call_update","toolCallId":"own","status":"failed","content":[{"type":"content","content":{"type":"text","text":"No such file."}}]}`
	ownRuns   = `{"sessionUpdate":"tool_call_update","toolCallId":"own","status":"in_progress","content":[{"type":"terminal","terminalId":"term-1"}]}`
	ownExits  = `{"sessionUpdate":"tool_call_update","toolCallId":"own","status":"failed","content":[{"type":"terminal","terminalId":"term-1"},{"type":"content","content":{"type":"text","text":"[exit 1]\n[exit 3]"}}]}`
)

// TestAnswerInOneTerminal writes both parts of a turn to one place: each begins on a line of
// its own.
func TestAnswerInOneTerminal(t *testing.T) {
	var both strings.Builder
	a := &Answer{
		Out: &both, Rest: NewScreen(&both, false), IsNote: func(id string) bool { return id == "note" },
		IsUserCall: func(string) bool { return false }, IsHelp: func(string) bool { return false },
	}
	for _, u := range []string{saying("note", "Warning."), saying("2", "Last.")} {
		a.Update(json.RawMessage(`{"sessionId":"s","update":` + u + `}`))
	}
	a.End(acp.StopEndTurn, nil)
	if want := "Warning.\nLast.\n"; both.String() != want {
		t.Errorf("got %q, want %q", both.String(), want)
	}
}

// TestAnswer shows which text of a turn is its answer. An update that begins with "term-1"
// is output of that terminal.
func TestAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		updates   []string
		stop      acp.StopReason
		out, rest string
	}{
		"in pieces": {[]string{saying("1", "\nIt is"), saying("1", " 4.\r\n\n")}, "end_turn", "It is 4.\n", ""},
		"after a call": {
			[]string{saying("1", "First."), readCall, readEnd, saying("2", "Last.")},
			"end_turn",
			"Last.\n",
			"First.\n\n╭ read  a.txt\n│ 1 line\n╰ completed\n",
		},
		"the last message":    {[]string{saying("1", "First."), saying("2", "Last.")}, "end_turn", "Last.\n", "First.\n"},
		"a warning before it": {[]string{saying("note", "Warning."), saying("2", "Last.")}, "end_turn", "Last.\n", "Warning.\n"},
		"a warning after it":  {[]string{saying("2", "Last."), saying("note", "Warning.")}, "end_turn", "Last.\n", "Warning.\n"},
		"a reply":             {[]string{saying("note", "- Mode: code")}, "end_turn", "- Mode: code\n", ""},
		"a question": {
			[]string{saying("1", "I ask."), readCall, readEnd, saying("note", "1. A\n2. B")},
			"end_turn",
			"1. A\n2. B\n",
			"I ask.\n\n╭ read  a.txt\n│ 1 line\n╰ completed\n",
		},
		"a limit": {
			[]string{readCall, readEnd, saying("note", "Stopped.")},
			"max_turn_requests",
			"",
			"╭ read  a.txt\n│ 1 line\n╰ completed\n\nStopped.\n\nThe turn reached a limit.\n",
		},
		"cut off":            {[]string{saying("1", "and so on")}, "max_tokens", "and so on\n", "The answer reached the limit of the model.\n"},
		"help":               {[]string{saying("1", "Connect a model.")}, "end_turn", "", "Connect a model.\n"},
		"no answer":          {nil, "end_turn", "", ""},
		"a call of the user": {[]string{ownCall, ownEnd, saying("1", "ls: done.")}, "end_turn", "ab\n", "╭ execute  ls\n╰ completed\n\nls: done.\n"},
		"one that failed": {
			[]string{ownCall, ownFailed, saying("1", "ls: failed.")},
			"end_turn",
			"",
			"╭ execute  ls\n│ No such file.\n╰ failed\n\nls: failed.\n",
		},
		"its terminal": {
			[]string{ownCall, "term-1", ownRuns, "term-1", ownExits},
			"end_turn",
			"[exit 1]\n[exit 1]\n",
			"╭ execute  ls\n╰ failed · exit 3\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, rest strings.Builder
			a := &Answer{
				Out: &out, Rest: NewScreen(&rest, false),
				IsNote: func(id string) bool { return id == "note" }, IsUserCall: func(id string) bool { return id == "own" },
				IsHelp: func(text string) bool { return text == "Connect a model." },
			}
			for _, u := range tt.updates {
				if u == "term-1" {
					a.Output(u, []byte("[exit 1]\n"))
				} else {
					a.Update(json.RawMessage(`{"sessionId":"s","update":` + u + `}`))
				}
			}
			a.End(tt.stop, nil)
			if out.String() != tt.out || rest.String() != tt.rest {
				t.Errorf("got %q and %q, want %q and %q", out.String(), rest.String(), tt.out, tt.rest)
			}
		})
	}
}
