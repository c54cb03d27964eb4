package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Approver asks the user about a call. It returns the ID of the chosen option,
// "" if the user dismissed the question, or ctx's cause if the turn ends first.
// Any other error means that the question could not be asked.
type Approver interface {
	Approve(ctx context.Context, call *executors.Call, options []Option) (string, error)
}

// dismissed is the recorded answer if the user closed the question.
const dismissed = "dismissed"

// Option is one answer that the user may choose.
type Option struct {
	ID   string
	Kind string // allow_once, allow_always, reject_once or reject_always
	Name string
}

// The IDs of the options. Each is also the option's kind. No two options have
// the same kind, because some clients distinguish them by it.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// Permission is the link that decides and asks. Each session has its own.
type Permission struct {
	Policy *ShellPolicyHandle
	Roots  Workspace
	Home   string // absolute; empty means unknown
	// NameInRules returns the name that rules use for an absolute path, even in the text of a
	// command; nil changes no name.
	NameInRules func(text string) string
	// Boxed returns why no command can run in the box now, which keeps it from all files but those
	// of the session and the system; nil if one can. A nil Boxed means that there is no box.
	Boxed func() error
	// InTerminal means that read-only commands run in a terminal that people see.
	InTerminal    bool
	Mode          func() string // returns the session's current mode
	Approver      Approver      // nil means that no one can be asked
	ScheduledTask bool          // the session is the run of a scheduled task, without a user
	// Arbiter answers questions in the mode auto-judge; nil means that the user
	// is asked.
	Arbiter Arbiter
	// Remembered holds the user's "always" answers.
	Remembered *answers.Project
	Warn       func(text string) // queues a line for the user; nil drops it
	// NoBash means that a shell other than bash runs the commands. No command
	// is then known to be read-only, because that shell parses a script
	// differently.
	NoBash bool

	questionLock *semaphore.Weighted // held while a question is open: they are asked one at a time
}

// Middleware puts the link around next.
func (p *Permission) Middleware(next executors.Executor) executors.Executor {
	if p.questionLock == nil { // else it is a copy, which asks in turn with the original
		p.questionLock = semaphore.NewWeighted(1)
	}
	return permissionLink{next, p}
}

type permissionLink struct {
	next executors.Executor
	*Permission
}

// permissionCheck checks one call by one policy.
type permissionCheck struct {
	*Permission
	*ShellPolicy
	stats *workspace.StatCache // of the check; nil between checks
	links *map[string]string   // of the check: see steeringLinks
}

// namesInRules returns paths or texts with the names that rules use.
func (p *Permission) namesInRules(texts []string) []string {
	if p.NameInRules == nil {
		return texts
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = p.NameInRules(text)
	}
	return out
}

func (p permissionLink) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return p.next.Prepare(ctx, call)
}

func (p permissionLink) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	policy, end := p.Policy.policyFor(call)
	defer end()
	if call.Spec.Name == "" || policy.hides(call.Tool) {
		return executors.FailWith(executors.NotFound(p.shownTools(policy), call.Tool)), nil
	}
	tool := call.Spec
	r := permissionCheck{Permission: p.Permission, ShellPolicy: policy}
	d := r.decide(call, tool)
	switch {
	case d.action != Ask:
		call.Record.Add(d.onRecord(call.Tool))
	case call.PrepareErr != nil:
		call.Record.Add(r.question(call, tool, d))
	default:
		var err error
		if d, err = r.resolveQuestion(ctx, call, tool); err != nil {
			return executors.Result{}, err
		}
		r.keepInBox(call, &d)
	}
	switch {
	case d.action == Deny:
		f := executors.Failuref(executors.PolicyBlocked, "not allowed: %s", d.why)
		switch {
		case d.userText != "":
			f.UserText = d.userText
		case d.byMode:
			f = f.ForUser("Not allowed: %s. The command /mode switches the mode.", d.why).
				Hint("Do not retry this call; say what you would do. The user can switch the mode: /mode code, or --mode code headless.")
		}
		return f.Result(), nil
	case call.PrepareErr != nil: // it could not run, so no question was asked
		return executors.FailWith(call.PrepareErr), nil
	case d.action == Ask:
		return r.unansweredResult(call, tool, d), nil
	}
	call.Admit = r.admit(call)
	call.Plain = d.plain
	call.Notify(executors.Event{Status: executors.InProgress})
	return p.next.Execute(ctx, call)
}

