package session

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// twoTurns returns a log of two turns with every kind of event.
func twoTurns() (rows []store.Event) {
	text := func(s string) acp.ToolContent {
		b := acp.TextBlock(s)
		return acp.ToolContent{Type: "content", Content: &b}
	}
	call := func(id string) []transcript.Event {
		return []transcript.Event{
			transcript.Block{MessageID: "m" + id, Block: llm.Block{Text: "I read " + id}},
			transcript.Block{Block: llm.Block{Call: &llm.ToolCall{ID: "call_" + id, Name: "read", Input: json.RawMessage(`{}`)}}},
			transcript.Answer{Model: "script:one", Usage: &llm.Usage{Input: 9, Output: 1}, Shown: &acp.UsageUpdate{Update: acp.UpdateUsage, Used: 10, Size: 1000}},
			transcript.Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: "t" + id, Title: "Read " + id, Status: acp.ToolPending}},
			transcript.Correction{Shown: acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "t" + id, Title: "Read"}},
			transcript.Result{
				Result: llm.ToolResult{ID: "call_" + id, Text: id},
				Shown:  acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "t" + id, Status: acp.ToolCompleted, Content: []acp.ToolContent{text(id)}},
			},
		}
	}
	turn := func(id string) []transcript.Event {
		return slices.Concat([]transcript.Event{
			transcript.Prompt{MessageID: "p" + id, Content: []acp.ContentBlock{acp.TextBlock("do " + id), {Type: "resource_link", URI: "file:///" + id}}},
			transcript.Title{Title: "do " + id},
			transcript.Note{MessageID: "n" + id, Text: "a note"},
			transcript.Plan{Entries: []acp.PlanEntry{{Content: "all", Priority: "high", Status: "pending"}}},
		}, call(id+"1"), call(id+"2"), []transcript.Event{
			transcript.Block{MessageID: "e" + id, Block: llm.Block{Text: "half"}}, transcript.Cut{},
			transcript.Block{MessageID: "f" + id, Block: llm.Block{Text: " of it"}}, transcript.Answer{Model: "script:one"},
			transcript.Setting{ID: "mode", Value: "code"},
			transcript.TurnEnd{Reason: acp.StopEndTurn},
		})
	}
	for _, e := range append(turn("a"), turn("b")...) {
		row := storedForm(e, time.Unix(1, 0))
		row.Seq = int64(len(rows) + 1)
		rows = append(rows, row)
	}
	return rows
}

