package run

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/session/agent"
)

// connectUser sets the view and the approver of the turn. A person is asked only with a
// terminal for both output and input, never through a pipe.
func (r *Runner) connectUser() {
	r.user = &headless.User{Yes: r.yes}
	if !r.NoUser {
		r.user.Keyboard = r.keyboard()
	}
	r.Turn.View = r.view()
	r.Turn.Approver, r.Turn.Listen = r.user, r.user.Listen
	if r.user.Keyboard != nil && r.user.Screen != nil {
		r.Turn.Elicitor = r.user
	}
	r.App.Yes, r.App.NoUser = r.yes, !r.yes && r.user.Keyboard == nil
	r.App.RoundLimit = agent.RoundLimit{Next: r.RoundsAdvice}
	if r.roundsSet || r.App.Yes || r.App.NoUser {
		r.App.RoundLimit.Rounds, r.App.RoundLimit.Name = r.MaxRounds, "--max-rounds"
	}
}

// view returns the view of the turn, and sets the user's screen.
func (r *Runner) view() headless.View {
	onStdout, onStderr := cli.IsTerminal(os.Stdout), cli.IsTerminal(os.Stderr)
	if (r.JSON || r.Quiet) && onStderr && r.user.Keyboard != nil && !r.yes { // for questions alone
		r.user.Screen = headless.NewScreen(os.Stderr, false)
	}
	switch {
	case r.JSON && r.Quiet:
		return headless.NoView{}
	case r.JSON:
		return &headless.JSON{W: r.out}
	case r.Quiet:
		return r.answer(headless.NoView{})
	case onStdout && r.AnswerSchema == nil:
		r.user.Screen = r.screen(r.out, os.Stdout)
		return r.user.Screen
	}
	r.user.Screen = r.screen(os.Stderr, os.Stderr)
	return r.answer(r.user.Screen)
}

// screen returns a view for the terminal or file f, to which w writes.
func (r *Runner) screen(w io.Writer, f *os.File) *headless.Screen {
	s := cli.Screen(w, f, r.Getenv)
	if s.Config = r.File; !s.Full {
		s.Footer = r.footer
	}
	return s
}

// answer returns a view that prints the answer, and passes everything else to rest. An answer
// that must fit a schema is printed at the end.
func (r *Runner) answer(rest headless.View) headless.View {
	a := &headless.Answer{
		Out: r.out, Rest: rest, IsNote: r.tally.isNote, IsWarning: r.tally.isWarning, IsUserCall: r.tally.isUserCall, IsHelp: noAnswer, Last: r.tally.goalAnswer,
	}
	if r.AnswerSchema != nil {
		a.Out = io.Discard
	}
	return a
}

// keyboard returns the person's input; nil means that no one can be asked.
func (r *Runner) keyboard() *headless.Keyboard {
	switch {
	case !cli.IsTerminal(os.Stdout) && !cli.IsTerminal(os.Stderr):
	case cli.IsTerminal(os.Stdin):
		return headless.NewKeyboard(os.Stdin)
	case r.stdinRead && !r.yes:
		if tty, err := os.Open("/dev/tty"); err == nil {
			return headless.NewKeyboard(tty)
		}
	}
	return nil
}

// output is stdout. If a write fails, the turn is cancelled, since its output is no
// longer read.
type output struct {
	w      io.Writer
	failed func(cause error)

	mu  sync.Mutex
	err error
}

// outputError is the cause of a turn's cancellation when stdout cannot be written.
type outputError struct{ err error }

func (e *outputError) Error() string { return "write the turn: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// exit returns the error with its exit status. Nothing is printed if the reader of a pipe has gone,
// such as head: it has what it wanted.
func (e *outputError) exit() error {
	if errors.Is(e.err, syscall.EPIPE) {
		return &cli.ExitError{Code: exitPipe}
	}
	return e
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		if _, err := o.w.Write(p); err != nil {
			if errors.Is(err, syscall.EPIPE) {
				err = syscall.EPIPE // without the name of the file
			}
			o.err = err
			o.failed(&outputError{err})
		}
	}
	return len(p), o.err
}
