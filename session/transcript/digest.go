package transcript

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// digest is what the model has of messages that were compacted. It is the first
// message of the history, of the user's role.
//
// Why is it not in the system prompt? Providers cache a request from its
// beginning. A system prompt that stays the same keeps the cache of itself and of
// the tools, whatever becomes of the messages. Within the digest, what is only
// ever added to comes first.
type Digest struct {
	Mode      string   // the line that told the mode last; see toldMode
	Knowledge []string // what compress_context made, oldest first; an entry never changes
	Summary   string   // of all that was compacted otherwise
	Said      []string // the user's own words, oldest first
	Plan      string   // the plan as it is, if it is open and in no later message
}

// What stands before the parts, for the model, and for readDigest.
const (
	knowledgeHead = "[Knowledge: what was worked out before, in place of its messages]\n"
	summaryHead   = "[Summary of the conversation so far, in place of its messages]\n"
	saidHead      = "[What the user said in it, word for word]\n"
	planHead      = "[The plan, as it is now]\n"
)

// saidBreak separates two prompts of the user.
const SaidBreak = "\n--\n"

// readDigest takes a message apart that message made.
func ReadDigest(history []llm.Message) (d Digest, ok bool) {
	if len(history) == 0 || history[0].Role != llm.User {
		return Digest{}, false
	}
	for i, b := range history[0].Blocks {
		if i == 0 && strings.HasPrefix(b.Text, modeMark) {
			d.Mode = b.Text
			continue
		}
		head, rest, _ := strings.Cut(b.Text, "\n")
		switch head + "\n" {
		case knowledgeHead:
			d.Knowledge = append(d.Knowledge, rest)
		case summaryHead:
			d.Summary = rest
		case saidHead:
			d.Said = strings.Split(rest, SaidBreak)
		case planHead:
			d.Plan = rest
		default:
			return Digest{}, false
		}
		ok = true
	}
	return d, ok
}

// message writes the digest.
func (d Digest) Message() llm.Message {
	m := llm.Message{Role: llm.User}
	add := func(head, text string) {
		if text != "" {
			m.Blocks = append(m.Blocks, llm.Block{Text: head + text})
		}
	}
	add("", d.Mode)
	for _, k := range d.Knowledge {
		add(knowledgeHead, k)
	}
	add(summaryHead, d.Summary)
	add(saidHead, strings.Join(d.Said, SaidBreak))
	add(planHead, d.Plan)
	return m
}

// SummaryOf is the summary in a history that Compact gave.
func SummaryOf(history []llm.Message) string {
	d, _ := ReadDigest(history)
	return d.Summary
}
