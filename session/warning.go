package session

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
)

// maxShownWarnings is the number of warnings that /status shows, the latest ones.
const maxShownWarnings = 20

// warn queues a warning for the user.
func (s *Session) warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, text)
}

// withdraw drops a warning, even if the user has not seen it yet.
func (s *Session) withdraw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(other string) bool { return other == text }
	s.warnings = slices.DeleteFunc(slices.Clone(s.warnings), same)
	s.shownWarnings = slices.DeleteFunc(slices.Clone(s.shownWarnings), same)
}

// callBeforeTurn calls BeforeTurn of the AgentSession.
func (s *Session) callBeforeTurn() {
	s.mu.Lock()
	call := s.beforeTurn
	s.mu.Unlock()
	if call != nil {
		call()
	}
}

// warnOfLoss queues the warning of the store, if it has lost something.
func (s *Session) warnOfLoss() {
	if s.sessions.Store == nil {
		return
	}
	if loss := s.sessions.Store.Loss(); loss != "" {
		s.warn(loss)
	}
}

// showWarnings shows the pending warnings to the user: as notices if the client
// supports them, or as messages if a turn is running. Some clients join the messages of
// a turn, so before and after separate a warning from its neighbours.
func (s *Session) showWarnings(ctx context.Context, before, after string) {
	for _, text := range s.takeWarnings() {
		if s.supportsNotices() {
			s.notice(ctx, text)
		} else if err := s.runner().Warn(ctx, before+"Warning: "+text+after); err != nil {
			s.sessions.Log.Debug("warning", "session", s.id, "err", err)
		}
	}
}

// showWarningNotices shows the pending warnings outside of a turn, if the client
// supports notices.
func (s *Session) showWarningNotices(ctx context.Context) {
	if !s.supportsNotices() {
		return
	}
	for _, text := range s.takeWarnings() {
		s.notice(ctx, text)
	}
}

// Notify shows the user of an open session a notice immediately. It reports whether it did:
// it does not if the session is not open here, or its client does not support notices.
func (s *Sessions) Notify(ctx context.Context, id, text string) bool {
	sess, open := s.find(id)
	if !open || !sess.supportsNotices() {
		return false
	}
	sess.send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "info", Title: text})
	return true
}

// takeWarnings returns the pending warnings, which then count as shown.
func (s *Session) takeWarnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.warnings
	s.warnings = nil
	for _, text := range taken {
		if !slices.Contains(s.shownWarnings, text) {
			s.shownWarnings = append(s.shownWarnings, text)
		}
	}
	s.shownWarnings = slices.Clone(s.shownWarnings[max(0, len(s.shownWarnings)-maxShownWarnings):])
	return taken
}

func (s *Session) supportsNotices() bool {
	return s.currentClient().Capabilities().Notices
}

func (s *Session) notice(ctx context.Context, text string) {
	s.send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "warning", Title: text})
}
