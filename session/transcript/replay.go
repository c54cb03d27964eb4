package transcript

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
)

// maxReplayed bounds a text in one frame, and an attachment in a replayed frame, in
// bytes as sent. Some clients refuse long lines, and one of them would make the session
// unusable.
const maxReplayed = 512 << 10

// interrupted is the text of a tool call whose end is not in the log.
const interrupted = "[not ended: the agent was stopped, or the turn still runs in another process]"

// Replay sends the updates that the client was shown, in order and with the same ids. A call
// without an end is shown as failed, and a turn that was rewound is left out. It stops at the first
// error of send.
func Replay(events []Event, caps acp.ClientCapabilities, send func(acp.SessionUpdate) error) error {
	caps.Subagents = false
	return ReplayFamily("", events, caps, func(_ string, u acp.SessionUpdate) error { return send(u) })
}

// ReplayFamily is like Replay for a session of that id, and also sends the updates of its
// child sessions if the client shows them.
func ReplayFamily(id string, events []Event, caps acp.ClientCapabilities, send func(session string, u acp.SessionUpdate) error) error {
	events = withoutImages(Effective(events))
	r := replayer{
		caps:      caps,
		send:      func(u acp.SessionUpdate) error { return send(id, u) },
		open:      map[string]bool{},
		steps:     map[string]string{},
		terminals: map[string]string{},
	}
	if caps.Subagents {
		r.children = &children{parent: id, sendAs: send, calls: map[string]acp.ToolCall{}, of: map[string][]*child{}}
	}
	for _, e := range events {
		if e, ok := e.(Result); ok {
			r.terminals[e.Shown.ToolCallID] = terminalOf(e.Shown)
		}
	}
	for i, e := range events {
		r.replay(e, events[:i])
	}
	r.failOpenCalls()
	r.sendNotes(r.earlyNotes...)
	r.sendTitle()
	return r.err
}

