package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

const (
	// defaultCompactAt is the default of compact_at, even for a compaction on
	// demand while the automatic one is off.
	defaultCompactAt = 0.75
	// maxSummaries limits the number of summaries in a turn.
	maxSummaries = 10
	// minRoom is the minimum room for a digest, in tokens, even if the system
	// prompt fills the window.
	minRoom = 2000
)

// Divisors of room.messages: the parts of it that each use may take.
const (
	latestShare    = 3  // the results of the last rounds, if they are truncated
	keptShare      = 5  // the messages that stay unchanged
	promptsShare   = 5  // the user's prompts in the digest
	summaryShare   = 8  // the summary in the digest
	knowledgeShare = 12 // one entry of knowledge in the digest; nothing is added to a full entry
	worthShare     = 10 // fewer older messages are not worth a summary
)

// room divides the context among its uses, in tokens.
type room struct {
	trigger  int // the size of a request that triggers a compaction
	target   int // the size of a request after it; less than full, since each compaction costs the provider's cache
	messages int // the part for all messages
}

// roomOf divides a window, or the usable part of it.
func (t *turn) roomOf(size int) room {
	at := t.Config.CompactAt
	if at == 0 {
		at = defaultCompactAt
	}
	trigger := int(at * float64(size))
	return room{trigger: trigger, target: trigger * 4 / 5, messages: max(trigger-t.baseTokens(), minRoom)}
}

// makeRoom compacts the history if the next request would exceed the share
// compact_at of the context.
func (t *turn) makeRoom(ctx context.Context) error {
	size := t.contextSize()
	if t.Config.CompactAt == 0 || size == 0 || isDirect(t.model) {
		return nil
	}
	if r := t.roomOf(size); t.tokens() > r.trigger {
		return t.compact(ctx, compactionRun{strategy: transcript.Triggered, room: r})
	}
	return nil
}

// Compact summarizes the history, without the last turn if there are others,
// and returns the history that replaces it. Focus, if not empty, names the most
// important topic. With an error it returns the old history.
func (a *Agent) Compact(ctx context.Context, history []llm.Message, focus string) ([]llm.Message, error) {
	t := &turn{Agent: a, model: a.Model(), offered: a.offeredTools(a.Model()), history: history}
	a.Watch.beginTurn()
	if why, err := t.budgetStop(ctx); err != nil || why != "" {
		return history, cmp.Or(err, errors.New(why))
	}
	err := t.compactNow(ctx, transcript.Manual, focus)
	return t.history, err
}

// compress lets the model itself make room: the conversation before its current
// answer becomes a permanent entry of knowledge. It returns the tool's result.
func (t *turn) compress(ctx context.Context, focus string) (string, error) {
	if n := len(t.history); n == 0 || t.history[n-1].Role != llm.Assistant { // it runs in the round of the last answer
		return "", ErrNothingToCompact
	}
	before := t.tokens()
	if err := t.compactNow(ctx, transcript.Autonomous, texts.Map(focus, t.Exit)); err != nil {
		return "", err
	}
	return fmt.Sprintf("The conversation before this call was summarized in your knowledge: about %s became %d.", quantity.Count(before, "token"), t.tokens()), nil
}

// compactNow makes a compaction on demand, whether there is room or not.
func (t *turn) compactNow(ctx context.Context, strategy transcript.Strategy, focus string) error {
	size := t.contextSize()
	if size == 0 {
		size = max(t.tokens(), unknownWindow)
	}
	return t.compact(ctx, compactionRun{strategy: strategy, room: t.roomOf(size), force: true, focus: focus})
}

// compactionRun is one compaction.
type compactionRun struct {
	*turn
	strategy transcript.Strategy
	room     room
	force    bool // makes a summary, whether there is room or not
	// needsSummary leaves the history unchanged if the summary fails.
	needsSummary bool
	focus        string // the most important topic of the summary; empty means none
	id           string // of the client's compaction_update; empty until one is sent
	shown        bool   // the client was told that the compaction runs
}

// ErrNothingToCompact means that no messages can be summarized.
var ErrNothingToCompact = errors.New("there is nothing to compact yet")

