package session

import (
	"context"
	"errors"
	"time"

	"github.com/zeph-acp/zeph-acp/session/store"
)

// DeleteOld deletes a stored session whose last change is before a time, and reports whether it
// did. A session is kept if it has changed since, or if any process runs a turn of it.
func (s *Sessions) DeleteOld(ctx context.Context, id string, before time.Time) (deleted bool, err error) {
	if s.Store == nil {
		return false, nil
	}
	holder := s.leaseHolder() // keeps every turn away until the session is deleted
	if _, err := s.Store.Acquire(ctx, id, holder); err != nil {
		if _, busy := errors.AsType[*store.LeasedError](err); busy {
			return false, nil
		}
		return false, err
	}
	defer func() { err = errors.Join(err, s.Store.Release(context.WithoutCancel(ctx), id, holder)) }()
	row, err := s.Store.Session(ctx, id)
	switch {
	case errors.Is(err, store.ErrUnknown):
		return false, nil
	case err != nil || !row.Updated.Before(before):
		return false, err
	}
	return true, s.Delete(ctx, id)
}
