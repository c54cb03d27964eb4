package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// approvals returns the store of the user's approvals; nil if there is no data
// directory.
func (a *App) approvals(l *config.Loaded) *approval.Store {
	dir := l.Paths.Data
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, approval.FileName)
	return &approval.Store{
		Load:   func() ([]byte, error) { return readIfExists(file) },
		Change: func(edit func([]byte) ([]byte, error)) error { return keys.EditFile(file, edit) },
		Log:    func(err error) { a.Log.Warn("approvals", "err", err) },
	}
}

// readIfExists reads a private file; it returns nothing if there is no file.
func readIfExists(file string) ([]byte, error) {
	data, err := keys.ReadPrivate(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return data, err
}

// approvalDesk returns the approvals for a session's repository.
func (b *sessionBuilder) approvalDesk() *approval.Desk {
	return &approval.Desk{Store: b.app.MCP.Approvals, Ask: b.askApproval(), Unasked: b.unasked()}
}

// unasked returns the function that warns about parts of the repository that are not used,
// since "zeph-acp run" has no user to ask; nil in other sessions.
func (b *sessionBuilder) unasked() func(what string) {
	if !b.app.NoUser || b.app.checking != nil {
		return nil
	}
	return func(what string) {
		b.session.Warn(executors.Shown("Not used, since it is not approved and there is no user to ask: " + executors.WholeLine(what) +
			". Approve it in an editor or a terminal, or add --yes."))
	}
}

// askApproval returns the function that asks the user about approvals; nil if there is
// no user.
func (b *sessionBuilder) askApproval() func(context.Context, approval.Question) approval.Answer {
	if b.noUser() || b.app.checking != nil {
		return nil
	}
	return func(ctx context.Context, q approval.Question) approval.Answer {
		if q.Text != executors.Shown(q.Text) {
			b.session.Warn(executors.Shown("Too long to ask about, so the answer is no: " + q.Title))
			return approval.No
		}
		switch b.askUser(ctx, q, approvalOptions) {
		case approveOnce:
			return approval.Once
		case approveAlways:
			return approval.Always
		}
		return approval.No
	}
}
