package chat

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// bridge passes what happens in the conversation to the screen, in its order. It is the view
// and the approver of the turns. Many updates reach the screen as one message, so that it is drawn as often as a person
// can see and no more.
type bridge struct {
	send func(tea.Msg)

	mu      sync.Mutex
	pending []any
	woken   bool // the screen knows that events are pending
}

// eventsPending is sent when there are events to show.
type eventsPending struct{}

// The events of a conversation.
type (
	updated struct{ params json.RawMessage } // a session/update
	printed struct {                         // output of a terminal
		terminal string
		text     string
	}
	opened struct { // a session
		id    string // of a stored session; else in state
		state json.RawMessage
		call  headless.Call
	}
	listening struct{ steer headless.Steer } // the running turn takes texts; nil: no longer
	steered   struct {                       // the outcome of a text for the running turn
		text, outcome string
		isPrompt      bool
	}
	turnEnded struct {
		stop    acp.StopReason
		failure string // empty if it did not fail
	}
	pastTurnEnded struct{ turnEnded }
	asked         struct{ question *question }
	withdrawn     struct{ question *question }
	said          struct { // by the client
		text   string
		failed bool
	}
	optionSet struct { // the result of a request to change an option
		what  string
		mode  string // the new one; empty if it is not the mode
		state json.RawMessage
		err   error
	}
	conversationEnded struct{ err error }
)

// add appends an event.
func (b *bridge) add(event any) {
	b.mu.Lock()
	b.pending = append(b.pending, event)
	wake := !b.woken
	b.woken = true
	b.mu.Unlock()
	if wake {
		b.send(eventsPending{})
	}
}

// take returns the pending events.
func (b *bridge) take() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.pending
	b.pending, b.woken = nil, false
	return events
}

// Update implements [headless.View].
func (b *bridge) Update(params json.RawMessage) { b.add(updated{slices.Clone(params)}) }

// Output implements [headless.View].
func (b *bridge) Output(terminal string, text []byte) { b.add(printed{terminal, string(text)}) }

// End implements [headless.View].
func (b *bridge) End(acp.StopReason, error) {}

// Ended shows how a past turn ended.
func (b *bridge) Ended(stop acp.StopReason, failure string) {
	b.add(pastTurnEnded{turnEnded{stop, failure}})
}

// Approve implements [headless.Approver]: it waits until the person has answered.
func (b *bridge) Approve(ctx context.Context, p acp.RequestPermissionRequest) (headless.Choice, error) {
	q := &question{request: p, answer: make(chan headless.Choice, 1)}
	b.add(asked{q})
	select {
	case chosen := <-q.answer:
		return chosen, nil
	case <-ctx.Done():
		b.add(withdrawn{q})
		return headless.Choice{}, ctx.Err()
	}
}
