package transcript

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Said returns the text of an answer that broke off. Its calls were not run, and its
// thoughts are useless without the end.
func Said(blocks []llm.Block) []llm.Block {
	var kept []llm.Block
	for _, b := range blocks {
		if b.Text != "" {
			kept = append(kept, b)
		}
	}
	return kept
}

// History returns the messages that the model saw, as the turn loop would have left
// them. A turn that was killed keeps its complete parts. A turn that was rewound is left
// out.
func History(events []Event) []llm.Message {
	var h historian
	for _, e := range Standing(events) {
		h.add(e)
	}
	h.broken()
	return llm.Repair(h.messages)
}

// historian rebuilds a history event by event.
type historian struct {
	messages []llm.Message
	meter    llm.Meter      // of them
	answer   []llm.Block    // incomplete answer
	begin    int            // where the messages of this turn begin
	prompt   Prompt         // of this turn
	instead  map[int]string // see Prompt.Blocks
	steps    []Step         // of the calls without a result
}

func (h *historian) add(e Event) {
	switch e := e.(type) {
	case Prompt:
		h.broken()
		h.begin, h.prompt, h.instead = len(h.messages), e, map[int]string{}
		if !e.Local {
			h.say(llm.User, e.Blocks(nil))
		}
	case Earlier:
		h.broken()
		m := e.Message()
		h.say(m.Role, m.Blocks)
	case Attachment:
		h.take(e.Index, e.Text)
	case Block:
		h.answer = append(h.answer, e.Block)
	case Answer:
		if len(h.answer) == 0 {
			h.messages = llm.NoGoOn(h.messages)
		}
		h.say(llm.Assistant, h.answer)
		if len(h.answer) > 0 && e.Usage != nil {
			estimate := h.meter.Sum(e.Model, h.messages)
			h.messages[len(h.messages)-1].Count = llm.CountOf(e.Model, *e.Usage, h.answer, estimate)
		}
		h.answer = nil
	case Hooked:
		h.broken()
		h.say(llm.User, []llm.Block{{Text: e.Text}})
	case Steer: // a refusal drops only the messages from here on
		h.broken()
		h.begin = len(h.messages)
		m := e.Message()
		h.say(m.Role, m.Blocks)
	case Cut:
		h.messages = llm.GoOn(h.messages, h.answer)
		h.answer = nil
	case Step:
		h.steps = append(h.steps, e)
	case Result:
		h.steps = slices.DeleteFunc(h.steps, func(s Step) bool { return s.ID == e.Result.ID })
		if e.Link > 0 {
			if !e.Result.Failed {
				h.take(e.Link, e.Result.Text)
			}
			return
		}
		if len(h.answer) > 0 { // the event that completed it could not be read
			h.say(llm.Assistant, h.answer)
			h.answer = nil
		}
		h.result(&e.Result)
	case TurnEnd:
		h.broken()
		if e.Reason == acp.StopRefusal {
			h.messages = h.messages[:h.begin]
		}
		// Messages before this turn are repaired already.
		h.messages = append(h.messages[:h.begin], llm.Repair(h.messages[h.begin:])...)
		h.meter.Forget(h.begin)
		h.begin = len(h.messages) // a refusal cannot drop messages that were dropped or replaced
	case Cleared:
		h.broken()
		h.messages, h.begin, h.meter = nil, 0, llm.Meter{}
	case Compaction:
		h.broken()
		h.messages, h.begin = e.Apply(h.messages, h.begin)
		h.meter = llm.Meter{}
	}
}

// result adds a result. All results of an answer are one message.
func (h *historian) result(r *llm.ToolResult) {
	b := llm.Block{Result: r}
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == llm.User && h.messages[n-1].Blocks[0].Result != nil {
		h.messages[n-1].Blocks = append(h.messages[n-1].Blocks, b)
	} else {
		h.say(llm.User, []llm.Block{b})
	}
}

// take replaces a block of the prompt for the model; index is 1-based.
func (h *historian) take(index int, text string) {
	if len(h.messages) > h.begin {
		h.instead[index-1] = text
		h.messages[h.begin].Blocks = h.prompt.Blocks(h.instead)
	}
}

// broken keeps the rest of an answer that broke off, and the steps of interrupted calls.
func (h *historian) broken() {
	for len(h.steps) > 0 {
		r := llm.ToolResult{ID: h.steps[0].ID, Failed: true}
		h.steps = slices.DeleteFunc(h.steps, func(s Step) bool {
			if s.ID == r.ID {
				r.Text += s.line()
			}
			return s.ID == r.ID
		})
		r.Text += interrupted
		h.result(&r)
	}
	if blocks := Said(h.answer); len(blocks) == 0 {
		h.messages = llm.NoGoOn(h.messages)
	} else {
		h.say(llm.Assistant, blocks)
	}
	h.answer = nil
}

func (h *historian) say(role llm.Role, blocks []llm.Block) {
	if len(blocks) > 0 {
		h.messages = append(h.messages, llm.Message{Role: role, Blocks: blocks})
	}
}
