package session

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
)

// A hostile document that would break the listing or the display of sessions is
// refused, and nothing is stored.
func TestImportHostile(t *testing.T) {
	w := connect(t, filepath.Join(t.TempDir(), "zeph.db"), script, `{}`)
	event := func(kind, data string) ExportedEvent {
		return ExportedEvent{Time: time.Now(), Kind: kind, Data: json.RawMessage(data)}
	}
	prompt := event("prompt", `{"messageId":"m","content":[{"type":"text","text":"hi"}]}`)
	at := func(year int, zone int) ExportedEvent {
		e := prompt
		e.Time = time.Date(year, 12, 31, 23, 59, 59, 0, time.FixedZone("", zone))
		return e
	}
	call := event("tool_call", `{"shown":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}`)
	long := strings.Repeat("x", 1<<20)
	for name, tt := range map[string]struct {
		change func(*Export)
		field  string
	}{
		"a time that JSON cannot have": {func(e *Export) { e.Events = []ExportedEvent{at(9999, -3600)} }, "events[0].time"},
		"a time before there were any": {func(e *Export) { e.Events = []ExportedEvent{at(-1, 0)} }, "events[0].time"},
		"a long id":                    {func(e *Export) { e.ID = long }, "sessionId"},
		"a long title":                 {func(e *Export) { e.Title = long }, "title"},
		"a long cwd":                   {func(e *Export) { e.CWD += "/" + long }, "cwd"},
		"many directories":             {func(e *Export) { e.Dirs = []string{e.CWD + long[:4096], e.CWD + long[:4096]} }, "additionalDirectories"},
		"a relative directory":         {func(e *Export) { e.Dirs = []string{"../x"} }, "additionalDirectories[0]"},
		"a long title event":           {func(e *Export) { e.Events = append(e.Events, event("title", `{"title":"`+long+`"}`)) }, "events"},
		"a long tool result": {func(e *Export) {
			e.Events = append(e.Events, call,
				event("tool_result", `{"shown":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawOutput":"`+long+`"}}`))
		}, "events"},
		"a line that is no uint32": {func(e *Export) {
			e.Events = append(e.Events,
				event("tool_call", `{"shown":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","locations":[{"path":"/a","line":4294967296}]}}`))
		}, "events[1]"},
		"nothing but what is not taken over": {func(e *Export) {
			e.Events = []ExportedEvent{event("setting", `{"id":"mode","value":"auto"}`), event("state", `{"name":"trust","value":{"set":{"tool:bash":"trusted"}}}`)}
		}, "events"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := Export{Version: 1, ID: "s", CWD: t.TempDir(), Events: []ExportedEvent{prompt}}
			tt.change(&doc)
			_, err := w.all.Import(t.Context(), doc)
			if wrong, ok := errors.AsType[*acp.ParamsError](err); !ok || wrong.Field != tt.field {
				t.Errorf("got %.200v, want a word about %s", err, tt.field)
			}
		})
	}
	w.want("list", w.call("session/list", `{}`), `{"sessions":[]}`)
}

// A long prompt is shown in pieces or abbreviated, so it can be imported.
func TestImportLongPrompt(t *testing.T) {
	w, dir := connect(t, filepath.Join(t.TempDir(), "zeph.db"), script, `{}`), t.TempDir()
	content, err := json.Marshal([]acp.ContentBlock{
		acp.TextBlock(strings.Repeat("\x01", 1<<20)),
		{Type: "image", MIMEType: "image/png", Data: strings.Repeat("A", 4<<20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.all.Import(t.Context(), Export{Version: 1, CWD: dir, Events: []ExportedEvent{
		{Time: time.Now(), Kind: "prompt", Data: json.RawMessage(`{"messageId":"m","content":` + string(content) + `}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.want("load", w.load(id, dir), "modes")
	if n := len(w.seen); n < 13 {
		t.Errorf("%d updates", n)
	}
}

// A document selects a model only if the user has it: its name may be the path
// of a file.
func TestImportModel(t *testing.T) {
	w, dir := connect(t, filepath.Join(t.TempDir(), "zeph.db"), script, `{}`), t.TempDir()
	for model, want := range map[string]string{"direct": `"currentValue":"direct"`, "script:/dev/zero": `"currentValue":"script:one"`} {
		id, err := w.all.Import(t.Context(), Export{Version: 1, CWD: dir, Events: []ExportedEvent{
			{Time: time.Now(), Kind: "setting", Data: json.RawMessage(`{"id":"model","value":"` + model + `"}`)},
			{Time: time.Now(), Kind: "prompt", Data: json.RawMessage(`{"content":[{"type":"text","text":"hi"}]}`)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		w.want(model, w.load(id, dir), want)
	}
}
