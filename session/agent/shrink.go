package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// minAged is the length of a result, in bytes, over which it may become a reference with age.
const minAged = 2 << 10

// shrinkOld replaces old results by their beginnings and references, in batches: each batch makes the
// provider read all that follows as new, so it must cost less than what it saves. The log records the
// batch, so a loaded session continues with the same history.
func (t *turn) shrinkOld(ctx context.Context) {
	if t.Config.ShrinkAfter == 0 || t.Keep == nil || t.origin != executors.Model || isDirect(t.model) {
		return
	}
	if !slices.ContainsFunc(t.history, hasLongResult) {
		return
	}
	long := t.longResults()
	if !slices.ContainsFunc(long, longResult.isOld) {
		return
	}
	from, ok := t.rates().cheapest(t.pieces(long), roundsAhead)
	if !ok {
		return
	}
	c := transcript.Compaction{Strategy: transcript.Aged, Before: t.tokens()}
	for _, r := range long {
		switch {
		case r.message < from || !r.isOld():
		case r.file:
			text := line.Truncate(r.result.Text, shownOfOld) + "\n" + shortenedMark + readAgain
			c.Shortened = append(c.Shortened, transcript.Shortened{Message: r.message, ID: r.result.ID, Text: text})
		default:
			one := llm.Message{Blocks: []llm.Block{{Result: r.result}}}
			c.Shortened = t.shortenIn(ctx, c.Shortened, r.message, one, minAged, shownOfOld)
		}
	}
	if len(c.Shortened) == 0 || ctx.Err() != nil {
		return
	}
	t.history, _ = c.Apply(t.history, 0)
	t.meter.Forget(from)
	c.After = t.tokens()
	t.Record(c)
}

// readAgain is the reference of a part of a file, which may have changed: the call returns it as it is now.
const readAgain = "[for the rest make this call again]"

// hasLongResult reports whether a message has a result that may become a reference with age.
func hasLongResult(m llm.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b llm.Block) bool { return b.Result != nil && isLong(b.Result) })
}

func isLong(r *llm.ToolResult) bool { return len(r.Text) > minAged && !isShortened(r.Text) }

// longResult is a result that may become a reference, now or later.
type longResult struct {
	message int // index
	result  *llm.ToolResult
	file    bool    // it is a part of a file
	oldIn   int     // the number of requests until it is old
	again   float64 // the chance that the model needs it again
}

func (r longResult) isOld() bool { return r.oldIn == 0 }

// longResults returns the long results, the newest first. One is old if shrink_after requests had it, or if
// a later result of the same call replaces it. A result to which a later one refers is as new as that one.
// The results of tools that act within the session, such as the instructions of a skill, stay.
func (t *turn) longResults() (long []longResult) {
	requests := 0                 // that had the message
	replaced := map[string]bool{} // by the call
	referred := map[string]int{}  // the requests that had a later result that refers to the call's last one
	changed := map[string]bool{}  // files
	for i := len(t.history) - 1; i > 0; i-- {
		m := t.history[i]
		if m.Role == llm.Assistant {
			requests++
			continue
		}
		for _, b := range m.Blocks {
			if b.Result == nil {
				continue
			}
			c := callOf(t.history[i-1], b.Result.ID)
			if c == nil {
				continue
			}
			call := t.earlierCall(c)
			key := call.key
			if strings.HasPrefix(b.Result.Text, againMark) {
				if _, ok := referred[key]; !ok {
					referred[key] = requests
				}
				continue
			}
			age := requests
			if n, ok := referred[key]; ok {
				age = n
				delete(referred, key)
			}
			if r := b.Result; isLong(r) && !call.effect.InternalOnly() {
				file := call.file != "" && call.effect.ReadOnly()
				one := longResult{i, r, file, max(t.Config.ShrinkAfter-age, 0), chance(age, replaced[key], file && !changed[call.file])}
				if replaced[key] {
					one.oldIn = 0
				}
				long = append(long, one)
			}
			replaced[key] = true
			changed[call.file] = changed[call.file] || call.effect.Has(executors.Mutates)
		}
	}
	return long
}

// earlierCall is what counts of a call of the history.
type earlierCall struct {
	key    string // the same for equal calls
	file   string // that it names, as written, or ""
	effect executors.Effect
}

// earlierCall returns what counts of a call, which is looked at once in a turn.
func (t *turn) earlierCall(c *llm.ToolCall) earlierCall {
	known, ok := t.earlierCalls[c]
	if !ok {
		tool, _ := executors.Find(t.tools, c.Name)
		known = earlierCall{c.Name + "\x00" + string(plainjson.Canonical(c.Input)), subjectFile(tool, c.Input), tool.Effect}
		if t.earlierCalls == nil {
			t.earlierCalls = map[*llm.ToolCall]earlierCall{}
		}
		t.earlierCalls[c] = known
	}
	return known
}

// chance returns the chance that the model needs a result again.
func chance(age int, replaced, current bool) float64 {
	switch {
	case replaced:
		return 0
	case current: // an edit repeats lines of the file
		return 2 * needsAgain(age)
	}
	return needsAgain(age)
}

// callOf returns the call of an id in an answer, or nil.
func callOf(answer llm.Message, id string) *llm.ToolCall {
	for _, b := range answer.Blocks {
		if b.Call != nil && b.Call.ID == id {
			return b.Call
		}
	}
	return nil
}

// subjectFile returns the file that a call names, as written, or "".
func subjectFile(tool executors.Tool, input json.RawMessage) (file string) {
	if tool.Subject.Of != executors.PathSubject {
		return ""
	}
	var params map[string]any
	_ = json.Unmarshal(input, &params)
	file, _ = params[tool.Subject.Param].(string)
	return file
}

// pieces measures the history, in bytes. The last request had the messages before the last answer.
func (t *turn) pieces(long []longResult) []piece {
	all := make([]piece, len(t.history))
	sent := false
	for i := len(t.history) - 1; i >= 0; i-- {
		m := t.history[i]
		all[i].blocks = len(m.Blocks)
		for _, b := range m.Blocks {
			all[i].size += len(b.Text) + len(b.Thought)
			if b.Call != nil {
				all[i].size += len(b.Call.Input)
			}
			if b.Result != nil {
				all[i].size += len(b.Result.Text)
			}
		}
		all[i].sent = sent
		sent = sent || m.Role == llm.Assistant && (m.Count == nil || m.Count.Model == t.model.Name())
	}
	for _, r := range long {
		p := &all[r.message]
		saved := len(r.result.Text) - shownOfOld - len(shortenedMark) - referenceLen
		if !r.isOld() {
			p.later, p.in = p.later+saved, r.oldIn
			continue
		}
		p.saved += saved
		p.repeated += r.again * float64(len(r.result.Text))
		p.requests += r.again
	}
	return all
}

// referenceLen is about the length of a reference, in bytes.
const referenceLen = 100
