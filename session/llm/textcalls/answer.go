package textcalls

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// answerReader turns the answer of a model that may write its calls as text into events.
type answerReader struct {
	grammar
	native   bool // the model has native tool calls too: its calls in text count at the end of the answer alone
	showCode bool // the user asked for code: a block is no call because of its content
	onWhole  func() (notice string)
	onEnd    func() (discard bool) // of an answer without calls; nil keeps it

	use      *ToolUse // may be nil
	thoughts ThoughtSplitter
	assumed  strings.Builder // text that was taken for reasoning, since earlier answers of the model began so
	scan     scanner
	id       string // prefix of the IDs of its calls
	calls    int
	usage    *llm.Usage      // the latest
	bytes    int             // of text received
	events   []llm.Event     // to be sent
	text     strings.Builder // text to be sent after events
	lead     string          // blank lines at the beginning, which are held back
	begun    bool            // they are over
	said     bool            // there was text
	broken   bool            // the answer broke off
	stopped  bool            // the answer is complete

	// Text after a call is held back until another call follows, or the answer ends.
	line    strings.Builder // the incomplete line at the end
	held    strings.Builder // the complete lines
	fence   fence           // of the block around the line
	invents bool            // the rest of the answer is dropped, since it begins with an invented result

	// Calls in the text of a model with native calls are text after all if other text follows.
	pending  []llm.ToolCall
	source   strings.Builder // the text of pending
	whole    bool            // pending are the whole answer, in JSON
	natives  []llm.ToolCall
	explains bool // the answer is about calls: no text in it is one
}

// textID begins the IDs of calls that were written as text.
const textID = "text_"

func newAnswerReader(req llm.Request) *answerReader {
	a := &answerReader{id: fmt.Sprintf("%s%d_", textID, len(req.Messages))}
	a.tools = slices.Concat(req.Tools, req.Unlisted)
	a.unknown = a.unknownCalls(req)
	if len(req.Messages) > 0 {
		for _, b := range req.Messages[len(req.Messages)-1].Blocks {
			if b.Result != nil && b.Result.Failed {
				a.failures = append(a.failures, strings.TrimSpace(b.Result.Text))
			}
		}
	}
	a.scan = scanner{isCall: a.isCall, answer: a, text: a.addText, block: a.addBlock}
	return a
}

// newNativeReader returns the reader for a model that was asked with native tools.
func newNativeReader(req llm.Request) *answerReader {
	a := newAnswerReader(req)
	a.native, a.begun = true, true
	a.showCode, a.explains = asksFor(codeRequest, req.Messages), asksFor(syntaxRequest, req.Messages)
	a.scan.isCall = func(string) bool { return false }
	return a
}

// codeRequest matches requests for code that may look like a call, and syntaxRequest those for the syntax of calls.
var (
	codeRequest = lazyregexp.New(`(?i)\b(json|code|fenced)[- ](block|object|example|snippet|for)\b|` +
		`\b(in|as|of|valid|some|the|a) json\b|\bcode fence|\bsyntax\b|\b(tool|function)[-_ ]?calls?\b`)
	syntaxRequest = lazyregexp.New(`(?is)\b(tool|function)[-_ ]?(calls?|calling)\b.{0,80}` +
		`\b(syntax|formats?|forms?|looks? like|written|writes?|examples?|spell)\b|` +
		`\b(syntax|formats?|forms?|examples?|how (do|does|would)|show|write)\b.{0,80}\b(tool|function)[-_ ]?(calls?|calling)\b`)
)

// asksFor reports whether the user's last message makes a request.
func asksFor(request *lazyregexp.Regexp, history []llm.Message) bool {
	if len(history) == 0 {
		return false
	}
	last := history[len(history)-1].Blocks
	return !slices.ContainsFunc(last, func(b llm.Block) bool { return b.Result != nil }) &&
		slices.ContainsFunc(last, func(b llm.Block) bool { return request.MatchString(b.Text) })
}

// send yields the events so far and reports whether the consumer wants more.
func (a *answerReader) send(yield func(llm.Event, error) bool) bool {
	a.endText()
	for _, ev := range a.events {
		if !yield(ev, nil) {
			return false
		}
	}
	a.events = a.events[:0]
	return true
}