// ReplayWork sends what a client was shown of a running turn, which follows the events before it.
func ReplayWork(work []acp.Shown, send func(session string, u acp.SessionUpdate) error) error {
	for _, shown := range work {
		r := replayer{send: func(u acp.SessionUpdate) error { return send(shown.Session, u) }}
		switch u := shown.Update.(type) {
		case acp.UserMessage:
			r.sendUserMessage(u.MessageID, u.Content)
		case acp.MessageChunk:
			r.sendBlock(u)
		default:
			r.update(u)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// replayer sends the events of a log to a client.
type replayer struct {
	caps       acp.ClientCapabilities
	send       func(acp.SessionUpdate) error
	err        error             // the first error of send; nothing is sent after it
	prompted   bool              // there was a prompt
	inTurn     bool              // a turn has begun and not ended
	earlyNotes []Note            // notes that were recorded before the prompt of their turn
	title      string            // to send at the end of the turn; may be empty
	calls      []string          // ids of the calls of this turn, in order
	open       map[string]bool   // ids of the calls without a result
	steps      map[string]string // lines about the open calls, by id
	// children are the child sessions of the open calls; nil if the client shows none.
	children *children
	// terminals are the terminals that results embed, by the call's id.
	terminals map[string]string
}

// update sends an update, unless an earlier one failed.
func (r *replayer) update(u acp.SessionUpdate) {
	if r.err == nil {
		r.err = r.send(u)
	}
}

// replay sends the updates for one event, which follows the earlier ones.
func (r *replayer) replay(e Event, earlier []Event) {
	switch e := e.(type) {
	case Prompt:
		r.failOpenCalls()
		r.prompted, r.inTurn = true, true
		r.sendUserMessage(e.MessageID, e.Content)
		r.sendNotes(r.earlyNotes...)
		r.earlyNotes = nil
	case Steer:
		r.sendUserMessage(e.MessageID, e.Content)
	case Block:
		if e.Block.Text != "" {
			r.sendBlock(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: e.MessageID, Words: true, Content: acp.TextBlock(e.Block.Text)})
		} else if e.Block.Thought != "" {
			r.sendBlock(acp.MessageChunk{Update: acp.UpdateAgentThought, MessageID: e.MessageID, Words: true, Content: acp.TextBlock(e.Block.Thought)})
		}
	case Note:
		if r.inTurn {
			r.sendNotes(e)
		} else {
			r.earlyNotes = append(r.earlyNotes, e)
		}
	case Call:
		r.announce(e.Shown)
	case Question:
		r.replayQuestion(e)
	case Correction:
		if u := e.Shown; r.open[u.ToolCallID] { // false in a log from elsewhere
			u.Terminal, u.Content = nil, slices.DeleteFunc(slices.Clone(u.Content), isTerminal)
			r.update(u)
		}
	case Step:
		r.steps[e.ToolCallID] += e.line()
		r.children.add(e)
	case Child, ChildEnd:
		r.children.add(e)
	case Result:
		e.Shown.Content = slices.Concat(r.sendChildren(e.Shown.ToolCallID, e.Result.Text), e.Shown.Content)
		r.endCall(e.Shown, e.Exit)
	case TurnEnd:
		r.failOpenCalls()
		r.inTurn = false
		if e.Error == "" && e.Reason != acp.StopCancelled {
			r.sendTitle()
		}
	case Plan:
		r.update(e.Update())
	case ApprovedPlan:
		r.update(e.Update())
	case Cleared:
		for _, u := range RemovedPlans(earlier) {
			r.update(u)
		}
	case Answer:
		if e.Shown != nil {
			r.update(*e.Shown)
		}
	case Compaction:
		r.replayCompaction(e)
	case Setting:
		if e.ID == acp.CategoryMode && r.prompted {
			r.update(acp.ModeUpdate{Update: acp.UpdateMode, CurrentModeID: e.Value})
		}
	case Title:
		r.title = e.Title
	case FilesRewound:
		r.update(acp.FileChanges{Call: e.Shown})
	}
}

func (r *replayer) sendUserMessage(id string, content []acp.ContentBlock) {
	for _, b := range content {
		r.sendBlock(acp.MessageChunk{Update: acp.UpdateUserMessage, MessageID: id, Words: true, Content: b})
	}
}

func (r *replayer) replayQuestion(e Question) {
	if e.Shown.Update == acp.UpdateToolCall {
		r.announce(e.Shown)
	} else {
		r.endCall(e.Shown, nil)
	}
}

func (r *replayer) replayCompaction(e Compaction) {
	if r.caps.Compaction && e.ID != "" {
		r.update(e.Update())
	} else if e.MessageID != "" {
		r.sendBlock(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: e.MessageID, Content: acp.TextBlock(e.Note() + "\n\n")})
	}
}

// announce sends the announcement of a call.
func (r *replayer) announce(u acp.ToolCall) {
	r.calls = append(r.calls, u.ToolCallID)
	r.open[u.ToolCallID] = true
	r.children.announce(u)
	r.update(r.fit(u, nil))
}

// endCall sends the end of a call, unless its announcement could not be read.
func (r *replayer) endCall(u acp.ToolCall, exit *acp.TerminalExit) {
	if r.open[u.ToolCallID] {
		delete(r.open, u.ToolCallID)
		r.update(r.fit(u, exit))
	}
}

func (r *replayer) sendNotes(notes ...Note) {
	for _, n := range notes {
		r.sendBlock(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: n.MessageID, Content: acp.TextBlock(n.Text)})
	}
}

// sendTitle sends a title that the client does not have yet.
func (r *replayer) sendTitle() {
	if r.title != "" {
		r.update(acp.InfoUpdate{Update: acp.UpdateInfo, Title: r.title})
		r.title = ""
	}
}

// failOpenCalls ends the open calls of a turn as failed.
func (r *replayer) failOpenCalls() {
	for _, id := range r.calls {
		if r.open[id] {
			content := append(r.sendChildren(id, ""), acp.BlockContent(acp.TextBlock(r.steps[id]+interrupted)))
			r.update(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: id, Status: acp.ToolFailed, Content: content})
		}
	}
	r.calls = nil
	r.children.clear()
	clear(r.open)
	clear(r.steps)
}

// sendBlock sends one block of a message, a long text in pieces.
func (r *replayer) sendBlock(chunk acp.MessageChunk) {
	b := chunk.Content
	send := func(b acp.ContentBlock) {
		chunk.Content = b
		r.update(chunk)
	}
	if b.Type == "text" && *b.Text == "" { // of a prompt; some clients show no more updates after it
		return
	}
	for b.Type == "text" {
		n := FittingLen(*b.Text)
		if n == len(*b.Text) {
			break
		}
		send(acp.TextBlock((*b.Text)[:n]))
		b = acp.TextBlock((*b.Text)[n:])
	}
	send(fitAttachment(b))
}

// maxResult bounds the text of a tool's result in a frame, in bytes as sent. With the raw output, the
// frame stays under 1 MiB. resultEnd are the bytes at the end of a longer text that stay: they tell how
// the call ended.
const (
	maxResult = 700 << 10
	resultEnd = 4 << 10
)

