package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// elicitIn runs an Elicit in a turn of a client with these capabilities.
func elicitIn(t *testing.T, caps string, p ElicitRequest) (*wire, <-chan ElicitResult, <-chan error) {
	results, errs := make(chan ElicitResult, 1), make(chan error, 1)
	f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
		r, err := c.Elicit(ctx, p)
		results <- r
		errs <- err
		return StopEndTurn, nil
	}}
	w := checked(t, newServer(t, f))
	w.send(request(1, "initialize", `{"protocolVersion":1,"clientCapabilities":`+caps+`}`), open)
	w.read()
	w.read()
	w.send(promptFrame("1"))
	return w, results, errs
}

const (
	formOnly = `{"elicitation":{"form":{}}}`
	urlOnly  = `{"elicitation":{"url":{}}}`
)

func TestElicitForm(t *testing.T) {
	schema := `{"type":"object","properties":{"name":{"type":"string","title":"<Name>"},"age":{"type":"integer"},"of":{"type":"array","items":{"type":"string","enum":["a"]}}},"required":["name"]}`
	for answer, want := range map[string]ElicitResult{
		`"result":{"action":"accept","content":{"name":"x"}}`: {ElicitAccept, json.RawMessage(`{"name":"x"}`)},
		`"result":{"action":"accept","content":null}`:         {ElicitAccept, json.RawMessage(`{}`)},
		`"result":{"action":"decline","content":7}`:           {Action: ElicitDecline},
		`"result":{"action":"cancel"}`:                        {Action: ElicitCancel},
		`"result":{"action":"shrug"}`:                         {Action: ElicitCancel},
		`"result":{"action":7}`:                               {Action: ElicitCancel},
		`"result":{}`:                                         {Action: ElicitCancel},
		`"result":null`:                                       {Action: ElicitCancel},
		`"result":[]`:                                         {Action: ElicitCancel},
		`"result":[7]`:                                        {},
		`"result":{"action":"accept","content":[]}`:           {Action: ElicitAccept, Content: json.RawMessage("{}")},
		`"result":{"action":"accept","content":[7]}`:          {},
		`"error":{"code":-32603,"message":"x"}`:               {},
	} {
		t.Run(answer, func(t *testing.T) {
			w, results, errs := elicitIn(t, formOnly, ElicitRequest{SessionID: "s1", ToolCallID: "t", Message: "who?", Schema: json.RawMessage(schema)})
			want1 := `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"sessionId":"s1","toolCallId":"t","message":"who?","mode":"form","requestedSchema":` + schema + `}}`
			if got := w.read(); got != want1 {
				t.Errorf("got %s, want %s", got, want1)
			}
			w.send(`{"jsonrpc":"2.0","id":1,` + answer + `}`)
			w.read()
			if diff := cmp.Diff(want, <-results); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var refused *ClientError
			if err := <-errs; (err != nil) != (want.Action == "") || err != nil && !errors.As(err, &refused) {
				t.Error(err)
			}
		})
	}
}

func TestElicitURL(t *testing.T) {
	w, results, _ := elicitIn(t, urlOnly, ElicitRequest{SessionID: "s1", Message: "log in", URL: "https://a.b/?x=1&y=2", ElicitationID: "e"})
	want := `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"sessionId":"s1","message":"log in","mode":"url","elicitationId":"e","url":"https://a.b/?x=1&y=2"}}`
	if got := w.read(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	w.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
	w.read()
	if r := <-results; r.Action != ElicitAccept {
		t.Errorf("%+v", r)
	}
}

// A request is not sent if the client cannot show it, or if no client can.
func TestElicitNot(t *testing.T) {
	form := func(schema string) ElicitRequest {
		return ElicitRequest{SessionID: "s1", Message: "x", Schema: json.RawMessage(schema)}
	}
	link := func(url, id string) ElicitRequest {
		return ElicitRequest{SessionID: "s1", Message: "x", URL: url, ElicitationID: id}
	}
	for name, tt := range map[string]struct {
		caps string
		p    ElicitRequest
		err  string
	}{
		"no form":                  {urlOnly, form(`{"type":"object"}`), "does not support"},
		"not an http or https URL": {formOnly, link("https://a", "e"), "does not support"},
		"none":                     {`{"elicitation":{}}`, form(`{"type":"object"}`), "does not support"},
		"nested":                   {formOnly, form(`{"type":"object","properties":{"a":{"type":"object"}}}`), `a is of type "object"`},
		"untyped":                  {formOnly, form(`{"type":"object","properties":{"a":{}}}`), `a is of type ""`},
		"numbers":                  {formOnly, form(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"number"}}}}`), "a is an array"},
		"no items":                 {formOnly, form(`{"type":"object","properties":{"a":{"type":"array"}}}`), "a is an array"},
		"no object":                {formOnly, form(`{"type":"string"}`), `type is "string"`},
		"no JSON":                  {formOnly, form(`{`), "schema of a form"},
		"file URL":                 {urlOnly, link("file:///etc/passwd", "e"), "not an http or https URL"},
		"javascript":               {urlOnly, link("javascript:alert(1)", "e"), "not an http or https URL"},
		"no URL's id":              {urlOnly, link("https://a", ""), "no id"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, errs := elicitIn(t, tt.caps, tt.p)
			if err := <-errs; err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if got := w.read(); !strings.Contains(got, "end_turn") {
				t.Errorf("w.read(): got %v, want %q in it", got, "end_turn")
			}
		})
	}
}

func TestElicitComplete(t *testing.T) {
	for caps, want := range map[string]string{
		urlOnly:  `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}`,
		formOnly: `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`,
	} {
		errs := make(chan error, 1)
		w := checked(t, newServer(t, &fakeSessions{turn: func(_ context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
			errs <- c.ElicitComplete("e")
			return StopEndTurn, nil
		}}))
		w.send(request(1, "initialize", `{"protocolVersion":1,"clientCapabilities":`+caps+`}`), open)
		w.read()
		w.read()
		w.send(promptFrame("1"))
		if got := w.read(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		var refused *ClientError
		if err := <-errs; (err != nil) != (caps == formOnly) || err != nil && (!errors.As(err, &refused) || !refused.Unsupported()) {
			t.Error(err)
		}
	}
}
