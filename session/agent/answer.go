package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/nearjson"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// answer is the part of a model's answer that the loop needs.
type answer struct {
	calls []llm.ToolCall
	stop  llm.StopReason
}

// streamAnswer streams one answer of the model to the client and into the history. If an
// answer breaks off, the text before the break stays, and its calls are dropped.
func (t *turn) streamAnswer(ctx context.Context) (answer, error) {
	t.spoke, t.progressShown = false, 0
	t.bare = nil
	t.message.end()
	var (
		received = answerBlocks{record: func(b llm.Block) { t.Record(transcript.Block{MessageID: t.message.id, Block: b}) }}
		a        answer
		check    answerCheck
		fault    error
		usage    *llm.Usage
	)
	t.notes = map[string]string{}
	t.maskHistory()
	req := llm.Request{System: t.system(), Project: t.project(), Messages: t.history, Tools: t.offered, Unlisted: t.unlisted(), IsProgram: t.IsProgram, Thought: t.Thought(), Cache: &t.cache, Size: t.tokens()}
	for ev, err := range stream(ctx, t.model, req) {
		if fault = err; fault != nil {
			break
		}
		if ev.Call = t.received(ev.Call); ev.Call != nil && !t.accepts(&check, ev.Call) {
			if check.more {
				a.stop = llm.StopTools
				break
			}
			continue
		}
		received.add(t.masked(ev)) // the client's next message shows that this one is complete, so it is recorded first
		if fault = t.show(ctx, ev); fault != nil {
			break
		}
		if check.isEndless(ev) {
			fault = t.endlessError()
			break
		}
		switch {
		case ev.Cut:
			check = answerCheck{}
			t.history = llm.AskToContinue(t.history, received.cut())
			t.Record(transcript.Cut{})
			t.spendCut(usage)
			a.calls, usage = nil, nil
		case ev.Fallback != nil:
			t.model = ev.Fallback.Model
		case ev.Call != nil:
			a.calls = append(a.calls, *ev.Call)
		case ev.Usage != nil:
			usage = ev.Usage
		case ev.Stop != "":
			a.stop = ev.Stop
		}
	}
	if fault == nil && a.stop == "" {
		fault = &llm.Error{Provider: t.model.Name(), Message: "the answer broke off", Hint: "try again"}
	}
	if err := t.endChunks(ctx); fault == nil {
		fault = err
	}
	blocks := received.end(nil)
	if ctx.Err() != nil {
		fault = context.Cause(ctx)
	}
	if fault != nil {
		all := len(blocks)
		if blocks = transcript.TextBlocks(blocks); len(blocks) == 0 && all > 0 {
			t.Record(transcript.Cut{}) // otherwise the log would add them to the next answer
		}
	}
	if len(blocks) == 0 {
		t.history = llm.WithoutContinueRequest(t.history)
	} else {
		t.history = append(t.history, llm.Message{Role: llm.Assistant, Blocks: blocks})
	}
	if fault != nil {
		return a, fault
	}
	return a, t.completeAnswer(ctx, usage, blocks)
}

// received returns a call as the loop and the history get it, before anything sees it: with the name of
// the offered tool that the model means, an input that is JSON, and without hidden fields. It compacts
// the input as the log does, since a provider's cache must match a loaded
// conversation byte by byte.
func (t *turn) received(call *llm.ToolCall) *llm.ToolCall {
	if call == nil {
		return nil
	}
	stripped := *call
	if !t.direct {
		t.correctForm(&stripped)
		call = &stripped
	}
	if t.Toolset != nil && !t.direct {
		if t.bare == nil {
			t.bare = map[string]bool{}
		}
		stripped, t.bare[call.ID] = t.Toolset.StripCall(*call) // an answer that was cut may repeat the ID
	}
	var input bytes.Buffer
	if json.Compact(&input, stripped.Input) == nil {
		stripped.Input = input.Bytes()
	}
	return &stripped
}

