package session

import (
	"context"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
)

// maxTold is how many warnings /status shows: the last ones.
const maxTold = 20

// warn queues a warning for the user.
func (s *Session) warn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, text)
}

// withdraw drops a warning, also one that the user has not seen yet.
func (s *Session) withdraw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(other string) bool { return other == text }
	s.warnings = slices.DeleteFunc(slices.Clone(s.warnings), is)
	s.told = slices.DeleteFunc(slices.Clone(s.told), is)
}

// lookAround lets what watches over the session warn.
func (s *Session) lookAround() {
	s.mu.Lock()
	look := s.look
	s.mu.Unlock()
	if look != nil {
		look()
	}
}

// sayWarnings shows the user the pending warnings: by notices where the client shows
// them, else, in a turn, as a message.
func (s *Session) sayWarnings(ctx context.Context) {
	for _, text := range s.takeWarnings() {
		if s.notices() {
			s.notice(ctx, text)
		} else if err := s.runner().Say(ctx, "Warning: "+text); err != nil {
			s.all.Log.Debug("warning", "session", s.id, "err", err)
		}
	}
}

// noticeWarnings does what of it can be done outside of a turn.
func (s *Session) noticeWarnings(ctx context.Context) {
	if !s.notices() {
		return
	}
	for _, text := range s.takeWarnings() {
		s.notice(ctx, text)
	}
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
