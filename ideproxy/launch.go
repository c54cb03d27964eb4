package ideproxy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// Launch is a program that runs a command in the box of unasked commands, wherever it starts on
// this kernel.
type Launch struct {
	Path string
	Args []string
	// Ticket is a file that only the user can read. The program removes it right before the
	// command starts, and starts nothing if it cannot. So whoever removes the ticket knows
	// whether the command runs: on another machine, in a container or without the program it never
	// does. If it is empty, the command is known to run.
	Ticket string
}

const (
	ticketInterval = 2 * time.Millisecond
	ticketPatience = 200 * time.Millisecond // after that the terminal is asked whether it has ended
	launchTimeout  = 5 * time.Second        // for the start of the program
)

// boxed reports whether a command runs through Terminal.Launch.
func (t *Terminal) boxed(cmd shell.Command) bool {
	return cmd.ReadOnly && t.Launch != nil
}

// startBoxed starts an unasked command in a terminal, inside the box. If the terminal is not on
// this kernel, nothing has run there, and the error is errNoTerminals.
func (t *Terminal) startBoxed(ctx context.Context, cmd shell.Command, limit int) (*acp.Terminal, error) {
	if t.Shared.elsewhere() {
		return nil, errNoTerminals
	}
	block, extra := cmd.Env(t.Block, t.Extra)
	l, err := t.Launch(append([]string{t.shell()}, cmd.Args()...), shell.Environ(block, extra))
	if errors.Is(err, errors.ErrUnsupported) {
		t.Shared.setElsewhere("only programs that zeph-acp itself starts are confined on this system")
		return nil, errNoTerminals
	}
	if err != nil {
		return nil, executors.Failuref(executors.PermanentFailure, "the command could not be confined: %v", err).
			Hint("Call it again unchanged, or ask the user.")
	}
	term, err := t.Client.CreateTerminal(ctx, acp.CreateTerminalRequest{
		SessionID: cmd.Session, Command: l.Path, Args: l.Args, CWD: cmd.Dir, OutputByteLimit: limit,
	}) // the environment of the command is not in the frame
	if err != nil {
		_ = os.Remove(l.Ticket) // so that nothing runs later
		return nil, t.notLaunched(ctx, cmd, err)
	}
	why, err := t.confirm(ctx, term, l.Ticket)
	if err == nil && why == "" {
		return term, nil
	}
	term.Release()
	if err != nil {
		return nil, err
	}
	t.Shared.setElsewhere(why)
	return nil, errNoTerminals
}

// notLaunched returns the error of a terminal that the client did not create. Where it creates
// others, it lacks the program of the box; else it refuses, and that counts.
func (t *Terminal) notLaunched(ctx context.Context, cmd shell.Command, err error) error {
	refused, ok := errors.AsType[*acp.ClientError](err)
	if !ok || refused.Unsupported() {
		return err
	}
	if t.probe(ctx, cmd).arguments != argumentsKept {
		return err
	}
	t.Shared.setElsewhere(refused.Message)
	return errNoTerminals
}

// confirm waits until the command has started. It returns why it has not, and then it never will.
func (t *Terminal) confirm(ctx context.Context, term *acp.Terminal, ticket string) (why string, err error) {
	if ticket == "" {
		return "", nil
	}
	over, ask := time.After(launchTimeout), time.After(ticketPatience)
	ticker := time.NewTicker(ticketInterval)
	defer ticker.Stop()
	for {
		if _, err := os.Lstat(ticket); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		select {
		case <-ticker.C:
			continue
		case <-ask:
			shown, err := term.Output(ctx)
			if err == nil && shown.ExitStatus == nil {
				ask = time.After(outputInterval)
				continue
			}
			why = "its terminals do not start this program here"
			if line, _, _ := strings.Cut(strings.TrimSpace(shown.Output), "\n"); line != "" {
				why = executors.OneLine(line)
			}
		case <-over:
			why = "its terminals did not start this program in time"
		case <-ctx.Done():
			_ = os.Remove(ticket)
			return "", context.Cause(ctx)
		}
		if errors.Is(os.Remove(ticket), fs.ErrNotExist) { // it has just started
			return "", nil
		}
		return why, nil
	}
}

// elsewhere reports whether unasked commands cannot run in the client's terminals.
func (s *Terminals) elsewhere() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noBox != ""
}

// setElsewhere records why unasked commands cannot run in the client's terminals.
func (s *Terminals) setElsewhere(why string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noBox = why
}
