package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// PromptRequest is the user's prompt.
type PromptRequest struct {
	sessionRequest
	Prompt contentBlocks `json:"prompt"`
}

// contentBlocks are blocks whose mistakes are named with their index.
type contentBlocks []ContentBlock

// UnmarshalJSON decodes each block by itself.
func (bs *contentBlocks) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return paramsErrorf("prompt", "must be an array of content blocks")
	}
	*bs = make(contentBlocks, len(list))
	for i, item := range list {
		err := json.Unmarshal(item, &(*bs)[i])
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			field := strings.TrimSuffix(fmt.Sprintf("prompt[%d].%s", i, wrong.Field), ".")
			return paramsErrorf(field, "must be %s, not %s", jsonType(wrong.Type), wrong.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *PromptRequest) validate() error {
	if err := p.sessionRequest.validate(); err != nil {
		return err
	}
	if p.Prompt == nil {
		return paramsErrorf("prompt", "is required")
	}
	for i, b := range p.Prompt {
		if err := b.validate(fmt.Sprintf("prompt[%d]", i)); err != nil {
			return err
		}
	}
	if blank(p.Prompt) {
		return paramsErrorf("prompt", "is empty")
	}
	return nil
}

// StopReason is why a turn ended:
// https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons
type StopReason string

// The stop reasons.
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopCancelled       StopReason = "cancelled"
)

// PromptResponse ends a turn.
type PromptResponse struct {
	StopReason StopReason `json:"stopReason"`
}

// prompt answers session/prompt: it runs one turn and returns its stop reason.
//
// The turn is reserved before prompt returns, so that a session/cancel in the
// next frame finds it. A cancelled turn is a result, not an error:
// https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation
func (s *Server) prompt(ctx context.Context, p PromptRequest) (work, error) {
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return work{}, err
	}
	turn := sess.Begin(ctx)
	return work{sent: turn.End, run: func() (any, error) {
		reason, err := turn.Run(p.Prompt)
		if errors.Is(err, ErrTurnCancelled) || errors.Is(err, ErrClosed) {
			return PromptResponse{StopCancelled}, nil
		}
		if err != nil {
			return nil, err
		}
		return PromptResponse{reason}, nil
	}}, nil
}

// cancel takes session/cancel. With nothing to cancel it has no effect.
func (s *Server) cancel(_ context.Context, p sessionRequest) (work, error) {
	sess, err := s.find(p)
	if err == nil {
		sess.Cancel()
	}
	return work{}, err
}
