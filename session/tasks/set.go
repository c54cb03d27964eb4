package tasks

import (
	"context"
	"errors"

	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// ToolStore is the store of tasks in the form that the tools use.
type ToolStore struct{ DB *store.DB }

// Put implements schedule.Store.
func (s ToolStore) Put(ctx context.Context, t schedule.Task, limit int) (replaced bool, err error) {
	replaced, err = s.DB.PutTask(ctx, store.Task{
		CWD: t.CWD, Name: t.Name, Session: t.Session, Cron: t.Cron, Prompt: t.Prompt, Mode: t.Mode, Model: t.Model, Typed: t.Typed, Next: t.Next,
	}, limit)
	if errors.Is(err, store.ErrManyTasks) {
		err = schedule.ErrTooMany
	}
	return replaced, err
}

// List implements schedule.Store.
func (s ToolStore) List(ctx context.Context, cwd string) ([]schedule.Task, error) {
	stored, err := s.DB.Tasks(ctx, cwd)
	var all []schedule.Task
	for _, t := range stored {
		all = append(all, schedule.Task{
			CWD: t.CWD, Name: t.Name, Session: t.Session, Cron: t.Cron, Prompt: t.Prompt, Mode: t.Mode, Model: t.Model, Typed: t.Typed, Next: t.Next,
			Last: schedule.Outcome{Started: t.Last.Started, Ended: t.Last.Ended, Result: t.Last.Outcome},
		})
	}
	return all, err
}

// Delete implements schedule.Store.
func (s ToolStore) Delete(ctx context.Context, cwd, name string) (bool, error) {
	all, err := s.DB.Tasks(ctx, cwd)
	if err != nil {
		return false, err
	}
	for _, t := range all {
		if t.Name != name {
			continue
		}
		err := s.DB.DeleteTask(ctx, t.ID)
		if errors.Is(err, store.ErrNoTask) { // removed meanwhile
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}
