package transcript

import (
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// The parts that a rewind can restore.
const (
	RewindFiles        = "files"
	RewindConversation = "conversation"
	RewindBoth         = "both"
)

// IsRewindMode reports whether a rewind can restore the named parts.
func IsRewindMode(s string) bool {
	return s == RewindFiles || s == RewindConversation || s == RewindBoth
}

// Rewound records that the files, the conversation or both were restored to their state
// before a turn. The events of the turns stay in the log, but no longer count.
type Rewound struct {
	ID        string `json:"id"`
	MessageID string `json:"messageId"` // of the turn's prompt
	Turn      int    `json:"turn"`
	Mode      string `json:"mode"`
	// Redo records that the rewind with this ID was undone.
	Redo  bool `json:"redo,omitempty"`
	Files int  `json:"files,omitempty"` // the number of changed files
}

// Kind returns the event's name in the store.
func (Rewound) Kind() string { return "rewound" }

// Conversation reports whether the conversation was restored.
func (r Rewound) Conversation() bool { return r.Mode != RewindFiles }

func (r Rewound) check() error {
	if !IsRewindMode(r.Mode) {
		return fmt.Errorf("unknown mode %q", r.Mode)
	}
	return nil
}

// FilesRewound shows the files that a rewind or its undoing changed, as a completed call.
type FilesRewound struct {
	Shown acp.ToolCall `json:"shown"`
}

// Kind returns the event's name in the store.
func (FilesRewound) Kind() string { return "files_rewound" }

// Effective returns the events except the events of rewound turns. Settings, titles and
// states stay, since a rewind does not concern them.
func Effective(events []Event) []Event {
	if !slices.ContainsFunc(events, func(e Event) bool { _, ok := e.(Rewound); return ok }) {
		return events
	}
	var s effective
	for _, e := range events {
		s.add(e)
	}
	return s.events
}

// effective collects the events that count.
type effective struct {
	events []Event
	undone []undone // the rewinds that can still be undone, the newest last
}

// undone holds the events that a rewind left out.
type undone struct {
	id     string // the rewind's
	at     int    // the index in effective.events at which they began
	stayed int    // the number of settings among them, which stayed there
	events []Event
}

// add adds an event, and applies it if it is a rewind.
func (s *effective) add(e Event) {
	switch e := e.(type) {
	case Rewound:
		switch {
		case !e.Conversation():
		case e.Redo:
			s.redo(e.ID)
		default:
			s.rewind(e)
		}
	case Prompt:
		if !e.NoModel {
			s.undone = nil
		}
	case Cleared, Compaction:
		s.undone = nil
	}
	s.events = append(s.events, e)
}

// rewind leaves out the turn that the rewind names, and all later turns. The command that
// asks for the rewind stays.
func (s *effective) rewind(r Rewound) {
	from := slices.IndexFunc(s.events, func(e Event) bool {
		p, ok := e.(Prompt)
		return ok && p.MessageID == r.MessageID && !p.NoModel
	})
	if from < 0 {
		return
	}
	for from > 0 {
		if _, ok := s.events[from-1].(Preamble); !ok {
			break
		}
		from--
	}
	to := s.commandStart()
	if to < from {
		return
	}
	rewound := slices.Clone(s.events[from:to])
	staying := slices.DeleteFunc(slices.Clone(rewound), func(e Event) bool { return !isSetting(e) })
	s.undone = append(s.undone, undone{id: r.ID, at: from, stayed: len(staying), events: rewound})
	s.events = slices.Concat(s.events[:from], staying, s.events[to:])
}

// commandStart returns the index at which the running command begins, or the number of
// events if no command is running.
func (s *effective) commandStart() int {
	for i, e := range slices.Backward(s.events) {
		switch e := e.(type) {
		case TurnEnd:
			return len(s.events)
		case Prompt:
			if e.NoModel {
				return i
			}
			return len(s.events)
		}
	}
	return len(s.events)
}

// redo brings back the events of the last rewind.
func (s *effective) redo(id string) {
	last := len(s.undone) - 1
	if last < 0 || s.undone[last].id != id {
		return
	}
	u := s.undone[last]
	s.undone = s.undone[:last]
	s.events = slices.Concat(s.events[:u.at], u.events, s.events[u.at+u.stayed:])
}

func isSetting(e Event) bool {
	switch e.(type) {
	case Setting, Title, State:
		return true
	}
	return false
}

// Turn is a turn of the conversation that counts.
type Turn struct {
	Number    int // from 1, including the turns that were rewound
	MessageID string
	Text      string // the text that the user typed, or the first line with which the session continued a goal
}

// Turns returns the turns of the conversation, except command turns.
func Turns(events []Event) []Turn {
	numbers := turnNumbers(events)
	var turns []Turn
	for _, e := range Effective(events) {
		if p, ok := e.(Prompt); ok && !p.NoModel {
			text := TypedText(p.Content)
			if len(p.Content) == 0 { // the session continued by itself
				text = line.First(p.ModelText)
			}
			turns = append(turns, Turn{numbers[p.MessageID], p.MessageID, text})
		}
	}
	return turns
}

// LastTurnNumber returns the number of the last turn; 0 before the first one.
func LastTurnNumber(events []Event) int { return len(turnNumbers(events)) }

// turnNumbers returns the numbers of all turns, from 1, by the ids of their prompts.
func turnNumbers(events []Event) map[string]int {
	numbers := map[string]int{}
	for _, e := range events {
		if p, ok := e.(Prompt); ok && !p.NoModel && numbers[p.MessageID] == 0 {
			numbers[p.MessageID] = len(numbers) + 1
		}
	}
	return numbers
}

// LastRedoable returns the last rewind that can be undone; false if there is no such
// rewind.
func LastRedoable(events []Event) (Rewound, bool) {
	var stack []Rewound
	for _, e := range events {
		switch e := e.(type) {
		case Rewound:
			if !e.Redo {
				stack = append(stack, e)
			} else if n := len(stack); n > 0 && stack[n-1].ID == e.ID {
				stack = stack[:n-1]
			}
		case Prompt:
			if !e.NoModel {
				stack = nil
			}
		case Cleared, Compaction:
			stack = nil
		}
	}
	if len(stack) == 0 {
		return Rewound{}, false
	}
	return stack[len(stack)-1], true
}
