package agent

import (
	"context"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Hooks are programs of the user that run at events of a turn.
type Hooks interface {
	// Prompt is called with each prompt before the model sees it. It returns a text for
	// the model below the prompt, which may be empty. If blocked is not empty, no model
	// may see the prompt, and blocked is the reason.
	Prompt(ctx context.Context, prompt string) (text, blocked string, err error)
	// Stop is called when the model ends its turn, with the text of its last message. more
	// is a text for the model, which then continues; "" ends the turn. active reports
	// whether a hook has already made the model continue in this turn.
	Stop(ctx context.Context, message string, active bool) (more string, err error)
	// Stopped reports whether a hook has ended the turn since the last call, and why.
	Stopped() (why string, stopped bool)
}

// hookMark begins each line of a hook's text.
const hookMark = "[hook] "

// maxStops limits how often hooks may make the model continue in one turn.
const maxStops = 5

// BlockedError is the error of a prompt that a hook has blocked.
type BlockedError struct{ Reason string }

// Error returns the reason.
func (e *BlockedError) Error() string { return e.Reason }

// runPromptHooks runs the hooks of a prompt, and adds their text to it. The error is a
// *BlockedError if no model may see the prompt.
func (a *Agent) runPromptHooks(ctx context.Context, prompt *transcript.Prompt) error {
	if a.Hooks == nil {
		return nil
	}
	text, blocked, err := a.Hooks.Prompt(ctx, transcript.TypedText(prompt.Content))
	switch {
	case err != nil:
	case ctx.Err() != nil: // the question whether they may run was open
		err = context.Cause(ctx)
	case blocked != "":
		err = &BlockedError{blocked}
	}
	if err != nil {
		_, _ = a.Hooks.Stopped() // the turn ends anyway
		return err
	}
	prompt.Context = text
	return nil
}

// halt remembers that a hook has ended the turn. Subturns end with it.
type halt struct {
	mu      sync.Mutex
	why     string
	stopped bool
}

// hookStopped reports whether a hook has ended the turn, and why.
func (t *turn) hookStopped() (why string, stopped bool) {
	t = t.sessionTurn()
	if t.Hooks == nil {
		return "", false
	}
	t.halt.mu.Lock()
	defer t.halt.mu.Unlock()
	if !t.halt.stopped {
		t.halt.why, t.halt.stopped = t.Hooks.Stopped()
	}
	return t.halt.why, t.halt.stopped
}

// continuedByHook reports whether a hook makes the model continue. It adds the hook's text to
// the history.
func (t *turn) continuedByHook(ctx context.Context) (bool, error) {
	if t.Hooks == nil {
		return false, nil
	}
	more, err := t.Hooks.Stop(ctx, t.lastMessageText(), t.stops > 0)
	if err != nil || more == "" || t.direct || t.stops == maxStops {
		return false, err
	}
	t.stops++
	t.goOn(more)
	return true, nil
}

// goOn makes the model continue its turn with a text that the client does not see.
func (t *turn) goOn(text string) {
	t.message.end()
	t.Record(transcript.HookText{Text: text})
	t.history = append(t.history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: text}}})
}

// lastMessageText returns the text of the model's last message.
func (t *turn) lastMessageText() string {
	if n := len(t.history); n > 0 {
		return messageText(t.history[n-1])
	}
	return ""
}

// messageText returns the text of a message of the model.
func messageText(m llm.Message) string {
	var b strings.Builder
	if m.Role == llm.Assistant {
		for _, block := range m.Blocks {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// repeatRewritten repeats a call whose input a hook has changed, as an attempt that every link
// checks again.
func (r *runningCall) repeatRewritten(ctx context.Context, res executors.Result, err error) (executors.Result, error) {
	for err == nil && r.call.Rewrite != nil {
		releaseResult(res)
		again := r.nextAttempt(r.call.Rewrite)
		again.Rewrites++
		if err := r.prepare(ctx, again); err != nil {
			return res, err
		}
		if err := r.showCorrection(ctx, again); err != nil {
			return res, err
		}
		if res, err = r.Chain.Execute(ctx, again); err == nil && again.Rewrite == nil {
			res.Below("[a hook changed the input to " + line.Truncate(string(again.Input), maxNoted) + "]")
		}
	}
	return res, err
}
