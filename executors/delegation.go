package executors

import "context"

// Delegation is a task for a subturn: a model works on it in a separate
// conversation. The calls of the subturn pass the session's chain, with the same mode and
// the same user, and count towards the session's cost. A subturn cannot delegate. It
// gets a tool that acts on the session alone only if Internal names the tool, or with the tool
// that it belongs to.
type Delegation struct {
	Name    string // of the worker; a part of the caller id, and shown to people
	System  string // the system prompt
	Project string // the part of the system prompt that differs between projects
	Task    string // the first message
	Model   string // "provider:model"; empty means the session's model
	Rounds  int    // of tool calls; at least 1
	// Tools reports whether a tool is offered; nil offers all.
	Tools func(Tool) bool
	// Internal are names of tools that act on the session alone and are offered too.
	Internal []string
	// Env are variables for the commands of its calls, as NAME=value.
	Env []string
	// Bounds returns the failure of a prepared call that the task does not permit, or
	// nil; nil permits every call of an offered tool.
	Bounds func(*Call) *Failure
	// Chain is used instead of the session's chain. Its tools work in a copy of the
	// project, whose directory is Dir, absolute. Nil means the session's chain.
	Chain Executor
	Dir   string
	// Edit edits the report; nil leaves it unchanged.
	Edit func(report string) string
	// After is called when the task has ended, unless the turn has ended too. Its
	// parameter call makes calls through the session's own chain, in the worker's name and
	// without its Bounds. Nil does nothing.
	After func(ctx context.Context, call DelegatedCall) error
}

// DelegatedCall makes a call; see [Call.Precondition]. An error ends the turn.
type DelegatedCall func(ctx context.Context, tool string, input any, precondition func(context.Context) *Failure) (Result, error)

// Report is the outcome of a subturn.
type Report struct {
	Caller string // the caller id of its calls
	Text   string // the last message of the model; may be empty
	Ended  string // why it stopped early, as a clause; empty if it completed the task
	Model  string // "provider:model"
	Calls  int    // tool calls
}

// DelegationGate is the gate that denies calls beyond the bounds of a subturn. Calls
// of the session's own turn have no bounds and pass.
func DelegationGate(next Executor) Executor {
	return delegationGate{next, Gate("delegation", func(_ context.Context, call *Call) (Verdict, error) {
		if failure := call.Bounds(call); failure != nil {
			return Verdict{
				Decision: Deny, Reason: "the task of " + call.Caller + " does not permit it", Source: "the task's definition",
				Change: "the tools in the definition of the sub-agent, skill or command", Failure: failure,
			}, nil
		}
		return Verdict{}, nil
	})(next)}
}

type delegationGate struct {
	Executor
	gate Executor
}

func (g delegationGate) Execute(ctx context.Context, call *Call) (Result, error) {
	if call.Bounds == nil {
		return g.Executor.Execute(ctx, call)
	}
	return g.gate.Execute(ctx, call)
}

// CheckPrecondition is the link that fails a call whose condition no longer holds; see
// [Call.Precondition].
func CheckPrecondition(next Executor) Executor { return preconditionCheck{next} }

type preconditionCheck struct{ Executor }

func (p preconditionCheck) Execute(ctx context.Context, call *Call) (Result, error) {
	if call.Precondition != nil {
		if failure := call.Precondition(ctx); failure != nil {
			return failure.Result(), nil
		}
	}
	return p.Executor.Execute(ctx, call)
}
