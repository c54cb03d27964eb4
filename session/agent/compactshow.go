package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// announceStart announces the compaction to a client that shows them.
func (w *compactionRun) announceStart(ctx context.Context) error {
	w.id = w.NewID()
	if !w.ShowCompactions {
		return nil
	}
	w.shown = true
	return w.Send(ctx, acp.CompactionUpdate{Update: acp.UpdateCompaction, CompactionID: w.id, Status: acp.CompactionInProgress})
}

// reportFailure reports a failed summary to the client, and to the user by a format
// for the error. It returns nil if the turn continues.
func (w *compactionRun) reportFailure(ctx context.Context, err error, format string) error {
	if errors.Is(err, ErrNothingToCompact) && w.strategy == transcript.Triggered {
		return nil
	}
	cancelled := ctx.Err() != nil
	if w.shown {
		status := acp.CompactionFailed
		if cancelled {
			status = acp.CompactionCancelled
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), slowClient)
		defer cancel()
		u := acp.CompactionUpdate{Update: acp.UpdateCompaction, CompactionID: w.id, Status: status}
		if !cancelled {
			u.Error = err.Error()
		}
		if sendErr := w.Send(late, u); sendErr != nil {
			return sendErr
		}
		w.id, w.shown = "", false // work without a summary is another compaction
	}
	switch {
	case cancelled:
		return context.Cause(ctx)
	case w.strategy != transcript.Triggered:
		return err
	}
	w.gaveUp = true
	w.Log.Warn("compaction", "session", w.Session, "err", err)
	if w.needsSummary { // the refusal ends the turn
		return nil
	}
	w.message.end()
	return w.sayParagraph(ctx, fmt.Sprintf(format, err))
}

// apply applies the compaction and shows it to the client.
func (w *compactionRun) apply(ctx context.Context, c transcript.Compaction) error {
	t := w.turn
	if w.id == "" {
		w.id = t.NewID()
	}
	c.ID = w.id
	t.history, _ = c.Apply(t.history, 0)
	t.meter = llm.Meter{}
	t.loops.forget()
	t.compactions++
	c.After = t.tokens()
	if w.strategy == transcript.Triggered && !t.ShowCompactions {
		c.MessageID = t.NewID()
	}
	events := []transcript.Event{c}
	used := acp.UsageUpdate{Update: acp.UpdateUsage, Used: c.After, Size: t.model.Window(), Cost: t.Spend(t.model, llm.Usage{})}
	if used.Size > 0 { // the update requires a size
		used.Used = min(used.Used, used.Size)
		events = append(events, transcript.Answer{Model: t.model.Name(), Shown: &used})
	}
	t.Record(events...)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // the history has already changed
	defer cancel()
	if err := t.showCompaction(ctx, c); err != nil || used.Size == 0 {
		return err
	}
	return t.Send(ctx, used)
}

// showCompaction shows the client a finished compaction.
func (t *turn) showCompaction(ctx context.Context, c transcript.Compaction) error {
	if t.ShowCompactions {
		return t.Send(ctx, c.Update())
	}
	if c.MessageID == "" {
		return nil
	}
	t.message.end()
	return t.Send(ctx, acp.MessageChunk{Update: acp.UpdateAgentMessage, Content: acp.TextBlock(c.Note() + "\n\n"), MessageID: c.MessageID})
}
