package agent

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// addSteered adds the user's waiting texts to the history, and reports whether there
// were any. The built-in models would run such a text as a command, so they get
// none.
func (t *turn) addSteered(ctx context.Context) (bool, error) {
	if isDirect(t.model) {
		t.inbox.Close(ErrNotAccepted)
		return false, nil
	}
	added := false
	for ctx.Err() == nil {
		a := t.inbox.next()
		if a == nil {
			break
		}
		refused, err := t.addSteer(ctx, a)
		if err != nil {
			return added, err // the end of the turn settles the text
		}
		t.inbox.settle(refused)
		select {
		case <-a.answered:
		case <-ctx.Done():
		}
		added = added || refused == nil
	}
	return added, nil
}

// addSteer adds one text to the history. refused is the reason if the model may not see it.
func (t *turn) addSteer(ctx context.Context, a *Addition) (refused, err error) {
	content := a.content
	s := transcript.Steer{MessageID: t.NewID(), Content: content, Key: a.key}
	typed := transcript.TypedText(content)
	if t.Hooks != nil {
		text, blocked, err := t.Hooks.Prompt(ctx, typed)
		if err != nil {
			return nil, err
		}
		if blocked != "" {
			return &BlockedError{blocked}, nil
		}
		s.Context = text
	}
	if err := t.checkFits(s.Message().Blocks); err != nil {
		return err, nil
	}
	s.Attachments = t.shortForms(ctx, content)
	t.message.end()
	t.Record(s)
	t.Stored(ctx) // before the request that added the text is answered
	if err := t.Send(ctx, acp.UserMessage{MessageID: s.MessageID, Content: content}); err != nil {
		return nil, err
	}
	a.messageID = s.MessageID
	t.history = append(t.history, s.Message())
	t.typed += "\n" + typed
	return nil, nil
}

// resetLimits restarts the limits on rounds and repetitions, as a prompt does.
func (t *turn) resetLimits() {
	t.allowedRounds, t.loops = 0, loopDetector{}
}

// isOver reports whether the turn ends with the model's last answer: no text of the
// user waits, and no hook makes the model continue. After that, the turn accepts no
// more texts.
func (t *turn) isOver(ctx context.Context) (bool, error) {
	if t.inbox.isWaiting() {
		return false, nil
	}
	if on, err := t.continuedByHook(ctx); err != nil || on {
		return false, err
	}
	return t.inbox.closeIfEmpty(), nil
}
