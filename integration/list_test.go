package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// page is an answer to session/list.
type page struct {
	Sessions []struct {
		SessionID, CWD, Title, UpdatedAt string
	}
	NextCursor *string
}

// list asks for a page; params are JSON.
func (a *agent) list(params string) page {
	a.t.Helper()
	id := fmt.Sprintf(`"list-%d"`, len(a.sent()))
	a.request(id, "session/list", params)
	f := a.answer(id)
	var p page
	if err := json.Unmarshal(f.Result, &p); err != nil {
		a.t.Fatalf("session/list: %s", f.line)
	}
	if p.NextCursor == nil && strings.Contains(string(f.Result), "nextCursor") || p.NextCursor != nil && *p.NextCursor == "" {
		a.t.Errorf("nextCursor is there at the end: %s", f.line)
	}
	return p
}

// TestStatement069_070_071Pages imports sessions and turns the pages of the list,
// while others are deleted and come up.
func TestStatement069_070_071Pages(t *testing.T) {
	const n = 250
	a := launch(t, start{})
	a.initialize()
	dirs := []string{a.dir, filepath.Join(a.dir, "sub")}
	var all, below []string // the newest first
	for i := range n {
		id := fmt.Sprintf("s%03d", i)
		at := time.Date(2026, 1, 1, 0, 0, n-i/3, 0, time.UTC).Format(time.RFC3339) // three of each moment
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
	got := turn("", func(last string) { // where the cursor stands, and what comes next
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
