package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// codeOf returns the JSON-RPC error of a request by the SDK.
func codeOf(err error) *sdk.RequestError {
	if e, ok := errors.AsType[*sdk.RequestError](err); ok {
		return e
	}
	return &sdk.RequestError{Message: fmt.Sprint(err)}
}

// TestClose closes a session during a turn. The prompt is answered
// first, and then the session is unknown.
//
// Statement 75.
func TestClose(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": stubborn})))
	a := (&ide{}).begin(t, start{env: p.Env()})
	s := a.session()
	done := a.startPrompt(s, "run")
	pids := a.stubbornPIDs()
	if _, err := a.conn.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: s}); err != nil {
		t.Fatalf("session/close: %v", err)
	}
	if got := within(t, promptly, "answer to the prompt", done); got.reason != sdk.StopReasonCancelled {
		t.Errorf("%q, %v", got.reason, got.err)
	}
	var order []string
	for _, f := range a.agentFrames() {
		if f.Result != nil {
			order = append(order, strings.TrimSpace(string(f.Result)))
		}
	}
	if got := order[len(order)-2:]; !strings.Contains(got[0], "cancelled") || got[1] != "{}" {
		t.Errorf("answers in the order %q", got)
	}
	a.waitGone(pids)
	got := within(t, patience, "answer", a.startPrompt(s, "again"))
	if f := codeOf(got.err); f.Code != -32002 || !strings.Contains(f.Message, string(s)) {
		t.Errorf("prompt in a closed session: %v", got.err)
	}
}

// TestFirstFrames opens 1000 sessions at once. They have 1000
// ids, no frame of a session precedes the answer that names it, and the commands
// follow.
//
// Statements 51, 55, 56.
func TestFirstFrames(t *testing.T) {
	const n = 1000
	a := connect(t, start{})
	for id := range n {
		a.request(fmt.Sprint(id), "session/new", `{"cwd":`+quote(a.dir)+`,"mcpServers":[]}`)
	}
	commands := 0
	a.await("commands of every session", func(f frame) bool {
		if u, ok := f.update(); ok && u.Kind == "available_commands_update" {
			commands++
		}
		return commands == n
	})
	named := map[string]bool{}
	for _, f := range a.agentFrames() {
		var r, p struct{ SessionID string }
		if json.Unmarshal(f.Result, &r) == nil && r.SessionID != "" {
			named[r.SessionID] = true
		}
		if f.Method == "session/update" && json.Unmarshal(f.Params, &p) == nil && !named[p.SessionID] {
			t.Errorf("an update before the session's id: %s", f.line)
		}
	}
	if len(named) != n {
		t.Errorf("%d sessions have %d ids", n, len(named))
	}
}

// page is an answer to session/list.
type page struct {
	Sessions []struct {
		SessionID, CWD, Title, UpdatedAt string
	}
	NextCursor *string
}

// list requests a page; params are JSON.
func (a *agent) list(params string) page {
	a.t.Helper()
	id := fmt.Sprintf(`"list-%d"`, len(a.agentFrames()))
	a.request(id, "session/list", params)
	f := a.answer(id)
	var p page
	if err := json.Unmarshal(f.Result, &p); err != nil {
		a.t.Fatalf("session/list: %s", f.line)
	}
	if p.NextCursor == nil && strings.Contains(string(f.Result), "nextCursor") || p.NextCursor != nil && *p.NextCursor == "" {
		a.t.Errorf("the last page has a nextCursor: %s", f.line)
	}
	return p
}

// TestPages imports sessions and pages through the list, while
// others are deleted and created.
//
// Statements 69, 70, 71.
func TestPages(t *testing.T) {
	const n = 250
	a := connect(t, start{})
	dirs := []string{a.dir, filepath.Join(a.dir, "sub")}
	var all, below []string // newest first
	for i := range n {
		id := fmt.Sprintf("s%03d", i)
		at := time.Date(2026, 1, 1, 0, 0, n-i/3, 0, time.UTC).Format(time.RFC3339) // three sessions have the same time
		a.request(quote(id), "_zeph/session/import", fmt.Sprintf(`{"session":{"version":1,"sessionId":%q,"cwd":%q,"title":%q,"events":[`+
			`{"time":%q,"kind":"prompt","data":{"messageId":"m","content":[{"type":"text","text":"hi"}]}}]}}`, id, dirs[i%2], "title of "+id, at))
		all = append(all, id)
		if i%2 == 1 {
			below = append(below, id)
		}
	}
	for _, id := range all {
		a.answer(quote(id))
	}
	turn := func(filter string, between func(last string)) []string {
		t.Helper()
		var ids []string
		params := "{" + filter + "}"
		if filter != "" {
			filter += ","
		}
		for {
			p := a.list(params)
			for _, s := range p.Sessions {
				if _, err := time.Parse(time.RFC3339, s.UpdatedAt); err != nil || s.Title != "title of "+s.SessionID || !slices.Contains(dirs, s.CWD) {
					t.Fatalf("%+v: %v", s, err)
				}
				ids = append(ids, s.SessionID)
			}
			if p.NextCursor == nil {
				return ids
			}
			between(ids[len(ids)-1])
			params = "{" + filter + `"cursor":` + quote(*p.NextCursor) + "}"
		}
	}
	idle := func(string) {}
	if got := turn("", idle); !slices.Equal(got, all) {
		t.Errorf("%d sessions: %q", len(got), got)
	}
	if got := turn(`"cwd":`+quote(a.dir+"/./sub/../sub//"), idle); !slices.Equal(got, below) {
		t.Errorf("%d sessions of a directory: %q", len(got), got)
	}
	left := slices.Clone(all)
	got := turn("", func(last string) { // the session at the cursor and the next one
		at := slices.Index(all, last)
		for _, id := range all[at : at+2] {
			a.request(quote("delete "+id), "session/delete", fmt.Sprintf(`{"sessionId":%q}`, id))
			a.answer(quote("delete " + id))
		}
		left = slices.DeleteFunc(left, func(id string) bool { return id == all[at+1] })
	})
	if !slices.Equal(got, left) {
		t.Errorf("%d sessions while some are deleted: %q", len(got), got)
	}
}
