package agent

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff" // the only diff that is fast for large texts; see files/diff.go

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

const (
	// minAgain is the length of a result, in bytes, from which it may refer to an earlier one.
	minAgain = 2000
	// leastSaved is how many times longer than its changes a result is that refers to an earlier one.
	leastSaved = 4
)

// againMark begins a result that refers to an earlier one.
const againMark = "[same output as this call had "

// again returns the text of a result for the model: if the model made the same call before and its
// history has that result whole, only the changed lines. The reference in it stays valid when a
// compaction removes the earlier result.
func (t *turn) again(ctx context.Context, c llm.ToolCall, res executors.Result, text string) string {
	if t.Config.ShrinkAfter == 0 || t.Keep == nil || t.origin != executors.Model || len(text) < minAgain || res.Output != nil && res.Output.Partial {
		return text
	}
	before, rounds, ok := t.resultBefore(c)
	if !ok || len(before) < minAgain {
		return text
	}
	changes, ok := changedLines(before, text, len(text)/leastSaved)
	if !ok {
		return text
	}
	reference, ok := t.overflowLine(ctx, text)
	if !ok {
		return text
	}
	but, until := "", "]"
	if changes != "" {
		but, until = ", with these changes:", ""
	}
	return executors.JoinLines(fmt.Sprintf("%s%s ago%s%s", againMark, quantity.Count(rounds, "round"), but, until), changes, reference)
}

// resultBefore returns the last whole result of the same call, and how many rounds ago it was. It
// reports false if there is none, or if the model repeats a call whose result was not sent whole:
// it may not find the earlier one.
func (t *turn) resultBefore(c llm.ToolCall) (text string, rounds int, ok bool) {
	input := plainjson.Canonical(c.Input)
	for i, m := range slices.Backward(t.history) {
		if m.Role != llm.Assistant {
			continue
		}
		if i == len(t.history)-1 { // the answer that makes this call
			continue
		}
		rounds++
		for _, b := range m.Blocks {
			if b.Call == nil || b.Call.Name != c.Name || !bytes.Equal(plainjson.Canonical(b.Call.Input), input) {
				continue
			}
			switch r := resultOf(t.history[i+1], b.Call.ID); {
			case r == nil:
			case strings.HasPrefix(r.Text, againMark):
				if rounds == 1 {
					return "", 0, false
				}
			case isShortened(r.Text):
				return "", 0, false
			default:
				return r.Text, rounds, true
			}
		}
	}
	return "", 0, false
}

// resultOf returns the result of a call in the message after the call, or nil.
func resultOf(m llm.Message, id string) *llm.ToolResult {
	for _, b := range m.Blocks {
		if b.Result != nil && b.Result.ID == id {
			return b.Result
		}
	}
	return nil
}

// changedLines returns the difference to an earlier text as a diff, in at most limit bytes. Only if it is longer,
// dates, times and durations do not count, which then are "#". It reports false if both are longer.
func changedLines(before, after string, limit int) (changes string, ok bool) {
	if before == after {
		return "", true
	}
	for _, form := range []func(string) string{strings.Clone, withoutVolatile} {
		all := string(diff.Diff("before", []byte(form(before)), "now", []byte(form(after))))
		if at := strings.Index(all, "@@"); at >= 0 { // after the names of the files
			all = all[at:]
		}
		if all = strings.ReplaceAll(all, noNewline, ""); len(all) <= limit {
			return all, true
		}
	}
	return "", false
}

// noNewline is a line of a diff after a last line without a line feed.
const noNewline = "\\ No newline at end of file\n"
