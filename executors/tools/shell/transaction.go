package shell

import (
	"context"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/undo/rollback"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// timeoutExitCode is the exit code that stands for a timeout in
// auto_rollback_exit_codes, as in timeout(1).
const timeoutExitCode = 124

// transactional reports whether a command is undone when it fails. The user's own
// commands are not, and a read-only command leaves nothing to undo.
func (e *Executor) transactional(call *executors.Call) bool {
	readOnly := call.Plain != nil && call.Plain.ReadOnly
	return e.cfg.Transactional && e.cfg.AutoRollback && e.Roots != nil && call.Origin != executors.User && !readOnly
}

// takeSnapshot makes a snapshot of the files that a command may write. If that fails,
// note is a message for the model, or err an error if the command must not run without a
// snapshot.
func (e *Executor) takeSnapshot(
	ctx context.Context, call *executors.Call, in *bashInput,
) (snap *rollback.Snapshot, note string, failed error) {
	if !e.transactional(call) {
		return nil, "", nil
	}
	paths, _, all := rollback.Writes(e.scriptOf(call, in))
	if len(paths) == 0 && !all {
		return nil, "", nil
	}
	var err error
	switch running := e.Running(); {
	case in.Background:
		err = fmt.Errorf("it would run in the background")
	case running > 0:
		err = fmt.Errorf("a command runs in the background, whose changes it would undo too")
	default:
		snap, err = rollback.Take(ctx, rollback.NewScope(e.Roots, paths, all, e.cfg.TransactionScope), e.UndoLimits)
	}
	switch {
	case err == nil:
		return snap, "", nil
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case e.cfg.SnapshotRequired:
		return nil, "", executors.Failuref(executors.PermanentFailure, "not run, because there is no snapshot to undo it: %v", err).
			Hint("Write less at once, or ask the user (tools.shell.snapshot_required).")
	}
	return nil, fmt.Sprintf("[no snapshot: %v]", err), nil
}

// rollBack undoes a failed command. It returns the line that says so, or an error if
// the command could not be undone completely.
func (e *Executor) rollBack(snap *rollback.Snapshot, call *executors.Call, code *int, timedOut bool) (string, error) {
	if timedOut {
		code = new(timeoutExitCode)
	}
	if snap == nil || code == nil || !slices.Contains(e.cfg.AutoRollbackExitCodes, *code) {
		return "", nil
	}
	count, err := snap.Restore()
	if call.Record != nil && count != (executors.Rollback{}) {
		call.Record.Rollback = &count
	}
	done := fmt.Sprintf("%s restored, %s removed", quantity.Count(count.Restored, "file"), quantity.Count(count.Deleted, "new file"))
	if err != nil {
		return "", executors.Failuref(executors.PermanentFailure,
			"the command failed (exit code %d), and what it changed could not all be undone (%s): %v", *code, done, err).
			Hint("Look at these files before you continue, and tell the user.")
	}
	if count == (executors.Rollback{}) {
		return "[rolled back: no file had changed]", nil
	}
	return "[rolled back: " + done + "]", nil
}
