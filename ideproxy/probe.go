package ideproxy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/shell"
)

// Terminals decides for all sessions of one connection whether commands run in the
// client's terminals. Its methods may be called concurrently.
//
// Some clients join the arguments of terminal/create and have a shell split them
// again, so that of an approved `cd build && rm -f *.o` the second half runs in
// another directory. Where [quirksOf] does not know the client, one harmless command
// decides at the first use; as long as it does not prove that arguments are kept,
// commands run on this machine.
type Terminals struct {
	mu      sync.Mutex
	decided arguments
	why     string        // why commands run here, for /status; "" if they do not
	probing chan struct{} // closed when the running probe ends; nil without one
}

// State says for /status why the commands of a client with terminals run on this
// machine; "" where they do not, or that is not decided yet.
func (s *Terminals) State(client *acp.Client) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookUp(client.Info())
	if s.why == "" || !client.Capabilities().Terminal {
		return ""
	}
	return "Commands: run on this machine, not in the editor's terminals: " + s.why
}

// lookUp decides about a known client. The mutex is held.
func (s *Terminals) lookUp(client acp.Implementation) {
	if s.decided == untried {
		q := quirksOf(client)
		s.decided, s.why = q.arguments, q.why
	}
}

// usable reports whether commands may run in the client's terminals. Of several
// first uses one probes, and the others wait for it. A probe that was cancelled
// decides nothing. The error is the cause of ctx.
func (s *Terminals) usable(ctx context.Context, client acp.Implementation, probe func(context.Context) (arguments, string)) (bool, error) {
	for {
		s.mu.Lock()
		s.lookUp(client)
		if s.decided != untried {
			defer s.mu.Unlock()
			return s.decided == kept, nil
		}
		other := s.probing
		if other == nil {
			s.probing = make(chan struct{})
		}
		s.mu.Unlock()
		if other == nil {
			s.settle(ctx, probe)
		} else {
			select {
			case <-other:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

// settle runs the probe and notes what it decided.
func (s *Terminals) settle(ctx context.Context, probe func(context.Context) (arguments, string)) {
	got, why := probe(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got == kept || ctx.Err() == nil {
		s.decided, s.why = got, why
	}
	close(s.probing)
	s.probing = nil
}

// The probe needs blanks, quotes, a glob and an expansion of a variable to arrive as
// they are. It only writes, and what it writes is not in its script: a terminal may
// echo that.
const (
	probeScript = `zeph=kept; [ "$zeph" = kept ] && printf '%s|' 'a b' '*' || echo lo''st`
	probeKept   = "a b|*|"
	probeLost   = "lost"
)

const (
	probeTime  = 5 * time.Second        // for all of a probe
	probeAfter = 500 * time.Millisecond // for output that comes after the exit
	probeEvery = 50 * time.Millisecond
)

// probe runs the probe in a terminal of the client, and never returns untried.
func (t *Terminal) probe(ctx context.Context, cmd shell.Command) (arguments, string) {
	const (
		undecided = "this editor is unknown, and a harmless command could not be tried in its terminal: "
		apart     = "this editor's terminals do not keep the arguments of a command apart"
	)
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	term, err := t.start(ctx, shell.Command{Line: probeScript, Dir: cmd.Dir, Session: cmd.Session}, 1<<10)
	if err != nil {
		return lost, undecided + reason(err)
	}
	defer term.Release()
	_, waitErr := term.Wait(ctx)
	over := time.After(probeAfter)
	for {
		shown, err := term.Output(ctx)
		switch {
		case err == nil && strings.Contains(shown.Output, probeKept):
			return kept, ""
		case err == nil && strings.Contains(shown.Output, probeLost):
			return lost, apart
		case err != nil:
			return lost, undecided + reason(err)
		case waitErr != nil && shown.ExitStatus == nil: // it cannot wait, or not yet
			over = time.After(probeAfter)
		}
		select {
		case <-time.After(probeEvery):
		case <-over:
			return lost, apart
		case <-ctx.Done():
			return lost, undecided + reason(context.Cause(ctx))
		}
	}
}

// reason words why a probe failed.
func reason(err error) string {
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		return refused.Message
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}
