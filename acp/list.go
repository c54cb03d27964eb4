package acp

import (
	"context"
	"path/filepath"
	"time"
)

// ListSessionsRequest requests stored sessions:
// https://agentclientprotocol.com/protocol/v1/session-list
type ListSessionsRequest struct {
	CWD    string `json:"cwd"`    // absolute; empty means every directory
	Cursor string `json:"cursor"` // from the previous page; empty means the first page
}

func (p *ListSessionsRequest) validate() error {
	if p.CWD != "" && !filepath.IsAbs(p.CWD) {
		return ParamsErrorf("cwd", "must be an absolute path, got %q", p.CWD)
	}
	return nil
}

// ListSessionsResponse is one page of stored sessions, the newest first.
type ListSessionsResponse struct {
	Sessions   []SessionInfo `json:"sessions"`             // never nil
	NextCursor string        `json:"nextCursor,omitempty"` // empty on the last page
}

// SessionInfo describes a stored session.
type SessionInfo struct {
	SessionID             string    `json:"sessionId"`
	CWD                   string    `json:"cwd"` // absolute
	AdditionalDirectories []string  `json:"additionalDirectories,omitempty"`
	Title                 string    `json:"title,omitempty"`
	UpdatedAt             time.Time `json:"updatedAt"`
}

// listSessions answers session/list.
func (s *Server) listSessions(ctx context.Context, p ListSessionsRequest) (secondPhase, error) {
	return secondPhase{run: func() (any, error) {
		page, err := s.Sessions.List(ctx, p)
		if page.Sessions == nil {
			page.Sessions = []SessionInfo{} // strict clients reject null
		}
		return page, err
	}}, nil
}
