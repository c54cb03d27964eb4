package app

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
)

// Feature is one capability of a session, with everything that it adds to the session. All
// fields but Name may be empty. [sessionBuilder.features] lists the features of a session.
type Feature struct {
	Name string

	// Link is a link of the chain. OwnCalls means that it also stands around the calls by which
	// the agent checks an edit. Outer is a link outside of audit.
	Link     executors.Middleware
	OwnCalls bool
	Outer    executors.Middleware

	// Tools owns tools of the session. Late tools come and go. They follow all others, since
	// providers cache a request from its beginning.
	Tools executors.Executor
	Late  bool

	Builtins []session.Builtin // slash commands
	// Prompts and Expand are for commands that stand for prompts; see session.Tools.
	Prompts func() []session.Command
	Expand  func(ctx context.Context, name, rest string) (session.Expansion, bool, error)
	Files   session.Files // what a rewind restores

	Warnings func() []string // for the user, when the session opens
	Status   func() []string // lines of /status

	BeforeTurn func()                                            // begins a turn, even of a command
	AwaitStart func(ctx context.Context)                         // see session.AgentSession
	Ready      func(ctx context.Context, typed string)           // see agent.Agent
	News       func(ctx context.Context, direct bool) agent.News // see agent.Agent
	Turns      func(*agent.Agent)                                // sets the feature's part of the turn loop
	Reset      func()                                            // drops what a new conversation must not see
	Close      func()                                            // ends programs; features close concurrently
}

// chain puts the links of features around tools. The links outside of audit come first. Of each
// kind, the link of the first feature is outermost.
func (a *App) chain(list []Feature, tools executors.Executor) executors.Executor {
	var outer, links []executors.Middleware
	for _, f := range list {
		outer, links = append(outer, f.Outer), append(links, f.Link)
	}
	return executors.Chain(a.effects(tools), append(outer, links...)...)
}

// ownCalls puts the links for the agent's own calls around their tools.
func ownCalls(list []Feature, tools executors.Executor) executors.Executor {
	var links []executors.Middleware
	for _, f := range list {
		if f.OwnCalls {
			links = append(links, f.Link)
		}
	}
	return executors.Chain(tools, links...)
}

// toolsOf returns the executors of the features' tools, in the order in which models see the tools.
func toolsOf(list []Feature) (all []executors.Executor) {
	for _, late := range []bool{false, true} {
		for _, f := range list {
			if f.Tools != nil && f.Late == late {
				all = append(all, f.Tools)
			}
		}
	}
	return all
}

// find returns the feature of that name, which is in the list.
func find(list []Feature, name string) *Feature {
	return &list[slices.IndexFunc(list, func(f Feature) bool { return f.Name == name })]
}

// replaced returns a list in which features take the places of those with their names.
func replaced(list []Feature, features ...Feature) []Feature {
	list = slices.Clone(list)
	for _, f := range features {
		*find(list, f.Name) = f
	}
	return list
}

// sessionFeatures are the features of one session. It implements session.Tools.
type sessionFeatures struct {
	list     []Feature
	chain    executors.Executor
	disabled []string // the names of disabled tools
	forget   func()   // drops the session's scanner of credentials

	// The parts that others ask for.
	confirm func(ctx context.Context, question, text string) bool // nil if there is no user
	system  *systemPrompt
	servers func() []mcp.Status
	flow    *flow.Flow
	tasks   *sessionTasks
}

// each calls do for each feature.
func (s *sessionFeatures) each(do func(Feature)) {
	for _, f := range s.list {
		do(f)
	}
}

// call calls a function of a feature, if it has it.
func call(f func()) {
	if f != nil {
		f()
	}
}

// collected joins what a function of each feature returns; get may return nil.
func collected[T any](list []Feature, get func(Feature) func() []T) (all []T) {
	for _, f := range list {
		if make := get(f); make != nil {
			all = append(all, make()...)
		}
	}
	return all
}

func (s *sessionFeatures) warnings() []string {
	return collected(s.list, func(f Feature) func() []string { return f.Warnings })
}

// Status returns the lines of the features for /status.
func (s *sessionFeatures) Status() []string {
	return collected(s.list, func(f Feature) func() []string { return f.Status })
}

// Commands returns the prompts of the MCP servers, then the commands of files.
func (s *sessionFeatures) Commands() []session.Command {
	return collected(s.list, func(f Feature) func() []session.Command { return f.Prompts })
}

// Builtins returns the slash commands of the features.
func (s *sessionFeatures) Builtins() (all []session.Builtin) {
	s.each(func(f Feature) { all = append(all, f.Builtins...) })
	return all
}

// Expand returns the messages of a prompt of an MCP server, or the prompt of a file.
func (s *sessionFeatures) Expand(ctx context.Context, name, rest string) (session.Expansion, bool, error) {
	for _, f := range s.list {
		if f.Expand == nil {
			continue
		}
		if e, ok, err := f.Expand(ctx, name, rest); ok || err != nil {
			return e, ok, err
		}
	}
	return session.Expansion{}, false, nil
}

// Files returns the files that a rewind can restore; nil if no files are kept.
func (s *sessionFeatures) Files() (files session.Files) {
	s.each(func(f Feature) {
		if f.Files != nil {
			files = f.Files
		}
	})
	return files
}

// Confirm asks the user a question.
func (s *sessionFeatures) Confirm(ctx context.Context, question, text string) bool {
	return s.confirm != nil && s.confirm(ctx, question, text)
}

// Reset drops the results and the system prompt, and restarts the counters.
// Background commands keep running.
func (s *sessionFeatures) Reset() { s.each(func(f Feature) { call(f.Reset) }) }

func (s *sessionFeatures) beforeTurn() { s.each(func(f Feature) { call(f.BeforeTurn) }) }

// awaitStart waits for what still starts.
func (s *sessionFeatures) awaitStart(ctx context.Context) {
	s.each(func(f Feature) {
		if f.AwaitStart != nil {
			f.AwaitStart(ctx)
		}
	})
}

// Close ends background commands, MCP servers and language servers, and stores the counters.
func (s *sessionFeatures) Close() {
	var closing sync.WaitGroup
	s.each(func(f Feature) {
		if f.Close != nil {
			closing.Go(f.Close)
		}
	})
	closing.Wait()
	s.forget()
}

// ready brings the features up to date before a turn. typed is the text of its prompt.
func (s *sessionFeatures) ready(ctx context.Context, typed string) {
	s.each(func(f Feature) {
		if f.Ready != nil {
			f.Ready(ctx, typed)
		}
	})
}

// news returns the events since the last turn: results of scheduled tasks, and
// commands in the background that have ended.
func (s *sessionFeatures) news(ctx context.Context, direct bool) (n agent.News) {
	s.each(func(f Feature) {
		if f.News == nil {
			return
		}
		more := f.News(ctx, direct)
		if more.User != "" {
			n.User = strings.TrimPrefix(n.User+"\n\n"+more.User, "\n\n")
		}
		n.Model = executors.JoinLines(n.Model, more.Model)
		n.Events = append(n.Events, more.Events...)
	})
	return n
}
