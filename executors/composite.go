package executors

import (
	"context"
	"strings"
	"sync/atomic"
)

// CompositeExecutor asks its parts in order; the first that owns the tool
// answers, and a call without an owner fails as ToolNotFound.
type CompositeExecutor []Executor

// Tools lists the tools of all parts in order. If two parts have a tool of the
// same name, it lists only the first, since only the first would answer.
func (c CompositeExecutor) Tools() []Tool {
	all := make([]Tool, 0, usualTools)
	for _, part := range c {
		all = appendTools(all, part)
	}
	return all
}

// usualTools is the number of tools of most sessions, or a few more.
const usualTools = 32

// appendTools appends the tools of an executor to a list, except those that the list
// has already.
func appendTools(list []Tool, e Executor) []Tool {
	before := list
	add := func(t *Tool) {
		if indexOf(before, t.Name) < 0 {
			list = append(list, *t)
		}
	}
	if r, ok := e.(Registry); ok { // Tools would copy all of them
		for i := range r {
			add(&r[i].Tool)
		}
		return list
	}
	tools := e.Tools()
	for i := range tools {
		add(&tools[i])
	}
	return list
}

// Prepare calls Prepare of the tool's owner.
func (c CompositeExecutor) Prepare(ctx context.Context, call *Call) (Card, error) {
	owner, err := c.owner(call.Tool)
	if err != nil {
		return Card{}, err
	}
	return owner.Prepare(ctx, call)
}

// Execute calls Execute of the tool's owner.
func (c CompositeExecutor) Execute(ctx context.Context, call *Call) (Result, error) {
	owner, err := c.owner(call.Tool)
	if err != nil {
		return FailWith(err), nil
	}
	return owner.Execute(ctx, call)
}

func (c CompositeExecutor) owner(tool string) (Executor, error) {
	for _, part := range c {
		if owns(part, tool) {
			return part, nil
		}
	}
	return nil, NotFound(c.Tools(), tool)
}

// owns reports whether the executor has the tool.
func owns(e Executor, tool string) bool {
	if r, ok := e.(Registry); ok { // Tools would copy all of them
		return r.index(tool) >= 0
	}
	_, ok := Find(e.Tools(), tool)
	return ok
}

// Find returns the tool of that name, and whether there is one.
func Find(tools []Tool, name string) (Tool, bool) {
	i := indexOf(tools, name)
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// indexOf returns the index of the tool of that name, or -1. It copies no tool.
func indexOf(tools []Tool, name string) int {
	for i := range tools {
		if tools[i].Name == name {
			return i
		}
	}
	return -1
}

// NotFound is the failure of a call whose tool is not among tools.
func NotFound(tools []Tool, name string) *Failure {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if len(tools) == 0 {
		return Failuref(ToolNotFound, "no tool %q", name).Hint("There are no tools in this session; answer without one.")
	}
	return Failuref(ToolNotFound, "no tool %q", name).Hint("Use one of: %s.", strings.Join(names, ", "))
}

// DynExecutor holds the composite that fits one session's client: for each kind
// of work the client's executor if it has one, else the local one. Set replaces
// the composite while calls run; a running call keeps the composite that it began
// with. It delegates every call, and does not ask for the user's consent.
type DynExecutor struct {
	current atomic.Pointer[CompositeExecutor]
}

// NewDynExecutor returns a DynExecutor with these parts, in order.
func NewDynExecutor(parts ...Executor) *DynExecutor {
	d := &DynExecutor{}
	d.Set(parts...)
	return d
}

// Set replaces the composite.
func (d *DynExecutor) Set(parts ...Executor) {
	c := CompositeExecutor(parts)
	d.current.Store(&c)
}

// Tools lists the tools of the current composite.
func (d *DynExecutor) Tools() []Tool { return d.current.Load().Tools() }

// Prepare calls Prepare of the current composite.
func (d *DynExecutor) Prepare(ctx context.Context, call *Call) (Card, error) {
	return d.current.Load().Prepare(ctx, call)
}

// Execute calls Execute of the current composite.
func (d *DynExecutor) Execute(ctx context.Context, call *Call) (Result, error) {
	return d.current.Load().Execute(ctx, call)
}
