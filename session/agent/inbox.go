package agent

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// ErrNotAccepted means that the turn ended, without a failure, before it accepted the text.
var ErrNotAccepted = errors.New("the turn ended before the model could see the text")

// Inbox holds the texts that the user adds to a running turn. The turn adds them to the history
// after its tool calls, before the next model call. Each text is settled once: the model's history
// has it, or [Addition.Wait] returns the reason why not.
//
// The zero value is open and empty; a nil Inbox is closed. Its methods may be called
// concurrently.
type Inbox struct {
	mu      sync.Mutex
	waiting []*Addition
	current *Addition     // being added to the history
	arrived chan struct{} // closed while a text waits; nil before the first call of Arrived
	closed  error         // why no more texts are accepted
	held    bool          // see Hold
}

// Addition is a text in an Inbox.
type Addition struct {
	content   []acp.ContentBlock
	key       string // of the text, across retries; may be empty
	messageID string // set before settled is closed, if there is no error
	inbox     *Inbox
	settled   chan struct{}
	err       error // set before settled is closed

	answer   sync.Once
	answered chan struct{}
}

// Add appends a text, whose key names it across retries and may be empty. It returns nil if the turn
// accepts no more texts.
func (b *Inbox) Add(content []acp.ContentBlock, key string) *Addition {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		return nil
	}
	a := &Addition{content: content, key: key, inbox: b, settled: make(chan struct{}), answered: make(chan struct{})}
	b.waiting = append(b.waiting, a)
	if len(b.waiting) == 1 && b.arrived != nil {
		close(b.arrived)
	}
	return a
}

// Wait waits until the text is in the model's history. Otherwise it returns the
// reason: ErrNotAccepted, the cause of the turn's cancellation, or the failure of the
// turn. If ctx ends first, it withdraws the text and returns the cause of ctx.
func (a *Addition) Wait(ctx context.Context) error {
	select {
	case <-a.settled:
	case <-ctx.Done():
		if a.inbox.withdraw(a) {
			return context.Cause(ctx)
		}
		<-a.settled
	}
	return a.err
}

// MessageID returns the id of the text's message, after Wait has returned nil.
func (a *Addition) MessageID() string { return a.messageID }

// Answered reports that the client has the text's outcome. The turn waits for it, so
// that the model's answer follows the outcome. It may be called again.
func (a *Addition) Answered() { a.answer.Do(func() { close(a.answered) }) }

// withdraw removes a text that is still waiting.
func (b *Inbox) withdraw(a *Addition) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, a)
	if i < 0 {
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.emptied()
	return true
}

// emptied renews arrived once no text waits; the caller holds mu.
func (b *Inbox) emptied() {
	if len(b.waiting) == 0 && b.arrived != nil {
		b.arrived = make(chan struct{})
	}
}

// Arrived returns a channel that is closed when a text waits. A call that only
// waits then returns early. It is nil for a nil Inbox.
func (b *Inbox) Arrived() <-chan struct{} {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.arrived == nil {
		b.arrived = make(chan struct{})
		if len(b.waiting) > 0 {
			close(b.arrived)
		}
	}
	return b.arrived
}

// isWaiting reports whether a text waits.
func (b *Inbox) isWaiting() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// next returns the next text, which settle must follow, or nil.
func (b *Inbox) next() *Addition {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return nil
	}
	b.current = b.waiting[0]
	b.waiting = slices.Delete(b.waiting, 0, 1)
	b.emptied()
	return b.current
}

// settle settles the text that next returned.
func (b *Inbox) settle(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.current; a != nil {
		b.current = nil
		a.settle(err)
	}
}

func (a *Addition) settle(err error) {
	a.err = err
	close(a.settled)
}

// Hold keeps the Inbox open at the end of a turn, for the turn that follows it. Release undoes
// it and closes the Inbox unless a text waits. It reports whether the Inbox is closed.
func (b *Inbox) Hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// Release ends Hold.
func (b *Inbox) Release() (closed bool) {
	b.mu.Lock()
	b.held = false
	b.mu.Unlock()
	return b.closeIfEmpty()
}

// closeIfEmpty closes the Inbox unless a text waits, and reports whether the turn may end: it is
// closed, or held for the next turn. So no text can arrive between a turn's last check and its end.
func (b *Inbox) closeIfEmpty() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.waiting) > 0 || b.closed != nil:
	case b.held:
		return true
	default:
		b.closed = ErrNotAccepted
	}
	return b.closed != nil
}

// Close refuses further texts, and settles the waiting ones with err. A later Close
// has no effect.
func (b *Inbox) Close(err error) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = err
	}
	for _, a := range b.waiting {
		a.settle(b.closed)
	}
	b.waiting = nil
	if b.current != nil {
		b.current.settle(b.closed)
		b.current = nil
	}
}
