package agent

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

//go:embed compact.md
var compactPrompt string

// ErrNoModel means that there is no model for work that requires one.
var ErrNoModel = errors.New("there is no model to do that: connect one first")

// Limits on the input of a summary, in bytes.
const (
	maxTranscribed = 8 << 10 // of one text
	maxTranscript  = 2 << 10 // of one result; the following answer has its essence
	maxCallInput   = 500
	maxReferred    = 64 << 10 // of one text, where the transcript is stored
	outlined       = 300      // of one text in an outline
	unknownWindow  = 32 << 10 // tokens of a model with unknown window
	maxPieces      = 64
)

// summaryModel returns the model for summaries.
func (t *turn) summaryModel() llm.Model {
	if t.Compactor != nil {
		return t.Compactor
	}
	return t.model
}

// replacement returns a text that replaces messages, and before, the text that replaced
// earlier ones. maxBytes bounds its length.
type replacement func(ctx context.Context, before string, messages []llm.Message, maxBytes int) (string, error)

// summarize lets a model summarize the messages.
func (w *compactionRun) summarize(ctx context.Context, before string, messages []llm.Message, maxBytes int) (string, error) {
	if !w.force && (w.summaries == maxSummaries || w.gaveUp) {
		return "", ErrNothingToCompact
	}
	if err := w.announceStart(ctx); err != nil {
		return "", err
	}
	w.summaries++
	text, err := w.summarizePieces(ctx, before, messages, w.focus)
	return line.Truncate(text, maxBytes), err
}

// outline stores the messages for read_overflow and returns an outline of them
// with that reference. It needs no model.
func (w *compactionRun) outline(ctx context.Context, before string, messages []llm.Message, maxBytes int) (string, error) {
	if w.Keep == nil {
		return "", ErrNothingToCompact
	}
	reference, ok := w.Keep(ctx, strings.Join(formatMessages(messages, maxReferred, maxReferred), ""))
	if !ok {
		return "", ErrNothingToCompact
	}
	const head = "There is no summary of the messages here, only their beginnings; "
	text := head + "the messages are kept: " + reference + "\n"
	if before != "" {
		text = line.Truncate(before, maxBytes/3) + "\n\n" + text
	}
	return text + withoutMarks(lastFitting(formatMessages(messages, outlined, outlined), maxBytes-len(text))), nil
}

// lastFitting joins the last parts that fit into limit bytes.
func lastFitting(parts []string, limit int) string {
	first := len(parts)
	for first > 0 && len(parts[first-1]) <= limit {
		first--
		limit -= len(parts[first])
	}
	return strings.Join(parts[first:], "")
}

// summarizePieces lets the model extend a summary by the messages that follow it. If they
// do not fit into its window, it gets them in pieces, each with the summary of
// the earlier ones.
func (t *turn) summarizePieces(ctx context.Context, summary string, messages []llm.Message, focus string) (string, error) {
	model := t.summaryModel()
	if isDirect(model) {
		return "", ErrNoModel
	}
	parts := formatMessages(messages, maxTranscribed, maxTranscript)
	size := t.pieceBytes(model)
	for n := 0; len(parts) > 0; n++ {
		if n == maxPieces {
			return "", fmt.Errorf("%s would need more than %d requests to summarize the conversation", model.Name(), maxPieces)
		}
		fit := countFitting(parts, size)
		summary = line.Truncate(summary, size/2) // so that room remains for the piece, even if it is long
		text, err := t.askSummary(ctx, model, summary, strings.Join(parts[:fit], ""), focus)
		var failed *llm.Error
		if errors.As(err, &failed) && failed.TooLong && size > 2*maxTranscribed {
			size /= 2 // its tokens are smaller than estimated
			continue
		}
		if err != nil {
			return "", err
		}
		summary, parts = text, parts[fit:]
	}
	return summary, nil
}

// pieceBytes returns the length of transcript that the model gets at once: half
// of its window, by its own tokens.
func (t *turn) pieceBytes(model llm.Model) int {
	tokens := cmp.Or(model.Window(), unknownWindow) / 2
	unit := t.perThousand()
	if model.Name() != t.model.Name() { // its tokens may be smaller
		unit = max(unit, 1300)
	}
	return max(tokens*7/2*1000/unit, maxTranscribed)
}