// FitResult returns the text of a result as a client gets it: without its middle if it does not fit
// into one frame.
func FitResult(text string) string {
	if fittingLen(text, maxResult) == len(text) {
		return text
	}
	head, tail := fittingLen(text, maxResult-8*resultEnd), len(text)-resultEnd
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d KiB that only the model gets: one message has no room for them …]\n%s", text[:head], (tail-head)>>10, text[tail:])
}

// FittingLen returns how many bytes of a text fit into one frame, in whole characters.
func FittingLen(text string) int { return fittingLen(text, maxReplayed) }

// fittingLen returns how many bytes of a text have at most limit bytes as sent, in whole characters.
func fittingLen(text string, limit int) int {
	n, sent := 0, 0
	for n < len(text) && sent+escapedLen(text[n]) <= limit {
		sent += escapedLen(text[n])
		n++
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// escapedLen returns the length of a byte in a JSON string.
func escapedLen(c byte) int {
	switch {
	case c == '"', c == '\\', c == '\n':
		return 2
	case c < ' ':
		return 6
	}
	return 1
}

// fitAttachment replaces an attachment that is too large for a frame by a link or a few
// words. It adds the name that a link must have.
func fitAttachment(b acp.ContentBlock) acp.ContentBlock {
	switch size := attachmentSize(b); {
	case b.Type == "resource_link" && b.Name == "": // the schema requires one, which some clients leave out
		b.Name = b.URI
		return b
	case size <= maxReplayed:
		return b
	case b.Type == "resource":
		return acp.ContentBlock{Type: "resource_link", URI: b.Resource.URI, Name: b.Resource.URI, MIMEType: b.Resource.MIMEType}
	default:
		return acp.TextBlock(fmt.Sprintf("[%s, %d KiB]", b.Type, size>>10))
	}
}

// attachmentSize returns the size of a block's attachment, in bytes as sent.
func attachmentSize(b acp.ContentBlock) int {
	n := len(b.Data)
	if r := b.Resource; r != nil && r.Text != nil {
		for i := range len(*r.Text) {
			n += escapedLen((*r.Text)[i])
		}
	}
	if r := b.Resource; r != nil && r.Blob != nil {
		n += len(*r.Blob)
	}
	return n
}

// fit adapts a tool call to this client. The client's terminal in which it ran no longer
// exists, and the text of the result has its output. A client that shows terminals of the
// agent gets one, opened by the announcement and filled by the result.
func (r *replayer) fit(u acp.ToolCall, exit *acp.TerminalExit) acp.ToolCall {
	opened := acp.TerminalUpdate{Opens: true}
	if u.Terminal != nil && u.Terminal.Opens {
		opened = *u.Terminal
	}
	u.Terminal = nil
	terminal := r.terminals[u.ToolCallID]
	if terminal == "" {
		terminal = terminalOf(u)
	}
	if terminal == "" {
		return u
	}
	rest := slices.DeleteFunc(slices.Clone(u.Content), isTerminal)
	if !r.caps.TerminalOutput {
		u.Content = rest
		return u
	}
	u.Content = append([]acp.ToolContent{{Type: "terminal", TerminalID: terminal}}, rest...)
	if u.Update == acp.UpdateToolCall {
		opened.TerminalID = terminal
		u.Terminal = &opened
		return u
	}
	u.Terminal = &acp.TerminalUpdate{TerminalID: terminal, Exit: &acp.TerminalExit{TerminalID: terminal}}
	if exit != nil {
		u.Terminal.Exit.ExitCode, u.Terminal.Exit.Signal = exit.ExitCode, exit.Signal
	}
	for _, c := range rest {
		if c.Type == "content" && c.Content != nil && c.Content.Text != nil {
			u.Terminal.Output = new(terminalText(*c.Content.Text, exit))
		}
	}
	return u
}

// terminalText returns the output of a command from the text of its result. The exit code is shown by the
// terminal itself.
func terminalText(text string, exit *acp.TerminalExit) string {
	if exit != nil && exit.ExitCode != nil {
		return strings.TrimSuffix(text, fmt.Sprintf("[exit %d]", *exit.ExitCode))
	}
	return text
}

func isTerminal(c acp.ToolContent) bool { return c.Type == "terminal" }

// terminalOf returns the terminal that a tool call embeds, or "".
func terminalOf(u acp.ToolCall) string {
	for _, c := range u.Content {
		if c.Type == "terminal" {
			return c.TerminalID
		}
	}
	return ""
}
