package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// Options describe a session to [Servers.Session].
type Options struct {
	Dir  string   // absolute; where programs run
	Dirs []string // the session's other directories, absolute
	// Servers are the entries in order of precedence. If two have the same name, the
	// first is used.
	Servers []Server
	// Wait is how long the first prompt waits for a server that is still starting, from its start.
	Wait time.Duration
	// Ask asks the user; nil means that there is no user.
	Ask func(context.Context, approval.Question) approval.Answer
	// Unasked is passed to approval.Desk.
	Unasked func(what string)
	// User answers the questions of servers; nil means that there is no user.
	User User
	// Warn receives a line for the user. It must not block; nil drops it.
	Warn func(text string)
	// Changed is called when the prompts of a server may have changed. It must not
	// block; nil drops it.
	Changed func()
}

// Session is the executor of the tools of one session's servers. Close it.
type Session struct {
	pool    *Servers
	dir     string
	warn    func(string)
	wait    time.Duration
	watcher *watcher
	desk    *approval.Desk
	user    *queue

	// Used by Ready alone, which one turn at a time calls.
	unapproved []unapproved                         // servers that the user has not approved yet
	answers    map[string]approval.Answer           // to questions about definitions
	warned     bool                                 // that no definition can be checked
	invited    map[*sessionServer]bool              // servers at which the user was asked to log in
	checked    map[*sessionServer]map[string]string // definitions that equal the pinned ones, by server and tool

	logins logins

	mu           sync.Mutex
	servers      []*sessionServer
	withheld     []offer // tools that are withheld
	startAwaited bool
	closed       bool
	offered      []offer
	hadResources bool // a server has had resources

	resources executors.Registry // the tools for resources
}

// sessionServer is a server in one session.
type sessionServer struct {
	*instance
	prefix string    // of the names of its tools
	added  time.Time // to the session
}

// unapproved is a server that the user has to approve.
type unapproved struct {
	entry  Server
	prefix string
	dir    string
	dirs   []string
}

// offer is a tool that the session offers.
type offer struct {
	executors.Tool
	title      string
	server     *sessionServer // nil for the tools for resources
	remoteName string         // its name at the server

	definition     string // the text that the user approves
	withheldReason string // why it is withheld; empty: it is not
}

// Session starts the servers of a session in the background.
func (p *Servers) Session(o Options) *Session {
	s := &Session{pool: p, dir: o.Dir, warn: o.Warn, wait: o.Wait, desk: &approval.Desk{Store: p.Approvals, Ask: o.Ask, Unasked: o.Unasked},
		user: newQueue(o.User), answers: map[string]approval.Answer{}, checked: map[*sessionServer]map[string]string{}}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	s.watcher, s.resources = &watcher{failed: s.warnFailed, changed: o.Changed}, s.resourceRegistry()
	var entries []Server
	for _, e := range o.Servers {
		if !e.Enabled {
			continue
		}
		if slices.ContainsFunc(entries, func(other Server) bool { return other.Name == e.Name }) {
			continue
		}
		entries = append(entries, e)
	}
	for i, prefix := range toolPrefixes(entries) {
		server := unapproved{entries[i], prefix, o.Dir, o.Dirs}
		if subject := entries[i].subject; subject != nil && p.Approvals.State(*subject) != approval.Approved {
			s.unapproved = append(s.unapproved, server)
			continue
		}
		s.add(server)
	}
	return s
}

// add starts a server.
func (s *Session) add(p unapproved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.servers = append(s.servers, newSessionServer(s.pool.open(p.entry, p.dir, p.dirs, s.watcher, s.user), p.prefix))
	}
}

// allServers returns the servers that the session uses.
func (s *Session) allServers() []*sessionServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// warnFailed warns the user that a server does not run.
func (s *Session) warnFailed(i *instance, err error) {
	s.warn(fmt.Sprintf("The MCP server %s does not run: %s. It is started again after a while; /mcp shows its state.",
		i.entry.Name, strings.TrimSuffix(s.pool.mask(oneLine(err.Error())), ".")))
}

// Ready updates the offered tools. The first call waits for servers that are still
// starting, if they were used in this directory before or none was. If a server needs a login, Ready asks the user to log in, once for each
// server. Between two calls the tools stay the same.
func (s *Session) Ready(ctx context.Context) {
	s.askServers(ctx)
	s.AwaitStart(ctx)
	waiting, cancel := context.WithTimeout(ctx, s.wait)
	s.logIn(waiting)
	cancel()
	var now []offer
	for _, server := range s.servers {
		now = append(now, server.offers()...)
	}
	withheld := s.withhold(ctx, now)
	resources := s.resourceTools()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withheld = nil
	now = slices.DeleteFunc(now, func(o offer) bool {
		if o.withheldReason = withheld[toolKey{o.server, o.remoteName}]; o.withheldReason != "" {
			s.withheld = append(s.withheld, o)
		}
		return o.withheldReason != ""
	})
	s.offered = s.mergeOffers(append(now, resources...))
}

// AwaitStart waits, once, for the servers that are starting, as Ready does.
func (s *Session) AwaitStart(ctx context.Context) {
	s.mu.Lock()
	first := !s.startAwaited
	s.startAwaited = true
	s.mu.Unlock()
	if first && s.wait > 0 {
		s.awaitStart(ctx)
	}
}

