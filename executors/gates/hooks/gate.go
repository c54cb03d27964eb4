package hooks

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Gate is the name of the gate in the audit log.
const Gate = "hooks"

// maxRewrites limits how often hooks change the input of one call.
const maxRewrites = 3

// Middleware returns the link that runs hooks before and after calls.
func (s *Session) Middleware(next executors.Executor) executors.Executor { return link{next, s} }

type link struct {
	executors.Executor
	*Session
}

func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if !l.hasHooks() {
		return l.Executor.Execute(ctx, call)
	}
	if call.Record == nil {
		call.Record = &executors.Record{}
	}
	before := l.hooksForCall(PreToolUse, call)
	inner := l.Executor
	if after := l.hooksForCall(PostToolUse, call); len(after) > 0 && !l.options.Checking {
		inner = afterLink{l.Executor, l.Session, after}
	}
	if len(before) == 0 {
		return inner.Execute(ctx, call)
	}
	check := func(ctx context.Context, c *executors.Call) (executors.Verdict, error) {
		return l.check(ctx, c, before, c != call)
	}
	return executors.Gate(Gate, check)(inner).Execute(ctx, call)
}

// hasHooks reports whether there may be hooks.
func (s *Session) hasHooks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f != nil && f.mayRun && len(f.hooks) > 0 {
			return true
		}
	}
	return false
}

// toolInput is the input of hooks before and after a call.
type toolInput struct {
	common
	Tool     string         `json:"tool_name"`
	Input    map[string]any `json:"tool_input"`
	Response any            `json:"tool_response,omitempty"`
	ID       string         `json:"tool_use_id"`
}

func (s *Session) toolInput(event Event, call *executors.Call) toolInput {
	return toolInput{common: s.common(event), Tool: namesOf(call)[0], Input: hookInput(call), ID: call.ID}
}

// check runs the hooks before a call. further reports that they check a further card of a
// running call, whose input can no longer change.
func (s *Session) check(ctx context.Context, call *executors.Call, hooks []*hook, further bool) (executors.Verdict, error) {
	if call.Skipped != nil {
		for _, h := range hooks {
			call.Skipped("the hook " + answer{hook: h}.name() + " of " + h.file.Name)
		}
		return executors.Verdict{}, nil
	}
	shown, real := s.names(call)
	input := s.toolInput(PreToolUse, call)
	input.Input, _ = mapTexts(input.Input, shown).(map[string]any)
	answers, err := s.run(ctx, call.Record, hooks, input)
	if err != nil {
		return executors.Verdict{}, err
	}
	var asks []string
	var changed *answer
	for i, a := range answers {
		reason := s.shorten(a.reason, maxReason)
		switch {
		case a.decision == executors.Deny || a.stop:
			return s.denyVerdict(a, reason), nil
		case a.failure != "":
			asks = append(asks, fmt.Sprintf("the hook %s gave no answer: %s", a.name(), s.shorten(a.failure, maxReason)))
		case a.decision == executors.Ask:
			asks = append(asks, fmt.Sprintf("the hook %s asks. %s", a.name(), reason))
		}
		if changed == nil && a.input != nil && !reflect.DeepEqual(a.input, input.Input) {
			changed = &answers[i]
		}
		if a.context != "" && !further {
			call.Notes = append(call.Notes, s.framed(a.context))
		}
	}
	if changed != nil && !further {
		return s.rewrite(call, *changed, real), nil
	}
	if changed != nil {
		asks = append(asks, fmt.Sprintf("the hook %s wants another input", changed.name()))
	}
	if len(asks) == 0 {
		return executors.Verdict{Decision: executors.Allow}, nil
	}
	reason := strings.TrimSuffix(strings.TrimSpace(strings.Join(asks, "; ")), ".")
	return executors.Verdict{Decision: executors.Ask, Reason: reason, Source: "/hooks", Change: changeOfHook}, nil
}

// changeOfHook says how the user changes the verdict of a hook.
const changeOfHook = "the hook's file: /hooks lists the hooks"

// rewrite denies a call whose input a hook changed, in favour of a call with the new input.
func (s *Session) rewrite(call *executors.Call, a answer, real func(string) string) executors.Verdict {
	if call.Rewrites >= maxRewrites {
		return s.denyVerdict(a, "hooks changed the input again and again")
	}
	call.Rewrite = fromHookInput(call.Spec, mapTexts(a.input, real).(map[string]any))
	return executors.Verdict{
		Decision: executors.Deny, Rule: a.rule() + " changed the input", Source: a.hook.file.Name,
		Failure: executors.Failuref(executors.PolicyBlocked, "a hook changed the input of this call; it was not run as it was"),
	}
}

// names returns the functions of [Options].Names.
func (s *Session) names(call *executors.Call) (shown, real func(string) string) {
	if s.options.Names == nil {
		return nil, nil
	}
	return s.options.Names(call)
}

// mapTexts returns a JSON value with change applied to each text.
func mapTexts(value any, change func(string) string) any {
	if change == nil {
		return value
	}
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapTexts(v[i], change)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = mapTexts(v[key], change)
		}
		return out
	}
	return value
}

// denyVerdict returns the verdict of a hook that denies a call.
func (s *Session) denyVerdict(a answer, reason string) executors.Verdict {
	if reason == "" {
		reason = s.shorten(a.stopReason, maxReason)
	}
	return executors.Verdict{
		Decision: executors.Deny, Rule: a.rule(), Reason: reason, Source: a.hook.file.Name, Change: changeOfHook,
		Failure: executors.Failuref(executors.PolicyBlocked, "a hook of the user denied this call: %s", reason).
			ForUser("Denied by the hook %s: %s", a.name(), reason),
	}
}

// name returns the command of a hook for people, cut if it is long.
func (a answer) name() string {
	return executors.Quoted(line.TruncateRunes(executors.WholeLine(a.hook.command), maxName))
}

// rule returns the hook and its file, for the audit log.
func (a answer) rule() string {
	return a.hook.file.Name + ": " + executors.WholeLine(a.hook.command)
}

// afterLink runs the hooks after a call.
type afterLink struct {
	executors.Executor
	session *Session
	hooks   []*hook
}

func (l afterLink) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := l.Executor.Execute(ctx, call)
	if err != nil || res.Failed { // as in the format: only after a success
		return res, err
	}
	input := l.session.toolInput(PostToolUse, call)
	input.Response = response(call, res)
	answers, err := l.session.run(ctx, call.Record, l.hooks, input)
	if err != nil {
		return res, err
	}
	for _, a := range answers {
		if a.failure != "" {
			l.session.options.Warn(executors.Shown(fmt.Sprintf("The hook %s failed: %s", a.name(),
				l.session.shorten(a.failure, maxReason))))
		}
		if a.decision == executors.Deny && a.reason != "" {
			res.Below(l.session.framed(a.reason))
		}
		if a.context != "" {
			res.Below(l.session.framed(a.context))
		}
	}
	return res, nil
}

// response returns a result in the format of hooks.
func response(call *executors.Call, res executors.Result) any {
	text := res.ForModel()
	if call.Card.Command() != "" {
		return map[string]any{"stdout": text, "stderr": "", "interrupted": false}
	}
	out := map[string]any{"success": true, "content": text}
	if len(call.Card.Paths) > 0 {
		out["filePath"] = call.Card.Paths[0]
	}
	return out
}
