package agent

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// saidGap stands for omitted prompts.
const saidGap = "[some of the user's words are left out here: the summary has their requests]"

// saidBounds are the lengths to which prompts may be cut, in bytes. The first one
// with which all prompts fit is used.
var saidBounds = []int{4 << 10, 2 << 10, 1 << 10, 512, 256, 128}

// bounded returns the user's words in at most max bytes. It truncates prompts
// before it omits any, and then keeps the first and the newest ones.
func bounded(said []string, max int) []string {
	gap := slices.Contains(said, saidGap)
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s == saidGap })
	if len(said) == 0 { // the user wrote this very line
		return []string{saidGap}
	}
	if gap {
		max -= len(saidGap) + len(transcript.PromptBreak)
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
		max -= len(saidGap) + len(transcript.PromptBreak)
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
		n += min(len(s), bound+len("…")) + len(transcript.PromptBreak)
	}
	return n
}

func cutAll(said []string, bound int) []string {
	out := make([]string, len(said))
	for i, s := range said {
		if out[i] = truncated(s, bound); s == saidGap {
			out[i] = s
		}
	}
	return out
}

// backgroundMark begins a text on commands in the background.
const backgroundMark = "[background] "

// wordsOf returns the user's words in a prompt. Attachments are reduced to
// their names.
func wordsOf(m llm.Message) string {
	var parts []string
	memory := transcript.MemoryLine(m)
	for i, b := range m.Blocks {
		text := b.Text
		if i == 0 && transcript.StatesMode(m) || i == memory || strings.HasPrefix(text, hookMark) || strings.HasPrefix(text, backgroundMark) {
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
	return m.Role == llm.User && (len(m.Blocks) == 0 || m.Blocks[0].Result == nil && !strings.HasPrefix(m.Blocks[0].Text, hookMark)) && !llm.IsGoOn(m)
}
