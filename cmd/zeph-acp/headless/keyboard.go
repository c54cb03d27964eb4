package headless

import (
	"bufio"
	"context"
	"io"
	"os"
	"sync"
)

// Keyboard reads lines that a person types. A line answers only the question that
// was on the screen when it was typed, never a later one. Without a question it is a
// text for the running turn, see Listen.
type Keyboard struct {
	in    *os.File // nil for an editor of lines
	read  func() (line string, err error)
	lines chan typedLine
	start sync.Once

	mu       sync.Mutex
	question int
	open     chan struct{}     // closed when the question ends; nil if there is none
	listener func(line string) // nil if no one listens
}

// typedLine is one line, and the question that it was typed at.
type typedLine struct {
	text     string
	question int
	err      error
}

// NewKeyboard returns a Keyboard for a terminal. It reads nothing before the first
// question.
func NewKeyboard(in *os.File) *Keyboard {
	k := &Keyboard{in: in, lines: make(chan typedLine)}
	var reader *bufio.Reader
	k.read = func() (string, error) {
		if reader == nil {
			reader = bufio.NewReader(in)
		}
		return reader.ReadString('\n')
	}
	return k
}

// NewLines returns a Keyboard for an editor, whose next line read returns.
func NewLines(read func() (line string, err error)) *Keyboard {
	return &Keyboard{read: read, lines: make(chan typedLine)}
}

// begin starts a question and discards input that was typed before.
func (k *Keyboard) begin() (question int) {
	if k.in != nil {
		discardTyped(k.in)
	}
	k.mu.Lock()
	k.question++
	question = k.question
	k.open = make(chan struct{})
	k.mu.Unlock()
	k.start.Do(func() { go k.readAll() })
	return question
}

// end ends the question.
func (k *Keyboard) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.open)
	k.open = nil
}

// Listen calls listener with each line that is typed while there is no question, until
// stop is called. listener must not block. In a program in the background, which must not
// read the terminal, Listen does nothing.
func (k *Keyboard) Listen(listener func(line string)) (stop func()) {
	if k.in != nil && !inForeground(k.in) {
		return func() {}
	}
	k.setListener(listener)
	k.start.Do(func() { go k.readAll() })
	return func() { k.setListener(nil) }
}

func (k *Keyboard) setListener(listener func(line string)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listener = listener
}

// readAll reads until the input ends. It cannot be stopped, since a read of a terminal
// cannot be interrupted.
func (k *Keyboard) readAll() {
	for {
		text, err := k.read()
		k.mu.Lock()
		l, open := typedLine{text, k.question, err}, k.open
		if err == nil && open == nil && k.listener != nil {
			k.listener(text) // with the lock, so that no call follows after stop
		}
		k.mu.Unlock()
		switch {
		case err != nil: // the next question gets it, if there is one
			k.lines <- l
		case open != nil:
			select {
			case k.lines <- l:
			case <-open:
			}
		}
		if err != nil && err != io.EOF { // a terminal may continue after Ctrl-D
			return
		}
	}
}

// line returns the next line for a question. It returns io.EOF at the end of input.
func (k *Keyboard) line(ctx context.Context, question int) (string, error) {
	for {
		select {
		case l := <-k.lines:
			if l.question == question {
				return l.text, l.err
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
