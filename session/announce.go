package session

import (
	"context"
	"reflect"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
)

// Opened waits until the client has settled, then announces the session.
func (s *Session) Opened() {
	if s.sessions.Prepare != nil {
		s.sessions.Prepare()
	}
	announce := func() { s.announce(context.Background()) }
	if s.sessions.Settle == 0 {
		announce()
		return
	}
	time.AfterFunc(s.sessions.Settle, announce)
}

// announce sends, at its first call, the commands, the settings and the warnings
// that are allowed outside of a turn. A concurrent call waits until they are sent.
func (s *Session) announce(ctx context.Context) {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.mu.Lock()
	first := !s.announced
	s.announced = true
	s.mu.Unlock()
	if first {
		if now := s.commands(); !reflect.DeepEqual(now, s.sentCommands) {
			s.sendCommands(ctx, now)
		}
		s.showOptions(ctx)
		s.showUsage(ctx)
		s.showWarningNotices(ctx)
		s.showHint(ctx)
	}
}

// showHint shows the hint of a new session.
func (s *Session) showHint(ctx context.Context) {
	s.mu.Lock()
	hint := s.hint
	s.hint = ""
	s.mu.Unlock()
	if hint != "" && s.supportsNotices() {
		s.send(ctx, acp.Notice{Update: acp.UpdateNotice, Severity: "info", Title: hint})
	}
}

// showUsage sends the usage of the context if no replay has shown it.
func (s *Session) showUsage(ctx context.Context) {
	s.mu.Lock()
	usage, show := s.usage, s.usageUnsent && s.usage.Size > 0
	s.usageUnsent = false
	s.mu.Unlock()
	if show {
		s.send(ctx, usage)
	}
}
