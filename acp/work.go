package acp

import (
	"slices"
	"unicode/utf8"
)

// Shown is an update of a session or child session that a client was shown.
type Shown struct {
	Session string
	Update  SessionUpdate
}

// UserMessage is a prompt, or a text that joined one, once it is part of the conversation. Clients of
// version 1 show it themselves.
type UserMessage struct {
	MessageID string
	Content   []ContentBlock
}

func (UserMessage) sessionUpdate() {}

// work is what a client was shown of the running turn: each message, call and plan once, as it is now. On
// nil, add does nothing.
type work struct {
	items []*shownItem
	byKey map[itemKey]*shownItem
}

// itemKey identifies what later updates change.
type itemKey struct{ session, kind, id string }

// shownItem is one entry of work.
type shownItem struct {
	Shown
	text     []byte    // of a message of text
	patch    *ToolCall // the changes of a tool call since its announcement, as one
	terminal *TerminalUpdate
	output   []byte // of the terminal
}

// maxShownOutput bounds the output of a terminal in a replay during its turn, in bytes: the end stays.
const maxShownOutput = 128 << 10

// add adds an update. What a replay does not show is left out.
func (w *work) add(session string, u SessionUpdate) {
	if w == nil {
		return
	}
	s := Shown{session, u}
	switch u := u.(type) {
	case MessageChunk:
		w.addChunk(s, u)
	case ToolCall:
		if known := w.byKey[itemKey{session, "call", u.ToolCallID}]; known != nil {
			known.change(u)
		} else if u.Update == UpdateToolCall {
			known := w.append(itemKey{session, "call", u.ToolCallID}, s)
			known.terminal = u.Terminal
		}
	case TerminalUpdate:
		if call := w.byKey[itemKey{session, "call", u.ToolCallID}]; call != nil {
			call.change(ToolCall{Terminal: &u})
		}
	case TerminalChunk:
		if call := w.byKey[itemKey{session, "call", u.ToolCallID}]; call != nil {
			call.print(u.Data)
		}
	case SubagentUpdate: // its announcement precedes what the child shows, and its state follows that
		first, now := itemKey{session, "child", u.SessionID}, itemKey{session, "child's state", u.SessionID}
		if w.byKey[first] == nil {
			w.append(first, s)
			break
		}
		if known := w.byKey[now]; known != nil {
			s.Update = u.after(known.Update.(SubagentUpdate))
		}
		w.replace(now, s)
	case CompactionUpdate:
		key := itemKey{session, "compaction", u.CompactionID}
		if known := w.byKey[key]; known != nil {
			known.Update = u.after(known.Update.(CompactionUpdate))
		} else {
			w.append(key, s)
		}
	case PlanUpdate:
		w.replace(itemKey{session, "plan", u.PlanID}, s)
	case PlanRemoved:
		w.replace(itemKey{session, "plan", u.PlanID}, s)
	case UsageUpdate:
		w.replace(itemKey{session: session, kind: "usage"}, s)
	case ModeUpdate:
		w.replace(itemKey{session: session, kind: "mode"}, s)
	case InfoUpdate:
		w.replace(itemKey{session: session, kind: "info"}, s)
	case UserMessage, SessionMessage, FileChanges:
		w.items = append(w.items, &shownItem{Shown: s})
	}
}

func (w *work) append(key itemKey, s Shown) *shownItem {
	item := &shownItem{Shown: s}
	w.items = append(w.items, item)
	if w.byKey == nil {
		w.byKey = map[itemKey]*shownItem{}
	}
	w.byKey[key] = item
	return item
}

// replace adds an update in place of the one with that key.
func (w *work) replace(key itemKey, s Shown) {
	if old := w.byKey[key]; old != nil {
		w.items = slices.DeleteFunc(w.items, func(item *shownItem) bool { return item == old })
	}
	w.append(key, s)
}

// addChunk adds a part of a message. Text joins the text before it.
func (w *work) addChunk(s Shown, u MessageChunk) {
	text := u.Content.Text
	if n := len(w.items); n > 0 && text != nil {
		last := w.items[n-1]
		before, ok := last.Update.(MessageChunk)
		if ok && before.Content.Text != nil && last.Session == s.Session &&
			before.Update == u.Update && before.MessageID == u.MessageID && before.Words == u.Words {
			last.text = append(last.text, *text...)
			return
		}
	}
	item := &shownItem{Shown: s}
	if text != nil {
		item.text = []byte(*text)
	}
	w.items = append(w.items, item)
}

