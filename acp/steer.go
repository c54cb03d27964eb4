package acp

import (
	"context"
	"encoding/json"
	"errors"
)

// SteeringRequest adds a prompt to a running turn: _session/steering, an extension that
// several agents share.
type SteeringRequest struct {
	PromptRequest
	// PromptRequired says that without a running turn the prompt must not start one;
	// _meta.steering.idleBehavior is then "promptRequired".
	PromptRequired bool
}

// decode parses the params of _session/steering.
func (p *SteeringRequest) decode(raw []byte) error {
	o := objectOf(raw, "", "sessionId", "prompt", "_meta")
	var idle string
	_ = json.Unmarshal(member(o.members["_meta"], "steering", "idleBehavior"), &idle) // otherwise it stays empty
	p.PromptRequired = idle == string(SteeringPromptRequired)
	return p.decodeMembers(o)
}

// SteeringOutcome is the outcome of a prompt of _session/steering.
type SteeringOutcome string

// The outcomes.
const (
	SteeringInjected       SteeringOutcome = "injected"       // the model of the running turn sees it
	SteeringStartedNewTurn SteeringOutcome = "startedNewTurn" // it is the prompt of a turn without a request
	SteeringPromptRequired SteeringOutcome = "promptRequired" // no turn is running: send it with session/prompt
	SteeringFailed         SteeringOutcome = "failed"         // no model sees it
)

// SteeringResponse answers _session/steering.
type SteeringResponse struct {
	Outcome SteeringOutcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"` // of promptRequired and failed
}

// The reasons that clients can rely on; any other is a sentence.
const (
	reasonNoTurn    = "noRunningTurn"
	reasonCancelled = "cancelled"
)

// steer answers _session/steering. The prompt joins the running turn in frame order, so
// a session/cancel in the next frame reaches it. The response waits for the model's next
// request, since only then its outcome is certain.
func (s *Server) steer(ctx context.Context, p SteeringRequest) (secondPhase, error) {
	if err := p.check(s.Config); err != nil {
		return secondPhase{}, err
	}
	sess, err := s.find(p.sessionRequest)
	if err != nil {
		return secondPhase{}, err
	}
	text, ok := sess.Steer(p.Prompt)
	if !ok {
		return s.steerWithoutTurn(ctx, sess, p), nil
	}
	var then secondPhase
	return secondPhase{
		run: func() (any, error) {
			err := text.Wait(ctx)
			switch {
			case err == nil:
				return SteeringResponse{Outcome: SteeringInjected}, nil
			case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
				return nil, err
			case errors.Is(err, ErrNoTurn):
				then = s.steerWithoutTurn(ctx, sess, p)
				return then.result, nil
			case errors.Is(err, ErrTurnCancelled):
				return SteeringResponse{SteeringFailed, reasonCancelled}, nil
			}
			return SteeringResponse{SteeringFailed, err.Error()}, nil
		},
		sent: func(conn context.Context) {
			text.Answered()
			if then.sent != nil {
				then.sent(conn)
			}
		},
	}, nil
}

// steerWithoutTurn handles a prompt that no running turn accepted. Unless the client wants
// to send it again itself, the prompt begins a turn that no request waits for.
func (s *Server) steerWithoutTurn(ctx context.Context, sess Session, p SteeringRequest) secondPhase {
	if p.PromptRequired {
		return secondPhase{result: SteeringResponse{SteeringPromptRequired, reasonNoTurn}}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // it outlives the request
	prompt := Prompt{Content: p.Prompt, Caller: p.Trace}
	turn := sess.Begin(ctx, prompt)
	return secondPhase{result: SteeringResponse{Outcome: SteeringStartedNewTurn}, sent: func(conn context.Context) {
		defer context.AfterFunc(conn, func() { cancel(context.Cause(conn)) })()
		defer cancel(nil)
		defer turn.End()
		if _, err := turn.Run(prompt); err != nil && ctx.Err() == nil && !errors.Is(err, ErrTurnCancelled) {
			s.showFailed(conn, sess.ID(), err)
		}
	}}
}

// showFailed shows the user the failure of a turn that no request waits for.
func (s *Server) showFailed(ctx context.Context, session string, err error) {
	text := MessageChunk{Update: UpdateAgentMessage, Content: TextBlock("The turn failed: " + err.Error())}
	if err := s.client.Update(ctx, session, text); err != nil {
		s.Log.Debug("show a failure", "session", session, "err", err)
	}
}
