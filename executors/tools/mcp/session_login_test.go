package mcp

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth/oauthtest"
)

// invited is a user who is asked to log in.
type invited struct {
	answer func(ctx context.Context, page string) Action

	mu    sync.Mutex
	asked []Elicitation
	ended []string
}

func (*invited) Forms() bool { return false }

func (*invited) Pages() bool { return true }

func (u *invited) Elicit(ctx context.Context, e Elicitation) (Elicited, error) {
	u.mu.Lock()
	u.asked = append(u.asked, e)
	u.mu.Unlock()
	action := u.answer(ctx, e.Page)
	return Elicited{Action: action}, context.Cause(ctx)
}

func (u *invited) Completed(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = append(u.ended, id)
}

// invite returns a session whose user can open pages.
func (u *user) invite(a authorizer, wait time.Duration, answer func(context.Context, string) Action) (*Session, *invited) {
	person := &invited{answer: answer}
	s := u.Session(Options{Dir: u.dir, Servers: []Server{a.entry()}, Wait: wait, Warn: u.warn.add, User: person})
	u.t.Cleanup(s.Close)
	return s, person
}

// A user who opens the page has the tools in the same turn.
func TestInvitation(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	s, person := u.invite(a, time.Minute, func(ctx context.Context, page string) Action {
		if err := oauthtest.Browse(ctx, page); err != nil {
			t.Error(err)
		}
		return Accept
	})
	s.Ready(t.Context())
	if got := u.call(s, "s__echo", `{}`); got.Failed {
		t.Errorf("got %s, want success", got.ForModel())
	}
	if len(person.asked) != 1 || !strings.Contains(person.asked[0].Message,
		"The MCP server s wants you to log in on a page of "+a.Issuer.Listener.Addr().String()) {
		t.Errorf("asked %+v, want one question with the issuer's page", person.asked)
	}
	if len(person.ended) != 1 || person.ended[0] != person.asked[0].ID {
		t.Errorf("completed %q, want the question", person.ended)
	}
}

// The user is asked once in a session. A refusal of the user needs no warning, but a
// login that fails does.
func TestInvitationOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		action Action
		warned bool
	}{
		"decline":      {Decline, false},
		"cancel":       {Cancel, false},
		"failed login": {Accept, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, u := newAuthorizer(t), newUser(t)
			a.Set(func() { a.Deny = true })
			s, person := u.invite(a, time.Minute, func(ctx context.Context, page string) Action {
				if tt.action == Accept {
					_ = oauthtest.Browse(ctx, page)
				}
				return tt.action
			})
			s.Ready(t.Context())
			s.Ready(t.Context())
			if got := s.Status()[0]; got.State == Ready || !strings.Contains(got.Error, `run "zeph-acp mcp login s"`) || len(person.asked) != 1 {
				t.Errorf("%+v; asked %d times", got, len(person.asked))
			}
			all := strings.Join(u.warn.list(), "\n")
			if warned := strings.Contains(all, `The login at the MCP server s failed`) && strings.Contains(all, `access_denied`); warned != tt.warned {
				t.Errorf("got the warnings %s, want one of the login %t", all, tt.warned)
			}
		})
	}
}

// A turn does not wait for a user who does not answer. The end of the session ends the
// question.
func TestInvitationUnanswered(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	asked, ended := make(chan struct{}), make(chan struct{})
	s, _ := u.invite(a, 0, func(ctx context.Context, _ string) Action {
		close(asked)
		<-ctx.Done()
		close(ended)
		return Cancel
	})
	u.until("the failure", func() bool { return s.Status()[0].State == Failed })
	s.Ready(t.Context())
	<-asked
	s.Close()
	<-ended
	if all := u.warn.list(); len(all) != 1 {
		t.Errorf("got the warnings %q, want one", all)
	}
}
