package transcript

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TextBlocks returns the blocks with text of an answer that broke off. Its calls were not run,
// and its thoughts are useless without their end.
func TextBlocks(blocks []llm.Block) []llm.Block {
	var kept []llm.Block
	for _, b := range blocks {
		if b.Text != "" {
			kept = append(kept, b)
		}
	}
	return kept
}

// History returns the messages that the model saw, as in the history of the turn loop. Of
// an interrupted turn, the complete parts stay. A turn that was rewound is left out.
func History(events []Event) []llm.Message {
	var h historian
	for _, e := range Effective(events) {
		h.add(e)
	}
	h.endBroken()
	return llm.Repair(h.messages)
}

// historian rebuilds a history event by event.
type historian struct {
	messages   []llm.Message
	meter      llm.Meter           // of messages
	openAnswer []llm.Block         // the blocks of the answer that is not complete yet
	turnStart  int                 // the index of this turn's first message
	prompt     Prompt              // of this turn
	instead    map[int]Replacement // the argument of Prompt.Blocks
	steps      []Step              // of the calls without a result
}

// add adds the messages of an event, or changes the earlier ones.
func (h *historian) add(e Event) {
	switch e := e.(type) {
	case Prompt:
		h.endBroken()
		h.turnStart, h.prompt, h.instead = len(h.messages), e, map[int]Replacement{}
		if !e.NoModel {
			h.addMessage(llm.User, e.Blocks(nil))
		}
	case Preamble:
		h.endBroken()
		m := e.Message()
		h.addMessage(m.Role, m.Blocks)
	case Attachment:
		h.replacePart(e.Index, Replacement{Text: e.Text})
	case Block:
		h.openAnswer = append(h.openAnswer, e.Block)
	case Answer:
		h.completeAnswer(e)
	case HookText:
		h.endBroken()
		h.addMessage(llm.User, []llm.Block{{Text: e.Text}})
	case Steer: // a refusal drops only the messages from here on
		h.endBroken()
		h.turnStart = len(h.messages)
		m := e.Message()
		h.addMessage(m.Role, m.Blocks)
	case Cut:
		h.messages = llm.AskToContinue(h.messages, h.openAnswer)
		h.openAnswer = nil
	case Step:
		h.steps = append(h.steps, e)
	case Result:
		h.endCall(e)
	case TurnEnd:
		h.endTurn(e)
	case Cleared:
		h.endBroken()
		h.messages, h.turnStart, h.meter = nil, 0, llm.Meter{}
	case Compaction:
		h.endBroken()
		h.messages, h.turnStart = e.Apply(h.messages, h.turnStart)
		h.meter = llm.Meter{}
	}
}

// completeAnswer adds the open answer, with the tokens that the provider counted.
func (h *historian) completeAnswer(e Answer) {
	if len(h.openAnswer) == 0 {
		h.messages = llm.WithoutContinueRequest(h.messages)
	}
	h.addMessage(llm.Assistant, h.openAnswer)
	if len(h.openAnswer) > 0 && e.Usage != nil {
		estimate := h.meter.Sum(e.Model, h.messages)
		h.messages[len(h.messages)-1].Count = llm.CountOf(e.Model, *e.Usage, h.openAnswer, estimate)
	}
	h.openAnswer = nil
}

// endCall adds the result of a call to the messages or, for a link, to the prompt.
func (h *historian) endCall(e Result) {
	h.steps = slices.DeleteFunc(h.steps, func(s Step) bool { return s.ID == e.Result.ID })
	if e.Link != 0 {
		if e.Link > 0 && !e.Result.Failed {
			h.replacePart(e.Link, Replacement{e.Result.Text, e.Result.Images})
		}
		return
	}
	if len(h.openAnswer) > 0 { // the event that completed it could not be read
		h.addMessage(llm.Assistant, h.openAnswer)
		h.openAnswer = nil
	}
	h.addResult(&e.Result)
}

// endTurn repairs the messages of the turn, and drops them after a refusal.
func (h *historian) endTurn(e TurnEnd) {
	h.endBroken()
	if e.Reason == acp.StopRefusal {
		h.messages = h.messages[:h.turnStart]
	}
	// Messages before this turn are repaired already.
	h.messages = append(h.messages[:h.turnStart], llm.Repair(h.messages[h.turnStart:])...)
	h.meter.Forget(h.turnStart)
	h.turnStart = len(h.messages) // a refusal cannot drop messages that were dropped or replaced
}

// addResult adds a result. All results of an answer are one message.
func (h *historian) addResult(r *llm.ToolResult) {
	b := llm.Block{Result: r}
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == llm.User && h.messages[n-1].Blocks[0].Result != nil {
		h.messages[n-1].Blocks = append(h.messages[n-1].Blocks, b)
	} else {
		h.addMessage(llm.User, []llm.Block{b})
	}
}

// replacePart replaces a part of the prompt for the model; index is 1-based.
func (h *historian) replacePart(index int, by Replacement) {
	if len(h.messages) > h.turnStart {
		h.instead[index-1] = by
		h.messages[h.turnStart].Blocks = h.prompt.Blocks(h.instead)
	}
}

// endBroken adds the parts that stay when a turn breaks off: the text of an unfinished
// answer, and the steps of calls without a result.
func (h *historian) endBroken() {
	for len(h.steps) > 0 {
		r := llm.ToolResult{ID: h.steps[0].ID, Failed: true}
		h.steps = slices.DeleteFunc(h.steps, func(s Step) bool {
			if s.ID == r.ID {
				r.Text += s.line()
			}
			return s.ID == r.ID
		})
		r.Text += interrupted
		h.addResult(&r)
	}
	if blocks := TextBlocks(h.openAnswer); len(blocks) == 0 {
		h.messages = llm.WithoutContinueRequest(h.messages)
	} else {
		h.addMessage(llm.Assistant, blocks)
	}
	h.openAnswer = nil
}

// addMessage adds a message, unless it is empty.
func (h *historian) addMessage(role llm.Role, blocks []llm.Block) {
	if len(blocks) > 0 {
		h.messages = append(h.messages, llm.Message{Role: role, Blocks: blocks})
	}
}