// compact makes room: first by references that replace old results, then by a summary of older
// messages, then by truncating new results. If a summary fails and the turn would have to stop, a
// reference replaces the older messages. It changes the history and the log completely or not at
// all. A failed summary is an error only if the caller requires one.
func (t *turn) compact(ctx context.Context, w compactionRun) error {
	w.turn = t
	c := transcript.Compaction{Strategy: w.strategy, Before: t.tokens()}
	if w.strategy == transcript.Triggered {
		c.Shortened = t.shortenOld(ctx)
	}
	if w.force || w.tokensAfter(c) > w.room.target {
		summed, err := w.replaceOlder(ctx, c, w.summarize)
		if err != nil {
			summed, err = w.withoutSummary(ctx, c, err)
		}
		if err != nil || w.needsSummary && w.gaveUp {
			return err
		}
		c = summed
	}
	if w.strategy == transcript.Triggered && w.tokensAfter(c) > w.room.trigger {
		c.Shortened = append(c.Shortened, w.shortenLatest(ctx, c)...)
	}
	if ctx.Err() != nil {
		return w.reportFailure(ctx, context.Cause(ctx), "")
	}
	if c.Head == nil && len(c.Shortened) == 0 {
		return nil
	}
	return w.apply(ctx, c)
}

// tokensAfter returns the tokens of the next request after the compaction.
func (w *compactionRun) tokensAfter(c transcript.Compaction) int {
	if c.Head == nil && len(c.Shortened) == 0 {
		return c.Before
	}
	history, _ := c.Apply(w.history, 0)
	return w.measured(w.newestCount(history), new(llm.Meter).Sum(w.model.Name(), history))
}

// shortenLatest truncates results of the last rounds as far as necessary.
func (w *compactionRun) shortenLatest(ctx context.Context, c transcript.Compaction) []transcript.Shortened {
	results := 0
	for i, m := range w.history[c.Replaced:] {
		for _, b := range m.Blocks {
			if b.Result != nil && (len(b.Result.Text) > minShown || len(b.Result.Images) > 0) && !c.Shortens(c.Replaced+i, b.Result.ID) {
				results++
			}
		}
	}
	if results == 0 {
		return nil
	}
	maxBytes := w.bytesFor(w.room.messages/latestShare) / results
	rest := w.shortenNew(ctx, w.history, maxBytes)
	return slices.DeleteFunc(rest, func(s transcript.Shortened) bool { return s.Message < c.Replaced || c.Shortens(s.Message, s.ID) })
}

// withoutSummary reports a failed summary to the user. If there is no room for
// the older messages, a reference replaces them. The error is nil if the turn
// continues.
func (w *compactionRun) withoutSummary(ctx context.Context, c transcript.Compaction, failure error) (transcript.Compaction, error) {
	short, err := c, ErrNothingToCompact
	mayReplace := w.strategy == transcript.Triggered && !w.needsSummary && ctx.Err() == nil
	if mayReplace && (w.force || w.tokensAfter(c)*100 > w.contextSize()*budgetPercent) {
		short, err = w.replaceOlder(ctx, c, w.outline)
	}
	if err != nil {
		return c, w.reportFailure(ctx, failure, "The conversation could not be compacted (%v). It continues unchanged.")
	}
	short.Referred = true
	return short, w.reportFailure(ctx, failure, "The conversation could not be summarized (%v). It continues without its older messages, which the model can look up.")
}

// replaceOlder replaces older messages by a text from replace. It returns
// ErrNothingToCompact if no messages are worth replacing.
func (w *compactionRun) replaceOlder(ctx context.Context, c transcript.Compaction, replace replacement) (transcript.Compaction, error) {
	d, digested := transcript.ReadDigest(w.history)
	first := 0
	if digested {
		first = 1
	}
	prompt := w.promptAt()
	cut := w.firstKept(c, first, prompt)
	old := w.history[first:cut]
	onlyPrompt := len(old) == 1 && prompt == first && w.strategy != transcript.Manual
	if len(old) == 0 || onlyPrompt || !w.force && new(llm.Meter).Sum(w.model.Name(), old) < w.room.messages/worthShare {
		return c, ErrNothingToCompact
	}
	var err error
	if c.Summary, err = w.addToDigest(ctx, &d, old, replace); err != nil {
		return c, err
	}
	c.Replaced = cut
	if prompt >= first && prompt < cut && w.strategy != transcript.Manual {
		c.Prompt = prompt + 1
	}
	for i, m := range old {
		if isPrompt(m) && first+i != c.Prompt-1 {
			if words := userText(m); words != "" {
				d.Prompts = append(d.Prompts, words)
			}
		}
	}
	if len(d.Prompts) > 0 {
		d.Prompts = boundPrompts(d.Prompts, w.bytesFor(w.room.messages/promptsShare))
	}
	d.Mode = statedMode(w.history[:cut])
	d.Files = w.changedFiles(d.Files, old)
	if w.Background != nil {
		d.Jobs = w.Background()
	}
	d.Plan = w.openPlan(w.history[first:], cut-first, d.Plan)
	head := d.Message()
	head.Count = w.newestCount(w.history)
	c.Head = &head
	c.Shortened = slices.DeleteFunc(c.Shortened, func(s transcript.Shortened) bool { return s.Message < cut && s.Message != c.Prompt-1 })
	return c, nil
}

