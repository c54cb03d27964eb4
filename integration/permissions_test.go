package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestOddAnswers first answers the agent's question with invalid
// frames. Only a valid answer counts, and only an offered option allows.
//
// Statements 21, 102.
func TestOddAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ before, answer string }{
		"an error with id null": {
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}`,
			`"result":{"outcome":{"outcome":"selected","optionId":"$ALLOW"}}`,
		},
		"another id": {
			`{"jsonrpc":"2.0","id":"$ID","result":{"outcome":{"outcome":"cancelled"}}}`,
			`"result":{"outcome":{"outcome":"selected","optionId":"$ALLOW"}}`,
		},
		"an option that is not": {"", `"result":{"outcome":{"outcome":"selected","optionId":"yes"}}`},
		"no outcome":            {"", `"result":{}`},
		"null":                  {"", `"result":null`},
		"not an object":         {"", `"result":[1]`},
		"an outcome of no kind": {"", `"result":{"outcome":{"outcome":"maybe","optionId":"$ALLOW"}}`},
		"an error":              {"", `"error":{"code":-32601,"message":"Method not found"}`},
		"a malformed error":     {"", `"error":"no"`},
		"cancelled":             {"", `"error":{"code":-32800,"message":"cancelled"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := connect(t, start{})
			s := a.open()
			a.request("1", "session/prompt", promptParams(s, `/write {"path":"f","content":"x"}`))
			q := a.permissionRequest()
			fill := strings.NewReplacer("$ALLOW", optionOf(t, q, "allow_once"), "$ID", string(q.ID)).Replace
			if tt.before != "" {
				a.send(fill(tt.before) + "\n")
			}
			a.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + "," + fill(tt.answer) + "}\n")
			a.ends("1")
			last := a.await("the call's end", func(f frame) bool {
				u, _ := f.update()
				return u.Status == "completed" || u.Status == "failed"
			})
			u, _ := last.update()
			if allowed := tt.before != ""; (u.Status == "completed") != allowed {
				t.Errorf("the call ended: %s", last.line)
			}
		})
	}
}

// TestPermission returns every answer that a client can choose.
//
// Statements 101, 102.
func TestPermission(t *testing.T) {
	edit := func(n int) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Call(fmt.Sprintf("c%d", n), "write", map[string]any{"path": "f", "content": fmt.Sprintf("%d\n", n)}))
	}
	for kind, want := range map[sdk.PermissionOptionKind]struct {
		asked int
		disk  string
	}{
		sdk.PermissionOptionKindAllowOnce:    {2, "2\n"},
		sdk.PermissionOptionKindAllowAlways:  {1, "2\n"},
		sdk.PermissionOptionKindRejectOnce:   {2, "0\n"},
		sdk.PermissionOptionKindRejectAlways: {1, "0\n"},
		"":                                   {2, "0\n"}, // outcome cancelled, and the turn goes on
		"fail":                               {2, "0\n"}, // an error
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, edit(1), edit(2), fakemodel.Answer(fakemodel.Say("Done.")))
			e := &ide{IDE: fakeide.IDE{Permit: func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind { return kind }}}
			e.Before = func(_ context.Context, method string) error {
				if kind == "fail" {
					return &sdk.RequestError{Code: -32603, Message: "no dialog"}
				}
				return nil
			}
			e.begin(t, start{env: p.Env()})
			e.file("f", "0\n")
			s := e.session()
			e.prompt(s, "write")
			if got := e.content("f"); got != want.disk || len(e.Questions()) != want.asked {
				t.Errorf("the disk holds %q, asked %d times", got, len(e.Questions()))
			}
			for _, r := range e.Results(s) {
				if (*r.Status == sdk.ToolCallStatusCompleted) != (want.disk == "2\n") {
					t.Errorf("tool call ended %s", *r.Status)
				}
			}
			q := e.Questions()[0].ToolCall
			if q.Title == nil || q.RawInput == nil || len(q.Content) == 0 || q.Status == nil || *q.Status != sdk.ToolCallStatusPending {
				t.Errorf("the question does not name the file: %+v", q)
			}
		})
	}
}
