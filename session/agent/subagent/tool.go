package subagent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// input is the input of sub_agent.
type input struct {
	Task string `json:"task"`
	Type string `json:"type,omitempty" jsonschema:"default=general"`
}

// Tools returns the tool, unless it is switched off.
func (s *Set) Tools() []executors.Tool {
	if !s.options.Enabled {
		return nil
	}
	return s.registry().Tools()
}

// Prepare returns the card of a call.
func (s *Set) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	return s.registry().Prepare(ctx, call)
}

// Execute runs a call.
func (s *Set) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	return s.registry().Execute(ctx, call)
}

// Catalogue returns the tool for listings.
func Catalogue() executors.Registry { return New(Options{Config: setting.Default[Config]()}).tools }

func (s *Set) registry() executors.Registry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// bind makes the tool. Its description lists the types.
func (s *Set) bind() {
	text := strings.TrimSpace(toolText)
	slices.SortFunc(s.types, func(a, b Type) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range s.types {
		text += "\n" + t.modelLine()
	}
	s.tools = executors.Registry{executors.Bind(executors.Tool{
		Name: toolName, Act: "Delegate to", Description: text, Effect: executors.Internal, Kind: executors.KindThink, Concurrent: true,
		Names: executors.Names{Claude: "Task Agent"},
	}, s.prepare, s.run)}.Limited(s.options.MaxOutputChars)
}

const maxTitle = 120 // bytes of a task

func (s *Set) prepare(_ context.Context, _ *executors.Call, in *input) (executors.Card, error) {
	_, err := s.find(in.Type)
	card := executors.Card{Title: executors.OneLine(cmp.Or(in.Type, general) + ": " + shortened(in.Task, maxTitle)), Kind: executors.KindThink}
	if err == nil && strings.TrimSpace(in.Task) == "" {
		err = executors.Failuref(executors.InvalidParameters, "sub_agent: task is empty")
	}
	return card, err
}

// run delegates the task to a sub-agent and returns its report.
func (s *Set) run(ctx context.Context, call *executors.Call, in *input) (executors.Result, error) {
	t, err := s.find(in.Type)
	if err != nil {
		return executors.FailWith(err), nil
	}
	if call.Delegate == nil {
		return executors.Failf(executors.PolicyBlocked, "a sub-agent cannot start others"), nil
	}
	writes := t.writes(s.options.Tools())
	done, err := s.acquire(ctx, writes && !t.Worktree)
	if err != nil {
		return executors.Result{}, err
	}
	defer done()
	d := executors.Delegation{
		Name: t.Name, Task: in.Task, Model: t.Model, Rounds: s.options.MaxRounds, Tools: t.offers,
	}
	d.System, d.Project = s.system(t)
	if writes && t.Worktree {
		return s.runInWorktree(ctx, call, t, d)
	}
	report, err := call.Delegate(ctx, d)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return result(t, report, err), nil
}

// acquire waits until a sub-agent may run. Those that can change something in the project
// wait for each other first, and only then for one of the max_parallel places.
func (s *Set) acquire(ctx context.Context, writes bool) (done func(), err error) {
	needed := []*semaphore.Weighted{s.working}
	if writes {
		needed = []*semaphore.Weighted{s.writing, s.working}
	}
	for i, sem := range needed {
		if sem.Acquire(ctx, 1) != nil {
			release(needed[:i])
			return nil, context.Cause(ctx)
		}
	}
	return func() { release(needed) }, nil
}

func release(taken []*semaphore.Weighted) {
	for _, sem := range taken {
		sem.Release(1)
	}
}

// system returns the system prompt of a sub-agent. It begins with the session's system
// prompt, and the project's rules apply.
func (s *Set) system(t Type) (system, project string) {
	system, project = s.options.System()
	parts := []string{system, strings.TrimSpace(systemText), t.Prompt}
	return strings.TrimSpace(strings.Join(parts, "\n\n")), project
}

// raw is the raw output of a call.
type raw struct {
	Type   string `json:"type"`
	Caller string `json:"callerId,omitempty"` // of its calls, in the audit log
	Model  string `json:"model,omitempty"`
	Calls  int    `json:"calls"`
}

// result returns the report of a sub-agent as the result of the call.
func result(t Type, report executors.Report, err error) executors.Result {
	var res executors.Result
	if err != nil {
		res = executors.Failf(executors.PermanentFailure, "the sub-agent %s could not continue: %v", t.Name, err)
	}
	res.Text, res.Raw = report.Text, raw{t.Name, report.Caller, report.Model, report.Calls}
	if err != nil {
		return res
	}
	if strings.TrimSpace(report.Text) == "" {
		res.Text = "The sub-agent ended without a report."
	}
	if report.Ended != "" {
		res.Below(fmt.Sprintf("[the sub-agent stopped before it was done: %s]", report.Ended))
	}
	return res
}
