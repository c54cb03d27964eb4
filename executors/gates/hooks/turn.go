package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Prompt runs the hooks of a prompt. Before the first prompt it runs the hooks of the
// session's start. It returns a text for the model, which may be empty. If blocked is not
// empty, the prompt must not reach the model; blocked says why, for people.
func (s *Session) Prompt(ctx context.Context, prompt string) (text, blocked string, err error) {
	if !s.hasHooks() {
		return "", "", nil
	}
	texts, err := s.start(ctx)
	if err != nil {
		return "", "", err
	}
	if hooks := s.hooksFor(UserPromptSubmit); len(hooks) > 0 {
		input := struct {
			common
			Prompt string `json:"prompt"`
		}{s.common(UserPromptSubmit), prompt}
		answers, err := s.runRecorded(ctx, UserPromptSubmit, hooks, input)
		if err != nil {
			return "", "", err
		}
		for _, a := range answers {
			if a.context != "" {
				texts = append(texts, s.framed(a.context))
			}
			if blocked == "" {
				blocked = s.blockReason(ctx, a)
			}
		}
	}
	return strings.Join(texts, "\n"), blocked, nil
}

// start runs the hooks of the session's start, once, and returns their texts for the model.
func (s *Session) start(ctx context.Context) (texts []string, err error) {
	s.mu.Lock()
	source := s.startSource
	s.startSource = ""
	s.mu.Unlock()
	hooks := s.hooksFor(SessionStart, source)
	if source == "" || len(hooks) == 0 {
		return nil, nil
	}
	input := struct {
		common
		Source string `json:"source"`
		Model  string `json:"model"`
	}{s.common(SessionStart), source, s.options.Model()}
	answers, err := s.runRecorded(ctx, SessionStart, hooks, input)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		s.warnFailed(a)
		if a.context != "" {
			texts = append(texts, s.framed(a.context))
		}
	}
	return texts, nil
}

// blockReason returns why a hook keeps a prompt from the model; "" if it does not. The user
// decides about a hook that failed.
func (s *Session) blockReason(ctx context.Context, a answer) string {
	switch {
	case a.decision == executors.Deny || a.stop:
		reason := a.reason
		if a.stop {
			reason = a.stopReason
		}
		return strings.TrimSpace(fmt.Sprintf("The hook %s blocked the prompt. %s", a.name(), s.shorten(reason, maxReason)))
	case a.failure == "" && a.decision == "":
		return ""
	}
	why := fmt.Sprintf("the hook %s gave no answer: %s", a.name(), s.shorten(a.failure, maxReason))
	if a.failure == "" {
		why = fmt.Sprintf("the hook %s asks: %s", a.name(), s.shorten(a.reason, maxReason))
	}
	if s.options.Confirm != nil && s.options.Confirm(ctx, "Send the prompt?", "Why: "+why) {
		return ""
	}
	return "The prompt was not sent: " + why
}

// Stop runs the hooks at the end of a turn. last is the model's last message; active reports that a
// Stop hook has already continued this turn. again is the text with which the model continues; ""
// ends the turn.
func (s *Session) Stop(ctx context.Context, last string, active bool) (again string, err error) {
	hooks := s.hooksFor(Stop)
	if len(hooks) == 0 {
		return "", nil
	}
	input := struct {
		common
		Active bool   `json:"stop_hook_active"`
		Last   string `json:"last_assistant_message"`
	}{s.common(Stop), active, last}
	answers, err := s.runRecorded(ctx, Stop, hooks, input)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, a := range answers {
		s.warnFailed(a)
		switch {
		case a.stop:
			return "", nil
		case a.decision == executors.Deny:
			texts = append(texts, s.framed(a.reason))
		}
	}
	return strings.Join(texts, "\n"), nil
}

// Stopped reports whether a hook has ended the turn since the last call, and why.
func (s *Session) Stopped() (why string, stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why, stopped = s.stopReason, s.stopped
	s.stopReason, s.stopped = "", false
	return why, stopped
}

func (s *Session) stopTurn(why string) {
	why = s.shorten(why, maxReason)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopReason, s.stopped = why, true
}

func (s *Session) warnFailed(a answer) {
	if a.failure != "" {
		s.options.Warn(executors.Shown(fmt.Sprintf("The hook %s of %s failed: %s", a.name(), a.hook.event,
			s.shorten(a.failure, maxReason))))
	}
}

// runRecorded runs hooks that belong to no tool call. The audit log records them as a call of
// the tool "hook".
func (s *Session) runRecorded(ctx context.Context, event Event, hooks []*hook, input any) (answers []answer, err error) {
	about, err := json.Marshal(map[string]Event{"event": event})
	if err != nil {
		return nil, err
	}
	call := &executors.Call{
		ID: s.options.NewID(), Tool: "hook", Input: about, Session: s.options.Session, Caller: s.options.Session,
		Origin: executors.Agent, Phase: executors.PhasePlanner, Attempt: 1, Record: &executors.Record{},
	}
	if event == Stop {
		call.Phase = executors.PhaseVerifier
	}
	run := runner(func(ctx context.Context, call *executors.Call) (executors.Result, error) {
		answers, err = s.run(ctx, call.Record, hooks, input)
		for _, a := range answers {
			if a.decision == executors.Deny {
				call.Record.Add(executors.Verdict{Gate: Gate, Decision: executors.Deny, Rule: a.rule(), Reason: a.reason, Source: a.hook.file.Name, Change: changeOfHook})
				return executors.Failuref(executors.PolicyBlocked, "blocked by a hook").Result(), err
			}
		}
		call.Record.Add(executors.Verdict{Gate: Gate, Decision: executors.Allow})
		return executors.Result{}, err
	})
	res, err := s.options.Audit(run).Execute(ctx, call)
	if err == nil && answers == nil && res.Failure != nil { // it could not be recorded, so it did not run
		return nil, res.Failure
	}
	return answers, err
}

// runner is an executor without tools.
type runner func(context.Context, *executors.Call) (executors.Result, error)

// Tools returns no tool.
func (runner) Tools() []executors.Tool { return nil }

// Prepare returns an empty card.
func (runner) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

// Execute calls r.
func (r runner) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return r(ctx, call)
}