// keepInBox makes a command that only reads run in the box after a question, too, unless the guard
// asked: its questions are about files that the box refuses.
func (p permissionCheck) keepInBox(call *executors.Call, d *decision) {
	card := call.Card
	byGuard := func(v executors.Verdict) bool { return v.Gate == executors.GuardGate && v.Decision == Ask }
	if d.action != Allow || d.plain != nil || card.Command() == "" || slices.ContainsFunc(call.Record.Verdicts, byGuard) || boxError(call, p.Boxed) != nil {
		return
	}
	if form, err := p.plainForm(call, card.Script, nil); err == nil {
		d.plain = form
	}
}

// resolveQuestion asks the user, unless an earlier answer or the arbiter decides. It records the
// question and its answers. Its decision is Allow or Deny; it is Ask if there was no answer.
func (p permissionCheck) resolveQuestion(ctx context.Context, call *executors.Call, tool executors.Tool) (decision, error) {
	waited := call.Record.BeginWait() // for the answer to another question
	err := p.questionLock.Acquire(ctx, 1)
	waited()
	if err != nil {
		return decision{}, context.Cause(ctx)
	}
	defer p.questionLock.Release(1)
	for recorded := false; ; {
		d := p.decide(call, tool) // mode and answers may have changed while another question was open
		if d.action != Ask {
			call.Record.Add(d.onRecord(call.Tool))
			return d, nil
		}
		p.limitAlways(call, &d)
		question := d.onRecord(call.Tool)
		earlier, answered := p.answeredEarlier(call, &d)
		if !answered && !recorded {
			question = p.question(call, tool, d)
		}
		if !recorded {
			call.Record.Add(question)
			recorded = true
		}
		if answered {
			call.Record.Add(earlier)
			return d, nil
		}
		if p.decidedByArbiter(ctx, call, &d) {
			return d, nil
		}
		if ctx.Err() != nil {
			return d, context.Cause(ctx)
		}
		if p.Approver == nil {
			return d, nil
		}
		answer, err := p.ask(ctx, call, d)
		switch {
		case errors.Is(err, errAnsweredElsewhere):
			continue
		case ctx.Err() != nil:
			return d, context.Cause(ctx)
		}
		if err != nil {
			why := executors.WholeLine(executors.Shown(err.Error()))
			d.unanswered = ": " + why
			call.Record.Add(executors.Verdict{Gate: executors.UserGate, Decision: Ask, Reason: why})
			return d, nil
		}
		p.applyAnswer(call, &d, answer)
		return d, nil
	}
}

// limitAlways limits an "always" to the exact text if the command has no plain form: an
// "always" of the usual extent would then not cover the same command again.
func (p permissionCheck) limitAlways(call *executors.Call, d *decision) {
	as := *d // the form is not used: an answer to this question runs the command as written
	if len(d.keys) == 0 || p.alwaysCovers(call, &as, func(key string) bool { return slices.Contains(d.keys, key) }) {
		return
	}
	d.keys, d.extent = []string{"exactly " + call.Card.Command()}, "exactly this command"
}

// answeredEarlier reports whether an earlier "always" answers the question, and decides by it.
// A file of answers that cannot be used is a reason to ask.
func (p permissionCheck) answeredEarlier(call *executors.Call, d *decision) (executors.Verdict, bool) {
	answer, err := p.Remembered.Answer(d.keys)
	if err != nil && !slices.Contains(call.Ask, err.Error()) {
		call.Ask = append(call.Ask, err.Error())
		call.Record.Add(executors.Verdict{
			Gate: executors.RememberedGate, Decision: Ask, Reason: err.Error(), Change: "the mistake in that file: no answer of it counts until then",
		})
	}
	deciding := d.keys
	for _, key := range d.keys { // "always reject" covers the command with any further options
		for _, coarser := range append(coarserKeys(key), key) {
			if one, _ := p.Remembered.Answer([]string{coarser}); one == Deny {
				answer, deciding = Deny, []string{coarser}
			}
		}
	}
	switch {
	case answer == Deny:
		d.verdict = verdict{action: Deny, why: "the user chose \"always reject\"", userText: "You chose \"always reject\" for this. To be asked again, run zeph-acp permissions forget."}
	case answer == Allow && len(call.Ask) == 0 && p.alwaysCovers(call, d, p.alwaysAllows):
		d.verdict = verdict{action: Allow, why: "the user chose \"always allow\""}
	default:
		return executors.Verdict{}, false
	}
	return executors.Verdict{
		Gate: executors.RememberedGate, Decision: d.action, Rule: d.why, Source: p.Remembered.Place(deciding[0]), Change: changeOfAnswer(deciding),
	}, true
}

