package headless

import (
	"bufio"
	"context"
	"io"
	"os"
	"sync"
)

// Keyboard reads lines that a person types. A line answers only the question that
// was on the screen when it was typed, never a later one.
type Keyboard struct {
	in    *os.File
	lines chan typedLine
	start sync.Once

	mu       sync.Mutex
	question int
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
	return &Keyboard{in: in, lines: make(chan typedLine)}
}

// begin starts a question and discards input that was typed before.
func (k *Keyboard) begin() (question int) {
	discardTyped(k.in)
	k.mu.Lock()
	k.question++
	question = k.question
	k.mu.Unlock()
	k.start.Do(func() { go k.read() })
	return question
}

// read reads until the input ends. It cannot be stopped: nothing interrupts the
// read of a terminal.
func (k *Keyboard) read() {
	in := bufio.NewReader(k.in)
	for {
		text, err := in.ReadString('\n')
		k.mu.Lock()
		l := typedLine{text, k.question, err}
		k.mu.Unlock()
		k.lines <- l
		if err != nil && err != io.EOF { // a terminal may go on after Ctrl-D
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
