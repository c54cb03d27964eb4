package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// longestLogin is how long a login may take, counted from the question.
const longestLogin = 10 * time.Minute

var errLoginLate = fmt.Errorf("there was no login within %s", longestLogin)

// logins are the logins of a session. They may outlive the turn that began them.
type logins struct {
	mu     sync.Mutex
	ctx    context.Context // nil before the first login
	cancel context.CancelCauseFunc
	closed bool
	work   sync.WaitGroup
}

// begin runs a login in the background. The channel is closed when it has ended.
func (l *logins) begin(login func(context.Context)) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := make(chan struct{})
	if l.closed {
		close(over)
		return over
	}
	if l.ctx == nil {
		l.ctx, l.cancel = context.WithCancelCause(context.Background())
	}
	l.work.Go(func() {
		defer close(over)
		ctx, cancel := context.WithTimeoutCause(l.ctx, longestLogin, errLoginLate)
		defer cancel()
		login(ctx)
	})
	return over
}

// close ends the logins and waits until they have ended.
func (l *logins) close() {
	l.mu.Lock()
	l.closed = true
	if l.cancel != nil {
		l.cancel(errClosed)
	}
	l.mu.Unlock()
	l.work.Wait()
}

// logIn asks the user to log in to the servers that want it, once in a session for each.
// It returns when these servers are ready, or ctx ends. The logins continue after ctx,
// and the tools are then offered in a later turn.
func (s *Session) logIn(ctx context.Context) {
	if !s.user.pages() {
		return
	}
	var begun []<-chan struct{}
	for _, server := range s.servers {
		if s.invited[server] || !server.wantsLogin() {
			continue
		}
		if s.invited == nil {
			s.invited = map[*sessionServer]bool{}
		}
		s.invited[server] = true
		begun = append(begun, s.logins.begin(func(ctx context.Context) {
			if s.invite(ctx, server) {
				server.ready(ctx)
			}
		}))
	}
	for _, over := range begun {
		select {
		case <-over:
		case <-ctx.Done():
			return
		}
	}
}

// invite asks the user to log in to a server, waits for the login, and reports whether
// it succeeded. A failure is reported to the user, who may have declined without one.
func (s *Session) invite(ctx context.Context, server *sessionServer) bool {
	name, id, action := server.entry.Name, rand.Text(), Action("")
	err := s.pool.login(ctx, server.entry, func(ctx context.Context, _, page string) error {
		u, err := pageAddress(page)
		if err != nil {
			return err
		}
		e := Elicitation{Page: u.String(), ID: id}
		e.Message = fmt.Sprintf("The MCP server %s wants you to log in on a page of %s. The browser must run on the machine of zeph-acp.", name, u.Host)
		r, err := s.user.Elicit(ctx, e)
		if err != nil {
			return fmt.Errorf("the client could not show the page: %w", err)
		}
		if action = r.Action; action != Accept {
			return errors.New("the user did not want to log in")
		}
		return nil
	})
	if action == Accept {
		s.user.Completed(id)
	}
	declined := action != "" && action != Accept
	if err != nil && !declined && context.Cause(ctx) != errClosed {
		why := strings.TrimSuffix(s.pool.mask(oneLine(err.Error())), ".")
		s.warn(fmt.Sprintf("The login at the MCP server %s failed: %s. To try again, run %q.", name, why,
			"zeph-acp mcp login "+server.entry.account()))
	}
	return err == nil
}
