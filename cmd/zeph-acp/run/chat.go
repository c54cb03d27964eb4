package run

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/sessions"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// PicksSession reports whether the user wants to pick the session to continue from a list.
func (r *Flags) PicksSession() bool { return r.resume == cli.ListSessions }

// Reopen prepares the turn in another stored session, or in a new one if id is empty.
func (r *Runner) Reopen(ctx context.Context, f *cli.Flags, id string) error {
	r.resume, r.continueLast = id, false
	return r.Open(ctx, f)
}

// StoredHere returns the stored sessions of a directory, the newest first.
func (r *Runner) StoredHere(ctx context.Context, dir string) ([]store.Session, error) {
	all, err := sessions.Stored(ctx, r.Loaded, r.App)
	if err != nil {
		return nil, err
	}
	return sessions.InDirectory(all, dir)
}

// Replay shows the turns of a stored session.
func (r *Runner) Replay(ctx context.Context, id string, view sessions.PastView) error {
	s, events, _, err := r.App.Sessions().Stored(ctx, id)
	if err != nil {
		return err
	}
	return sessions.Replay(view, s.ID, events)
}

// Turns returns the turns of a session that the user can go back to, by their numbers.
func (r *Runner) Turns(ctx context.Context, id string) (all []transcript.Turn) {
	_, events, _, err := r.App.Sessions().Stored(ctx, id)
	if err != nil {
		return nil
	}
	return transcript.Turns(events)
}

// Jobs returns the number of commands that run in the background.
func (r *Runner) Jobs() int { return len(r.tally.running()) }

// Unpriced reports whether a model without a known price has answered.
func (r *Runner) Unpriced() bool {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	return r.tally.unpriced
}

// Image returns the block for an image.
func (r *Runner) Image(path string) (acp.ContentBlock, error) {
	return attachment(path, r.App.Config.ACP.MaxAttachmentBytes)
}

// Sandbox says whether a sandbox confines the commands.
func (r *Runner) Sandbox() string {
	if r.confined.Load() {
		return "sandbox"
	}
	return "no sandbox"
}
