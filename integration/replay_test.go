package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// item is a piece of a session in the client's view.
type item struct {
	Kind string // sessionUpdate of its first frame
	ID   string // of a message or a tool call; else its position as text
	Turn int    // 1 for the first prompt's
	Text string // of a message so far; else the update's JSON
	// Final is the JSON of a tool call's last update; empty while it runs.
	Final string
	// Done is set when a frame shows that the item is complete.
	Done bool
}

// shownSession is the client's view of one session, in the order of first frames, with the
// user's messages.
type shownSession struct {
	session string
	title   string // the last one; it is not an item
	prompts []string
	items   []*item
	faults  []string
	turn    int
	begun   bool // a frame of the turn after the last answered one was shown
}

// shownIn returns the client's view. It counts the responses for which mine returns
// true. The user's messages are only in a replay.
func shownIn(frames []frame, session string, mine func(frame) bool) *shownSession {
	s := &shownSession{session: session, turn: 1}
	for _, f := range frames {
		var p struct {
			SessionID string
			Update    json.RawMessage
		}
		switch {
		case f.Method == "" && mine(f):
			s.close(len(s.items))
			s.turn, s.begun = s.turn+1, false
		case f.Method == "session/update" && json.Unmarshal(f.Params, &p) == nil && p.SessionID == session:
			s.add(p.Update)
		}
	}
	return s
}

// close marks the messages among the first n items as done.
func (s *shownSession) close(n int) {
	for _, it := range s.items[:n] {
		if it.Kind != "tool_call" {
			it.Done = true
		}
	}
}

func (s *shownSession) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// find returns the item with that id.
func (s *shownSession) find(id string) *item {
	for _, it := range s.items {
		if it.ID == id {
			return it
		}
	}
	return nil
}

func (s *shownSession) add(raw json.RawMessage) {
	var u struct {
		Kind       string `json:"sessionUpdate"`
		MessageID  string
		ToolCallID string
		Status     string
		Title      string
		Content    json.RawMessage
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		s.fault("%v: %s", err, raw)
		return
	}
	switch u.Kind {
	case "available_commands_update", "config_option_update", "current_mode_update":
		return // not part of a turn
	case "session_info_update":
		s.title = u.Title
		return
	}
	var chunk struct{ Text string }
	_ = json.Unmarshal(u.Content, &chunk) // fails for a tool call, whose content is a list
	s.begun = true
	switch u.Kind {
	case "user_message_chunk":
		if n := len(s.prompts); s.find(u.MessageID) == nil {
			s.new(u.Kind, u.MessageID, "")
			s.prompts, s.turn = append(s.prompts, ""), n+1
			s.items[len(s.items)-1].Turn = s.turn
		}
		s.prompts[len(s.prompts)-1] += chunk.Text
	case "agent_message_chunk", "agent_thought_chunk":
		it := s.find(u.MessageID)
		if it == nil {
			it = s.new(u.Kind, u.MessageID, "")
		}
		if it.Done {
			s.fault("message %s goes on after something else: %s", u.MessageID, raw)
		}
		it.Text += chunk.Text
	case "tool_call":
		if s.find(u.ToolCallID) != nil {
			s.fault("tool call %s is announced twice", u.ToolCallID)
		}
		s.new(u.Kind, u.ToolCallID, lasting(raw))
	case "tool_call_update":
		it := s.find(u.ToolCallID)
		switch {
		case it == nil:
			s.fault("tool call %s is updated before it is announced", u.ToolCallID)
		case it.Final != "":
			s.fault("tool call %s is updated after its end: %s", u.ToolCallID, raw)
		case u.Status == "completed" || u.Status == "failed":
			it.Final, it.Done = lasting(raw), true
		}
	default:
		s.new(u.Kind, fmt.Sprint("#", len(s.items)), lasting(raw)).Done = true
	}
}

func (s *shownSession) new(kind, id, text string) *item {
	s.close(len(s.items))
	it := &item{Kind: kind, ID: id, Turn: s.turn, Text: text}
	s.items = append(s.items, it)
	return it
}

// lasting returns an update in the form of a replay: with its members in one order,
// and without those that only apply to a running command, its terminal included.
func lasting(raw json.RawMessage) string {
	m := members(raw)
	content, _ := m["content"].([]any)
	content = slices.DeleteFunc(content, func(c any) bool { return c.(map[string]any)["type"] == "terminal" })
	if m["content"] = content; len(content) == 0 {
		delete(m, "content")
	}
	delete(m, "_meta")
	return encode(m)
}

func members(raw json.RawMessage) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err) // the checker accepted it
	}
	return m
}

// checkReplay compares the replay of a session with the client's live view of it.
// Completed items occur once, in order and unchanged. Only the end may differ, in
// items that were not completed. Each call has ended.
func checkReplay(t *testing.T, prompts []string, live, replay *shownSession) {
	t.Helper()
	for _, f := range append(live.faults, replay.faults...) {
		t.Error(f)
	}
	begun := live.turn - 1
	if live.begun {
		begun++
	}
	if n := len(replay.prompts); n < begun || n > len(prompts) {
		t.Errorf("the replay has %d prompts of %d; %d had begun", n, len(prompts), begun)
	} else if diff := cmp.Diff(prompts[:n], replay.prompts); diff != "" {
		t.Errorf("prompts (-sent +replayed)\n%s", diff)
	}
	if live.title != "" && live.title != replay.title {
		t.Errorf("the title was %q and is %q", live.title, replay.title)
	}
	var got []*item
	for _, it := range replay.items {
		if it.Kind == "tool_call" && it.Final == "" {
			t.Errorf("tool call %s has no end in the replay", it.ID)
		}
		if it.Kind != "user_message_chunk" {
			got = append(got, it)
		}
	}
	next := 0
	for _, want := range live.items {
		if next < len(got) && sameItem(want, got[next]) {
			compare(t, want, got[next])
			next++
			continue
		}
		if !want.Done && want.Kind != "tool_call" {
			continue // its end was not shown
		}
		there := "nothing"
		if next < len(got) {
			there = fmt.Sprintf("%+v", *got[next])
		}
		t.Errorf("lost or out of order: %+v\nthe replay has instead: %s", *want, there)
		return
	}
	// Events that the client had not seen may follow.
	for _, it := range got[next:] {
		if it.Turn < begun {
			t.Errorf("the replay invents %+v", *it)
		}
	}
}

// sameItem reports whether two items have the same id. Items without an id are
// the same if they are equal.
func sameItem(a, b *item) bool {
	if strings.HasPrefix(a.ID, "#") {
		return a.Kind == b.Kind && a.Text == b.Text
	}
	return a.ID == b.ID
}

// compare compares an item of a replay with the live one.
func compare(t *testing.T, live, replayed *item) {
	t.Helper()
	want, got := *live, *replayed
	want.ID, got.ID = "", ""
	if !live.Done { // more may have been stored than shown
		want.Final = got.Final
		if strings.HasPrefix(got.Text, want.Text) {
			want.Text = got.Text
		}
	}
	want.Done, got.Done = false, false
	if want != got {
		t.Errorf("%s (-seen +replayed)\n%s", live.ID, cmp.Diff(want, got))
	}
}
