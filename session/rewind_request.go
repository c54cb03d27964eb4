package session

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// RewindRequest is a rewind that a client asks for.
type RewindRequest struct {
	MessageID string // of the prompt to go back to
	Mode      string // files, conversation or both
	Redo      bool   // undoes the last rewind instead
	DryRun    bool   // changes nothing
	// Overwrite says whether to replace files that have changed since the agent's last
	// change. Nil means that nothing is changed if there are such files.
	Overwrite *bool
}

// RewindResult is the answer to a RewindRequest.
type RewindResult struct {
	Rewound         bool
	Mode            string
	Plan            []PlannedFile
	Notes           []string
	Outcome         FilesOutcome // of the files; empty after a dry run
	MessagesDropped int
}

// RewindPoints returns the turns of an open session to go back to.
func (s *Sessions) RewindPoints(ctx context.Context, id string) (points []RewindPoint, err error) {
	err = s.inTurn(ctx, id, func(sess *Session, ctx context.Context) error {
		events, err := sess.journal.events(ctx)
		if err == nil {
			points, err = sess.rewindPoints(events)
		}
		return err
	})
	return points, err
}

// Rewind reserves the place of a rewind among the turns of an open session. The function
// that it returns waits for the earlier turns and carries the rewind out. The client has
// asked its user. ErrNoTurn means that no turn begins with that message.
func (s *Sessions) Rewind(ctx context.Context, id string, r RewindRequest) (func() (RewindResult, error), error) {
	var result RewindResult
	run, err := s.reserve(ctx, id, func(sess *Session, ctx context.Context) error {
		var run *rewindRun
		var err error
		if r.Redo {
			run, err = sess.planRedo(ctx)
		} else {
			run, err = sess.planRewind(ctx, func(t transcript.Turn) bool { return t.MessageID == r.MessageID }, r.Mode)
		}
		if err != nil {
			return err
		}
		result = RewindResult{Mode: run.event.Mode, Plan: run.plan.Files, Notes: run.plan.Notes, MessagesDropped: max(run.dropped, 0)}
		if r.DryRun || r.Overwrite == nil && len(run.differing()) > 0 {
			return nil
		}
		result.Outcome, err = sess.carryOut(ctx, run, r.Overwrite != nil && *r.Overwrite)
		result.Rewound = err == nil
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() (RewindResult, error) {
		err := run()
		return result, err
	}, nil
}

// inTurn calls do in a turn of an open session that has no prompt.
func (s *Sessions) inTurn(ctx context.Context, id string, do func(*Session, context.Context) error) error {
	run, err := s.reserve(ctx, id, do)
	if err != nil {
		return err
	}
	return run()
}

// reserve reserves a turn of an open session that has no prompt. run waits for the earlier
// turns and calls do.
func (s *Sessions) reserve(ctx context.Context, id string, do func(*Session, context.Context) error) (run func() error, err error) {
	sess, ok := s.find(id)
	if !ok {
		return nil, acp.ErrUnknownSession
	}
	t := sess.enqueue(ctx, &turn{withoutPrompt: true})
	return func() error {
		defer t.End()
		if err := t.wait(); err != nil {
			return err
		}
		return t.hold(t.ctx, func(func(...transcript.Event)) error {
			sess.recoverFiles(t.ctx)
			return do(sess, t.ctx)
		})
	}, nil
}
