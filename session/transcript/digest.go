package transcript

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Digest is the part of compacted messages that the model keeps. It is the first
// message of the history, with the user's role.
//
// Why is it not in the system prompt? Providers cache a request from its beginning. While
// the system prompt is constant, it and the tools stay cached, even if the messages
// change. Within the digest, parts that only grow come first.
type Digest struct {
	Mode      string   // the latest line on the mode
	Knowledge []string // summaries that the model asked for by compress_context, oldest first; none ever changes
	Summary   string   // of all other compacted messages
	Prompts   []string // the user's prompts among those messages, oldest first
	Files     []string // the files that these messages changed, as the calls name them, the latest last
	Jobs      []string // the commands in the background at that time, one line each
	Plan      string   // the current plan, if it is open and in no later message
}

// The headings of the parts, for the model and for ReadDigest.
const (
	knowledgeHead = "[Knowledge: what was worked out before, in place of its messages]\n"
	summaryHead   = "[Summary of the conversation so far, in place of its messages]\n"
	promptsHead   = "[What the user said in it, word for word]\n"
	filesHead     = "[Files that were changed in it]\n"
	jobsHead      = "[Commands in the background, as they were then]\n"
	planHead      = "[The plan, as it is now]\n"
)

// PromptBreak separates two prompts of the user.
const PromptBreak = "\n--\n"

// ReadDigest parses a message that Digest.Message wrote.
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
		case promptsHead:
			d.Prompts = strings.Split(rest, PromptBreak)
		case filesHead:
			d.Files = strings.Split(rest, "\n")
		case jobsHead:
			d.Jobs = strings.Split(rest, "\n")
		case planHead:
			d.Plan = rest
		default:
			return Digest{}, false
		}
		ok = true
	}
	return d, ok
}

// Message writes the digest.
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
	add(promptsHead, strings.Join(d.Prompts, PromptBreak))
	add(filesHead, strings.Join(d.Files, "\n"))
	add(jobsHead, strings.Join(d.Jobs, "\n"))
	add(planHead, d.Plan)
	return m
}

// SummaryOf returns the summary in a compacted history.
func SummaryOf(history []llm.Message) string {
	d, _ := ReadDigest(history)
	return d.Summary
}
