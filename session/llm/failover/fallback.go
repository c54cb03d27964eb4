package failover

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// cooldown is how long a failed model gets no request if others can answer. Otherwise
// each call of a turn would wait through its attempts. A provider may ask for a longer
// wait, up to maxCooldown.
const (
	cooldown    = 5 * time.Minute
	maxCooldown = time.Hour
)

// fallback asks the next model when one has failed permanently before its answer
// began.
type fallback struct {
	llm.Model // the one that was picked
	others    []llm.Model
	clock     backoff.Clock

	mu    sync.Mutex
	until map[llm.Model]time.Time // the ends of cooldowns
}

// Unwrap returns the model that was picked.
func (f *fallback) Unwrap() llm.Model { return f.Model }

// Window returns the window of the model that is asked next. A model that is too small
// for the conversation gets a cooldown, so that the conversation is not compacted for it.
func (f *fallback) Window() int { return f.candidates()[0].Window() }

// Answering returns the model that is asked next, or nil if that is the picked one.
func (f *fallback) Answering() llm.Model {
	if next := f.candidates()[0]; next != f.Model {
		return next
	}
	return nil
}

// Stream asks the models in turn.
func (f *fallback) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		var failed []*llm.Error
		var notices []string // failures since the last change of the model was announced
		for i, m := range f.candidates() {
			if m != f.Model && llm.Ready(m) == nil {
				llm.LearnFacts(ctx, m)
			}
			if e := f.whyUnable(m, req); e != nil {
				failed, notices = append(failed, e), append(notices, e.Error()+".")
				continue
			}
			if i > 0 || m != f.Model {
				if !yield(llm.Event{Fallback: &llm.Fallback{Model: m, Reason: strings.Join(notices, " ")}}, nil) {
					return
				}
				notices = nil
			}
			e := relayAnswer(ctx, m, req, yield, mayFallBack)
			if e == nil {
				return
			}
			f.coolDown(m, e.RetryAfter)
			failed, notices = append(failed, e), append(notices, failureNotice(e)+".")
		}
		yield(llm.Event{}, joinFailures(failed))
	}
}

// candidates returns the models in the order in which they are asked. Those in a cooldown
// come last. While the picked model is among them, so are models without a key: a notice
// already named the missing key when the picked model failed.
func (f *fallback) candidates() []llm.Model {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	var ready, cooling []llm.Model
	pickedReady := !now.Before(f.until[f.Model])
	for _, m := range append([]llm.Model{f.Model}, f.others...) {
		if now.Before(f.until[m]) || !pickedReady && llm.Ready(m) != nil {
			cooling = append(cooling, m)
		} else {
			ready = append(ready, m)
		}
	}
	return append(ready, cooling...)
}

// coolDown begins a cooldown. asked is the wait that the provider asked for; 0 means none.
func (f *fallback) coolDown(m llm.Model, asked time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = map[llm.Model]time.Time{}
	}
	f.until[m] = f.clock.Now().Add(max(cooldown, min(asked, maxCooldown)))
}

// mayFallBack reports whether another provider may succeed where this one failed, since
// the request is not to blame. A missing key does not count: the user can provide it.
func mayFallBack(e *llm.Error) bool {
	switch {
	case e.TooLong, e.Auth && e.Status == 0:
		return false
	case e.Status == http.StatusPaymentRequired, e.Status == http.StatusNotFound:
		return true
	}
	return e.Auth || e.Retryable || e.Status < http.StatusBadRequest
}

// whyUnable returns why another model than the picked one cannot answer the request, or nil.
// A model that is too small gets a cooldown; see Window.
func (f *fallback) whyUnable(m llm.Model, req llm.Request) *llm.Error {
	if m == f.Model {
		return nil
	}
	if err := llm.Ready(m); err != nil {
		if e, ok := errors.AsType[*llm.Error](err); ok {
			return e
		}
		return &llm.Error{Provider: m.Name(), Message: err.Error()}
	}
	if window, n := m.Window(), llm.Tokens(m.Name(), req); window > 0 && n > window {
		f.coolDown(m, maxCooldown)
		return &llm.Error{Provider: m.Name(), Message: fmt.Sprintf("the conversation takes about %s, and its window has %d", quantity.Count(n, "token"), window)}
	}
	return nil
}

// joinFailures returns the first failure, with the other failures in its hint.
func joinFailures(failed []*llm.Error) *llm.Error {
	first := *failed[0]
	for _, e := range failed[1:] {
		first.Hint = joinHints(first.Hint, e.Error())
	}
	return &first
}

// failureNotice describes a failure after which another model answers. It has the hint
// only if waiting will not help.
func failureNotice(e *llm.Error) string {
	if e.Retryable {
		return sentence(e)
	}
	return e.Error()
}

// sentence returns the failure without its hint and its full stop.
func sentence(e *llm.Error) string {
	bare := *e
	bare.Hint = ""
	return strings.TrimRight(bare.Error(), ". ")
}
