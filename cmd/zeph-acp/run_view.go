package main

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// audience returns the view and the approver of the turn. A person is asked only
// with a terminal for both output and input, never through a pipe.
func audience(out *output, r *runFlags, l *config.Loaded, calls *tally, stdinIsPrompt bool) (headless.View, *headless.User) {
	user := &headless.User{Yes: r.yes, Keyboard: keyboard(r, stdinIsPrompt)}
	onStdout, onStderr := isTerminal(os.Stdout), isTerminal(os.Stderr)
	screen := func(w io.Writer, f *os.File) *headless.Screen {
		s := headless.NewScreen(w, colours(f, l.Getenv))
		if s.Whole, s.Config = !isTerminal(f), l.File; !s.Whole {
			s.Columns = widthOf(f)
		}
		return s
	}
	answer := func(rest headless.View) headless.View {
		return &headless.Answer{Out: out, Rest: rest, Note: calls.isNote, Own: calls.isOwn}
	}
	if (r.json || r.quiet) && onStderr && user.Keyboard != nil && !r.yes { // for questions alone
		user.Screen = headless.NewScreen(os.Stderr, false)
	}
	switch {
	case r.json && r.quiet:
		return unseen{}, user
	case r.json:
		return &headless.JSON{W: out}, user
	case r.quiet:
		return answer(unseen{}), user
	case onStdout:
		user.Screen = screen(out, os.Stdout)
		return user.Screen, user
	}
	user.Screen = screen(os.Stderr, os.Stderr)
	return answer(user.Screen), user
}

// keyboard returns the person's input; nil means that no one can be asked.
func keyboard(r *runFlags, stdinIsPrompt bool) *headless.Keyboard {
	switch {
	case !isTerminal(os.Stdout) && !isTerminal(os.Stderr):
	case isTerminal(os.Stdin):
		return headless.NewKeyboard(os.Stdin)
	case stdinIsPrompt && !r.yes:
		if tty, err := os.Open("/dev/tty"); err == nil {
			return headless.NewKeyboard(tty)
		}
	}
	return nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// widthOf returns a function for the width of a terminal, 0 if it is unknown.
func widthOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}

// colours reports whether f is a terminal that accepts escape sequences.
func colours(f *os.File, getenv func(string) string) bool {
	return isTerminal(f) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
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