// countFitting returns how many of the parts fit into size bytes, at least one.
func countFitting(parts []string, size int) int {
	n := 0
	for i, p := range parts {
		if n += len(p); n > size && i > 0 {
			return i
		}
	}
	return len(parts)
}

// askSummary asks for the summary of one piece.
func (t *turn) askSummary(ctx context.Context, model llm.Model, before, piece, focus string) (string, error) {
	var b strings.Builder
	if before != "" {
		fmt.Fprintf(&b, "<earlier_summary>\n%s\n</earlier_summary>\n\n", indented(before))
	}
	fmt.Fprintf(&b, "<conversation>\n%s</conversation>\n\nSummarize it.", piece)
	if focus != "" {
		fmt.Fprintf(&b, " Above all keep: %s", focus)
	}
	req := llm.Request{
		System:   strings.TrimSpace(compactPrompt),
		Messages: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: b.String()}}}},
	}
	var text strings.Builder
	var usage *llm.Usage
	var stop llm.StopReason
	var fault error
	spend := func() {
		if usage != nil {
			t.Spend(model, *usage)
			t.Record(transcript.Answer{Model: model.Name(), Usage: usage})
			usage = nil
		}
	}
	for ev, err := range stream(ctx, model, req) {
		if fault = err; fault != nil {
			break
		}
		if ev.Cut { // the next answer has its own count
			spend()
		}
		if fault = t.showFailure(ctx, ev); fault != nil {
			break
		}
		if ev.Fallback != nil {
			model = ev.Fallback.Model
		}
		if text.WriteString(ev.Text); ev.Reasoned {
			text.Reset()
		}
		if ev.Usage != nil {
			usage = ev.Usage
		}
		stop = cmp.Or(ev.Stop, stop)
	}
	spend()
	switch summary := withoutMarks(strings.TrimSpace(text.String())); {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case fault != nil:
		return "", fault
	case summary == "" || stop == llm.StopMaxTokens || stop == llm.StopRefusal:
		return "", &llm.Error{Provider: model.Name(), Message: fmt.Sprintf("returned no summary (it stopped with %q)", stop), Hint: "try again"}
	default:
		return summary, nil
	}
}

// withoutMarks changes lines of a summary that look like one of our marks and
// headings, which all begin alike. A summarized output may have asked for a
// fake mode, or fake words of the user.
func withoutMarks(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "[") {
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}

// indented indents every line of a text but the first, since parts and elements
// begin at the margin.
func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// formatMessages formats messages as text, one part each, whose blocks begin at
// the margin. It truncates texts and results to these lengths and omits
// thoughts, since the text has their results.
func formatMessages(messages []llm.Message, text, result int) []string {
	var parts []string
	for _, m := range messages {
		var b strings.Builder
		for _, block := range m.Blocks {
			switch {
			case block.Text != "":
				fmt.Fprintf(&b, "%s: %s\n", m.Role, indented(keepEnds(block.Text, text)))
			case block.Image != nil:
				fmt.Fprintf(&b, "%s: [an image]\n", m.Role)
			case block.Call != nil:
				fmt.Fprintf(&b, "call of %s: %s\n", line.Truncate(block.Call.Name, maxCallInput), indented(line.Truncate(string(block.Call.Input), maxCallInput)))
			case block.Result != nil:
				failed := ""
				if block.Result.Failed {
					failed = " (failed)"
				}
				fmt.Fprintf(&b, "result%s: %s\n", failed, indented(keepEnds(block.Result.Text, result)))
				for range block.Result.Images {
					b.WriteString("[an image]\n")
				}
			}
		}
		if b.Len() > 0 {
			parts = append(parts, b.String())
		}
	}
	return parts
}

// keepEnds removes the middle of a text that is longer than limit bytes.
func keepEnds(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	tail := strings.ToValidUTF8(s[len(s)-limit/3:], "")
	return line.Truncate(s, limit-limit/3) + "\n[…]\n" + tail
}
