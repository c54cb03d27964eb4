package llm

import (
	"fmt"
	"time"
)

// Instead tells that another model answers from here on.
type Instead struct {
	Model  Model  // answers, and is what usage is counted for
	Reason string // sentences, each with its full stop; empty if the user knows
}

// String is one line for the user; empty if there is nothing to tell.
func (i Instead) String() string {
	if i.Reason == "" {
		return ""
	}
	return fmt.Sprintf("%s %s answers instead.", i.Reason, i.Model.Name())
}

// Wait tells that a model is asked again in a while.
type Wait struct {
	Failure string        // of the provider: one sentence without its full stop
	For     time.Duration // until the next try
	Try, Of int           // which one that is, and of how many; the first is 1
}

// String is one line for the user.
func (w Wait) String() string {
	when := ""
	if w.For > 0 {
		when = " in " + Span(w.For)
	}
	return fmt.Sprintf("%s. Trying again%s (%d of %d).", w.Failure, when, w.Try, w.Of)
}

// begins reports whether the event is a piece of the answer itself.
func (e Event) Begins() bool {
	return e.Text != "" || e.Thought != "" || e.Opaque != nil || e.Call != nil || e.Stop != "" || e.Cut
}

// span is a length of time, for people.
func Span(d time.Duration) string {
	ceil := func(unit time.Duration) int64 { return int64((d + unit - 1) / unit) }
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ceil(time.Millisecond))
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", ceil(time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", ceil(time.Minute))
	}
	return fmt.Sprintf("%d h", ceil(time.Hour))
}
