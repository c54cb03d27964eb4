package textcalls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// The tags around the reasoning of some models.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// answerReader turns the answer of a model that writes its calls as text into events.
type answerReader struct {
	grammar
	scan    scanner
	id      string // prefix of the IDs of its calls
	calls   int
	usage   *llm.Usage      // the latest
	bytes   int             // of text received
	events  []llm.Event     // to be sent
	text    strings.Builder // text to be sent after events
	cutOff  bool            // the model did not end the answer itself
	stopped bool            // the answer is complete

	begun    bool   // the blank lines and thoughts at the beginning are over
	thinking bool   // start is the text after thinkOpen
	thought  bool   // thinkOpen was read
	start    string // text at the beginning that is held back: blank lines, or a possible tag

	// Text after a call is held back until another call follows, or the answer ends.
	line    strings.Builder // the incomplete line at the end
	held    strings.Builder // the complete lines
	fence   fence           // of the block around the line
	invents bool            // the rest of the answer is dropped, since it begins with an invented result
}

func newAnswerReader(req llm.Request) *answerReader {
	a := &answerReader{id: fmt.Sprintf("text_%d_", len(req.Messages))}
	a.tools = req.Tools
	a.scan = scanner{isCall: a.isCall, model: true, text: a.addText, block: a.addBlock}
	return a
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
		a.readStart(ev.Text)
		if a.invents {
			a.stopEarly()
		}
	case ev.Stop != "":
		a.stop(ev.Stop)
	default:
		if ev.Call != nil {
			a.calls++
		}
		if ev.Usage != nil {
			a.usage = ev.Usage
		}
		a.add(ev)
	}
}

// readStart separates the thought at the beginning from the rest.
func (a *answerReader) readStart(text string) {
	if a.begun {
		a.readText(text)
		return
	}
	a.start += text
	if a.thinking {
		text, rest, found := strings.Cut(a.start, thinkClose)
		if !found {
			text, rest = splitPartialTag(a.start, thinkClose)
		}
		if text != "" {
			a.add(llm.Event{Thought: text})
		}
		a.start = rest
		if !found {
			return
		}
		a.thinking = false
	}
	rest := strings.TrimLeft(a.start, " \t\r\n")
	switch {
	case len(a.start)-len(rest) > maxOpening:
		a.beginText()
	case !a.thought && strings.HasPrefix(rest, thinkOpen):
		a.thinking, a.thought, a.start = true, true, ""
		a.readStart(rest[len(thinkOpen):])
	case rest == "" || !a.thought && strings.HasPrefix(thinkOpen, rest):
	default:
		a.beginText()
	}
}

// beginText continues with the text after the blank lines.
func (a *answerReader) beginText() {
	blank := len(a.start) - len(strings.TrimLeft(a.start, " \t\r\n"))
	text := a.start[strings.LastIndexByte(a.start[:blank], '\n')+1:]
	a.begun, a.start = true, ""
	a.readText(text)
}

// readText looks for calls if there are tools.
func (a *answerReader) readText(text string) {
	if len(a.tools) == 0 {
		a.text.WriteString(text)
		return
	}
	a.scan.feed(text)
}

// splitPartialTag splits text where its end may be the beginning of a tag.
func splitPartialTag(text, tag string) (before, partial string) {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}

// finish reads the text that was held back.
func (a *answerReader) finish() {
	switch {
	case a.thinking && a.start != "":
		a.add(llm.Event{Thought: a.start})
		a.start = ""
	case !a.thinking && strings.TrimSpace(a.start) != "":
		a.beginText()
	}
	a.scan.finish()
	if a.line.Len() > 0 {
		a.endLine()
	}
	a.releaseHeld()
}

// stop ends the answer for the model's reason.
func (a *answerReader) stop(reason llm.StopReason) {
	a.cutOff = reason != llm.StopEnd && reason != llm.StopTools
	a.finish()
	if reason == llm.StopEnd || reason == llm.StopTools {
		reason = llm.StopEnd
		if a.calls > 0 { // calls need results, regardless of the reason
			reason = llm.StopTools
		}
	}
	a.add(llm.Event{Stop: reason})
	a.stopped = true
}

// stopEarly ends an answer that continues with invented results. It estimates the
// usage, which models report at the end.
func (a *answerReader) stopEarly() {
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
	a.cutOff = true
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
	if a.calls == 0 {
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
var outputLanguages = []string{"", "console", "log", "output", "plain", "plaintext", "result", "stdout", "text", "tool_output", "tool_response", "tool_result", "txt"}

// inventedResult matches a line that begins a result or the user's next message, as
// some models make them up.
var inventedResult = lazyregexp.New(`(?i)^ {0,3}(` +
	`\[tool_result|</?tool_(result|response|output)s?>|</?(function_results?|output|result)>` +
	`|[*_#> ]*(the |tool |expected |command )?(output|results?|response)[*_]*( of [^:]*| is)?[*_]*:` +
	`|[*_#]*(user|human|observation|system)[*_]*:)`)

// addBlock adds a block as a call, and reports whether it is one.
func (a *answerReader) addBlock(b block) bool {
	if !a.isCall(b.lang) && !a.looksLikeCall(b.body) {
		return false
	}
	if a.invents || !b.closed && a.cutOff {
		return a.isCall(b.lang)
	}
	tool, input, err := a.parseBlock(b)
	if err != nil && input == nil {
		input, _ = json.Marshal(strings.TrimSpace(b.body))
		if tool == "" {
			tool = toolNameIn(b.body)
		}
	}
	a.releaseHeld()
	a.calls++
	a.add(llm.Event{Call: &llm.ToolCall{ID: fmt.Sprint(a.id, a.calls), Name: tool, Input: input}})
	return true
}