// change applies a change to a tool call.
func (i *shownItem) change(u ToolCall) {
	if t := u.Terminal; t != nil {
		if i.terminal == nil {
			i.terminal = &TerminalUpdate{TerminalID: t.TerminalID}
		}
		known := *i.terminal
		known.Background = known.Background || t.Background
		if t.Exit != nil {
			known.Exit, known.Background = t.Exit, false
		}
		i.terminal = &known
		if t.Output != nil {
			i.output = nil
			i.print(*t.Output)
		}
	}
	if i.patch == nil {
		i.patch = &ToolCall{Update: UpdateToolCallPatch, ToolCallID: i.Update.(ToolCall).ToolCallID}
	}
	p := i.patch
	change(&p.Title, u.Title)
	change(&p.Name, u.Name)
	change(&p.Kind, u.Kind)
	change(&p.Status, u.Status)
	if len(u.Content) > 0 {
		p.Content = u.Content
	}
	if len(u.Locations) > 0 {
		p.Locations = u.Locations
	}
	if u.RawInput != nil {
		p.RawInput = u.RawInput
	}
	if u.RawOutput != nil {
		p.RawOutput = u.RawOutput
	}
	if u.Cancel != nil {
		p.Cancel = u.Cancel
	}
}

func change[T ~string](member *T, to T) {
	if to != "" {
		*member = to
	}
}

// print adds output of the terminal.
func (i *shownItem) print(data string) {
	i.output = append(i.output, data...)
	if len(i.output) > 2*maxShownOutput {
		i.output = slices.Clone(i.output[len(i.output)-maxShownOutput:])
	}
	if i.patch == nil {
		i.change(ToolCall{})
	}
}

// after returns the compaction that an update makes of an earlier one.
func (u CompactionUpdate) after(earlier CompactionUpdate) CompactionUpdate {
	change(&earlier.Status, u.Status)
	change(&earlier.Error, u.Error)
	if len(u.Summary) > 0 {
		earlier.Summary = u.Summary
	}
	return earlier
}

// updates returns the work for a replay.
func (w *work) updates() []Shown {
	out := []Shown{}
	for _, i := range w.items {
		switch u := i.Update.(type) {
		case MessageChunk:
			if i.text != nil {
				u.Content = TextBlock(string(i.text))
			}
			out = append(out, Shown{i.Session, u})
		case ToolCall:
			out = append(out, i.calls(u)...)
		default:
			out = append(out, i.Shown)
		}
	}
	return out
}

// calls returns the announcement of a tool call, and its changes as one. The client's own terminal no
// longer exists after the call.
func (i *shownItem) calls(announced ToolCall) []Shown {
	if i.patch == nil {
		return []Shown{{i.Session, announced}}
	}
	patch := *i.patch
	if opened := announced.Terminal != nil && announced.Terminal.Opens; opened {
		patch.Terminal = &TerminalUpdate{TerminalID: announced.Terminal.TerminalID, Exit: i.terminal.Exit, Background: i.terminal.Background}
		if len(i.output) > 0 {
			patch.Terminal.Output = new(string(lastOf(i.output, maxShownOutput)))
		}
	} else if patch.Status.Final() {
		announced.Content, patch.Content = withoutTerminals(announced.Content), withoutTerminals(patch.Content)
	}
	return []Shown{{i.Session, announced}, {i.Session, patch}}
}

// lastOf returns at most limit bytes of the end of output, in whole characters.
func lastOf(output []byte, limit int) []byte {
	if len(output) <= limit {
		return output
	}
	output = output[len(output)-limit:]
	for n := 0; n < utf8.UTFMax && len(output) > 0 && !utf8.RuneStart(output[0]); n++ {
		output = output[1:]
	}
	return output
}

func withoutTerminals(content []ToolContent) []ToolContent {
	return slices.DeleteFunc(slices.Clone(content), func(c ToolContent) bool { return c.Type == "terminal" })
}
