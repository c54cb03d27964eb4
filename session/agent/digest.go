package agent

import (
	"slices"
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
type digest struct {
	mode      string   // the line that told the mode last; see toldMode
	knowledge []string // what compress_context made, oldest first; an entry never changes
	summary   string   // of all that was compacted otherwise
	said      []string // the user's own words, oldest first
	plan      string   // the plan as it is, if it is open and in no later message
}

// What stands before the parts, for the model, and for readDigest.
const (
	knowledgeHead = "[Knowledge: what was worked out before, in place of its messages]\n"
	summaryHead   = "[Summary of the conversation so far, in place of its messages]\n"
	saidHead      = "[What the user said in it, word for word]\n"
	planHead      = "[The plan, as it is now]\n"
)

// saidBreak separates two prompts of the user.
const saidBreak = "\n--\n"

// saidGap stands for prompts that are left out.
const saidGap = "[some of the user's words are left out here: what they ask for is in the summary]"

// readDigest takes a message apart that message made.
func readDigest(history []llm.Message) (d digest, ok bool) {
	if len(history) == 0 || history[0].Role != llm.User {
		return digest{}, false
	}
	for i, b := range history[0].Blocks {
		if i == 0 && strings.HasPrefix(b.Text, modeMark) {
			d.mode = b.Text
			continue
		}
		head, rest, _ := strings.Cut(b.Text, "\n")
		switch head + "\n" {
		case knowledgeHead:
			d.knowledge = append(d.knowledge, rest)
		case summaryHead:
			d.summary = rest
		case saidHead:
			d.said = strings.Split(rest, saidBreak)
		case planHead:
			d.plan = rest
		default:
			return digest{}, false
		}
		ok = true
	}
	return d, ok
}

// message writes the digest.
func (d digest) message() llm.Message {
	m := llm.Message{Role: llm.User}
	add := func(head, text string) {
		if text != "" {
			m.Blocks = append(m.Blocks, llm.Block{Text: head + text})
		}
	}
	add("", d.mode)
	for _, k := range d.knowledge {
		add(knowledgeHead, k)
	}
	add(summaryHead, d.summary)
	add(saidHead, strings.Join(d.said, saidBreak))
	add(planHead, d.plan)
	return m
}

// SummaryOf is the summary in a history that Compact gave.
func SummaryOf(history []llm.Message) string {
	d, _ := readDigest(history)
	return d.summary
}

// saidBounds are how much of one prompt is kept, in bytes: the first with which
// all that was said fits.
var saidBounds = []int{4 << 10, 2 << 10, 1 << 10, 512, 256, 128}

// bounded gives the user's words in at most max bytes: prompts are cut before any
// is left out, and of those the first and the newest stay.
func bounded(said []string, max int) []string {
	gap := slices.Contains(said, saidGap)
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s == saidGap })
	if len(said) == 0 { // the user said that very line
		return []string{saidGap}
	}
	if gap {
		max -= len(saidGap) + len(saidBreak)
	}
	for _, bound := range saidBounds {
		if saidLen(said, bound) > max {
			continue
		}
		out := cutAll(said, bound)
		if gap {
			out = slices.Insert(out, 1, saidGap)
		}
		return out
	}
	least := saidBounds[len(saidBounds)-1]
	if !gap {
		max -= len(saidGap) + len(saidBreak)
	}
	left := max - saidLen(said[:1], least)
	from := len(said)
	for from > 1 && left >= saidLen(said[from-1:from], least) {
		from--
		left -= saidLen(said[from:from+1], least)
	}
	return cutAll(slices.Concat(said[:1], []string{saidGap}, said[from:]), least)
}

func saidLen(said []string, bound int) int {
	n := 0
	for _, s := range said {
		n += min(len(s), bound+len("…")) + len(saidBreak)
	}
	return n
}

func cutAll(said []string, bound int) []string {
	out := make([]string, len(said))
	for i, s := range said {
		if out[i] = shortened(s, bound); s == saidGap {
			out[i] = s
		}
	}
	return out
}

// wordsOf is what the user said in a prompt. Of what came along with it only the
// name is kept.
func wordsOf(m llm.Message) string {
	var parts []string
	for i, b := range m.Blocks {
		text := b.Text
		if i == 0 && tellsMode(m) {
			continue
		}
		if strings.HasPrefix(text, "[The user attached ") || strings.HasPrefix(text, "[The user refers to ") {
			text, _, _ = strings.Cut(text, "\n")
		}
		if b.Image != nil {
			text = "[an image]"
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// isPrompt tells a prompt from results of tools, and from what asks the model to
// go on with an answer that was cut.
func isPrompt(m llm.Message) bool {
	return m.Role == llm.User && (len(m.Blocks) == 0 || m.Blocks[0].Result == nil) && !llm.IsGoOn(m)
}
