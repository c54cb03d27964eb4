package schema

import (
	"strings"
	"testing"
)

// frames are lines of a connection; the last is checked.
func TestFrame(t *testing.T) {
	const initialize = `C{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	with := func(capabilities string) string {
		return `C{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":` + capabilities + `}}`
	}
	update := func(u string) string {
		return `A{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`
	}
	for name, tt := range map[string]struct {
		frames []string
		err    string // part of it; empty means valid
	}{
		"response": {[]string{initialize, `A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`}, ""},
		"bool for an object": {
			[]string{
				initialize,
				`A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":true}}}}`,
			},
			"initialize Response",
		},
		"result of another method": {
			[]string{`C{"jsonrpc":"2.0","id":1,"method":"session/prompt"}`, `A{"jsonrpc":"2.0","id":1,"result":{}}`},
			"session/prompt Response",
		},
		"error":                 {[]string{initialize, `A{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}`}, ""},
		"error without message": {[]string{initialize, `A{"jsonrpc":"2.0","id":0,"error":{"code":-32602}}`}, "Error"},
		"error to a bad line":   {[]string{`C{nope`, `A{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`}, ""},
		"an extension":          {[]string{`C{"jsonrpc":"2.0","id":1,"method":"_x","params":[]}`, `A{"jsonrpc":"2.0","id":1,"result":[1]}`}, ""},
		"a removed method":      {[]string{`C{"jsonrpc":"2.0","id":1,"method":"session/set_model"}`, `A{"jsonrpc":"2.0","id":1,"result":{}}`}, ""},
		"answered twice": {
			[]string{
				initialize,
				`A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
				`A{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
			},
			"has no open request",
		},
		"id of another type": {[]string{initialize, `A{"jsonrpc":"2.0","id":"0","result":{}}`}, "has no open request"},
		"id spelt in another way": {
			[]string{`C{"jsonrpc":"2.0","id":"\u00e9","method":"authenticate"}`, `A{"jsonrpc":"2.0","id":"é","result":{}}`},
			"",
		},
		"neither": {[]string{initialize, `A{"jsonrpc":"2.0","id":0}`}, "either a result or an error"},
		"both": {
			[]string{initialize, `A{"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":"x"}}`},
			"either a result or an error",
		},
		"no version":     {[]string{initialize, `A{"id":0,"result":{}}`}, `"2.0"`},
		"no JSON":        {[]string{`A{`}, "not a frame"},
		"unknown member": {[]string{`A{"jsonrpc":"2.0","method":"session/update","param":{}}`}, "unknown field"},
		"update": {
			[]string{update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"messageId":"m"}`)},
			"",
		},
		"update without content": {[]string{update(`{"sessionUpdate":"agent_message_chunk"}`)}, "session/update Notification"},
		"update of no kind":      {[]string{update(`{"sessionUpdate":"chitchat"}`)}, "knows no session/update Notification chitchat"},
		"usage":                  {[]string{update(`{"sessionUpdate":"usage_update","used":1,"size":2}`)}, ""},
		"wrong status": {
			[]string{update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","status":"cancelled"}`)},
			"session/update Notification",
		},
		"request": {[]string{`A{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`}, ""},
		"request without a path": {
			[]string{`A{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s"}}`},
			"fs/read_text_file Request",
		},
		"unknown request": {[]string{`A{"jsonrpc":"2.0","id":1,"method":"fs/delete","params":{}}`}, "knows no fs/delete Request"},
		"cancel":          {[]string{`A{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`}, ""},
		"a notice nobody asked": {
			[]string{initialize, update(`{"sessionUpdate":"notice","severity":"info","title":"x"}`)},
			"knows no session/update Notification notice",
		},
		"the list beside plan operations": {[]string{with(`{"plan":{}}`),
			update(`{"sessionUpdate":"plan","entries":[]}`)}, "declared plan operations"},
		"plan operations nobody asked for": {
			[]string{initialize, update(`{"sessionUpdate":"plan_removed","planId":"p"}`)},
			"knows no session/update Notification plan_removed",
		},
		"a plan of a draft": {[]string{with(`{"plan":{}}`),
			update(`{"sessionUpdate":"plan_update","plan":{"type":"items","id":"p","entries":[]}}`)}, "1.20.0"},
		"a session nobody asked for": {
			[]string{initialize, update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{"type":"session","sessionId":"c"}]}`)},
			"knows no session/update Notification tool_call_update",
		},
		"a session": {[]string{with(`{"subagents":{}}`),
			update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{"type":"session","sessionId":"c"}]}`)}, ""},
		"a notice": {[]string{with(`{"session":{"notices":{}}}`),
			update(`{"sessionUpdate":"notice","severity":"info","title":"x"}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := Load(t)
			var err error
			for _, f := range tt.frames {
				side := map[byte]string{'C': "client", 'A': "agent"}[f[0]]
				err = v.Frame(side, []byte(f[1:]))
			}
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}
