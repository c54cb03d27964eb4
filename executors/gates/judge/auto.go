package judge

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

//go:embed auto.md
var autoInstructions string

// Auto decides permission questions in the user's place, by a model. It is a
// policy.Arbiter.
type Auto struct {
	// Model returns the model that judges; it may return nil if there is none.
	Model   func() Model
	Timeout time.Duration
	Mask    func(string) string // redacts secrets; nil redacts none
}

// Decide returns Allow or Deny, or Ask if the model is unsure, and the reason for
// people. Any error is a reason to ask.
func (a *Auto) Decide(ctx context.Context, call *executors.Call, because string) (executors.Decision, string) {
	m := a.Model()
	if m == nil {
		return executors.Ask, "no model can decide about it: set provider in [tools.judge]"
	}
	question, cut, err := Question(call, because, a.Mask)
	switch {
	case err != nil:
		return executors.Ask, err.Error()
	case cut:
		return executors.Ask, errTooLong.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	answer, err := m.Judge(ctx, autoInstructions, question)
	if err != nil {
		return executors.Ask, fmt.Sprintf("the model could not decide about it: %v", err)
	}
	word, reason, ok := Parse(answer, allow, deny, ask)
	if reason != "" {
		reason = ": " + sentence(reason)
	}
	switch {
	case !ok:
		return executors.Ask, "the model answered in another form"
	case word == allow:
		return executors.Allow, "a model decided so"
	case word == deny:
		return executors.Deny, "a model decided so" + reason
	}
	return executors.Ask, "the model is unsure" + reason
}

// sentence returns a reason on one line without control characters and without
// its full stop, for use inside a sentence.
func sentence(reason string) string {
	return strings.TrimRight(executors.Shown(reason), ".")
}

// AutoConfig is the table [tools.judge].
type AutoConfig struct {
	Provider  string `toml:"provider" format:"model" zero:"the session's model" doc:"the model of the mode auto-judge, provider or provider:model"`
	TimeoutMS int    `toml:"timeout_ms" default:"15000" range:"100..600000" unit:"milliseconds" doc:"for a verdict; after them you are asked"`
}

// Timeout returns the time for a verdict.
func (c AutoConfig) Timeout() time.Duration { return time.Duration(c.TimeoutMS) * time.Millisecond }
