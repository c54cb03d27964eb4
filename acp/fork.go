package acp

import "context"

// ForkSessionRequest holds the params of session/fork, which opens a session that
// continues from a message of another one. The method is not stable yet:
// https://agentclientprotocol.com/rfds/session-fork
type ForkSessionRequest struct {
	LoadSessionRequest
	// MessageID is the last message of the fork. If it is a prompt, the fork ends before
	// it, so that the client can send another prompt instead. Empty means all messages.
	MessageID string
}

// decode parses the params of session/fork.
func (p *ForkSessionRequest) decode(raw []byte) error {
	o := objectOf(raw, "", "messageId")
	if o.has("messageId") {
		var err error
		if p.MessageID, err = o.requiredString("messageId"); err != nil {
			return err
		}
	}
	return p.LoadSessionRequest.decode(raw)
}

// For returns the request that opens the fork.
func (p *ForkSessionRequest) For(id string) LoadSessionRequest {
	return LoadSessionRequest{sessionRequest{&id}, p.NewSessionRequest}
}

// forkSession answers session/fork like session/new.
func (s *Server) forkSession(ctx context.Context, p ForkSessionRequest) (secondPhase, error) {
	return openPhase(func() (Session, error) {
		sess, err := s.Sessions.Fork(ctx, s.client, p)
		if err != nil {
			err = sessionError{p.ID(), err}
		}
		return sess, err
	}, func(sess Session) any { return NewSessionResponse{sess.ID(), sess.State()} }), nil
}
