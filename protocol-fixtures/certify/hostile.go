package certify

import "encoding/json"

var hostileScenarios = []scenario{
	{name: "undeclared", about: "Requests of capabilities that the client does not declare.", only: 1, run: undeclared},
	{name: "unknown", about: "Unknown methods, notifications, kinds of updates and members.", run: unknown},
	{name: "malformed", about: "Lines that are no frames, and answers without a request.", run: malformed},
	{name: "late", about: "Updates after the end of the turn.", run: func(*turn) {}, after: late},
}

// undeclared sends requests that a client need not know. Those of declared capabilities are
// left out.
func undeclared(t *turn) {
	sent := false
	for _, r := range []struct {
		capability, method string
		params             map[string]any
	}{
		{"fs.readTextFile", "fs/read_text_file", map[string]any{"path": t.cwd}},
		{"terminal", "terminal/create", map[string]any{"command": "certify-no-such-program"}},
		{"elicitation.url", "elicitation/create", map[string]any{"mode": "url", "elicitationId": "certify", "url": "https://example.com/", "message": "certify"}},
	} {
		if t.declared(r.capability) {
			continue
		}
		sent = true
		r.params["sessionId"] = t.session
		got := t.expects(r.method, r.params)
		var refused struct{ Action string } // the other way to refuse a page
		_ = json.Unmarshal(got.Result, &refused)
		if !got.silent {
			ok := got.Error != nil || refused.Action == "cancel" || refused.Action == "decline"
			t.checked("undeclared", ok, r.capability+" is not declared, but "+r.method+" gets a result", got.frames()...)
		}
	}
	if !sent {
		t.notTried("the client declares all of them")
	}
}

func unknown(t *turn) {
	t.send(map[string]any{"method": "_zeph/unknown", "params": map[string]any{"sessionId": t.session}})
	t.send(map[string]any{"method": "certify/unknown", "params": map[string]any{}})
	t.update(t.session, "certify_unknown", map[string]any{"anything": []any{1, "two"}})
	t.update(t.session, "agent_message_chunk", map[string]any{
		"messageId": t.name("message"), "content": map[string]any{"type": "text", "text": "Unknown members.", "certify": true, "_meta": map[string]any{"certify": 1}},
		"certify": map[string]any{"a": 1}, "_meta": map[string]any{"certify": []any{}},
	})
	for _, method := range []string{"_zeph/unknown", "certify/unknown"} {
		got := t.alive("unknown-members", method)
		if got.silent {
			return
		}
		t.checked("unknown-notifications", true, "")
		code, _ := got.failure()
		t.checked("unknown-methods", code == -32601, "an unknown method does not get -32601", got.frames()...)
	}
}

// alive sends an unknown request after frames that the client should survive.
func (t *turn) alive(statement, method string) reply {
	r := t.ask(method, map[string]any{"sessionId": t.session})
	got := t.wait(r, min(pingPatience, t.config.Patience))
	switch {
	case !got.silent:
		t.checked(statement, true, "")
	case t.over():
		t.checked(statement, false, "the client ended", got.frames()...)
	default:
		t.checked("unknown-methods", false, "an unknown method is not answered", got.frames()...)
		t.mu.Lock()
		t.mute = true
		t.mu.Unlock()
	}
	if got.silent {
		t.notTried("the client did not answer")
	}
	return got
}

// malformedLines are no frames.
var malformedLines = []string{
	"", "{not JSON", "42", "[]", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":7,"params":[]}`, `{"jsonrpc":"1.0","method":"session/update"}`,
	`{"jsonrpc":"2.0","id":"certify-nobody","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"certify"}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":null}}`, "\xff\xfe",
}

func malformed(t *turn) {
	t.mu.Lock()
	t.malformed = true
	t.mu.Unlock()
	for _, line := range malformedLines {
		t.line([]byte(line))
	}
	t.alive("malformed-frames", "_zeph/certify")
}

func late(t *turn) {
	t.say("These words come after the end of the turn.")
	t.change("certify-no-such-call", map[string]any{"status": "completed"})
	t.update("certify-no-such-session", "agent_message_chunk", map[string]any{"messageId": t.name("message"), "content": textBlock("Nobody hears this.")})
	r := t.ask("_zeph/certify", map[string]any{"sessionId": t.session})
	got := t.wait(r, min(pingPatience, t.config.Patience))
	if !got.silent { // a client may end after its turn
		t.checked("late-frames", true, "")
	}
}
