package session

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
)

// maxTold is the number of warnings that /status shows, the latest ones.
const maxTold = 20

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
	is := func(other string) bool { return other == text }
	s.warnings = slices.DeleteFunc(slices.Clone(s.warnings), is)
	s.told = slices.DeleteFunc(slices.Clone(s.told), is)
}

// lookAgain calls Look of the Opening, which may queue warnings.
func (s *Session) lookAgain() {
	s.mu.Lock()
	look := s.look
	s.mu.Unlock()
	if look != nil {
		look()
	}
}

// queueLoss queues the warning of the store, if it has lost something.
func (s *Session) queueLoss() {
	if s.all.Store == nil {
		return
	}
	if loss := s.all.Store.Loss(); loss != "" {
		s.warn(loss)
	}
}

// sayWarnings shows the pending warnings to the user: as notices if the client
// supports them, or as a message if a turn is running.
func (s *Session) sayWarnings(ctx context.Context) {
	for _, text := range s.takeWarnings() {
		if s.notices() {
			s.notice(ctx, text)
		} else if err := s.runner().Say(ctx, "Warning: "+text); err != nil {
			s.all.Log.Debug("warning", "session", s.id, "err", err)
		}
	}
}

// noticeWarnings shows the pending warnings outside of a turn, if the client
// supports notices.
func (s *Session) noticeWarnings(ctx context.Context) {
	if !s.notices() {
		return
	}
	for _, text := range s.takeWarnings() {
		s.notice(ctx, text)
	}
}

// Notify shows the user of an open session a notice at once. It reports whether it did:
// it does not if the session is not open here, or its client does not support notices.
func (s *Sessions) Notify(ctx context.Context, id, text string) bool {
	sess, open := s.find(id)
	if !open || !sess.notices() {
		return false
	}
	sess.send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "info", Title: text})
	return true
}

func (s *Session) takeWarnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.warnings
	s.warnings = nil
	for _, text := range taken {
		if !slices.Contains(s.told, text) {
			s.told = append(s.told, text)
		}
	}
	s.told = slices.Clone(s.told[max(0, len(s.told)-maxTold):])
	return taken
}

func (s *Session) notices() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client.Capabilities().Notices
}

func (s *Session) notice(ctx context.Context, text string) {
	s.send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "warning", Title: text})
}
