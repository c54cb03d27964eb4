package agent

import (
	"context"
	"errors"
	"net/http"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// compactRefused reports whether to repeat a request that the provider refused, since the history
// is now shorter. It compacts after a request that was too long, and after the second refusal in a
// row because of the content. It does so once in a turn. If a part of the answer is already in the
// history, such as the part before a cut, it does nothing: the user's next prompt continues.
func (t *turn) compactRefused(ctx context.Context, err error) (again bool, _ error) {
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || t.Config.CompactAt == 0 || t.wasRefused || ctx.Err() != nil {
		return false, err
	}
	if !failed.TooLong && !(unacceptable(failed) && t.unanswered()) {
		return false, err
	}
	if n := len(t.history); n > 0 && t.history[n-1].Role == llm.Assistant {
		return false, err
	}
	t.wasRefused = true
	if failed.Prompt > 0 {
		name := t.model.Name()
		t.refusedCount = &llm.Count{Model: name, Tokens: failed.Prompt, Estimate: t.meter.Sum(name, t.history)}
	}
	size := t.tokens() // by our count it fits the window, but the provider disagrees
	if s := t.contextSize(); s > 0 {
		size = min(size, s)
	}
	before := t.compactions
	// A provider that also rejects a summary may reject every request for an
	// unrelated reason. The conversation then stays unchanged.
	w := compactionRun{strategy: transcript.Triggered, room: t.roomOf(size), force: true, needsSummary: !failed.TooLong}
	if err := t.compact(ctx, w); err != nil {
		return false, err
	}
	if t.compactions == before {
		if why := t.baseTooLarge(failed.Window); why != "" {
			last := *failed
			last.Hint = why
			err = &last
		}
		return false, err
	}
	t.model = t.Model() // a fallback may have answered and refused instead
	return true, nil
}

// unacceptable reports whether the provider refused the content of a request,
// rather than the caller, the model, or because of its own state.
func unacceptable(e *llm.Error) bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return !e.Auth && !e.Retryable
	}
	return false
}

// unanswered reports whether the prompt before the last one got no answer.
func (t *turn) unanswered() bool {
	at := t.promptAt()
	return at > 0 && isPrompt(t.history[at-1])
}
