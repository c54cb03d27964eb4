package session

import (
	"context"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// renewWait is the wait before commands are sent again. Changes in the meantime are sent
// together.
const renewWait = 200 * time.Millisecond

// serverCommands returns the commands of MCP servers and of files.
func (s *Session) serverCommands() []Command {
	tools := s.toolState()
	if tools == nil {
		return nil
	}
	return tools.Commands()
}

// renewCommands sends the commands again soon, if they have changed. It does not block.
func (s *Session) renewCommands() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renewPlanned || s.closed {
		return
	}
	s.renewPlanned = true
	time.AfterFunc(renewWait, func() {
		s.mu.Lock()
		s.renewPlanned = false
		send := s.announced && !s.closed // else announce sends them
		s.mu.Unlock()
		if send {
			s.sendChangedCommands(context.Background())
		}
	})
}

// sendChangedCommands sends the commands if they have changed.
func (s *Session) sendChangedCommands(ctx context.Context) {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	if now := s.commands(); !reflect.DeepEqual(now, s.sentCommands) {
		s.sendCommands(ctx, now)
	}
}

// Commands returns the commands for a client that gets them by another way than an update.
func (s *Session) Commands() []acp.Command {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.sentCommands = s.commands()
	return s.sentCommands
}

// sendCommands sends the commands; the caller holds s.announcing.
func (s *Session) sendCommands(ctx context.Context, commands []acp.Command) {
	s.sentCommands = commands
	s.send(ctx, acp.CommandsUpdate{Update: acp.UpdateCommands, AvailableCommands: commands})
}

// expand returns the prompt that a command of an MCP server or of a file stands for. It
// returns false if the prompt is not such a command.
func (s *Session) expand(ctx context.Context, prompt []acp.ContentBlock) (Expansion, bool, error) {
	name, ok := strings.CutPrefix(strings.TrimSpace(transcript.TypedText(prompt)), "/")
	rest := ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, rest = name[:i], strings.TrimSpace(name[i:])
	}
	tools := s.toolState()
	if !ok || tools == nil {
		return Expansion{}, false, nil
	}
	e, ok, err := tools.Expand(ctx, name, rest)
	if ok && err == nil { // the user may have approved some
		s.sendChangedCommands(ctx)
	}
	if ok && e.Reply == "" {
		for _, b := range prompt {
			if b.Type != "text" && b.Type != "resource_link" {
				e.Content = append(e.Content, b)
			}
		}
	}
	return e, ok, err
}
