package llm

import (
	"fmt"
	"time"
)

// Fallback reports that another model answers from here on.
type Fallback struct {
	Model  Model  // the model that answers now; later usage is its own
	Reason string // whole sentences; empty if the user has read them already
}

// String returns one line for the user; it is empty if there is no reason to show.
func (i Fallback) String() string {
	if i.Reason == "" {
		return ""
	}
	return fmt.Sprintf("%s %s answers instead.", i.Reason, i.Model.Name())
}

// Wait reports a pause before the model is asked again.
type Wait struct {
	Failure string        // the provider's failure, one sentence without its full stop
	For     time.Duration // until the next attempt
	Try, Of int           // the number of the next attempt, from 1, and of all attempts
}

// String returns one line for the user.
func (w Wait) String() string {
	when := ""
	if w.For > 0 {
		when = " in " + FormatDuration(w.For)
	}
	return fmt.Sprintf("%s. Trying again%s (%d of %d).", w.Failure, when, w.Try, w.Of)
}

// Progress reports that the server is reading the request.
type Progress struct {
	Done, Total int           // tokens
	Elapsed     time.Duration // since the server began to read
}

// IsContent reports whether the event is a piece of the answer itself, and no report about
// it such as Usage or Wait.
func (e Event) IsContent() bool {
	return e.Text != "" || e.Thought != "" || e.Opaque != nil || e.Call != nil || e.Stop != "" || e.Cut
}

// FormatDuration formats a duration for people, rounded up: "90 s", "3 min".
func FormatDuration(d time.Duration) string {
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
