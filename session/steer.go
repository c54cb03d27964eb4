package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// steerCommand is the command that adds a text to the running turn, for clients that
// lack _session/steering. Without a running turn the text is a prompt of its own.
const steerCommand = "steer"

// Steer adds a text to the running turn, or to the one that runs next.
func (s *Session) Steer(prompt []acp.ContentBlock) (acp.Steering, bool) {
	if reply, ok := s.controlGoal(prompt); ok {
		return goalReply{s, reply}, true
	}
	t := s.currentTurn()
	if t == nil || s.isCommand(transcript.TypedText(prompt)) {
		return nil, false
	}
	added := t.inbox.Add(prompt, "")
	return steering{added}, added != nil
}

// steering is an acp.Steering.
type steering struct{ *agent.Addition }

func (s steering) Wait(ctx context.Context) error {
	err := s.Addition.Wait(ctx)
	if errors.Is(err, agent.ErrNotAccepted) {
		return acp.ErrNoTurn
	}
	return err
}

// currentTurn returns the oldest turn that is neither cancelled nor answered; nil if there
// is none.
func (s *Session) currentTurn() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest *turn
	for t := range s.turns {
		if !t.withoutPrompt && t.reply == "" && t.ctx.Err() == nil && (oldest == nil || t.number < oldest.number) {
			oldest = t
		}
	}
	return oldest
}

// isCommand reports whether a text is a command or a call of a tool, which needs its
// own turn.
func (s *Session) isCommand(typed string) bool {
	typed = strings.TrimSpace(typed)
	if !strings.HasPrefix(typed, "/") {
		return false
	}
	name := strings.Fields(typed)[0][1:]
	named := func(c acp.Command) bool { return c.Name == name }
	return slices.ContainsFunc(s.commands(), named) || local.IsToolCommand(typed, s.runner().Tools())
}

// closeInbox settles the texts that the turn has not accepted; err is the turn's failure.
func (t *turn) closeInbox(err error) {
	switch {
	case t.ctx.Err() != nil:
		err = context.Cause(t.ctx)
	case err == nil:
		err = agent.ErrNotAccepted
	}
	t.inbox.Close(err)
}

// addSteering adds the text of the command to steer, or of a prompt that joins, to the running turn.
// It returns nil if the prompt needs its own turn.
func (s *Session) addSteering(p acp.Prompt) *agent.Addition {
	typed := transcript.TypedText(p.Content)
	name, rest := local.SplitCommand(strings.TrimSpace(typed))
	rest = strings.TrimSpace(rest)
	content := p.Content
	switch running := s.currentTurn(); {
	case running == nil:
		return nil
	case name == steerCommand && rest != "" && transcript.CountAttachments(content) == 0:
		return running.inbox.Add([]acp.ContentBlock{acp.TextBlock(rest)}, p.Key)
	case p.Joins && !s.isCommand(typed) && !s.waitsAfter(running):
		return running.inbox.Add(content, p.Key)
	}
	return nil
}

// waitsAfter reports whether a later turn waits for the end of this one. A text that joined it must not
// overtake that turn.
func (s *Session) waitsAfter(running *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.turns {
		if t.number > running.number && t.added == nil && t.reply == "" && !t.reopens && t.ctx.Err() == nil {
			return true
		}
	}
	return false
}
