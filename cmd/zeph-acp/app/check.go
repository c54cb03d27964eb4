package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Checker checks calls with the chain of a session, without their effects. Nothing is
// recorded or counted, no user is asked, and no MCP server is started.
type Checker struct {
	Mode     string   // of the session
	Warnings []string // about the configuration
	// Hooks runs hooks, and asks models that judge calls.
	Hooks bool

	session func() executors.Executor     // begins a session: returns its chain, and sets ready
	chain   executors.Executor            // of the last session
	partial bool                          // the input is a path alone
	ready   func(context.Context, string) // reads the hooks of that session
	policy  *permission.ShellPolicyHandle
	mask    func(string) string // redacts the credentials in a text
	assumed *assumedTools
}

// assumedTools are tools of MCP servers that are not started.
type assumedTools struct{ tools []executors.Tool }

// Check is the outcome of the check of one call.
type Check struct {
	Tool     string             `json:"tool"`
	Input    json.RawMessage    `json:"input"`
	Mode     string             `json:"mode"`
	Decision executors.Decision `json:"decision"` // allow, ask, deny, or invalid for a call that no link can check
	Rule     string             `json:"rule"`     // of the link that decided
	// Links are the verdicts of the links, in their order. A link without a verdict is
	// left out. Explained is the same for people, as /why shows it.
	Links     []executors.Verdict `json:"links"`
	Explained string              `json:"-"`
	// Again is the decision if the call runs in the box, fails there and is
	// repeated, with the rule for it; empty for a call that does not run there.
	Again     executors.Decision `json:"again,omitempty"`
	AgainRule string             `json:"again_rule,omitempty"`
	// Fails says why the call could not run even if it is allowed.
	Fails string `json:"fails,omitempty"`
	// Skipped are the hooks and models that a run would also ask.
	Skipped []string `json:"skipped,omitempty"`
}

// Invalid is the decision about a call that does not reach the links that check: its
// tool does not exist, or its input does not fit.
const Invalid executors.Decision = "invalid"

// CheckMode returns a *headless.ModeError for an unknown mode.
func (a *App) CheckMode(mode string) error {
	var names []string
	for _, m := range a.modes() {
		names = append(names, m.ID)
	}
	if slices.Contains(names, mode) {
		return nil
	}
	return &headless.ModeError{Mode: mode, Known: names}
}

// Checker returns a Checker for sessions in a directory. An empty mode means the
// configured one; the error about another is a [headless.ModeError]. The App can no longer
// serve sessions.
func (a *App) Checker(dir, mode string) (*Checker, error) {
	c := &Checker{assumed: &assumedTools{}}
	a.checking, a.Audit, a.Store = c.assumed, nil, nil
	s := session.Host{
		ID: a.NewID(), Client: &acp.Client{}, CWD: dir, Mode: func() string { return c.Mode },
		Warn: func(text string) { c.Warnings = append(c.Warnings, text) }, Withdraw: func(string) {},
		Record: func(...transcript.Event) {}, Stored: func(context.Context) {}, State: func(string) json.RawMessage { return nil },
		Spend: func(llm.Model, llm.Usage) *acp.Cost { return nil },
		Model: func() llm.Model {
			m, err := a.model(a.Model)
			if err != nil {
				return local.Direct{}
			}
			return m
		},
	}
	b, warnings, err := a.newSessionBuilder(s)
	if err != nil {
		return nil, err
	}
	b.cfg.Tools.Limits = quota.Limits{}
	c.policy, c.mask, c.Warnings, c.Mode = b.policy, b.mask(), warnings, cmp.Or(mode, b.cfg.Agent.Mode)
	if err := a.CheckMode(c.Mode); err != nil {
		return nil, err
	}
	c.session = func() executors.Executor {
		f := b.features(&ideproxy.Terminals{})
		c.ready = find(f.list, "hooks").Ready
		return f.chain
	}
	c.chain = c.session()
	return c, nil
}

// Tool reports whether there is a tool of that name.
func (c *Checker) Tool(name string) bool {
	_, ok := c.find(name)
	return ok
}

// find returns a tool, including one that a rule hides or that an MCP server would have.
func (c *Checker) find(name string) (executors.Tool, bool) {
	if t, ok := executors.Find(c.chain.Tools(), name); ok {
		return t, true
	}
	if t, ok := executors.Find(catalogue.Tools(), name); ok { // a rule hides it
		return t, true
	}
	return mcpTool(name)
}

// mcpTool returns a tool of an MCP server by the form of its name. The server is not started,
// so the tool is checked like one of an untrusted server without annotations.
func mcpTool(name string) (executors.Tool, bool) {
	server, _, ok := strings.Cut(name, "__")
	return executors.Tool{Name: name, Server: server, Schema: json.RawMessage(`{"type":"object"}`), Kind: executors.KindOther}, ok
}

