package headless

import (
	"io"
	"testing"
)

func TestLastMessage(t *testing.T) {
	s := &LastMessage{View: &JSON{W: io.Discard}}
	for _, u := range []struct{ update, want string }{
		{`{"sessionUpdate":"agent_thought_chunk","messageId":"1","content":{"type":"text","text":"hm"}}`, ""},
		{`{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"one "}}`, "one "},
		{`{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"two"}}`, "one two"},
		{`{"sessionUpdate":"tool_call","toolCallId":"3","title":"agent_message_chunk"}`, "one two"},
		{`{"sessionUpdate":"agent_message_chunk","messageId":"4","content":{"type":"text","text":"three"}}`, "three"},
	} {
		s.Update([]byte(`{"sessionId":"s","update":` + u.update + `}`))
		if got := s.Text(); got != u.want {
			t.Errorf("after %s: %q, want %q", u.update, got, u.want)
		}
	}
}