// correctForm corrects the tool's name and an input that is nearly JSON, and notes both.
func (t *turn) correctForm(call *llm.ToolCall) {
	if tool, ok := llm.MeantTool(slices.Concat(t.offered, t.unlisted()), call.Name); ok && tool.Name != call.Name {
		call.AddNote("[the tool is called " + tool.Name + ", not " + line.Truncate(strings.TrimSpace(call.Name), maxNotedName) + "]")
		call.Name = tool.Name
	}
	var text string
	if call.Incomplete || json.Unmarshal(call.Input, &text) != nil {
		return
	}
	if object, mistakes, err := nearjson.Object(text); err == nil {
		call.Input = object
		call.AddNote("[the arguments were corrected to valid JSON: they had " + strings.Join(mistakes, ", ") + "]")
	}
}

// maxNotedName bounds a wrong name in a note, in bytes.
const maxNotedName = 64

// masked returns an event as the history keeps it: without the note of a call, which its result has, and
// with a masked input, since the log and the client get it too.
func (t *turn) masked(ev llm.Event) llm.Event {
	if ev.Call != nil {
		kept := *ev.Call
		kept.Note, kept.Incomplete = "", false
		ev.Call = texts.Map(&kept, t.Exit)
	}
	return ev
}

// maskHistory masks the messages that this turn added to the history, except words of the user and
// the model. The messages before the turn are masked already.
func (t *turn) maskHistory() {
	for i := min(t.maskedTo, len(t.history)); i < len(t.history); i++ {
		t.history[i] = texts.Map(t.history[i], t.Exit)
	}
	t.maskedTo = len(t.history)
}

// show sends an event to the client.
func (t *turn) show(ctx context.Context, ev llm.Event) error {
	switch {
	case ev.Text != "":
		t.spoke = t.spoke || strings.TrimSpace(ev.Text) != ""
		return t.sendChunk(ctx, acp.UpdateAgentMessage, ev.Text)
	case ev.Thought != "":
		return t.sendChunk(ctx, acp.UpdateAgentThought, ev.Thought)
	case ev.Reasoned: // the answer begins a message of its own
		t.spoke = false
		err := t.endChunks(ctx)
		t.message.end()
		return err
	case ev.Progress != nil:
		return t.showProgress(ctx, *ev.Progress)
	case ev.Wait != nil, ev.Fallback != nil, ev.Notice != "":
		if err := t.endChunks(ctx); err != nil {
			return err
		}
		t.message.end()
		return t.showFailure(ctx, ev)
	}
	return nil
}

// showFailure shows the user a provider's failure and the reaction to it, or a notice about the model: as a
// notice if the client supports notices, else as a message of the agent.
func (a *Agent) showFailure(ctx context.Context, ev llm.Event) error {
	text := ev.Notice
	switch {
	case ev.Wait != nil:
		text = ev.Wait.String()
	case ev.Fallback != nil:
		text = ev.Fallback.String()
	}
	if text == "" {
		return nil
	}
	return a.warn(ctx, text)
}

// spendCut counts the tokens of an answer that broke off.
func (t *turn) spendCut(u *llm.Usage) {
	if u != nil {
		t.Spend(t.model, *u)
	}
}

// completeAnswer completes the answer and sends the client the usage of the context.
func (t *turn) completeAnswer(ctx context.Context, u *llm.Usage, blocks []llm.Block) error {
	done := transcript.Answer{Model: t.model.Name(), Usage: u}
	if u != nil {
		if len(blocks) > 0 {
			t.refusedCount = nil
			estimate := t.meter.Sum(done.Model, t.history)
			t.history[len(t.history)-1].Count = llm.CountOf(done.Model, *u, blocks, estimate)
		}
		t.writesCache = u.CacheWrite > 0 || t.writesCache && u.CacheRead > 0
		cost := t.Spend(t.model, *u)
		if window := t.model.Window(); window > 0 { // the update requires a size
			done.Shown = &acp.UsageUpdate{Update: acp.UpdateUsage, Used: min(u.Input+u.Output, window), Size: window, Cost: cost}
		}
	}
	t.Record(done)
	if done.Shown == nil {
		return nil
	}
	return t.Send(ctx, *done.Shown)
}

