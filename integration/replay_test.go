package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// item is a piece of a session as a client shows it.
type item struct {
	Kind string // sessionUpdate of its first frame
	ID   string // of a message or a tool call; else its place, as a text
	Turn int    // 1 for the first prompt's
	Text string // of a message so far; else the JSON of the update
	// Final is the JSON of a tool call's last update; empty while it runs.
	Final string
	// Done says that a frame told that nothing of it is to come.
	Done bool
}

// shown is what a client was shown of one session, in the order of first
// frames, and what the user said.
type shown struct {
	session string
	title   string // the last one; it has no place among the items
	prompts []string
	items   []*item
	faults  []string
	turn    int
	begun   bool // something of the turn after the last one answered was shown
}

// shownIn collects what a client was shown. Responses count that mine knows.
// The user's messages are only in a replay.
func shownIn(frames []frame, session string, mine func(frame) bool) *shown {
	s := &shown{session: session, turn: 1}
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

// close notes that nothing more comes of the first n items that are messages.
func (s *shown) close(n int) {
	for _, it := range s.items[:n] {
		if it.Kind != "tool_call" {
			it.Done = true
		}
	}
}

func (s *shown) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// find returns the item with that id.
func (s *shown) find(id string) *item {
	for _, it := range s.items {
		if it.ID == id {
			return it
		}
	}
	return nil
}

func (s *shown) add(raw json.RawMessage) {
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
		return // no part of a turn
	case "session_info_update":
		s.title = u.Title
		return
	}
	var chunk struct{ Text string }
	_ = json.Unmarshal(u.Content, &chunk) // a list in a tool call
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

func (s *shown) new(kind, id, text string) *item {
	s.close(len(s.items))
	it := &item{Kind: kind, ID: id, Turn: s.turn, Text: text}
	s.items = append(s.items, it)
	return it
}

// lasting returns an update as a replay shows it: with its members in one order, and
// without what counts only while a command runs, its terminal included.
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
		panic(err) // the checker had let it pass
	}
	return m
}

// checkReplay holds the replay of a session against what a client had seen of it
// live. What was complete is there, once, in order and the same. Only its end
// may have more, or less of what was not complete. Each call has ended.
func checkReplay(t *testing.T, prompts []string, live, replay *shown) {
	t.Helper()
	for _, f := range append(live.faults, replay.faults...) {
		t.Error(f)
	}
	begun := live.turn - 1
	if live.begun {
		begun++
	}
	if n := len(replay.prompts); n < begun || n > len(prompts) {
		t.Errorf("the replay has %d prompts of %d, of which %d had begun", n, len(prompts), begun)
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
			continue // its end was not seen
		}
		there := "nothing"
		if next < len(got) {
			there = fmt.Sprintf("%+v", *got[next])
		}
		t.Errorf("lost or out of its place: %+v\nthe replay has there: %s", *want, there)
		return
	}
	// What the client had not seen yet may follow.
	for _, it := range got[next:] {
		if it.Turn < begun {
			t.Errorf("the replay invents %+v", *it)
		}
	}
}

// sameItem reports whether two items are of one thing. Those without an id of
// their own are the same if they are equal.
func sameItem(a, b *item) bool {
	if strings.HasPrefix(a.ID, "#") {
		return a.Kind == b.Kind && a.Text == b.Text
	}
	return a.ID == b.ID
}

// compare holds an item of a replay against the one that was seen.
func compare(t *testing.T, live, replayed *item) {
	t.Helper()
	want, got := *live, *replayed
	want.ID, got.ID = "", ""
	if !live.Done { // more of it may have been kept than was seen
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