// One unreadable event, of any kind, costs only itself. The remaining events
// can be shown and form a history that every provider accepts.
func TestUnsoundEvent(t *testing.T) {
	whole := twoTurns()
	for i := range whole {
		for _, broken := range []string{`"x"`, `{`,
			`{"messageId":"p","content":[{"type":"hologram"},{"type":"text","text":"and this"}],"entries":[{}],"shown":{},"reason":"odd","id":7}`} {
			if _, err := transcript.Decode(whole[i].Kind, []byte(broken)); err == nil {
				continue // a Note, for example, may be empty
			}
			name := fmt.Sprintf("%d, %s, is %.9s", i, whole[i].Kind, broken)
			rows := slices.Clone(whole)
			rows[i].Data = []byte(broken)
			events, lost := decode(rows)
			if len(lost) != 1 || !strings.Contains(Unreadable(lost), fmt.Sprintf("event %d: event of kind %s: ", i+1, whole[i].Kind)) {
				t.Fatalf("%s: lost %v", name, lost)
			}
			history := transcript.History(events)
			if diff := cmp.Diff(llm.Repair(history), history); diff != "" || history[0].Role != llm.User {
				t.Errorf("%s: no history: %s", name, diff)
			}
			n := len(transcript.History(must(decode(slices.Clone(whole)))))
			if missing := n - len(history); missing < 0 || missing > 2 { // a call and thus its result
				t.Errorf("%s: %d messages of %d", name, len(history), n)
			}
			if text := fmt.Sprintf("%+v", results(history)); whole[i].Kind == "answer" && strings.Contains(text, llm.Tombstone) {
				t.Errorf("%s: without its results: %s", name, text)
			}
			if err := followsTheProtocol(events); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// An event of an unknown kind is named: a later version may have written it, or its
// kind is damaged.
func TestUnknownKind(t *testing.T) {
	rows := twoTurns()
	rows[3].Kind = "plam"
	events, lost := decode(rows)
	if len(events) != len(rows)-1 || len(lost) != 1 || lost[0].Error() != `event 4: unknown kind "plam", damaged or of a newer zeph-acp` {
		t.Errorf("%d events of %d, lost %v", len(events), len(rows), lost)
	}
}

func results(history []llm.Message) (all []llm.ToolResult) {
	for _, m := range history {
		for _, b := range m.Blocks {
			if b.Result != nil {
				all = append(all, *b.Result)
			}
		}
	}
	return all
}

func must(events []transcript.Event, lost []error) []transcript.Event {
	if len(lost) > 0 {
		panic(lost)
	}
	return events
}

// followsTheProtocol checks that a replay updates only calls that it began, and
// ends them all.
func followsTheProtocol(events []transcript.Event) error {
	open := map[string]bool{}
	err := transcript.Replay(events, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error {
		c, ok := u.(acp.ToolCall)
		switch {
		case !ok:
		case c.Update == acp.UpdateToolCall:
			open[c.ToolCallID] = true
		case !open[c.ToolCallID]:
			return fmt.Errorf("an update of %s, which is not open", c.ToolCallID)
		case c.Status == acp.ToolCompleted || c.Status == acp.ToolFailed:
			delete(open, c.ToolCallID)
		}
		return nil
	})
	if err == nil && len(open) > 0 {
		err = fmt.Errorf("never ended: %v", open)
	}
	return err
}

// The user is warned once about skipped events; the log stays unchanged and the
// session continues.
func TestLoadUnsound(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	rows := twoTurns()
	rows[7].Data = []byte(`{"shown":{"sessionUpdate":"tool_call","toolCallId":"ta1","kind":"levitate","title":"x"}}`)
	rows[8].Data = []byte(`{`)
	db := store.New(path, store.Options{})
	defer db.Close()
	if _, err := db.Append(t.Context(), store.Batch{Session: store.Session{ID: "k", CWD: dir}, Create: true, Events: rows}); err != nil {
		t.Fatal(err)
	}
	const warning = `2 events of this session cannot be read and are left out, the first: event 8: event of kind tool_call: shown: unknown status "" or kind "levitate".`
	w := connect(t, path, `{"text":"b"}`+"\n\n"+`{"text":"c"}`, `{}`)
	w.want("load", w.load("k", dir), "configOptions")
	w.want("go on", w.prompt("k", "again"), "end_turn")
	if seen := strings.Join(w.seen, "\n"); strings.Count(seen, warning) != 1 {
		t.Errorf("no warning: %s", seen)
	}
	w.want("load again", w.load("k", dir), "configOptions")
	w.want("once", w.prompt("k", "again"), "end_turn")
	if seen := strings.Join(w.seen, "\n"); strings.Contains(seen, "cannot be read") {
		t.Errorf("warned again: %s", seen)
	}
	noticed := connect(t, path, `{"text":"b"}`, `{"session":{"notices":{}}}`)
	noticed.want("load", noticed.load("k", dir), "configOptions")
	noticed.want("go on", noticed.prompt("k", "again"), "end_turn")
	if seen := strings.Join(noticed.seen, "\n"); !strings.Contains(seen, "notice "+warning) {
		t.Errorf("no notice: %s", seen)
	}
	kept, err := db.Events(t.Context(), "k", 0)
	if err != nil || string(kept[7].Data) != string(rows[7].Data) || string(kept[8].Data) != "{" {
		t.Errorf("the original is %v, %v", kept, err)
	}
	doc, err := w.all.Export(t.Context(), "k")
	if err != nil || string(doc.Events[7].Data) != string(rows[7].Data) || string(doc.Events[8].Data) != `"{"` {
		t.Errorf("exported %s, %v", doc.Events[7:9], err)
	}
	if _, err := w.all.Import(t.Context(), doc); err == nil || !strings.Contains(err.Error(), "events[7]") { // a document can be corrected first
		t.Errorf("import: %v", err)
	}
}
