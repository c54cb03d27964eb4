package native

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

//go:embed exit_plan.md
var exitText string

// toolExit is the tool that asks the user to approve a plan.
const toolExit = "exit_plan"

// planMode is the mode in which a model only plans.
const planMode = "architect"

// ExitPlan offers the tool exit_plan in the mode architect. All fields but Ask are
// required; without Ask the tool is never offered.
type ExitPlan struct {
	Mode  func() string // the session's mode
	Modes []string      // those that the session may have
	// SetMode changes the session's mode, and shows the client the change.
	SetMode func(ctx context.Context, id string) error
	// Ask asks the user, and returns the kind of the chosen option; "" means that the
	// question was dismissed. An error means that no one answered. It records the user's
	// words in the call.
	Ask func(ctx context.Context, call *executors.Call, options []Option) (kind string, err error)
}

// Option is a choice of the user.
type Option struct {
	Kind string // one of the protocol's kinds; also the option's id, since some clients answer with the kind
	Name string // for the user
	mode string // the mode after this choice; empty means no change
}

// keepPlanning is the option that leaves the mode unchanged.
var keepPlanning = Option{Kind: "reject_once", Name: "Keep planning"}

// options returns the choices; without a mode to change to there is only one.
func (e *ExitPlan) options() []Option {
	var all []Option
	for _, o := range []Option{
		{Kind: "allow_once", Name: "Approve, and ask before changes (mode code)", mode: "code"},
		{Kind: "allow_always", Name: "Approve, and change files without asking (mode auto)", mode: "auto"},
	} {
		if slices.Contains(e.Modes, o.mode) {
			all = append(all, o)
		}
	}
	return append(all, keepPlanning)
}

// Catalogue returns the tool as it is offered in the mode architect.
func (e *ExitPlan) Catalogue() executors.Registry { return e.bind() }

func (e *ExitPlan) bind() executors.Registry {
	return executors.Registry{executors.Bind(executors.Tool{
		Name: toolExit, Description: strings.TrimSpace(exitText), Effect: executors.Internal, Kind: executors.KindSwitchMode,
		Names: executors.Names{Claude: "ExitPlanMode"},
	}, e.prepare, e.execute)}
}

// Tools returns the tool if the session plans and the user can be asked.
func (e *ExitPlan) Tools() []executors.Tool {
	if e.Ask == nil || e.Mode() != planMode || len(e.options()) == 1 {
		return nil
	}
	return e.bind().Tools()
}

// Prepare implements executors.Executor.
func (e *ExitPlan) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return e.bind().Prepare(ctx, call)
}

// Execute implements executors.Executor.
func (e *ExitPlan) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return e.bind().Execute(ctx, call)
}

type exitInput struct {
	Plan string `json:"plan"`
}

// prepare returns the card with the whole plan, which the user approves.
func (e *ExitPlan) prepare(_ context.Context, _ *executors.Call, in *exitInput) (executors.Card, error) {
	if strings.TrimSpace(in.Plan) == "" {
		return executors.Card{}, executors.Failuref(executors.InvalidParameters, "exit_plan: plan is empty").Hint("Write the whole plan into it: the user sees nothing else.")
	}
	if in.Plan != executors.Shown(in.Plan) {
		return executors.Card{}, executors.Failuref(executors.InvalidParameters, "exit_plan: the plan has %s, too many for a question", quantity.Count(len(in.Plan), "byte")).
			Hint("The user approves only a plan that can be shown whole: shorten it.")
	}
	return executors.Card{Title: "Carry out this plan?", Kind: executors.KindSwitchMode, Said: in.Plan}, nil
}

// execute asks the user. After an approval it changes the mode, and the client may show the plan from then on.
func (e *ExitPlan) execute(ctx context.Context, call *executors.Call, in *exitInput) (executors.Result, error) {
	options := e.options()
	waited := call.Record.BeginWait()
	kind, err := e.Ask(ctx, call, options)
	waited()
	switch {
	case ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return executors.Failuref(executors.PermanentFailure, "no one answered the question about the plan (%v)", err).
			Hint("End your turn with the plan as its text.").Result(), nil
	}
	i := slices.IndexFunc(options, func(o Option) bool { return o.Kind == kind })
	if i < 0 || options[i].mode == "" {
		call.Record.Add(executors.Verdict{Gate: executors.UserGate, Decision: executors.Ask, Reason: call.Record.Reason, Answer: keepPlanning.Kind})
		return executors.Result{Text: rejected(call.Record.Reason)}, nil
	}
	call.Record.Add(executors.Verdict{Gate: executors.UserGate, Decision: executors.Allow, Rule: "the user approved the plan", Answer: kind})
	if err := e.SetMode(ctx, options[i].mode); err != nil {
		return executors.Failf(executors.PermanentFailure, "the mode could not be changed: %v", err), nil
	}
	call.Notify(executors.Event{Plan: &executors.Plan{Approved: in.Plan}})
	return executors.Result{Text: fmt.Sprintf("The user approved the plan. The mode is now %s, so you may make changes. Carry out the plan.", options[i].mode)}, nil
}

// rejected returns the result of a plan that the user did not approve, with the user's words
// if there are any.
func rejected(reason string) string {
	if reason != "" {
		return "The user keeps planning and says: " + reason + "\nNothing may be changed yet. Improve the plan and call exit_plan again."
	}
	return "The user keeps planning: nothing may be changed yet. Ask for the reason, or improve the plan and call exit_plan again."
}
