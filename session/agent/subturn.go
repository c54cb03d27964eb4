package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// maxSubturns limits the subturns of one turn.
const maxSubturns = 100

var (
	errTooMany = fmt.Errorf("this turn has delegated %d tasks already", maxSubturns)
	errAlone   = errors.New("no model is configured to work on the task")
)

// subturn is the state that only a subturn has.
type subturn struct {
	parent *runningCall // the call that delegated the task
	caller string       // the caller id of the turn's calls
	bounds Bounds
	env    []string     // additional variables for commands, as NAME=VALUE
	inCopy bool         // the turn works in a copy of the project
	calls  atomic.Int32 // calls so far

	asking sync.Mutex // held while the state of the child session is sent
	asked  int        // open questions about its calls
}

// sessionTurn returns the turn of the session that t belongs to.
func (t *turn) sessionTurn() *turn {
	if t.sub != nil {
		return t.sub.parent.turn
	}
	return t
}

// caller returns the caller id of the turn's calls.
func (t *turn) caller() string {
	if t.sub != nil {
		return t.sub.caller
	}
	return t.Session
}

// shownAsSteps reports whether the client is shown the turn's calls only as steps.
func (t *turn) shownAsSteps() bool { return t.sub != nil && t.sub.parent.SendAs == nil }

// setDelegation sets the bounds of a call that a subturn makes. In a turn of the
// session, it lets the call delegate tasks.
func (t *turn) setDelegation(r *runningCall) {
	if t.sub != nil {
		t.sub.calls.Add(1)
		r.call.Bounds, r.call.Env, r.call.InCopy = t.sub.bounds, t.sub.env, t.sub.inCopy
		return
	}
	if t.origin != executors.User {
		r.call.Bounds = t.bounds
	}
	r.call.Delegate = r.delegate
}

// delegate runs a task as a subturn: with its own history, system prompt, limit of
// rounds and caller id, and with a subset of the tools. It shares the session's chain, mode,
// user, cancel and cost. An error means that there is no report.
func (r *runningCall) delegate(ctx context.Context, d executors.Delegation) (executors.Report, error) {
	if r.delegated.Add(1) > maxSubturns {
		return executors.Report{}, errTooMany
	}
	model, err := r.subturnModel(d.Model)
	if err != nil {
		return executors.Report{}, err
	}
	if r.Learn != nil {
		r.Learn(ctx, model)
	}
	t := r.newSubturn(d, model)
	subCtx, end := r.Agent.beginSubturn(ctx, t.caller())
	defer end()
	if err := t.showStart(ctx, d); err != nil {
		return executors.Report{}, err
	}
	reason, err := t.run(subCtx)
	t.showReturn(d)
	if err == nil && subCtx.Err() == nil && d.After != nil {
		err = d.After(subCtx, t.callAfterwards)
	}
	if subCtx.Err() != nil && ctx.Err() == nil {
		reason, err = acp.StopCancelled, nil
	}
	text := t.lastText()
	if d.Edit != nil {
		text = d.Edit(text)
	}
	t.showEnd(ctx, reason, err, text)
	report := executors.Report{
		Caller: t.caller(),
		Text:   text,
		Ended:  endReason(reason, d.Rounds),
		Model:  t.model.Name(),
		Calls:  int(t.sub.calls.Load()),
	}
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	return report, err
}

// subturnModel returns the model of that name, or the session's.
func (r *runningCall) subturnModel(name string) (llm.Model, error) {
	m := r.Model()
	if name != "" && r.OpenModel != nil {
		var err error
		if m, err = r.OpenModel(name); err != nil {
			return nil, err
		}
	}
	if isDirect(m) {
		return nil, errAlone
	}
	return m, nil
}