// Input returns the input of a call as a user writes it after the tool's name: JSON, or
// the text of the only required parameter. A path alone suffices for tools that change
// files.
func (c *Checker) Input(tool, text string) (json.RawMessage, error) {
	t, ok := c.find(tool)
	if !ok {
		return nil, executors.NotFound(c.chain.Tools(), tool)
	}
	c.partial = false
	input, err := local.Input(llm.Tool{Name: t.Name, Schema: t.Schema}, text)
	if err == nil {
		return input, nil
	}
	var schema struct{ Required []string }
	if strings.HasPrefix(text, "{") || json.Unmarshal(t.Schema, &schema) != nil || !slices.Contains(schema.Required, "path") {
		return nil, err
	}
	members := map[string]string{}
	for _, name := range schema.Required {
		members[name] = ""
	}
	members["path"], c.partial = text, true
	return json.Marshal(members)
}

// Check returns what is decided about one call of the model.
func (c *Checker) Check(ctx context.Context, tool string, input json.RawMessage) (Check, error) {
	out := Check{Tool: tool, Input: input, Mode: c.Mode}
	call := &executors.Call{
		ID: "check", Tool: tool, Input: input, Session: "check", Caller: "check", Attempt: 1,
		Record: &executors.Record{}, Notify: func(executors.Event) {},
	}
	if v, hidden := c.policy.Load().Hidden(tool); hidden && c.Tool(tool) {
		call.Record.Add(v)
		out.decide(call, executors.Result{})
		return out, nil
	}
	c.assumed.tools = nil
	if t, ok := mcpTool(tool); ok {
		c.assumed.tools = []executors.Tool{t}
	}
	if !c.Hooks {
		call.Skipped = func(what string) { out.Skipped = append(out.Skipped, what) }
	}
	c.chain = c.session()
	c.ready(ctx, "")
	call.Card, call.PrepareErr = c.chain.Prepare(ctx, call)
	res, err := c.chain.Execute(ctx, call)
	for err == nil && call.Rewrite != nil { // a hook changed the input
		call.Input, call.Rewrites = call.Rewrite, call.Rewrites+1
		call.Checking, call.Record = executors.Checking{}, &executors.Record{}
		call.Card, call.PrepareErr = c.chain.Prepare(ctx, call)
		res, err = c.chain.Execute(ctx, call)
	}
	if err != nil {
		return out, err
	}
	out.Input = call.Input
	out.decide(call, res)
	if call.Plain != nil && call.Plain.ReadOnly {
		again := *call
		again.Checking, again.Record = executors.Checking{}, &executors.Record{}
		again.Skipped = func(string) {} // hooks checked it before
		if again.Card, again.PrepareErr = c.chain.Prepare(ctx, &again); again.PrepareErr == nil {
			again.Card.FullAccess = true
			if _, err := c.chain.Execute(ctx, &again); err != nil {
				return out, err
			}
			out.Again, out.AgainRule = again.Record.Decision(), again.Record.Rule()
		}
	}
	out.Explained = c.mask(out.Explained)
	if c.partial && out.Decision != Invalid { // the input is not complete yet
		out.Fails = ""
	}
	return out, nil
}

// decide fills in the decision and the verdicts of the links.
func (out *Check) decide(call *executors.Call, res executors.Result) {
	r := call.Record
	out.Links = r.Verdicts
	if len(out.Links) > 0 {
		out.Explained = call.Subject() + "\n" + r.Explain()
	}
	out.Decision, out.Rule = r.Decision(), r.Rule()
	if call.PrepareErr != nil {
		out.Fails = call.PrepareErr.Error()
	}
	if out.Decision == "" {
		out.Decision = Invalid
		if res.Failure != nil {
			out.Fails = res.Failure.Error()
		}
	}
}

// effects returns the tools of a session; if calls are only checked, the tools without
// their effects.
func (a *App) effects(tools executors.Executor) executors.Executor {
	if a.checking != nil {
		return effectless{tools, a.checking}
	}
	return tools
}

// approver returns the party that answers questions about calls; nil if calls are only
// checked.
func (b *sessionBuilder) approver() permission.Approver {
	if b.app.checking != nil {
		return nil
	}
	return &ideproxy.Approver{Client: b.session.Client, Session: b.session.ID}
}

// effectless has the tools of a session and the assumed ones. Their calls do nothing.
type effectless struct {
	executors.Executor
	assumed *assumedTools
}

func (u effectless) Tools() []executors.Tool { return append(u.Executor.Tools(), u.assumed.tools...) }

func (u effectless) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	if _, ok := executors.Find(u.assumed.tools, call.Tool); ok {
		return executors.Card{Title: call.Tool}, nil
	}
	return u.Executor.Prepare(ctx, call)
}

// Execute succeeds without an effect.
func (u effectless) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return executors.Result{}, nil
}
