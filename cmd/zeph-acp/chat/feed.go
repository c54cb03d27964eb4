package chat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// feed is what was said and done in the conversation, oldest first. Each entry is drawn by itself, so that a change
// draws one entry again.
type feed struct {
	entries   []*entry
	terminals map[string]*entry // the entries of the calls that own them
	orphans   map[string]string // output of terminals that no call owns yet
	paint     paint
}

// paint is how entries are drawn.
type paint struct {
	columns    int
	styled     bool // with escape sequences
	colourless bool
	rules      string // the file for permission rules, which hints name
}

// entry is a message, a call, a plan, or a line of the client. It is drawn by a [headless.Screen] of its own, from the
// updates that it consists of.
type entry struct {
	kind     string // of update, such as acp.UpdateAgentMessage; or one of the kinds below
	id       string
	session  string
	text     strings.Builder // of a message
	parts    []*part         // of a call or a plan
	title    string          // of a call
	printed  int             // bytes of output in parts
	question *question       // that is open about a call, or of kindQuestion
	failed   bool            // of kindOutcome
	draw     func(p paint) string

	unfolded bool // the person wants to see all of it
	running  bool // a call that has no result yet

	drawn   []string // as drawn with with; nil: to be drawn
	with    paint
	canFold bool     // drawn is folded, or was before it was unfolded
	picture *picture // that grows with the entry; nil: begins anew
}

// part is an update of a call, or output of its terminal.
type part struct {
	update   json.RawMessage // nil for output
	terminal string
	output   []byte
}

// Kinds of entries that no update makes.
const (
	kindQuestion = "question"
	kindOutcome  = "outcome" // of a turn or a question
	kindOwn      = "own"     // drawn by draw
)

// maxOutput bounds the output that an entry keeps, in bytes: its middle is dropped. The agent has all of it.
const maxOutput = 1 << 20

// add appends an entry.
func (f *feed) add(e *entry) *entry {
	f.entries = append(f.entries, e)
	return e
}

// remove removes an entry.
func (f *feed) remove(e *entry) {
	f.entries = slices.DeleteFunc(f.entries, func(other *entry) bool { return other == e })
}

// say adds a line of the client.
func (f *feed) say(text string, failed bool) {
	e := f.add(&entry{kind: kindOutcome, failed: failed})
	e.text.WriteString(text)
}

// last returns the last entry; nil if there is none.
func (f *feed) last() *entry {
	if len(f.entries) == 0 {
		return nil
	}
	return f.entries[len(f.entries)-1]
}

// update adds a session/update, whose params these are.
func (f *feed) update(params json.RawMessage) {
	session, kind, update, ok := headless.Parts(params)
	if !ok {
		return
	}
	switch kind {
	case acp.UpdateUserMessage, acp.UpdateAgentMessage, acp.UpdateAgentThought:
		var m acp.MessageChunk
		if json.Unmarshal(update, &m) == nil {
			f.chunk(m)
		}
	case acp.UpdateToolCall, acp.UpdateToolCallPatch:
		var t acp.ToolCall
		if json.Unmarshal(update, &t) == nil {
			f.call(session, t, params)
		}
	case acp.UpdatePlan:
		f.plan(params)
	case acp.UpdateNotice, acp.UpdateCompaction:
		f.add(&entry{kind: kind, parts: []*part{{update: params}}})
	}
}

// chunk adds a piece of a message.
func (f *feed) chunk(m acp.MessageChunk) {
	text := headless.BlockText(m.Content)
	e := f.last()
	if e == nil || e.kind != m.Update || e.id != m.MessageID {
		if strings.Trim(text, "\r\n") == "" {
			return // nothing yet
		}
		e = f.add(&entry{kind: m.Update, id: m.MessageID})
	}
	e.text.WriteString(text)
	e.drawn = nil
}