// Await waits until the server of a command, such as "SERVER__TOOL", has started, without a time
// limit. It asks the user about the servers of the repository first.
func (s *Session) Await(ctx context.Context, command string) {
	s.askServers(ctx)
	for _, server := range s.servers {
		if strings.HasPrefix(command, server.prefix+separator) || strings.HasPrefix(command, server.prefix+promptSeparator) {
			server.started(ctx)
		}
	}
}

// mergeOffers returns the current tools: first those that were offered before, in their
// order, then the new ones.
func (s *Session) mergeOffers(offers []offer) []offer {
	now := map[string]offer{}
	var names []string
	for _, o := range offers {
		now[o.Name] = o
		names = append(names, o.Name)
	}
	var all []offer
	for _, o := range s.offered {
		if current, ok := now[o.Name]; ok {
			all = append(all, current)
		} else if o.server != nil && !o.server.isReady() { // it may come back
			all = append(all, o)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(s.offered, func(o offer) bool { return o.Name == name }) {
			all = append(all, now[name])
		}
	}
	return all
}

// offers returns the tools of a ready server under their names in the session.
func (j *sessionServer) offers() []offer {
	j.mu.Lock()
	tools, ready := j.tools, j.state == Ready
	j.mu.Unlock()
	if !ready {
		return nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	var out []offer
	for i, name := range toolNames(j.prefix, names) {
		t := tools[i]
		if t.problem != "" {
			continue
		}
		t.offered.Name = name
		out = append(out, offer{t.offered, t.title, j, t.name, t.pin, ""})
	}
	return out
}

func (j *sessionServer) isReady() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state == Ready
}

// Tools lists the tools as of the last Ready.
func (s *Session) Tools() []executors.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	tools := make([]executors.Tool, len(s.offered))
	for i, o := range s.offered {
		tools[i] = o.Tool
	}
	return tools
}

func (s *Session) findOffer(name string) (offer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.offered, func(o offer) bool { return o.Name == name })
	if i < 0 {
		return offer{}, false
	}
	return s.offered[i], true
}

// Prepare returns a card with the names of server and tool.
func (s *Session) Prepare(ctx context.Context, call *executors.Call) (executors.Card, error) {
	o, ok := s.findOffer(call.Tool)
	switch {
	case !ok:
		return executors.Card{}, executors.NotFound(s.Tools(), call.Tool)
	case o.server == nil:
		return s.resources.Prepare(ctx, call)
	}
	title := o.remoteName
	if o.title != "" {
		title = o.title
	}
	return executors.Card{Title: fmt.Sprintf("%s (MCP server %s)", executors.Titled(title), o.server.entry.Name), Kind: o.Kind}, nil
}

// Execute makes the call.
func (s *Session) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	o, ok := s.findOffer(call.Tool)
	switch {
	case !ok:
		return executors.FailWith(executors.NotFound(s.Tools(), call.Tool)), nil
	case o.server == nil:
		return s.resources.Execute(ctx, call)
	}
	call.Record.ClaimSource = executors.FromMCP
	s.pool.Used.note(s.dir, o.server.entry.Name)
	input := call.Input
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	req := s.request(call)
	req.tool, req.input = o.remoteName, input
	r, notes, err := o.server.call(ctx, req)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	result := s.outcome(call, o, r, err)
	for _, note := range notes {
		result.Below(note)
	}
	return result, nil
}

// request returns the request for a call.
func (s *Session) request(call *executors.Call) request {
	return request{
		id: call.ID, user: s.user,
		report: func(text string) { call.Notify(executors.Event{Progress: s.pool.mask(text)}) },
		waited: func(d time.Duration) { call.Record.Waited += d },
	}
}

// outcome returns the result of a call.
func (s *Session) outcome(call *executors.Call, o offer, r *sdk.CallToolResult, err error) executors.Result {
	if err != nil {
		return failedResult(call, err)
	}
	if r.IsError {
		call.Record.Code = string(invalidInput) // the text says what the model can change
	}
	return resultOf(o.server.entry.Name, r)
}

// failedResult returns the result of a call that failed with an error of a server.
func failedResult(call *executors.Call, err error) executors.Result {
	if e, ok := errors.AsType[*classifiedError](err); ok {
		call.Record.Code = string(e.Code)
		f := executors.Failuref(e.Category, "%s: %s", call.Tool, legible(e.Error()))
		f.RetryAfter = e.RetryAfter
		if !e.Code.retryable() && e.Code != invalidInput {
			f.Hint("Do not retry this call; choose another way or tell the user.")
		}
		return f.Result()
	}
	return executors.FailWith(err)
}

// Trusted reports whether the session has a trusted server of that name.
func (s *Session) Trusted(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.servers, func(j *sessionServer) bool { return j.entry.Name == server && j.entry.Trust == trusted })
}

// Close ends the session's use of its servers. Servers that no other session uses are
// stopped, and Close waits until they have ended.
func (s *Session) Close() {
	s.mu.Lock()
	closed, servers := s.closed, s.servers
	s.closed = true
	s.mu.Unlock()
	if closed {
		return
	}
	s.logins.close()
	var all sync.WaitGroup
	for _, server := range servers {
		all.Go(func() { s.pool.release(server.instance, s.watcher) })
	}
	all.Wait()
}
