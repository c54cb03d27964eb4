package llm

import (
	"context"
	"time"
)

// As returns the model, or the first model inside its wrappers, that is a T.
func As[T any](m Model) (T, bool) {
	for m != nil {
		if t, ok := m.(T); ok {
			return t, true
		}
		w, ok := m.(interface{ Unwrap() Model })
		if !ok {
			break
		}
		m = w.Unwrap()
	}
	var none T
	return none, false
}

// ThoughtOff is the thought level that turns thinking off.
const ThoughtOff = "off"

// Levels returns the thought levels that a Request to the model can have, from least to
// most; nil means that there is no choice.
func Levels(m Model) []string {
	if l, ok := As[interface{ Levels() []string }](m); ok {
		return l.Levels()
	}
	return nil
}

// Ready reports whether the model can be used. The error for a missing key is an *Error
// with Auth.
func Ready(m Model) error {
	if r, ok := As[interface{ Ready() error }](m); ok {
		return r.Ready()
	}
	return nil
}

// KeyAtHand reports whether a request to the model would run no command of the user for its key.
func KeyAtHand(m Model) bool {
	k, ok := As[interface{ KeyAtHand() bool }](m)
	return !ok || k.KeyAtHand()
}

// FetchKey runs the command of the user that gives the model's key, if there is one and the key is not at hand. The
// error of the command is an *Error with Auth.
func FetchKey(ctx context.Context, m Model) error {
	if k, ok := As[interface{ FetchKey(context.Context) error }](m); ok {
		return k.FetchKey(ctx)
	}
	return nil
}

// Unpaid reports whether nobody pays for the model's input: its server runs on this machine. What its cache
// holds then costs nothing at all.
func Unpaid(m Model) bool {
	u, ok := As[interface{ Unpaid() bool }](m)
	return ok && u.Unpaid()
}

// Learner is a model whose provider can be asked for more about it.
type Learner interface {
	Learn(ctx context.Context) bool
}

// Learn asks the model's provider for unknown properties of the model, such as its window and its
// levels. It reports whether anything was learned; menus should then be updated. Most models need
// no such request.
func Learn(ctx context.Context, m Model) bool {
	l, ok := As[Learner](m)
	return ok && l.Learn(ctx)
}

// Facts are the properties of a model that only its server knows.
type Facts struct {
	Window     int  `json:"window,omitempty"`     // in tokens; 0 means unknown
	LacksTools bool `json:"lacksTools,omitempty"` // the server drops the tools of a request
	// TellsProgress means that the server can report how far it has read a request; see Progress.
	TellsProgress bool `json:"tellsProgress,omitempty"`
}

// Facted is a model with Facts, which may be kept between processes.
type Facted interface {
	Learner
	// Facts returns the facts so far. known is false until the server was asked.
	Facts() (f Facts, known bool)
	// Recall sets facts that an earlier process has learned, unless there are newer ones.
	Recall(Facts)
}

// LearnTimeout is how long a turn waits for the facts about its model.
const LearnTimeout = 2 * time.Second

// LearnFacts asks the model's server for the facts about it if none are known, and waits a short time for
// them. It reports whether anything was learned.
func LearnFacts(ctx context.Context, m Model) (changed bool) {
	f, ok := As[Facted](m)
	if !ok {
		return false
	}
	if _, known := f.Facts(); known {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, LearnTimeout)
	defer cancel()
	return f.Learn(ctx)
}

// Answering returns the model that is asked next: m, or a fallback while m is not asked
// after a failure.
func Answering(m Model) Model {
	if f, ok := As[interface{ Answering() Model }](m); ok {
		if other := f.Answering(); other != nil {
			return other
		}
	}
	return m
}

// CallsInText reports whether the model calls tools in the text of its answers: it is
// configured so, or it has refused tools.
func CallsInText(m Model) bool {
	t, ok := As[interface{ CallsInText() bool }](m)
	return ok && t.CallsInText()
}

// RefusedTools returns the reasons for which the model is not offered some of its tools, by
// name: the provider has refused their schemas.
func RefusedTools(m Model) map[string]string {
	if l, ok := As[interface{ RefusedTools() map[string]string }](m); ok {
		return l.RefusedTools()
	}
	return nil
}
