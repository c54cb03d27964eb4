package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A cancel ends the command of a call with all its processes before the idle state is shown.
// Statements 314.
func TestCancelEndsProcessesInVersion2(t *testing.T) {
	t.Parallel()
	root := home(t)
	script := root + "/script.jsonl"
	a := connect2(t, root, scriptedModel(script)+"[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n")
	a.file(script, fmt.Sprintf(`{"tool":"bash","input":{"command":%q}}`, stubborn)+"\n")
	session := a.open2()
	a.request("1", "session/prompt", promptParams(session, "run"))
	pids := a.stubbornPIDs()
	a.notify("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, session))
	if reason := a.idle(session, 1); reason != "cancelled" {
		t.Errorf("the work ended with %s", reason)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d runs although the session is idle", pid)
		}
	}
}

// The updates of all kinds of tools keep what was shown before, have known kinds, and have their whole content.
// The check of each frame has these rules: see package schema.
// Statements 334, 337, 338.
func TestUpdatesKeepWhatWasShown(t *testing.T) {
	t.Parallel()
	root := home(t)
	script := root + "/script.jsonl"
	config := scriptedModel(script)
	for _, tool := range []string{"bash", "delete_path", "fetch"} {
		config += fmt.Sprintf("[[tools.permissions.%s]]\npattern = \"*\"\naction = \"allow\"\n", tool)
	}
	a := connect2(t, root, config)
	calls := []string{
		`"write","input":{"path":"a.txt","content":"one\ntwo\n"}`,
		`"read","input":{"path":"a.txt"}`,
		`"edit","input":{"path":"a.txt","old":"two","new":"three"}`,
		`"edit","input":{"path":"a.txt","old":"missing","new":"x"}`,
		`"bash","input":{"command":"echo out; echo err >&2; exit 3"}`,
		`"grep","input":{"pattern":"one"}`,
		`"find_path","input":{"pattern":"*.txt"}`,
		`"list_directory","input":{}`,
		`"search_code","input":{"query":"one"}`,
		`"create_directory","input":{"path":"d"}`,
		`"copy_path","input":{"source":"a.txt","destination":"d/b.txt"}`,
		`"move_path","input":{"source":"d/b.txt","destination":"c.txt"}`,
		`"delete_path","input":{"path":"c.txt"}`,
		`"update_plan","input":{"entries":[{"content":"x"}]}`,
		`"fetch","input":{"url":"https://localhost/x"}`,
		`"no_such_tool","input":{}`,
	}
	var text strings.Builder
	for _, c := range calls {
		text.WriteString(`{"tool":` + c + "}\n\n")
	}
	a.file(script, text.String()+`{"text":"done"}`+"\n")
	session := a.open2()
	a.work2(session, "use all of them", 1)
	kinds := map[string]int{}
	for _, f := range a.agentFrames() {
		var p struct {
			Update struct{ SessionUpdate, Kind string }
		}
		if json.Unmarshal(f.Params, &p) == nil && p.Update.SessionUpdate == "tool_call_update" && p.Update.Kind != "" {
			kinds[p.Update.Kind]++
		}
	}
	for _, kind := range []string{"read", "edit", "execute", "search", "move", "delete", "fetch"} {
		if kinds[kind] == 0 {
			t.Errorf("no call has the kind %s: %v", kind, kinds)
		}
	}
}

// The pages of a list have all sessions once, and the last page has no cursor.
// Statements 400.
func TestPagesInVersion2(t *testing.T) {
	t.Parallel()
	const n = 250
	a := connect2(t, home(t), "")
	for i := range n {
		at := time.Date(2026, 1, 1, 0, 0, i/3, 0, time.UTC).Format(time.RFC3339) // three sessions have the same time
		a.accepted(strconv.Itoa(i), "_zeph/session/import", fmt.Sprintf(`{"session":{"version":1,"sessionId":"s%d","cwd":%q,"events":[`+
			`{"time":%q,"kind":"prompt","data":{"messageId":"m","content":[{"type":"text","text":"hi"}]}}]}}`, i, a.dir, at))
	}
	seen, pages, cursor := map[string]int{}, 0, ""
	for {
		p := a.list(`{` + cursor + `}`)
		pages++
		for _, s := range p.Sessions {
			seen[s.SessionID]++
		}
		if p.NextCursor == nil {
			break
		}
		cursor = `"cursor":` + quote(*p.NextCursor)
	}
	if pages < 2 || len(seen) != n {
		t.Errorf("%d pages have %d sessions, want %d", pages, len(seen), n)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s is listed %d times", id, times)
		}
	}
}

// Prompts that arrive in one write are answered in their order, whether they join the first one or wait.
// Statements 419.
func TestHundredPromptsInVersion2(t *testing.T) {
	for name, text := range map[string]string{"texts": "prompt", "commands": "/help"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			script := root + "/script.jsonl"
			a := connect2(t, root, scriptedModel(script))
			a.file(script, strings.Repeat(`{"text":"ok"}`+"\n\n", 101))
			session := a.open2()
			const n = 100
			var frames strings.Builder
			for i := range n {
				fmt.Fprintf(&frames, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%s}`+"\n", i, promptParams(session, text))
			}
			a.send(frames.String())
			a.answer(strconv.Itoa(n - 1))
			var got, ids []string
			for _, f := range a.agentFrames() {
				var r struct{ MessageID string }
				if f.Method == "" && json.Unmarshal(f.Result, &r) == nil && r.MessageID != "" {
					got, ids = append(got, string(f.ID)), append(ids, r.MessageID)
				}
			}
			for i := range n {
				if i >= len(got) || got[i] != strconv.Itoa(i) {
					t.Fatalf("the answers have the order %q", got)
				}
			}
			slices.Sort(ids)
			if len(slices.Compact(ids)) != n {
				t.Errorf("%d prompts have %d ids", n, len(slices.Compact(ids)))
			}
			a.idle(session, 1)
		})
	}
}

// A session whose turn runs in one process can be read in another one, which refuses a prompt until that turn
// has ended. Nothing of either is lost.
// Statements 420.
func TestTwoProcessesInVersion2(t *testing.T) {
	t.Parallel()
	root := home(t)
	script := root + "/script.jsonl"
	config := scriptedModel(script)
	one := connect2(t, root, config)
	one.file(script, `{"text":"Half"}`+"\n"+`{"wait":"cancel"}`+"\n")
	session := one.open2()
	one.request("1", "session/prompt", promptParams(session, "first prompt"))
	one.inserted("1")
	one.await("the first half", func(f frame) bool { return strings.Contains(f.line, "Half") })

	one.file(script, `{"text":"second answer"}`+"\n")
	two := connect2(t, root, "")
	two.request("1", "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, session, two.dir))
	two.answer("1")
	two.checkContains(two.lines(), "first prompt", "replay_complete")
	two.request("2", "session/prompt", promptParams(session, "second prompt"))
	if f := two.answer("2"); f.Error == nil || !strings.Contains(f.Error.Message, "another process") {
		t.Errorf("a prompt during the turn of the other process: %s", f.line)
	}
	one.notify("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, session))
	one.idle(session, 1)
	two.work2(session, "second prompt", 1)
	before := len(two.lines())
	two.request("3", "session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, session, two.dir))
	two.answer("3")
	two.checkContains(two.lines()[before:], "first prompt", "second prompt")
}