// olderAnswer explains why an "always" for the same program and subcommand does not settle a
// question; "" if there is none.
func (p permissionCheck) olderAnswer(keys []string) string {
	for _, key := range keys {
		for _, coarser := range coarserKeys(key) {
			if p.alwaysAllows(coarser) {
				covered := strings.TrimPrefix(coarser, "command ")
				return fmt.Sprintf("your \"always\" for %s does not cover %s", quote(covered), quote(key[len(coarser):]))
			}
		}
	}
	return ""
}

// alwaysAllows reports whether an "always" of the user allows a key.
func (p permissionCheck) alwaysAllows(key string) bool {
	answer, _ := p.Remembered.Answer([]string{key})
	return answer == Allow
}

// errAnsweredElsewhere ends a question that was answered in another session.
var errAnsweredElsewhere = errors.New("an answer to another question settles this one")

// ask asks the user, until an answer in another session of the project settles the
// question.
func (p permissionCheck) ask(ctx context.Context, call *executors.Call, d decision) (string, error) {
	asking, stop := context.WithCancelCause(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer stop(nil)
	if len(d.keys) > 0 && len(call.Ask) == 0 {
		waiting.Go(func() {
			for {
				changed := p.Remembered.Changed()
				if answer, _ := p.Remembered.Answer(d.keys); answer != Ask {
					stop(errAnsweredElsewhere)
				}
				select {
				case <-changed:
				case <-asking.Done():
					return
				}
			}
		})
	}
	defer call.Record.BeginWait()()
	answer, err := p.Approver.Approve(asking, call, options(call, d))
	if ctx.Err() == nil && err != nil && errors.Is(context.Cause(asking), errAnsweredElsewhere) {
		err = errAnsweredElsewhere
	}
	return answer, err
}

// applyAnswer decides by the user's answer, and remembers an "always".
func (p permissionCheck) applyAnswer(call *executors.Call, d *decision, answer string) {
	v := executors.Verdict{Gate: executors.UserGate, Answer: answer, Reason: call.Record.Reason}
	switch answer {
	case "":
		d.dismissed, v.Answer = true, dismissed
	case allowOnce, allowAlways:
		d.verdict, d.plain = verdict{action: Allow, why: "the user allowed it"}, nil
		v.Rule = d.why
	case rejectOnce, rejectAlways:
		d.verdict = verdict{action: Deny, why: "the user rejected it", userText: "You rejected this."}
		v.Rule = d.why
		if v.Reason != "" {
			d.why, d.userText = d.why+" and says: "+v.Reason, "You rejected this: "+v.Reason
		}
	default:
		d.unanswered = fmt.Sprintf(": %q is not one of its options", executors.Shown(answer))
		v.Reason = strings.TrimPrefix(d.unanswered, ": ")
	}
	v.Decision = d.action
	always, ok := map[string]Action{allowAlways: Allow, rejectAlways: Deny}[answer]
	if ok && len(d.keys) > 0 {
		if err := p.Remembered.Set(d.keys, always); err != nil {
			p.warn("Your answer holds for this session only, since it could not be stored: " + err.Error())
		}
		v.Source, v.Change = p.Remembered.Place(d.keys[0]), changeOfAnswer(d.keys)
	}
	call.Record.Add(v)
}

func (p *Permission) warn(text string) {
	if p.Warn != nil {
		p.Warn(text)
	}
}

// alwaysCovers reports whether "always" answers cover the call; allowed reports whether such an
// answer allows a key. The command runs in its plain form unless an answer allows exactly
// its text.
func (p permissionCheck) alwaysCovers(call *executors.Call, d *decision, allowed func(key string) bool) bool {
	card := call.Card
	if card.Command() == "" || slices.Contains(d.keys, "exactly "+card.Command()) {
		return true
	}
	form, err := p.plainForm(call, card.Script, allowed)
	if err != nil {
		return false
	}
	d.plain = form
	return true
}

// options returns the answers to choose from. It omits an "always" that could
// not be remembered, or that a gate would ask about again.
func options(call *executors.Call, d decision) []Option {
	all := []Option{{allowOnce, allowOnce, "Allow once"}}
	if len(d.keys) > 0 && len(call.Ask) == 0 {
		all = append(all, Option{allowAlways, allowAlways, "Always allow " + d.extent})
	}
	all = append(all, Option{rejectOnce, rejectOnce, "Reject"})
	if len(d.keys) > 0 {
		all = append(all, Option{rejectAlways, rejectAlways, "Always reject " + d.extent})
	}
	return all
}

// whyForModel returns why a call needs permission. Models do not see the reasons of
// gates.
func whyForModel(call *executors.Call, d decision) string {
	asks := func(v executors.Verdict) bool {
		own := v.Gate == executors.PermissionGate || v.Gate == executors.RememberedGate || v.Gate == executors.UserGate
		return v.Decision == executors.Ask && !own
	}
	if slices.ContainsFunc(call.Record.Verdicts, asks) {
		return "a gate asks about it"
	}
	return d.why
}

// unansweredResult returns the result of a call that the user did not decide.
func (p permissionCheck) unansweredResult(call *executors.Call, tool executors.Tool, d decision) executors.Result {
	if d.dismissed {
		return executors.Failuref(executors.ConfirmationRequired, "it needs the user's permission (%s), and the user dismissed the question", whyForModel(call, d)).
			Hint("Do not retry this call; ask the user what to do instead.").
			ForUser("You dismissed the question, so this was not run.").Result()
	}
	f := executors.Failuref(executors.ConfirmationRequired, "it needs the user's permission (%s), and the question was not answered%s", whyForModel(call, d), d.unanswered)
	const unasked = "This needs your permission (%s), and the question was not answered%s. "
	why := d.why
	if _, err := p.Remembered.Answer(d.keys); err != nil { // a reason to ask, too
		why += "; " + err.Error()
		call.Ask = slices.DeleteFunc(call.Ask, func(reason string) bool { return reason == err.Error() }) // a rule suffices
	}
	if older := p.olderAnswer(d.keys); older != "" {
		why += "; " + older
	}
	rules, first := p.suggestRules(call, tool)
	if rules == "" {
		people, hint := p.adviceToAllowOnce()
		return f.ForUser(unasked+people, why, d.unanswered).Hint("%s", hint).Result()
	}
	where := "to config.toml, as they are"
	if first {
		where = fmt.Sprintf("to config.toml above the other rules of tools.permissions.%s, since the first that matches counts", call.Tool)
	}
	people, hint := p.adviceToAllowLater()
	f = f.ForUser(unasked+people+" %s:", why, d.unanswered, strings.TrimSuffix(where, ", as they are"))
	res := f.Hint("%s %s.", hint, where).Result()
	res.Below("\n" + rules) // the rules span several lines, which TOML needs
	return res
}

// adviceToAllowOnce returns advice for people and for the model on how to allow a call
// once if no rule can allow it.
func (p *Permission) adviceToAllowOnce() (people, hint string) {
	if p.ScheduledTask {
		return "This is a scheduled task, and no rule can allow it.", "No rule can allow it, and a scheduled task has no user to ask: report what is left to do."
	}
	return "Answer the question in an editor, or run it with --yes. No rule can allow it.",
		"Tell the user how to allow it: answer the question in an editor, or run headless with --yes. No rule can allow it: it is asked about each time."
}

// adviceToAllowLater returns advice on how to allow a call by rules; the caller appends
// their place in the file.
func (p *Permission) adviceToAllowLater() (people, hint string) {
	if p.ScheduledTask {
		return "For later runs of this scheduled task, add this", "Report to the user how to allow it in later runs: add the rules given here"
	}
	return "Answer the question, run it with --yes, or add this", "Tell the user how to allow it: answer the question, run headless with --yes, or add the rules given here"
}
