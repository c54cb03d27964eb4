package subagent

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// runInWorktree runs a task in a copy of the project, and brings its changes back.
func (s *Set) runInWorktree(ctx context.Context, call *executors.Call, t Type, d executors.Delegation) (executors.Result, error) {
	if s.options.Worktree == nil {
		return executors.Failf(executors.PermanentFailure, "there is no place for the copy of the project in which a sub-agent %s works", t.Name), nil
	}
	w, err := s.options.Worktree(ctx, t.Name)
	switch {
	case ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return executors.FailWith(err), nil
	}
	defer w.Close()
	d.Chain, d.Dir, d.Task, d.Edit = w.Chain(), w.Dir(), w.ToCopy(d.Task), w.ToProject
	d.Project = w.ToCopy(d.Project) + "\n\n" + fmt.Sprintf(strings.TrimSpace(worktreeText), w.Dir())
	var changes executors.Result
	brought := false
	d.After = func(ctx context.Context, call executors.DelegatedCall) error {
		if s.writing.Acquire(ctx, 1) != nil { // never while another sub-agent changes the project
			return context.Cause(ctx)
		}
		defer s.writing.Release(1)
		brought = true
		return w.Bring(ctx, call, &changes)
	}
	report, err := call.Delegate(ctx, d)
	if !brought {
		w.Keep(context.WithoutCancel(ctx), &changes)
	}
	if ctx.Err() != nil { // shown with the call that was cancelled
		return changes, context.Cause(ctx)
	}
	res := result(t, report, err)
	res.Content = changes.Content
	for _, note := range changes.Notes {
		res.Below(note)
	}
	return res, nil
}