// read reads an event of the model. The resulting events wait for send.
func (a *answerReader) read(ev llm.Event) {
	switch {
	case ev.Text != "":
		a.bytes += len(ev.Text)
		a.readParts(a.thoughts.ReadText(ev.Text))
		if a.invents {
			a.stopEarly()
		}
	case ev.Thought != "":
		if ev.Thought = withoutSpecial().Replace(ev.Thought); ev.Thought != "" {
			a.scan.flushToken()
			a.add(ev)
		}
	case ev.Stop != "":
		a.stop(ev.Stop)
	default:
		if ev.IsContent() {
			a.scan.flushToken()
		}
		if ev.Call != nil {
			a.calls++
			a.natives = append(a.natives, *ev.Call)
		}
		if ev.Usage != nil {
			a.usage = ev.Usage
		}
		a.add(ev)
	}
}

// readParts reads a piece of a thought, and the text after it.
func (a *answerReader) readParts(thought, text string) {
	if a.thoughts.isAssumed() {
		a.assumed.WriteString(thought)
	}
	if thought = withoutSpecial().Replace(thought); thought != "" {
		a.add(llm.Event{Thought: thought})
	}
	if a.begun {
		a.scan.feed(text)
		return
	}
	a.lead += text
	if rest := strings.TrimLeft(a.lead, " \t\r\n"); rest != "" || len(a.lead) > maxOpening {
		blank := len(a.lead) - len(rest)
		text = a.lead[strings.LastIndexByte(a.lead[:blank], '\n')+1:]
		a.begun, a.lead = true, ""
		a.scan.feed(text)
	}
}

// finish reads the text that was held back.
func (a *answerReader) finish() {
	thought, text := a.thoughts.End()
	if a.thoughts.isAssumed() { // this answer has no reasoning
		text, thought = a.assumed.String()+thought, ""
		a.thoughts = ThoughtSplitter{inText: true}
		a.use.closing.Store(nil)
	}
	a.readParts(thought, text)
	a.scan.finish()
	if a.line.Len() > 0 {
		a.endLine()
	}
	a.settle()
	a.releaseHeld()
}

// stop ends the answer for the model's reason.
func (a *answerReader) stop(reason llm.StopReason) {
	a.cutOff = reason != llm.StopEnd && reason != llm.StopTools
	calls := a.calls
	a.finish()
	if a.onEnd != nil && reason != llm.StopRefusal && a.onEnd() {
		a.add(llm.Event{Reasoned: true}) // another answer follows it
		a.stopped = true
		return
	}
	cut := slices.ContainsFunc(a.events, func(ev llm.Event) bool { return ev.Call != nil && ev.Call.Incomplete })
	switch {
	case cut && reason == llm.StopMaxTokens: // the model learns it from the result
		reason = llm.StopTools
	case a.native && a.calls == calls, a.cutOff:
	case a.calls > 0: // calls need results, regardless of the reason
		reason = llm.StopTools
	default:
		reason = llm.StopEnd
	}
	a.add(llm.Event{Stop: reason})
	a.stopped = true
}

// stopEarly ends an answer that continues with invented results. It estimates the
// usage, which models report at the end.
func (a *answerReader) stopEarly() {
	a.settle()
	if a.usage != nil {
		u := *a.usage
		u.Output = max(u.Output, llm.BytesTokens(a.bytes))
		a.add(llm.Event{Usage: &u})
	}
	a.add(llm.Event{Stop: llm.StopTools})
	a.stopped = true
}

// breakOff ends an answer that broke off; its text stays.
func (a *answerReader) breakOff() {
	a.cutOff, a.broken = true, true
	a.finish()
}

func (a *answerReader) add(ev llm.Event) {
	a.endText()
	a.events = append(a.events, ev)
}

func (a *answerReader) endText() {
	if a.text.Len() > 0 {
		a.events = append(a.events, llm.Event{Text: a.text.String()})
		a.text.Reset()
	}
}

// addText adds text outside of calls.
func (a *answerReader) addText(text string) {
	if a.native && len(a.pending) == 0 || a.calls == 0 && len(a.pending) == 0 {
		a.said = a.said || strings.TrimSpace(text) != ""
		a.text.WriteString(text)
		return
	}
	for piece := range strings.Lines(text) {
		a.line.WriteString(piece)
		if strings.HasSuffix(piece, "\n") {
			a.endLine()
		}
	}
}

// endLine checks a line after a call for an invented result.
func (a *answerReader) endLine() {
	line := a.line.String()
	a.line.Reset()
	bare := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	switch {
	case a.invents:
		return
	case a.native && len(a.pending) == 0:
		a.text.WriteString(line)
		return
	case a.fence.size > 0:
		if a.fence.closedBy(bare) {
			a.fence = fence{}
		}
	default:
		a.fence = openFence(bare)
		if a.fence.size > 0 && slices.Contains(outputLanguages, a.fence.lang) || inventedResult.MatchString(bare) {
			a.invents = true
			a.held.Reset()
			return
		}
	}
	a.held.WriteString(line)
	if a.native && strings.TrimSpace(line) != "" {
		a.demote()
	}
}

