package headless

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// Answer is a View for a pipe or a file: the answer of the turn goes to Out, and everything
// else to Rest. The answer is the model's last message, or the agent's if the model said
// nothing. If the user made tool calls, their output is the answer.
//
// A message is written at the end of the turn, since until then another may follow.
type Answer struct {
	Out  io.Writer // write errors are left to Out
	Rest View
	// IsNote reports whether a message is from the agent itself, not from a model.
	IsNote func(messageID string) bool
	// IsWarning reports whether a message of the agent is a warning, which is never the answer. Nil means that there are none.
	IsWarning func(messageID string) bool
	// IsUserCall reports whether the user made a tool call.
	IsUserCall func(toolCallID string) bool
	// IsHelp reports whether a message says only that there is no answer, or how to get one.
	IsHelp func(text string) bool
	// Last returns the model's last message if calls of the session itself may follow it, such as the
	// check of a goal; else "".
	Last func() string

	mu          sync.Mutex
	held        *heldMessage
	hasUserCall bool // the user made calls
	midLine     bool // Out is inside a line
	terminals   map[string]*terminalOutput
}

// heldMessage is a message that may be the answer.
type heldMessage struct {
	id      string
	isNote  bool
	updates []json.RawMessage // for Rest
	text    strings.Builder
}

// terminalOutput is the output of one terminal.
type terminalOutput struct {
	clean    cleaner
	assigned bool   // an update has named the call of the terminal
	isAnswer bool   // the user made that call, so the output goes to Out
	pending  []byte // output before that update
	tail     string // the end of the output that went to Out
}

// Update writes a session/update where it belongs.
func (a *Answer) Update(params json.RawMessage) {
	var p struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch p.Update.Kind {
	case acp.UpdateAgentMessage:
		a.message(params)
	case acp.UpdateToolCall, acp.UpdateToolCallPatch:
		a.drop()
		a.toolCall(params)
	default:
		a.Rest.Update(params)
	}
}

// message holds a piece of a message of the agent. A note never replaces a message of a
// model.
func (a *Answer) message(params json.RawMessage) {
	var p struct {
		Update acp.MessageChunk `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil || p.Update.Content.Text == nil {
		return
	}
	if a.IsWarning != nil && a.IsWarning(p.Update.MessageID) {
		a.Rest.Update(params)
		return
	}
	if id := p.Update.MessageID; a.held == nil || a.held.id != id {
		note := a.IsNote(id)
		if note && a.held != nil && !a.held.isNote {
			a.Rest.Update(params)
			return
		}
		a.drop()
		a.held = &heldMessage{id: id, isNote: note}
	}
	a.held.updates = append(a.held.updates, slices.Clone(params))
	a.held.text.WriteString(*p.Update.Content.Text)
}

// drop shows the held message as one that is not the answer.
func (a *Answer) drop() {
	if a.held == nil {
		return
	}
	for _, u := range a.held.updates {
		a.Rest.Update(u)
	}
	a.held = nil
}

// toolCall shows a call. The output of a call of the user goes to Out.
func (a *Answer) toolCall(params json.RawMessage) {
	var p struct {
		Session string       `json:"sessionId"`
		Update  acp.ToolCall `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	own := a.IsUserCall(p.Update.ToolCallID)
	for _, c := range p.Update.Content {
		if c.Type == "terminal" {
			a.attach(c.TerminalID, own)
		}
	}
	if own {
		a.hasUserCall = true
		p.Update = a.writeOutput(p.Update)
		params, _ = json.Marshal(p) // of our own types
	}
	a.Rest.Update(params)
}

// attach decides where the past and future output of a terminal goes.
func (a *Answer) attach(id string, own bool) {
	t := a.terminal(id)
	if t.assigned {
		return
	}
	t.assigned, t.isAnswer = true, own
	a.writeTerminal(id, t, t.pending)
	t.pending = nil
}

// writeOutput writes the output in an update of a user's call, and returns the rest of the
// update. A terminal has written its output before.
func (a *Answer) writeOutput(t acp.ToolCall) acp.ToolCall {
	var rest []acp.ToolContent
	var texts []string
	var terminal *terminalOutput
	for _, c := range t.Content {
		switch {
		case c.Type == "terminal":
			terminal = a.terminal(c.TerminalID)
		case c.Type == "diff":
			rest = append(rest, c)
		case c.Content != nil:
			texts = append(texts, BlockText(*c.Content))
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case terminal != nil:
		lines := linesOf(text)
		reason, stopped := reasonOf(lines)
		if lines = unshownNotes(lines, terminal.tail); t.Status == acp.ToolFailed && stopped {
			lines = append([]string{reason}, lines...)
		}
		text = strings.Join(lines, "\n")
	case t.Status == acp.ToolCompleted:
		a.print(new(cleaner).clean(text))
		a.breakLine()
		text = ""
	case t.Status != acp.ToolFailed: // the end has all of it
		text = ""
	}
	if t.Content = rest; text != "" {
		t.Content = append(rest, acp.BlockContent(acp.TextBlock(text)))
	}
	return t
}

// Output writes the output of a terminal where it belongs.
func (a *Answer) Output(id string, text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.terminal(id)
	if !t.assigned {
		t.pending = append(t.pending, text...)
		return
	}
	a.writeTerminal(id, t, text)
}

// writeTerminal writes output of a terminal whose call is known.
func (a *Answer) writeTerminal(id string, t *terminalOutput, text []byte) {
	switch {
	case len(text) == 0:
	case t.isAnswer:
		clean := t.clean.clean(string(text))
		t.tail = tailOf(t.tail + clean)
		a.print(clean)
	default:
		a.Rest.Output(id, text)
	}
}

// terminal returns the output of a terminal.
func (a *Answer) terminal(id string) *terminalOutput {
	if a.terminals == nil {
		a.terminals = map[string]*terminalOutput{}
	}
	if a.terminals[id] == nil {
		a.terminals[id] = &terminalOutput{}
	}
	return a.terminals[id]
}

// End writes the answer. The agent's explanation of why it stopped the turn is not an
// answer, nor is help.
func (a *Answer) End(stop acp.StopReason, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	endedByItself := err == nil && stop == acp.StopEndTurn
	last := ""
	if a.Last != nil && (a.held == nil || a.held.isNote) {
		last = a.Last()
	}
	if h := a.held; last != "" {
		a.drop()
		a.printAnswer(last)
	} else if h != nil && !a.hasUserCall && (endedByItself || !h.isNote) && !a.IsHelp(h.text.String()) {
		a.held = nil
		a.printAnswer(h.text.String())
	}
	a.drop()
	a.Rest.End(stop, err)
}

// printAnswer prints the answer of the turn.
func (a *Answer) printAnswer(text string) {
	if s, ok := a.Rest.(*Screen); ok { // both may be shown in one terminal
		s.EndLine()
	}
	text = strings.ReplaceAll(new(cleaner).clean(text), "\r", "")
	a.print(strings.Trim(text, "\n"))
	a.breakLine()
}

// print writes a text to Out.
func (a *Answer) print(text string) {
	if text != "" {
		a.midLine = !strings.HasSuffix(text, "\n")
		_, _ = io.WriteString(a.Out, text)
	}
}

// breakLine ends an unfinished line of Out.
func (a *Answer) breakLine() {
	if a.midLine {
		a.print("\n")
	}
}