// message is the message being sent; its chunks share an id.
type message struct {
	kind, id string
}

// end makes the next chunk begin a new message.
func (m *message) end() { *m = message{} }

// sendChunk sends a chunk of a message or of a thought, with links in place of images from
// the net. It holds back what may be the beginning of an image. It splits a chunk that is
// too long for a frame, as servers without streaming send it.
func (t *turn) sendChunk(ctx context.Context, kind, text string) error {
	if t.message.kind != kind {
		if err := t.endChunks(ctx); err != nil {
			return err
		}
		t.message = message{kind, t.NewID()}
	}
	return t.sendText(ctx, t.text.Write(text))
}

// endChunks sends what sendChunk holds back of the message.
func (t *turn) endChunks(ctx context.Context) error { return t.sendText(ctx, t.text.End()) }

// sendText sends text of the message.
func (t *turn) sendText(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	for {
		n := transcript.FittingLen(text)
		err := t.Send(ctx, acp.MessageChunk{Words: true, Update: t.message.kind, Content: acp.TextBlock(text[:n]), MessageID: t.message.id})
		if text = text[n:]; err != nil || text == "" {
			return err
		}
	}
}

// answerBlocks collects the blocks of an answer and joins the pieces of a text. Each
// block is passed to record as soon as it is complete.
type answerBlocks struct {
	record func(llm.Block)
	blocks []llm.Block
	kind   string          // of the block in progress, as for a chunk; empty if there is no such block
	pieces strings.Builder // appending to the block would take quadratic time
}

// add adds an event of the stream.
func (s *answerBlocks) add(ev llm.Event) {
	switch {
	case ev.Text != "":
		s.piece(acp.UpdateAgentMessage, ev.Text)
	case ev.Thought != "":
		s.piece(acp.UpdateAgentThought, ev.Thought)
	case ev.Reasoned && s.kind == acp.UpdateAgentMessage:
		s.kind = acp.UpdateAgentThought
	case ev.Opaque != nil:
		if s.kind != acp.UpdateAgentThought {
			s.end(nil)
			s.addBlock(llm.Block{Opaque: ev.Opaque})
			return
		}
		s.end(ev.Opaque)
	case ev.Call != nil:
		s.end(nil)
		s.addBlock(llm.Block{Call: ev.Call})
	}
}

// piece adds text to the block in progress, or begins a block of another kind.
func (s *answerBlocks) piece(kind, text string) {
	if s.kind != kind {
		s.end(nil)
		s.kind = kind
	}
	s.pieces.WriteString(text)
}

// end completes the block in progress, a thought with its opaque data, and
// returns all blocks.
func (s *answerBlocks) end(opaque *llm.Opaque) []llm.Block {
	switch s.kind {
	case acp.UpdateAgentMessage:
		s.addBlock(llm.Block{Text: s.pieces.String()})
	case acp.UpdateAgentThought:
		s.addBlock(llm.Block{Thought: s.pieces.String(), Opaque: opaque})
	}
	s.kind = ""
	s.pieces.Reset()
	return s.blocks
}

// cut returns the blocks of an answer that broke off, so that the next answer
// can begin with them.
func (s *answerBlocks) cut() []llm.Block {
	blocks := s.end(nil)
	s.blocks = nil
	return blocks
}

// addBlock adds a complete block.
func (s *answerBlocks) addBlock(b llm.Block) {
	s.blocks = append(s.blocks, b)
	s.record(b)
}

// cancelled reports whether err is the end of ctx itself.
func cancelled(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err()))
}
