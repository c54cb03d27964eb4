package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// PromptRequest is the user's prompt.
type PromptRequest struct {
	sessionRequest
	Prompt []ContentBlock
	Trace  Trace
}

// maxBlocks bounds the blocks of a prompt, since a block of a few bytes on the
// wire needs far more memory.
const maxBlocks = 10_000

// decode parses the params of session/prompt, which may have many MiB.
func (p *PromptRequest) decode(raw []byte) error {
	return p.decodeMembers(objectOf(raw, "", "sessionId", "prompt", "_meta"))
}

// decodeMembers parses the session, the prompt and the trace.
func (p *PromptRequest) decodeMembers(o jsonObject) error {
	p.Trace = traceOf(o.members["_meta"])
	id, err := o.requiredString("sessionId")
	if err != nil {
		return err
	}
	p.SessionID = &id
	switch kind := jsonKind(o.members["prompt"]); kind {
	case "array":
	case "", "null":
		return ParamsErrorf("prompt", "is required")
	default:
		return ParamsErrorf("prompt", "must be an array, not %s", kind)
	}
	for item := range jsonItems(o.members["prompt"]) {
		if len(p.Prompt) == maxBlocks {
			return ParamsErrorf("prompt", "has more than %d blocks", maxBlocks)
		}
		b, err := decodeBlock(item, fmt.Sprintf("prompt[%d]", len(p.Prompt)))
		if err != nil {
			return err
		}
		p.Prompt = append(p.Prompt, b)
	}
	if isBlank(p.Prompt) {
		return ParamsErrorf("prompt", "is empty")
	}
	return nil
}

// check checks the contents of the blocks.
func (p *PromptRequest) check(c Config) error {
	text := 0
	for i := range p.Prompt {
		b := &p.Prompt[i]
		if b.Type == "text" {
			text += len(*b.Text)
		}
		if err := b.check(fmt.Sprintf("prompt[%d]", i), c.MaxAttachmentBytes); err != nil {
			return err
		}
	}
	if text > c.MaxPromptTextBytes {
		return ParamsErrorf("prompt", "has %s of text, over the limit of %d; attach long text as a file", quantity.Count(text, "byte"), c.MaxPromptTextBytes)
	}
	return nil
}

// isBlank reports whether the blocks contain only white space.
func isBlank(blocks []ContentBlock) bool {
	for _, b := range blocks {
		if b.Type != "text" || strings.TrimSpace(*b.Text) != "" {
			return false
		}
	}
	return true
}

// StopReason is the reason why a turn ended:
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

// Sentence says for people that a turn ended early; it is empty for a turn that ended by itself.
func (r StopReason) Sentence() string {
	switch r {
	case StopEndTurn, "":
		return ""
	case StopCancelled:
		return "The turn was cancelled."
	case StopRefusal:
		return "The model declined to continue."
	case StopMaxTokens:
		return "The answer reached the limit of the model."
	case StopMaxTurnRequests:
		return "The turn reached a limit."
	}
	return "The turn ended: " + string(r)
}

// PromptResponse ends a turn.
type PromptResponse struct {
	StopReason StopReason `json:"stopReason"`
}

// prompt answers session/prompt: it runs one turn and returns its stop reason.
//
// The turn is reserved before prompt returns, so that a session/cancel in the
// next frame finds it. A cancelled turn is a result, not an error:
// https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation
func (s *Server) prompt(ctx context.Context, p PromptRequest) (secondPhase, error) {
	if err := p.check(s.Config); err != nil {
		return secondPhase{}, err
	}
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	prompt := Prompt{Content: p.Prompt, Caller: p.Trace}
	turn := sess.Begin(ctx, prompt)
	return secondPhase{sent: func(context.Context) { turn.End() }, run: func() (any, error) {
		reason, err := turn.Run(prompt)
		if errors.Is(err, ErrTurnCancelled) || errors.Is(err, ErrClosed) {
			return PromptResponse{StopCancelled}, nil
		}
		if err != nil {
			return nil, err
		}
		return PromptResponse{reason}, nil
	}}, nil
}

// cancel handles session/cancel. It has no effect if no turn runs or waits. The id of a
// child session, which begins with its parent's and a slash, ends the child alone.
func (s *Server) cancel(_ context.Context, p sessionRequest) (secondPhase, error) {
	sess, err := s.find(p)
	if err == nil {
		sess.Cancel()
		return secondPhase{}, nil
	}
	if parent, _, ok := strings.Cut(*p.SessionID, "/"); ok {
		if sess, e := s.Sessions.Find(parent); e == nil {
			sess.CancelChild(*p.SessionID)
			return secondPhase{}, nil
		}
	}
	return secondPhase{}, err
}
