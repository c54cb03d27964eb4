package agent

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// promptGap stands for omitted prompts.
const promptGap = "[some of the user's words are left out here: the summary has their requests]"

// promptBounds are the lengths to which prompts may be cut, in bytes. The first one
// with which all prompts fit is used.
var promptBounds = []int{4 << 10, 2 << 10, 1 << 10, 512, 256, 128}

// boundPrompts returns the user's words in at most limit bytes. It truncates prompts
// before it omits any, and then keeps the first and the newest ones.
func boundPrompts(said []string, limit int) []string {
	gap := slices.Contains(said, promptGap)
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s == promptGap })
	if len(said) == 0 { // the user wrote this very line
		return []string{promptGap}
	}
	if gap {
		limit -= len(promptGap) + len(transcript.PromptBreak)
	}
	for _, bound := range promptBounds {
		if promptsLen(said, bound) > limit {
			continue
		}
		out := truncateAll(said, bound)
		if gap {
			out = slices.Insert(out, 1, promptGap)
		}
		return out
	}
	least := promptBounds[len(promptBounds)-1]
	if !gap {
		limit -= len(promptGap) + len(transcript.PromptBreak)
	}
	left := limit - promptsLen(said[:1], least)
	from := len(said)
	for from > 1 && left >= promptsLen(said[from-1:from], least) {
		from--
		left -= promptsLen(said[from:from+1], least)
	}
	return truncateAll(slices.Concat(said[:1], []string{promptGap}, said[from:]), least)
}

func promptsLen(said []string, bound int) int {
	n := 0
	for _, s := range said {
		n += min(len(s), bound+len("…")) + len(transcript.PromptBreak)
	}
	return n
}

// truncateAll truncates each prompt to bound bytes. It keeps the line promptGap.
func truncateAll(said []string, bound int) []string {
	out := make([]string, len(said))
	for i, s := range said {
		if out[i] = line.Truncate(s, bound); s == promptGap {
			out[i] = s
		}
	}
	return out
}

// backgroundMark begins a text on commands in the background.
const backgroundMark = "[background] "

// userText returns the user's words in a prompt. Attachments are reduced to
// their names.
func userText(m llm.Message) string {
	var parts []string
	memory := transcript.MemoryLineIndex(m)
	for i, b := range m.Blocks {
		text := b.Text
		if i == 0 && transcript.HasModeLine(m) || i == memory ||
			strings.HasPrefix(text, hookMark) || strings.HasPrefix(text, backgroundMark) || strings.HasPrefix(text, goal.Mark) {
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

// isPrompt reports whether a message is a prompt, rather than tool results, a request to
// continue a cut answer, or a text of hooks.
func isPrompt(m llm.Message) bool {
	if m.Role != llm.User || llm.IsContinueRequest(m) {
		return false
	}
	return len(m.Blocks) == 0 || m.Blocks[0].Result == nil && !strings.HasPrefix(m.Blocks[0].Text, hookMark)
}
