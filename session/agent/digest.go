package agent

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// saidGap stands for prompts that are left out.
const saidGap = "[some of the user's words are left out here: what they ask for is in the summary]"

// saidBounds are how much of one prompt is kept, in bytes: the first with which
// all that was said fits.
var saidBounds = []int{4 << 10, 2 << 10, 1 << 10, 512, 256, 128}

// bounded returns the user's words in at most max bytes: prompts are cut before any
// is left out, and of those the first and the newest stay.
func bounded(said []string, max int) []string {
	gap := slices.Contains(said, saidGap)
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s == saidGap })
	if len(said) == 0 { // the user said that very line
		return []string{saidGap}
	}
	if gap {
		max -= len(saidGap) + len(transcript.SaidBreak)
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
		max -= len(saidGap) + len(transcript.SaidBreak)
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
		n += min(len(s), bound+len("…")) + len(transcript.SaidBreak)
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
		if i == 0 && transcript.TellsMode(m) {
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