// addToDigest puts a text that replaces messages into the digest, and returns it. The
// model's own compaction adds an entry of knowledge; any other extends the summary.
func (w *compactionRun) addToDigest(
	ctx context.Context, d *transcript.Digest, old []llm.Message, replace replacement,
) (text string, err error) {
	if w.strategy != transcript.Autonomous {
		d.Summary, err = replace(ctx, d.Summary, old, w.bytesFor(w.room.messages/summaryShare))
		return d.Summary, err
	}
	if n := llm.TextTokens(w.model.Name(), strings.Join(d.Knowledge, "\n")); n > w.room.messages/knowledgeShare {
		return "", fmt.Errorf("no room is left for more knowledge, which already has %s; continue without it", quantity.Count(n, "token"))
	}
	text, err = replace(ctx, "", old, w.bytesFor(w.room.messages/knowledgeShare))
	d.Knowledge = append(slices.Clone(d.Knowledge), text)
	return text, err
}

// bytesFor returns the length of a text with this many tokens, 3.5 bytes for an estimated one.
func (w *compactionRun) bytesFor(tokens int) int {
	return tokens * 7 / 2 * 1000 / w.perThousand()
}

// perThousand returns how many of the model's tokens correspond to a thousand
// estimated ones.
func (t *turn) perThousand() int {
	return scale(t.newestCount(t.history), t.baseTokens(), 1000)
}

// firstKept returns the index of the first message that stays. It is a prompt, or an
// answer of this turn, so that no call loses its result. first is the index of the first
// message after the digest; prompt is the index of this turn's prompt.
func (w *compactionRun) firstKept(c transcript.Compaction, first, prompt int) int {
	end := len(w.history)
	switch {
	case w.strategy == transcript.Autonomous: // the answer that makes the call
		return max(end-1, first)
	case w.strategy == transcript.Manual && prompt <= first:
		return end
	}
	short, _ := transcript.Compaction{Shortened: c.Shortened}.Apply(w.history, 0)
	if len(c.Shortened) == 0 {
		short = w.history
	}
	unit := w.perThousand()
	best, tail := end, 0
	for i := end - 1; i >= first; i-- {
		tail += llm.MessageTokens(short[i], w.model.Name())
		fits := tail*unit/1000 <= w.room.messages/keptShare
		if !fits && (best < end || w.strategy == transcript.Manual) {
			break
		}
		if isPrompt(short[i]) || i > prompt && short[i].Role == llm.Assistant && w.strategy == transcript.Triggered {
			best = i
			if !fits || w.strategy == transcript.Manual { // only the last turn stays
				break
			}
		}
	}
	return best
}

// maxChangedFiles is the number of files that a digest names.
const maxChangedFiles = 100

// changedFiles adds the files that calls in messages changed to those of earlier messages. The latest ones stay.
func (t *turn) changedFiles(files []string, messages []llm.Message) []string {
	tools := t.Chain.Tools()
	files = slices.Clone(files)
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Call == nil {
				continue
			}
			tool, ok := executors.Find(tools, b.Call.Name)
			if !ok || !tool.ChangesFiles() {
				continue
			}
			var input map[string]json.RawMessage
			var path string
			if json.Unmarshal(b.Call.Input, &input) != nil || json.Unmarshal(input[tool.Subject.Param], &path) != nil || path == "" {
				continue
			}
			path = line.Truncate(line.Join(path), maxCallInput)
			files = append(slices.DeleteFunc(files, func(other string) bool { return other == path }), path)
		}
	}
	return files[max(0, len(files)-maxChangedFiles):]
}

// openPlan returns the unfinished part of the model's last plan, or "" if a
// message from cut on contains it.
func (t *turn) openPlan(messages []llm.Message, cut int, before string) string {
	planners := executors.NamesOf(t.Chain.Tools(), func(t executors.Tool) bool { return t.Is(executors.ShowsPlan) })
	for i, m := range slices.Backward(messages) {
		for _, b := range slices.Backward(m.Blocks) {
			if b.Call == nil || !slices.Contains(planners, b.Call.Name) {
				continue
			}
			if i >= cut {
				return ""
			}
			if text, ok := planText(b.Call.Input); ok {
				return text
			}
		}
	}
	return before
}
