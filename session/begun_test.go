package session

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Some clients set options in one process and send the first prompt in another.
func TestOptionsBeforeTheFirstPrompt(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	one := connect(t, path, `{"text":"a"}`, `{}`)
	id := one.open(dir)
	one.want("mode", one.call("session/set_mode", `{"sessionId":"`+id+`","modeId":"auto"}`), "{}")
	one.want("model", one.call("session/set_config_option", `{"sessionId":"`+id+`","configId":"model","value":"direct"}`), "direct")
	one.all.Finish() // the process exits
	other := connect(t, path, `{"text":"a"}`, `{}`)
	other.want("not listed yet", other.call("session/list", `{}`), `"sessions":[]`)
	got := other.call("session/resume", `{"sessionId":"`+id+`","cwd":"`+dir+`","mcpServers":[]}`)
	other.want("mode", got, `"currentModeId":"auto"`)
	other.want("model", got, `"currentValue":"direct"`)
	other.want("first prompt", other.prompt(id, "hi"), "end_turn")
	other.want("listed", other.call("session/list", `{}`), id)
}

// A prompt that was cancelled in the queue is part of the conversation that a
// client sees, but not of a history that a model gets.
func TestCancelledInTheQueueIsStored(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, `{"text":"a"}`, `{}`)
	id := w.open(dir)
	w.want("first prompt", w.prompt(id, "first"), "end_turn")
	sess, err := w.all.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	before, queued := sess.Begin(t.Context(), acp.Prompt{}), sess.Begin(t.Context(), acp.Prompt{})
	sess.Cancel()
	if _, err := queued.Run(acp.Prompt{Content: []acp.ContentBlock{acp.TextBlock("second")}}); err == nil {
		t.Error("a cancelled turn ran")
	}
	queued.End()
	before.End()
	after := sess.Begin(t.Context(), acp.Prompt{}).(*turn)
	if err := after.wait(); err != nil {
		t.Fatal(err)
	}
	after.End()
	w.want("load", w.call("session/load", `{"sessionId":"`+id+`","cwd":"`+dir+`","mcpServers":[]}`), "configOptions")
	if !slices.Contains(w.seen, "user_message second") {
		t.Errorf("replayed %q", w.seen)
	}
	_, events, _, err := w.all.Stored(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range transcript.History(events) {
		for _, b := range m.Blocks {
			if strings.Contains(b.Text, "second") {
				t.Errorf("the history has the text of a cancelled prompt: %q", b.Text)
			}
		}
	}
	if end, ok := events[len(events)-1].(transcript.TurnEnd); !ok || end.Reason != acp.StopCancelled {
		t.Errorf("ends with %+v", events[len(events)-1])
	}
}

// A prompt that is cancelled before its turn runs, as by a cancel in the next frame, is stored
// before it is answered. Other processes can then continue the session.
func TestCancelledAtOnceIsStored(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "zeph.db"), t.TempDir()
	w := connect(t, path, `{"text":"a"}`+"\n\n"+`{"text":"b"}`, `{}`)
	id := w.open(dir)
	found, err := w.all.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	sess := found.(*Session)
	var stored []string
	wantStored := func(what, prompt string) {
		t.Helper()
		stored = append(stored, "user_message "+prompt)
		other := connect(t, path, `{"text":"a"}`+"\n\n"+`{"text":"b"}`, `{}`)
		other.want(what, other.load(id, dir), "configOptions")
		got := slices.DeleteFunc(slices.Clone(other.seen), func(u string) bool { return !strings.HasPrefix(u, "user_message") })
		if !slices.Equal(got, stored) {
			t.Errorf("%s: replayed %q, want %q", what, got, stored)
		}
		stored = append(stored, "user_message elsewhere after "+prompt)
		other.want("continued by another process", other.prompt(id, "elsewhere after "+prompt), "end_turn")
	}
	cancelled := func(what, prompt string, before func()) {
		t.Helper()
		turn := sess.Begin(t.Context(), acp.Prompt{})
		before()
		if _, err := turn.Run(acp.Prompt{Content: []acp.ContentBlock{acp.TextBlock(prompt)}}); !errors.Is(err, acp.ErrTurnCancelled) {
			t.Errorf("%s: %v, want a cancel", what, err)
		}
		wantStored(what, prompt)
		turn.End()
	}
	cancelled("the first prompt", "one", sess.Cancel)
	cancelled("a later one", "two", sess.Cancel)
	sess.beforeTurn = sess.Cancel
	cancelled("just before the lease", "three", func() {})
	sess.beforeTurn = nil
	w.want("run here", w.prompt(id, "four"), "end_turn")
}

// priced is a model with a price per token.
type priced struct{ llm.Model }

func (priced) Prices() llm.Price { return llm.Price{Input: 0.123, Output: 0.7} }

func TestCostIsRounded(t *testing.T) {
	s := new(Session)
	var c *acp.Cost
	for range 7 {
		c = s.addCost(priced{}, llm.Usage{Input: 1, Output: 2})
	}
	if c == nil || c.Amount != math.Round(7*(0.123+1.4))/1e6 {
		t.Errorf("%+v", c)
	}
}
