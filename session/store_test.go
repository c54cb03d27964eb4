package session

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// wire is a client with a server of its own. Several share a database.
type wire struct {
	t     *testing.T
	all   *Sessions
	in    *bufio.Reader
	out   io.WriteCloser
	calls int
	seen  []string     // updates since the last call, abbreviated
	later atomic.Int64 // nanoseconds by which the store's clock is ahead
}

// connect starts a server on the database at path, with a scripted model.
func connect(t *testing.T, path, script, caps string) *wire {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var mu sync.Mutex
	n := 0
	w := &wire{t: t}
	db := store.New(path, store.Options{Log: log, Now: func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }})
	id := func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("%p-%d", db, n) }
	s := newSessions(nil)
	s.Store, s.NewID = db, id
	s.Modes = append(s.Modes, acp.SessionMode{ID: "auto"})
	s.Models = func() []llm.Choice {
		return []llm.Choice{{Name: "script:one", Title: "One"}, {Name: "direct", Title: "Direct"}}
	}
	s.Model = func(name string) (llm.Model, error) {
		switch name {
		case "", "script:one":
			m, err := local.ParseScript("one", strings.NewReader(script))
			m.ContextWindow = 1000
			return m, err
		case "direct":
			return local.Direct{}, nil
		}
		return nil, fmt.Errorf("no model %q", name)
	}
	s.NewAgent = func(host Host) (AgentSession, error) {
		return AgentSession{Mode: "code", Agent: &agent.Agent{
			Config: setting.Default[agent.Config](), Session: host.ID, Chain: executors.NewDynExecutor(), NewID: id,
			Client:    agent.Client{Send: func(ctx context.Context, u acp.SessionUpdate) error { return host.Update(ctx, host.ID, u) }},
			State:     agent.State{Model: host.Model, Thought: host.Thought, Record: host.Record, Stored: host.Stored, Spend: host.Spend},
			Workspace: agent.Workspace{Inside: func(string) bool { return false }}, Log: log,
		}}, nil
	}
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	server := &acp.Server{Config: setting.Default[acp.Config](), Sessions: s, Ready: func() error { return nil }, Log: log}
	var work sync.WaitGroup
	work.Go(func() { out.CloseWithError(server.Serve(context.Background(), in, out)) })
	w.all, w.in, w.out = s, bufio.NewReader(fromAgent), toAgent
	t.Cleanup(func() {
		toAgent.Close()
		io.Copy(io.Discard, w.in)
		work.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.call("initialize", `{"protocolVersion":1,"clientCapabilities":`+caps+`}`)
	return w
}

// call makes a request and returns its result or error.
func (w *wire) call(method, params string) string {
	w.t.Helper()
	w.calls++
	w.seen = nil
	fmt.Fprintf(w.out, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", w.calls, method, params)
	for {
		line, err := w.in.ReadBytes('\n')
		if err != nil {
			w.t.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     int
			Method string
			Params struct{ Update map[string]any }
			Result json.RawMessage
			Error  *struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			w.t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.Method == "session/update":
			w.seen = append(w.seen, short(m.Params.Update))
		case m.Method != "": // a request that this client does not support
			fmt.Fprintf(w.out, `{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", m.ID, `{"action":"accept","content":{"model":"direct"}}`)
		case m.Error != nil:
			return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
		default:
			return string(m.Result)
		}
	}
}

func short(u map[string]any) string {
	kind := strings.TrimSuffix(fmt.Sprint(u["sessionUpdate"]), "_chunk")
	if content, ok := u["content"].(map[string]any); ok {
		return fmt.Sprintf("%s %s", kind, content["text"])
	}
	for _, member := range []string{"title", "currentModeId", "used"} {
		if v, ok := u[member]; ok {
			kind += fmt.Sprint(" ", v)
		}
	}
	return kind
}

// open opens a session in dir and returns its id.
func (w *wire) open(dir string) string {
	w.t.Helper()
	var r struct{ SessionID string }
	if err := json.Unmarshal([]byte(w.call("session/new", params("cwd", dir, "mcpServers", []int{}))), &r); err != nil {
		w.t.Fatal(err)
	}
	return r.SessionID
}

func (w *wire) prompt(id, text string) string {
	w.t.Helper()
	return w.call("session/prompt", params("sessionId", id, "prompt", []acp.ContentBlock{acp.TextBlock(text)}))
}

func (w *wire) load(id, dir string) string {
	w.t.Helper()
	return w.call("session/load", params("sessionId", id, "cwd", dir, "mcpServers", []int{}))
}

func (w *wire) want(what, got, want string, updates ...string) {
	w.t.Helper()
	if !strings.Contains(got, want) {
		w.t.Errorf("%s: got %s, want %s", what, got, want)
	}
	if updates != nil {
		if diff := cmp.Diff(updates, w.seen); diff != "" {
			w.t.Errorf("%s: updates (-want +got)\n%s", what, diff)
		}
	}
}

func params(members ...any) string {
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const (
	usage  = `{"usage":{"input":10,"output":1}}`
	script = `{"thought":"hm"}` + "\n" + `{"text":"first"}` + "\n" + usage + "\n\n" + `{"text":"second"}` + "\n" + usage
)

// Another process can load a session: history, settings and all updates that
// the client saw.
func TestLoad(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	one := connect(t, path, script+"\n\n"+`{"text":"third"}`, `{}`)
	id := one.open(dir)
	one.want("first", one.prompt(id, "hi\nthere"), "end_turn",
		"available_commands_update", "agent_thought hm", "agent_message first", "usage_update 11", "session_info_update hi")
	one.want("mode", one.call("session/set_mode", params("sessionId", id, "modeId", "auto")), "{}")
	one.want("second", one.prompt(id, "more"), "end_turn")

	two := connect(t, path, script, `{}`)
	two.want("load", two.load(id, dir+"/"), `"currentModeId":"auto"`,
		"user_message hi\nthere", "agent_thought hm", "agent_message first", "usage_update 11", "session_info_update hi",
		"current_mode_update auto", "user_message more", "agent_message second", "usage_update 11")
	two.want("other directory", two.load(id, t.TempDir()), dir)
	two.want("unknown", two.load("nope", dir), "unknown session")
	sess, _ := two.all.find(id)
	if n := len(sess.history); n != 4 {
		t.Errorf("%d messages of history", n)
	}
	two.want("resume", two.call("session/resume", params("sessionId", id, "cwd", dir)), `"currentModeId":"auto"`)
	if len(two.seen) > 0 && strings.Contains(strings.Join(two.seen, " "), "message") {
		t.Errorf("resume sent %q", two.seen)
	}
	// The first process sees the second one's turns and continues after them.
	two.want("third", two.prompt(id, "in two"), "end_turn")
	two.want("mode in two", two.call("session/set_mode", params("sessionId", id, "modeId", "ask")), "{}")
	two.want("a command keeps the mode", two.prompt(id, "/status"), "end_turn")
	one.want("fourth", one.prompt(id, "in one again"), "end_turn")
	if seen := strings.Join(one.seen, "\n"); !strings.HasSuffix(seen, "current_mode_update ask\nconfig_option_update\nagent_message third") {
		t.Errorf("got %v, want %q at its end", seen, "current_mode_update ask\nconfig_option_update\nagent_message third")
	}
	sess, _ = one.all.find(id)
	if n := len(sess.history); n != 8 || sess.Mode() != "ask" {
		t.Errorf("%d messages of history, mode %s", n, sess.Mode())
	}
}

// A session without a prompt is not kept.
func TestListAndDelete(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, strings.Repeat(`{"text":"a"}`+"\n\n", 9), `{}`)
	w.want("empty", w.call("session/list", `{}`), `{"sessions":[]}`)
	w.open(dir)
	w.want("never prompted", w.call("session/list", `{}`), `{"sessions":[]}`)
	id := w.open(dir)
	w.prompt(id, "/help")
	w.want("a command is a prompt", w.call("session/list", params("cwd", filepath.Join(dir, "x", "..")+"/")), id)
	w.want("elsewhere", w.call("session/list", params("cwd", t.TempDir())), `"sessions":[]`)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		w.want("by a link", w.call("session/list", params("cwd", link)), id)
		linked := w.open(link)
		w.prompt(linked, "/help")
		w.want("opened by a link", w.call("session/list", params("cwd", dir)), linked)
		w.want("both", w.call("session/list", params("cwd", dir)), id)
		w.want("delete it", w.call("session/delete", params("sessionId", linked)), "{}")
	}
	w.want("cursor", w.call("session/list", `{"cursor":"nope"}`), "cursor")
	w.want("delete", w.call("session/delete", params("sessionId", id)), "{}")
	w.want("again", w.call("session/delete", params("sessionId", id)), "{}")
	w.want("gone", w.call("session/list", `{}`), `"sessions":[]`)
	w.want("closed", w.prompt(id, "hi"), "unknown session")
}

// While another process runs a turn, a prompt is refused and a load works.
func TestLease(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	one := connect(t, path, `{"text":"a"}`+"\n\n"+`{"text":"b"}`, `{}`)
	id := one.open(dir)
	one.prompt(id, "hi")
	db := store.New(path, store.Options{})
	defer db.Close()
	if _, err := db.Acquire(t.Context(), id, "somebody"); err != nil {
		t.Fatal(err)
	}
	one.want("leased", one.prompt(id, "again"), "another process")
	two := connect(t, path, "", `{}`)
	two.want("load", two.load(id, dir), "configOptions")
	if err := db.Release(t.Context(), id, "somebody"); err != nil {
		t.Fatal(err)
	}
	one.want("released", one.prompt(id, "again"), "end_turn")
}

// A session that another process deleted continues, and warns that it is not
// saved.
func TestDeletedElsewhere(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, strings.Repeat(`{"text":"a"}`+"\n\n", 3), `{}`)
	id := w.open(dir)
	w.prompt(id, "hi")
	db := store.New(path, store.Options{})
	defer db.Close()
	if err := db.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.want("deleted", w.prompt(id, "again"), "end_turn")
	}
	w.want("told", w.prompt(id, "/status"), "end_turn")
	if seen := strings.Join(w.seen, "\n"); !strings.Contains(seen, "Saved: no: unknown session") || !strings.Contains(seen, "deleted by another process") {
		t.Errorf("status: %s", seen)
	}
	w.want("not stored again", w.call("session/list", `{}`), `"sessions":[]`)
	w.want("load", w.load(id, dir), "error -32002")
	w.want("fork", w.call("session/fork", params("sessionId", id, "cwd", dir)), "error -32002")
	if _, err := db.Acquire(t.Context(), id, "somebody"); err != nil {
		t.Errorf("lease: %v", err)
	}
}

// A store that is replaced by an older copy lacks events of an open session. The user is
// warned, and the session continues with what is there.
func TestOlderCopy(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, strings.Repeat(`{"text":"a"}`+"\n\n", 3), `{}`)
	id := w.open(dir)
	w.prompt(id, "first")
	older := path + ".old"
	db := store.New(path, store.Options{})
	defer db.Close()
	events, err := db.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	old := store.New(older, store.Options{})
	if _, err := old.Append(t.Context(), store.Batch{Session: store.Session{ID: id, CWD: dir}, Create: true, Events: events}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	w.prompt(id, "second")
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(older, path); err != nil {
		t.Fatal(err)
	}
	w.want("goes on", w.prompt(id, "third"), "end_turn")
	if seen := strings.Join(w.seen, "\n"); strings.Count(seen, "replaced by an older copy") != 1 {
		t.Errorf("no warning, or several: %s", seen)
	}
	replay := connect(t, path, "", `{}`)
	replay.want("load", replay.load(id, dir), "configOptions")
	if seen := strings.Join(replay.seen, "\n"); !strings.Contains(seen, "first") || !strings.Contains(seen, "third") || strings.Contains(seen, "second") {
		t.Errorf("replay: %s", seen)
	}
}

// After a kill a turn keeps its complete events; its open call is shown as
// failed.
func TestKilledTurn(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	db := store.New(path, store.Options{})
	defer db.Close()
	var rows []store.Event
	for _, e := range []transcript.Event{
		transcript.Prompt{MessageID: "p", Content: []acp.ContentBlock{acp.TextBlock("do")}},
		transcript.Block{MessageID: "m", Block: llm.Block{Text: "I do"}},
		transcript.Block{Block: llm.Block{Call: &llm.ToolCall{ID: "c", Name: "bash", Input: json.RawMessage(`{}`)}}},
		transcript.Answer{Model: "script:one"},
		transcript.Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: "t", Title: "sleep", Status: acp.ToolPending}},
	} {
		rows = append(rows, storedForm(e, time.Now()))
	}
	if _, err := db.Append(t.Context(), store.Batch{Session: store.Session{ID: "k", CWD: dir}, Create: true, Events: rows}); err != nil {
		t.Fatal(err)
	}
	w := connect(t, path, `{"text":"b"}`, `{}`)
	w.want("load", w.load("k", dir), "configOptions", "user_message do", "agent_message I do", "tool_call sleep", "tool_call_update")
	w.want("go on", w.prompt("k", "again"), "end_turn")
	sess, _ := w.all.find("k")
	if r := sess.history[2].Blocks[0].Result; r == nil || !r.Failed || r.ID != "c" {
		t.Errorf("%+v", sess.history)
	}
}

// A store that cannot be used causes one warning; once it works, it gets all
// events.
func TestBrokenStore(t *testing.T) {
	for caps, want := range map[string][2]string{
		`{}`:                         {"agent_message Warning: This session is not being saved", "agent_message"},
		`{"session":{"notices":{}}}`: {"notice This session is not being saved", "notice"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(data, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		w := connect(t, filepath.Join(data, "zeph.db"), script+"\n\n"+`{"text":"third"}`, caps)
		id := w.open(dir)
		w.want("first", w.prompt(id, "hi"), "end_turn")
		if text := strings.Join(w.seen, "\n"); strings.Count(text, want[0]) != 1 {
			t.Errorf("%s: %s", caps, text)
		}
		w.want("second", w.prompt(id, "more"), "end_turn", "agent_message second", "usage_update 11")
		w.want("load", w.load(id, dir), "configOptions")
		w.want("status", w.prompt(id, "/status"), "end_turn")
		if text := strings.Join(w.seen, "\n"); !strings.Contains(text, "Saved: no") {
			t.Errorf("%s: %s", caps, text)
		}
		if err := os.Remove(data); err != nil {
			t.Fatal(err)
		}
		w.later.Store(int64(time.Minute)) // a broken store is not retried all the time
		w.want("third", w.prompt(id, "once more"), "end_turn")
		again := connect(t, filepath.Join(data, "zeph.db"), "", `{}`)
		again.want("load", again.load(id, dir), "configOptions")
		if text := strings.Join(again.seen, "\n"); !strings.Contains(text, "user_message hi\n") || !strings.Contains(text, "agent_message third") {
			t.Errorf("%s: %s", caps, text)
		}
	}
}

func TestCommands(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, script+"\n\n"+`{"text":"a summary"}`+"\n"+usage+"\n\n"+`{"text":"reviewed"}`, `{"elicitation":{"form":{}}}`)
	id := w.open(dir)
	w.prompt(id, "hi")
	w.prompt(id, "more")
	said := func(what, prompt string, want ...string) {
		t.Helper()
		w.want(what, w.prompt(id, prompt), "end_turn")
		text := strings.Join(w.seen, "\n")
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", what, part, text)
			}
		}
	}
	sess, _ := w.all.find(id)
	said("compact", "/compact", "a summary", "usage_update")
	if len(sess.history) != 3 { // the summary, and the last turn
		t.Errorf("%+v", sess.history)
	}
	said("status", "/status", id, "Mode: code", "Model: script:one", "Saved: yes", "of 1000 tokens")
	said("mode", "/mode ask", "The mode is now ask", "current_mode_update ask", "config_option_update")
	said("no mode", "/mode nope", "Nothing was changed", "nope")
	said("modes", "/mode", "`auto`") // the form's answer has no mode
	said("review", "/review the tests", "reviewed")
	if last := sess.history[3].Blocks[0].Text; !strings.Contains(last, "git diff") || !strings.HasSuffix(last, "The user adds: the tests") {
		t.Errorf("%q", last)
	}
	said("model by a form", "/model", "The model is now direct")
	said("clear, with a prompt that is not lost in silence", "/clear\nfix the tests", "was cleared", "after /clear was ignored")
	if len(sess.history) != 0 {
		t.Errorf("%+v", sess.history)
	}
	w.want("compact of nothing", w.prompt(id, "/compact"), "end_turn")
	said("unknown command goes to the model", "/nope", "There is no command /nope")
	said("sessions", "/sessions", id, "(this one)")
	two := connect(t, path, "", `{}`)
	two.load(id, dir)
	again, _ := two.all.find(id)
	if diff := cmp.Diff(sess.history, again.history); diff != "" || again.Mode() != "ask" || again.model().Name() != "direct" {
		t.Errorf("loaded again: %s, %s\n%s", again.Mode(), again.model().Name(), diff)
	}
}

func TestExport(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, script, `{}`)
	id := w.open(dir)
	w.prompt(id, "hi")
	w.call("session/set_mode", params("sessionId", id, "modeId", "auto"))
	w.prompt(id, "more")
	doc, err := w.all.Export(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	other := connect(t, filepath.Join(t.TempDir(), "zeph.db"), "", `{}`)
	if got, err := other.all.Import(t.Context(), doc); err != nil || got != id {
		t.Fatalf("other.all.Import(t.Context(), doc): got %v, %v, want %v", got, err, id)
	}
	other.want("load", other.load(id, dir), `"currentModeId":"code"`)
	for i, ev := range doc.Events {
		if ev.Kind == "setting" && strings.Contains(string(ev.Data), `"script:one"`) {
			doc.Events[i].Data = json.RawMessage(`{"id":"model","value":"script:/etc/passwd"}`)
		}
	}
	hostile, err := other.all.Import(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	other.want("a script named by a document", other.load(hostile, dir), `"currentValue":"script:one"`)
	if got, err := other.all.Import(t.Context(), doc); err != nil || got == id {
		t.Error("imported twice under one id", err)
	}
	for name, change := range map[string]func(*Export){
		"version": func(e *Export) { e.Version = 9 },
		"cwd":     func(e *Export) { e.CWD = "x" },
		"events":  func(e *Export) { e.Events = nil },
		"events[0].kind": func(e *Export) {
			e.Events = []ExportedEvent{{Time: time.Now(), Kind: "nope", Data: json.RawMessage(`{}`)}}
		},
		"events[0]": func(e *Export) {
			e.Events = []ExportedEvent{{Time: time.Now(), Kind: "prompt", Data: json.RawMessage(`{"content":[{"type":"text"}]}`)}}
		},
	} {
		bad := doc
		change(&bad)
		if _, err := other.all.Import(t.Context(), bad); err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A log may name any model of a provider that accepts every name. It may not
// name another file of a provider whose models are files.
func TestOffers(t *testing.T) {
	s := &Sessions{Models: func() []llm.Choice {
		return []llm.Choice{{Name: "work:claude-a", Open: true}, {Name: "fake:/w/a.jsonl"}, {Name: "direct"}}
	}}
	for name, want := range map[string]bool{
		"work:claude-a": true, "work:claude-b": true, "fake:/w/a.jsonl": true, "direct": true,
		"fake:/etc/passwd": false, "script:/etc/passwd": false, "direct:x": false, "other:x": false, "": false,
	} {
		if got := s.Offers(name); got != want {
			t.Errorf("offers(%q): %t", name, got)
		}
	}
}