// newSubturn returns the turn of a task, ready to run.
func (r *runningCall) newSubturn(d executors.Delegation, model llm.Model) *turn {
	id := r.NewID()
	in := &subturn{
		parent: r, caller: r.Session + "/" + d.Name + "-" + id[:min(len(id), 8)], env: d.Env, inCopy: d.Chain != nil,
		bounds: func(call *executors.Call) *executors.Failure {
			if r.turn.bounds != nil {
				if failure := r.turn.bounds(call); failure != nil {
					return failure
				}
			}
			return outOfBounds(d, call)
		},
	}
	a := &Agent{
		Config: r.Config, Session: r.Session, Chain: toolSubset{r.Chain, d}, NewID: r.NewID, Log: r.Log,
		Client: Client{
			Send: in.send(r.Send), Notices: r.Notices,
			StreamTerminals: r.StreamTerminals && r.SendAs != nil, CancelsCalls: r.CancelsCalls && r.SendAs != nil,
		},
		State: r.State, Workspace: r.Workspace, Overflow: r.Overflow, Helpers: r.Helpers,
		System: func() string { return d.System }, Project: func() string { return d.Project },
	}
	if d.Chain != nil { // its paths differ from the session's
		a.Chain, a.Workspace.Exists = toolSubset{d.Chain, d}, nil
	}
	a.Config.MaxToolIterations, a.Config.MaxToolIterationsHard = d.Rounds, d.Rounds
	a.State.Model, a.State.Record = func() llm.Model { return model }, in.record(r.Record)
	if d.Model != "" { // it may have other levels
		a.State.Thought = func() string { return "" }
	}
	tools := a.Chain.Tools()
	t := &turn{Agent: a, model: model, typed: r.typed, sub: in, tools: tools, offered: forModel(tools)}
	prompt := transcript.Prompt{Content: []acp.ContentBlock{acp.TextBlock(d.Task)}}
	if r.Mode != nil {
		prompt.Mode = r.Mode()
	}
	t.history = []llm.Message{{Role: llm.User, Blocks: prompt.Blocks(nil)}}
	return t
}

// callAfterwards makes a call for a subturn that has ended. The call passes the session's
// chain.
func (t *turn) callAfterwards(
	ctx context.Context, tool string, input any, still func(context.Context) *executors.Failure,
) (executors.Result, error) {
	data, err := json.Marshal(input)
	if err != nil {
		return executors.Result{}, err
	}
	parent, a := t.sub.parent, t.Agent
	next := &Agent{
		Config: a.Config, Session: a.Session, Chain: parent.Chain, NewID: a.NewID, Log: a.Log,
		Client: a.Client, State: a.State, Workspace: parent.Workspace, Overflow: a.Overflow, Helpers: a.Helpers, System: a.System, Project: a.Project,
	}
	u := &turn{Agent: next, model: t.model, typed: t.typed, tools: next.Chain.Tools(), sub: &subturn{
		parent: parent, caller: t.sub.caller, bounds: parent.turn.bounds,
	}}
	r, err := u.announce(ctx, llm.ToolCall{ID: u.NewID(), Name: tool, Input: data})
	if err != nil {
		return executors.Result{}, err
	}
	r.call.Precondition = still
	res, err := r.Chain.Execute(ctx, r.call)
	_, err = r.finish(ctx, res, err)
	return res, err
}

// endReason returns why a subturn stopped before it completed the task.
func endReason(reason acp.StopReason, rounds int) string {
	switch reason {
	case acp.StopEndTurn:
		return ""
	case acp.StopMaxTokens:
		return "its context or its answer was full"
	case acp.StopRefusal:
		return "the model refused"
	case acp.StopCancelled:
		return "the user cancelled it"
	}
	return fmt.Sprintf("it reached its limit of %s or its budget, or repeated itself", quantity.Count(rounds, "round"))
}

// isOffered reports whether a task is offered a tool.
func isOffered(d executors.Delegation, tool executors.Tool) bool {
	if tool.With != "" {
		tool = executors.Tool{Name: tool.With, Effect: executors.Mutates}
	}
	if tool.Effect.InternalOnly() {
		return slices.Contains(d.Internal, tool.Name)
	}
	return d.Tools == nil || d.Tools(tool)
}

// outOfBounds returns the failure of a call that the task may not make.
func outOfBounds(d executors.Delegation, call *executors.Call) *executors.Failure {
	if call.Spec.Name == "" { // the tools themselves say so
		return nil
	}
	if !isOffered(d, call.Spec) {
		return executors.Failuref(executors.PolicyBlocked, "%s may not use the tool %q", d.Name, call.Tool).
			Hint("Do the task with the tools that you have, or say what is missing.")
	}
	if d.Bounds == nil {
		return nil
	}
	return d.Bounds(call)
}

// toolSubset offers a part of the tools. Calls of other tools still reach the chain,
// which denies and records them.
type toolSubset struct {
	executors.Executor
	task executors.Delegation
}

func (o toolSubset) Tools() []executors.Tool {
	return slices.DeleteFunc(slices.Clone(o.Executor.Tools()), func(t executors.Tool) bool { return !isOffered(o.task, t) })
}

// lastText returns the last text of the model.
func (t *turn) lastText() string {
	for _, m := range slices.Backward(t.history) {
		if text := messageText(m); text != "" {
			return text
		}
	}
	return ""
}
