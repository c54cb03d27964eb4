package ideproxy

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// Terminals decides for all sessions of one connection whether commands run in the
// client's terminals. Its methods may be called concurrently.
//
// Some clients join the arguments of terminal/create and let a shell split them
// again. Then the second half of an approved `cd build && rm -f *.o` runs in
// another directory. For a client that [quirksOf] does not list, one harmless
// command decides at the first use. Commands run on this machine until it has
// proved that arguments arrive unchanged.
type Terminals struct {
	mu      sync.Mutex
	quirks  quirks        // listed, or found by a probe
	probing chan struct{} // closed when the running probe ends; nil without one
	noBox   string        // why unasked commands do not run in its terminals; empty if they may
}

// State returns a line for /status if the commands of a client with terminals
// run on this machine. It is "" otherwise, and before the decision.
func (s *Terminals) State(client *acp.Client) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decideKnown(client.Info())
	switch {
	case !client.Capabilities().Terminal:
		return ""
	case s.quirks.why != "":
		return "Commands: run on this machine, not in the editor's terminals: " + s.quirks.why
	case s.noBox != "":
		return "Commands that run without a question: on this machine, not in the editor's terminals, where their box is missing: " + s.noBox
	}
	return ""
}

// decideKnown decides for a client that [quirksOf] lists. The caller holds the mutex.
func (s *Terminals) decideKnown(client acp.Implementation) {
	if s.quirks.arguments == argumentsUnknown {
		s.quirks = quirksOf(client)
	}
}

// endInOutput reports whether only terminal/output says that a command has ended.
func (s *Terminals) endInOutput() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quirks.endInOutput
}

// usable reports whether commands may run in the client's terminals. If several
// first calls run at the same time, one runs the probe, and the others wait for
// it. A cancelled probe decides nothing. The error is the cause of ctx.
func (s *Terminals) usable(ctx context.Context, client acp.Implementation, probe func(context.Context) quirks) (bool, error) {
	for {
		s.mu.Lock()
		s.decideKnown(client)
		if s.quirks.arguments != argumentsUnknown {
			defer s.mu.Unlock()
			return s.quirks.arguments == argumentsKept, nil
		}
		other := s.probing
		if other == nil {
			s.probing = make(chan struct{})
		}
		s.mu.Unlock()
		if other == nil {
			s.runProbe(ctx, probe)
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

// runProbe runs the probe and stores its decision.
func (s *Terminals) runProbe(ctx context.Context, probe func(context.Context) quirks) {
	found := probe(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if found.arguments == argumentsKept || ctx.Err() == nil {
		s.quirks = found
	}
	close(s.probing)
	s.probing = nil
}

// The probe requires that blanks, quotes, a glob and a variable arrive
// unchanged, and that the terminal reports an exit status. Its only effect is output, which
// differs from its script, since a terminal may echo the script.
const (
	probeScript = `zeph=kept; [ "$zeph" = kept ] && printf '%s|' 'a b' '*' || echo lo''st`
	probeKept   = "a b|*|"
	probeLost   = "lost"
)

const (
	probeTimeout     = 5 * time.Second        // for all of a probe
	probeOutputDelay = 500 * time.Millisecond // for output or a status that arrives after the exit
	probeInterval    = 50 * time.Millisecond
)

// probe runs the probe in a terminal of the client. It always decides about the arguments.
func (t *Terminal) probe(ctx context.Context, cmd shell.Command) quirks {
	const (
		undecided = "this editor is unknown, and a harmless command could not be tried in its terminal: "
		joined    = "this editor's terminals join the arguments of a command"
		endless   = "this editor does not report how a command ends"
	)
	unsafe := func(why string) quirks { return quirks{arguments: argumentsUnsafe, why: why} }
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	term, err := t.start(ctx, shell.Command{Line: probeScript, Dir: cmd.Dir, Session: cmd.Session}, 1<<10)
	if err != nil {
		return unsafe(undecided + reason(err))
	}
	defer term.Release()
	waited, _ := term.Wait(ctx) // an error means no status
	over := time.After(probeOutputDelay)
	for {
		shown, err := term.Output(ctx)
		if err != nil {
			return unsafe(undecided + reason(err))
		}
		kept := strings.Contains(shown.Output, probeKept)
		switch {
		case kept && waited.Known():
			return quirks{arguments: argumentsKept}
		case kept && shown.ExitStatus != nil && shown.ExitStatus.Known():
			return quirks{arguments: argumentsKept, endInOutput: true}
		case strings.Contains(shown.Output, probeLost):
			return unsafe(joined)
		case !kept && !waited.Known() && shown.ExitStatus == nil: // it may still run
			over = time.After(probeOutputDelay)
		}
		select {
		case <-time.After(probeInterval):
		case <-over:
			if kept {
				return unsafe(endless)
			}
			return unsafe(joined)
		case <-ctx.Done():
			return unsafe(undecided + reason(context.Cause(ctx)))
		}
	}
}

// reason describes why a probe failed.
func reason(err error) string {
	if refused, ok := errors.AsType[*acp.ClientError](err); ok {
		return refused.Message
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}