// call adds a call, or a change of one. A question about a call alone is no call.
func (f *feed) call(session string, t acp.ToolCall, params json.RawMessage) {
	e := f.callEntry(t.ToolCallID)
	if e == nil {
		if t.Update != acp.UpdateToolCall {
			return
		}
		e = f.add(&entry{kind: acp.UpdateToolCall, id: t.ToolCallID, session: session, running: true})
	}
	e.parts, e.drawn = append(e.parts, &part{update: params}), nil
	if t.Title != "" {
		e.title = headless.PlainTitle(t.Title)
	}
	for _, c := range t.Content {
		if c.Type == "terminal" && f.terminals[c.TerminalID] == nil {
			if f.terminals == nil {
				f.terminals = map[string]*entry{}
			}
			f.terminals[c.TerminalID] = e
			e.print(c.TerminalID, f.orphans[c.TerminalID])
			delete(f.orphans, c.TerminalID)
		}
	}
	if t.Status == acp.ToolCompleted || t.Status == acp.ToolFailed {
		e.running = false
	}
}

// callEntry returns the entry of a call that has no result yet; nil if there is none.
func (f *feed) callEntry(id string) *entry {
	for _, e := range slices.Backward(f.entries) {
		if e.kind == acp.UpdateToolCall && e.id == id && e.running {
			return e
		}
	}
	return nil
}

// print adds output of a terminal.
func (f *feed) print(terminal, text string) {
	if e := f.terminals[terminal]; e != nil {
		e.print(terminal, text)
		return
	}
	if f.orphans == nil {
		f.orphans = map[string]string{}
	}
	f.orphans[terminal] = bounded(f.orphans[terminal] + text)
}

// print adds output of a terminal of a call. What is too long is shortened now and then, since that draws it anew.
func (e *entry) print(terminal, text string) {
	if text == "" {
		return
	}
	var last *part
	if n := len(e.parts); n > 0 {
		last = e.parts[n-1]
	}
	if last == nil || last.update != nil || last.terminal != terminal {
		last = &part{terminal: terminal}
		e.parts = append(e.parts, last)
	}
	last.output = append(last.output, text...)
	e.printed += len(text)
	e.drawn = nil
	if e.printed > 2*maxOutput {
		e.shorten()
	}
}

// shorten drops the middle of all output of a call.
func (e *entry) shorten() {
	at, from, to := 0, maxOutput/4, e.printed-maxOutput/2 // what is dropped
	e.printed, e.picture = 0, nil
	for _, p := range e.parts {
		n := len(p.output)
		head, tail := p.output[:min(max(from-at, 0), n)], p.output[min(max(to-at, 0), n):]
		if len(head)+len(tail) < n {
			kept := append([]byte{}, head[:bytes.LastIndexByte(head, '\n')+1]...)
			if at <= from {
				kept = append(kept, "…\n"...)
			}
			if len(tail) > 0 {
				kept = append(kept, tail[bytes.IndexByte(tail, '\n')+1:]...)
			}
			p.output = kept
		}
		at += n
		e.printed += len(p.output)
	}
	e.parts = slices.DeleteFunc(e.parts, func(p *part) bool { return p.update == nil && len(p.output) == 0 })
}

// bounded drops the middle of an output that is too long.
func bounded(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	head, tail := text[:maxOutput/4], text[len(text)-maxOutput/2:]
	return strings.ToValidUTF8(head[:strings.LastIndexByte(head, '\n')+1], "") + "…\n" +
		strings.ToValidUTF8(tail[strings.IndexByte(tail, '\n')+1:], "")
}

// plan shows the current plan in the place of the last one of this turn.
func (f *feed) plan(params json.RawMessage) {
	for _, e := range slices.Backward(f.entries) {
		switch e.kind {
		case acp.UpdatePlan:
			e.parts, e.drawn, e.picture = []*part{{update: params}}, nil, nil
			return
		case acp.UpdateUserMessage:
			f.add(&entry{kind: acp.UpdatePlan, parts: []*part{{update: params}}})
			return
		}
	}
	f.add(&entry{kind: acp.UpdatePlan, parts: []*part{{update: params}}})
}

// endTurn marks the calls without a result as ended.
func (f *feed) endTurn() {
	for _, e := range f.entries {
		if e.running {
			e.running, e.drawn = false, nil
		}
	}
	f.orphans = nil
}

// running returns the calls that run.
func (f *feed) running() (all []*entry) {
	for _, e := range f.entries {
		if e.running {
			all = append(all, e)
		}
	}
	return all
}
