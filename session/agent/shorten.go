package agent

import (
	"context"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

const (
	// minShortened is the length of an older result, in bytes, from which a
	// reference replaces it.
	minShortened = 800
	// shownOfOld is the length that remains of an older result, in bytes.
	shownOfOld = 240
	// minShown is the minimum length that remains of a new result, in bytes.
	minShown = 1 << 10
	// recentRounds is the number of latest rounds of tool calls whose results
	// stay.
	recentRounds = 2
)

// shortenOld replaces the long results of older rounds by references.
func (t *turn) shortenOld(ctx context.Context) []transcript.Shortened {
	if t.Keep == nil {
		return nil
	}
	recent := recentRounds
	end := len(t.history)
	for end > 0 && recent > 0 {
		end--
		if len(t.history[end].Blocks) > 0 && t.history[end].Blocks[0].Result != nil {
			recent--
		}
	}
	var out []transcript.Shortened
	for i, m := range t.history[:end] {
		out = t.shortenIn(ctx, out, i, m, minShortened, shownOfOld)
	}
	return out
}

// shortenIn appends the results of a message that are longer than limit bytes,
// truncated to shown bytes, and those with images, which it leaves out.
func (t *turn) shortenIn(ctx context.Context, out []transcript.Shortened, at int, m llm.Message, limit, shown int) []transcript.Shortened {
	for _, b := range m.Blocks {
		if b.Result == nil || len(b.Result.Text) <= limit && len(b.Result.Images) == 0 {
			continue
		}
		if len(b.Result.Text) <= limit {
			out = append(out, transcript.Shortened{Message: at, ID: b.Result.ID, Text: b.Result.Text + "\n[images left out to make room]"})
			continue
		}
		if reference, ok := t.overflowLine(ctx, b.Result.Text); ok {
			out = append(out, transcript.Shortened{Message: at, ID: b.Result.ID, Text: line.Truncate(b.Result.Text, shown) + "\n" + shortenedMark + reference})
		}
	}
	return out
}

// shortenedMark begins the last line of a result that was shortened, before the reference.
const shortenedMark = "[shortened to make room] "

// isShortened reports whether a result was shortened.
func isShortened(text string) bool {
	return strings.HasPrefix(text[strings.LastIndexByte(text, '\n')+1:], shortenedMark)
}

// overflowLine returns the line with which the model finds the whole text: the
// text's own line if it has one.
func (t *turn) overflowLine(ctx context.Context, text string) (line string, ok bool) {
	last := text[strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')+1:]
	if i := strings.LastIndex(last, "[full output: "); i >= 0 && strings.Contains(last[i:], "overflow:") {
		return strings.TrimSpace(last[i:]), true
	}
	return t.Keep(ctx, text)
}

// shortenNew truncates the results of the last rounds to maxBytes each, since
// the next request would not fit otherwise.
func (t *turn) shortenNew(ctx context.Context, history []llm.Message, maxBytes int) []transcript.Shortened {
	if t.Keep == nil {
		return nil
	}
	var out []transcript.Shortened
	for i, m := range history {
		out = t.shortenIn(ctx, out, i, m, max(maxBytes, minShown)+shownOfOld, max(maxBytes, minShown))
	}
	return out
}