// demote makes text of the calls so far: other text follows, so the answer shows them.
func (a *answerReader) demote() {
	a.text.WriteString(a.source.String() + a.held.String())
	a.source.Reset()
	a.held.Reset()
	a.pending, a.explains = nil, true
	a.fence = fence{}
}

// reasoned marks the text so far as reasoning, which a tag has closed.
func (a *answerReader) reasoned(tag string) {
	a.add(llm.Event{Reasoned: true})
	if a.use != nil {
		a.use.closing.Store(&tag)
	}
}

// remember makes the reader use what earlier answers of the model have shown.
func (a *answerReader) remember(use *ToolUse) {
	if a.use = use; use == nil {
		return
	}
	if tag := use.closing.Load(); tag != nil {
		a.thoughts.assumed = *tag
	}
}

// hasCalls reports whether the answer has calls in text so far.
func (a *answerReader) hasCalls() bool { return len(a.pending) > 0 || !a.native && a.calls > 0 }

// addCalls adds calls of a text. whole means that the text is nothing but JSON.
func (a *answerReader) addCalls(calls []written, source string, whole bool) {
	if a.broken || a.invents {
		return
	}
	if a.explains {
		a.addText(source)
		return
	}
	if !a.native {
		a.releaseHeld()
	}
	a.addSource(source)
	a.whole = whole && len(a.pending) == 0
	for _, w := range calls {
		call := llm.ToolCall{Name: w.name, Input: w.input, Note: w.note, Incomplete: w.cut}
		if w.cut {
			call.AddNote(cutNote)
		}
		if a.native {
			a.pending = append(a.pending, call)
		} else {
			a.emit(call)
		}
	}
}

// addSource adds to the text of the pending calls.
func (a *answerReader) addSource(text string) {
	if !a.native {
		return
	}
	a.source.WriteString(a.held.String() + a.line.String() + text)
	a.held.Reset()
	a.line.Reset()
}

// cutNote is the note of a call that the end of the answer cut off.
const cutNote = "[the answer ended within this call, so it was not run; make it again, with less in one call]"

// emit emits a call.
func (a *answerReader) emit(call llm.ToolCall) {
	a.calls++
	call.ID = fmt.Sprint(a.id, a.calls)
	a.add(llm.Event{Call: &call})
}

// settle emits the pending calls at the end of an answer. Where it has native calls too, equal ones in its text are
// the same, which the server did not remove, and others stay text.
func (a *answerReader) settle() {
	pending := a.pending
	a.pending = nil
	if len(pending) == 0 || a.broken {
		return
	}
	if len(a.natives) > 0 {
		isNative := func(c llm.ToolCall) bool {
			return slices.ContainsFunc(a.natives, func(n llm.ToolCall) bool { return n.Name == c.Name })
		}
		if slices.ContainsFunc(pending, func(c llm.ToolCall) bool { return !isNative(c) }) {
			a.text.WriteString(a.source.String())
		}
		return
	}
	if a.whole && a.onWhole != nil {
		if notice := a.onWhole(); notice != "" {
			a.add(llm.Event{Notice: notice})
		}
	}
	for _, call := range pending {
		a.emit(call)
	}
}

// releaseHeld emits the text that followed a call.
func (a *answerReader) releaseHeld() {
	if held := a.held.String(); strings.TrimSpace(held) != "" {
		a.text.WriteString(held)
	}
	a.held.Reset()
}

// outputLanguages are the languages of blocks in which models show the output of a
// command.
var outputLanguages = []string{
	"", "console", "log", "output", "plain", "plaintext", "result", "stdout", "text", "tool_output", "tool_response", "tool_result", "txt",
}

// inventedResult matches a line that begins a result or the user's next message, as
// some models make them up.
var inventedResult = lazyregexp.New(`(?i)^ {0,3}(` +
	`\[tool_result|\[mode: |</?tool_(result|response|output)s?>|</?(function_results?|output|result)>` +
	`|[*_#> ]*(the |tool |expected |command )?(output|results?|response)[*_]*( of [^:]*| is)?[*_]*:` +
	`|[*_#]*(user|human|observation|system)[*_]*:)`)
