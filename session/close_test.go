package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// slow is an agent whose turn ends only when the test says so, whatever is
// cancelled: like a command that is slow to die.
type slow struct {
	steered
	host Host
}

func (a slow) Turn(ctx context.Context, history []llm.Message, in agent.Input) ([]llm.Message, acp.StopReason, error) {
	a.host.Record(transcript.Prompt{MessageID: "p", Content: in.Content})
	a.began <- ""
	<-a.end
	a.host.Record(transcript.Note{MessageID: "n", Text: "the end of it"})
	if ctx.Err() != nil {
		return history, "", context.Cause(ctx)
	}
	return history, acp.StopEndTurn, nil
}

// slowly replaces the agent of the sessions by a slow one. Each of its turns
// sends on began, and ends with a value from end.
func slowly(w *wire) (began chan string, end chan struct{}) {
	began, end = make(chan string, 9), make(chan struct{}, 9)
	w.all.NewAgent = func(host Host) (AgentSession, error) {
		return AgentSession{Mode: "code", Agent: slow{steered{began, end}, host}}, nil
	}
	return began, end
}

// send writes requests all at once, each a method and its params. The method is
// also the id.
func (w *wire) send(requests ...string) {
	for i, r := range requests {
		method, params, _ := strings.Cut(r, " ")
		requests[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, method, method, params)
	}
	fmt.Fprintln(w.out, strings.Join(requests, "\n"))
}

// answers reads until n requests are answered. It returns the answers by id,
// and the order of answers and updates, abbreviated.
func (w *wire) answers(n int) (answers map[string]string, order []string) {
	w.t.Helper()
	answers = map[string]string{}
	for len(answers) < n {
		line, err := w.in.ReadBytes('\n')
		if err != nil {
			w.t.Fatal(err)
		}
		var m struct {
			ID            string
			Params        struct{ Update map[string]any }
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			w.t.Fatalf("%v: %s", err, line)
		}
		if m.ID == "" {
			order = append(order, short(m.Params.Update))
			continue
		}
		answers[m.ID] = string(m.Result) + string(m.Error)
		order = append(order, m.ID)
	}
	return answers, order
}

// A session that is closed and loaded again while its turn is still ending
// becomes open, shows the end of that turn and is saved.
func TestCloseAndLoad(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "zeph.db")
	w := connect(t, path, "", `{}`)
	began, end := slowly(w)
	id := w.open(dir)
	where := params("sessionId", id, "cwd", dir, "mcpServers", []int{})
	w.send("session/prompt " + params("sessionId", id, "prompt", []acp.ContentBlock{acp.TextBlock("hi")}))
	<-began
	w.send("session/close "+where, "session/load "+where)
	if got := w.call("_nothing", "{}"); !strings.Contains(got, "not found") { // both requests were accepted
		t.Fatalf(`w.call("_nothing", "{}"): got %v, want %q in it`, got, "not found")
	}
	end <- struct{}{}
	answers, order := w.answers(3)
	if answers["session/close"] != "{}" || !strings.Contains(answers["session/load"], "modes") {
		t.Error(answers)
	}
	for _, later := range []string{"session/close", "user_message hi", "agent_message the end of it"} {
		if slices.Index(order, later) < slices.Index(order, "session/prompt") {
			t.Errorf("%q is missing or before the end of the turn: %q", later, order)
		}
	}
	end <- struct{}{}
	w.want("prompt after it", w.prompt(id, "more"), "end_turn")

	again := connect(t, path, "", `{}`)
	again.want("load elsewhere", again.load(id, dir), "modes",
		"user_message hi", "agent_message the end of it", "user_message more", "agent_message the end of it", "session_info_update hi")
}

// A load that waits for a turn is answered when the turn is cancelled.
func TestCancelBeforeLoad(t *testing.T) {
	dir := t.TempDir()
	w := connect(t, filepath.Join(t.TempDir(), "zeph.db"), "", `{}`)
	began, end := slowly(w)
	id := w.open(dir)
	w.send("session/prompt " + params("sessionId", id, "prompt", []acp.ContentBlock{acp.TextBlock("hi")}))
	<-began
	s, err := w.all.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	loading := s.(*Session).enqueue(t.Context(), &turn{withoutPrompt: true})
	s.Cancel()
	end <- struct{}{}
	if answers, _ := w.answers(1); !strings.Contains(answers["session/prompt"], "cancelled") {
		t.Error(answers)
	}
	if err := loading.wait(); err != nil {
		t.Error("the cancel reached the load:", err)
	}
	loading.End()
	w.want("load", w.load(id, dir), "modes", "user_message hi", "agent_message the end of it", "session_info_update hi")

	wait := s.Close()
	if err := s.(*Session).enqueue(t.Context(), &turn{withoutPrompt: true}).wait(); !errors.Is(err, errSessionClosed) {
		t.Error(err)
	}
	if err := errors.Join(wait(t.Context()), s.Close()(t.Context())); err != nil {
		t.Error(err)
	}
}

// Events that could not be stored in the last turn are stored when the session
// closes or the process ends.
func TestCloseStores(t *testing.T) {
	t.Run("close", func(t *testing.T) {
		testStores(t, func(w *wire, id string) { w.want("close", w.call("session/close", params("sessionId", id)), "{}") })
	})
	t.Run("end", func(t *testing.T) {
		testStores(t, func(w *wire, _ string) { w.all.Finish() })
	})
}

func testStores(t *testing.T, end func(*wire, string)) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "zeph.db")
	if err := os.Mkdir(path, 0o700); err != nil { // a directory prevents a database
		t.Fatal(err)
	}
	w := connect(t, path, `{"text":"a"}`, `{}`)
	id := w.open(dir)
	w.want("prompt", w.prompt(id, "hi"), "end_turn")
	if seen := strings.Join(w.seen, "\n"); !strings.Contains(seen, "not being saved") {
		t.Fatalf("got %v, want %q in it", seen, "not being saved")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.later.Add(int64(time.Minute)) // the store repeats its error for a while
	w.want("close", w.call("session/close", params("sessionId", id)), "{}")
	w.want("load", w.load(id, dir), "modes")
	for _, want := range []string{"user_message hi", "agent_message a"} {
		if !slices.Contains(w.seen, want) {
			t.Errorf("%q is missing: %q", want, w.seen)
		}
	}
}

// A withdrawn warning is never sent, and is no longer shown.
func TestWithdrawnWarnings(t *testing.T) {
	s := &Session{}
	s.warn("told")
	s.takeWarnings()
	s.warn("not yet told")
	s.warn("another")
	s.withdraw("told")
	s.withdraw("not yet told")
	if got := s.takeWarnings(); len(got) != 1 || len(s.shownWarnings) != 1 || s.shownWarnings[0] != "another" {
		t.Errorf("told %q, shown %q", got, s.shownWarnings)
	}
}
