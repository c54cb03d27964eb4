// Package toolset decides which tools a session's model is offered, and in
// which form. It chooses tools by the prompt ([Filter]), hides those that
// depend on others ([Dependencies]), and lets the model think inside a call
// ([TAFC]). It leaves out tools that few tasks need, and those of MCP servers if they would
// fill the window, and offers tool_search, which finds them ([Set.Search]).
//
// Start with [New]. The tools of a turn only grow at their end, so that the provider's cache of the
// prefix holds. A tool that the model has used stays. No parameter that begins with "_tafc_think" leaves
// the package. A model that calls its tools in text gets all tools that are not hidden. With
// everything off, all tools pass unchanged.
//
// Why does a tool that was not chosen still run when the model calls it? The filter saves tokens
// and is not a gate: a model that found the tool in a result or a file may call it. A tool that
// depends on another one does not run, since the user's own rule demands it. A tool of an MCP
// server that was left out does not run either: the model would guess its parameters, so it is
// offered first.
package toolset

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Config is the configuration of a Set.
type Config struct {
	TAFC         TAFC
	Filter       Filter
	Dependencies Dependencies
}

// Set chooses tools for one session. It is used by one turn at a time; its
// Middleware and Status are safe for concurrent use with that.
type Set struct {
	cfg      Config
	graph    graph
	vectors  *Vectors
	log      *slog.Logger
	notes    []string // problems of the configuration
	alwaysOn map[string]bool

	thinking thinking
	failures map[string]int // failures in a row of each model's embedder

	mu        sync.Mutex
	completed map[string]bool // tools that completed in this session
	turn      turn

	found      map[string]bool // tools that tool_search has offered
	catalogue  catalogue       // of the tools that are left out, for tool_search
	filtered   catalogue       // of all tools, for the filter
	searchable []string        // the servers and our own tools that searchTool lists
	searchTool executors.Tool

	tally tally
}

// turn is the choice for one prompt.
type turn struct {
	all          []llm.Tool
	picked       map[string]Reason // the tools that the filter picked; some may have to wait
	filtered     bool              // the filter did not pick all tools
	left         leftOut           // until tool_search finds them
	begun        bool              // the model was offered tools
	mentioned    map[string]bool   // the tools that the prompt names
	called       map[string]bool   // the tools that the model called
	ignoresRules bool              // no dependency rule applies, since otherwise all tools would have to wait
	embedded     int               // number of tools with a vector

	offered []llm.Tool        // in the form that the model gets; only ever appended to
	reasons map[string]Reason // of the offered tools
}

// New returns a Set. Vectors caches embeddings; sessions may share it.
func New(cfg Config, vectors *Vectors, log *slog.Logger) *Set {
	s := &Set{
		cfg:       cfg,
		vectors:   vectors,
		log:       log,
		alwaysOn:  map[string]bool{},
		failures:  map[string]int{},
		completed: map[string]bool{},
		found:     map[string]bool{},
		tally:     newTally(),
	}
	s.thinking.threshold, s.notes = cfg.TAFC.threshold()
	if cfg.Filter.Enabled == On {
		for _, name := range cfg.Filter.AlwaysOn {
			s.alwaysOn[name] = true
		}
	}
	if cfg.Dependencies.Enabled {
		var notes []string
		s.graph, notes = newGraph(cfg.Dependencies.Rules)
		s.notes = append(s.notes, notes...)
	}
	return s
}

// Warnings returns warnings for the user about settings without effect on the tools that
// all returns, which is only called if a part is on.
func (s *Set) Warnings(all func() []executors.Tool) []string {
	notes := slices.Clone(s.notes)
	if !s.cfg.TAFC.Enabled && s.cfg.Filter.Enabled != On && !s.cfg.Dependencies.Enabled {
		return notes
	}
	tools := all()
	if s.cfg.TAFC.Enabled {
		if name, score := mostComplex(tools); score < s.thinking.threshold {
			notes = append(notes, fmt.Sprintf("tools.tafc has no effect: no tool reaches complexity_threshold = %v (%s has the most, %.2f).",
				s.thinking.threshold, name, score))
		}
	}
	known := func(name string) bool {
		_, ok := executors.Find(tools, name)
		return ok || name == searchName || strings.Contains(name, "__") // of an MCP server, which may still be starting
	}
	if s.cfg.Filter.Enabled == On {
		for _, name := range s.cfg.Filter.AlwaysOn {
			if !known(name) && !slices.Contains(setting.Default[Filter]().AlwaysOn, name) {
				notes = append(notes, "agent.tool_filter.always_on names "+name+", and there is no such tool.")
			}
		}
	}
	if s.cfg.Dependencies.Enabled {
		notes = append(notes, s.cfg.Dependencies.unknown(known)...)
		for _, name := range slices.Sorted(maps.Keys(s.graph.requires)) {
			if s.alwaysOn[name] {
				notes = append(notes, "tools.dependencies.rules."+name+" hides nothing: agent.tool_filter.always_on names "+name+".")
			}
		}
	}
	return notes
}

// Reset begins a new conversation: it clears the completed tools and the
// counts.
func (s *Set) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.completed)
	clear(s.found)
	s.turn, s.tally, s.searchable = turn{}, newTally(), nil
}

// Begin chooses the tools for a prompt, which is the typed text or "". The
// tools are in the order in which they are offered. It may ask the model's
// provider for embeddings, with a short timeout.
//
// It also finds completed tools in the history, since a reopened session
// continues the old one.
func (s *Set) Begin(ctx context.Context, m llm.Model, prompt string, history []llm.Message, tools []llm.Tool) {
	s.mu.Lock()
	before := s.turn
	s.turn = turn{all: tools}
	var left leftOut
	switch s.cfg.Filter.Enabled {
	case Auto:
		left = leftOut{servers: tooManyOfServers(m, tools), seldom: manySeldom(tools)}
		left.beyond = beyondRoom(m, left, tools)
	case On:
		left = leftOut{servers: tooManyOfServers(m, tools)} // if there are no embeddings
	}
	deferring := s.cfg.Filter.Enabled == Auto && left.any()
	if s.cfg.Filter.Enabled != On && !s.cfg.Dependencies.Enabled && !deferring {
		s.mu.Unlock()
		return
	}
	used := s.recordHistory(history)
	s.mu.Unlock()

	t := turn{all: tools, mentioned: map[string]bool{}, called: map[string]bool{}, reasons: map[string]Reason{}}
	lower := strings.ToLower(prompt[:min(len(prompt), maxPrompt)])
	for _, tool := range tools {
		if mentions(lower, strings.ToLower(tool.Name)) {
			t.mentioned[tool.Name] = true
		}
	}
	if !deferring {
		deferring = !s.pick(ctx, &t, m, prompt, used) && left.any()
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if deferring {
		t.left = left
		t.all = s.withSearch(left, tools)
		s.pickDeferred(&t, prompt, used)
	}
	t.ignoresRules = s.deadlocked(&t)
	if t.ignoresRules {
		s.log.Warn("tools.dependencies is off for this turn: all tools would have to wait", "waiting", s.exclusions(&t))
	}
	s.turn = t
	switch {
	case len(history) == 0:
	case before.left.any() && t.left.any():
		s.continuePrevious(&before)
	case s.canKeep(&before, &t):
		s.keepPrevious(&before)
	}
	s.countTools()
}

// recordHistory records the completed tools of the history and returns the tools that
// the model has used in it; the caller holds mu.
func (s *Set) recordHistory(history []llm.Message) (used map[string]bool) {
	used = map[string]bool{}
	names := map[string]string{} // of the last answer, by id
	for _, m := range history {
		if m.Role == llm.Assistant {
			clear(names)
		}
		for _, b := range m.Blocks {
			switch {
			case b.Call != nil:
				names[b.Call.ID] = b.Call.Name
				used[b.Call.Name] = true
			case b.Result != nil && !b.Result.Failed && names[b.Result.ID] != "":
				s.completed[names[b.Result.ID]] = true
			}
		}
	}
	return used
}

// canKeep reports whether the previous turn's tools suffice for this one. If they stay
// unchanged, the provider's cache of the conversation holds.
func (s *Set) canKeep(before, t *turn) bool {
	if !before.filtered || !t.filtered || !sameTools(before.all, t.all) {
		return false
	}
	for _, tool := range t.all {
		_, wanted := t.picked[tool.Name]
		_, offered := before.reasons[tool.Name]
		waits := s.isHidden(t, tool.Name)
		if wanted && !waits && !offered || offered && waits {
			return false
		}
	}
	return true
}

// keepPrevious offers the tools of the previous turn; the caller holds mu.
func (s *Set) keepPrevious(before *turn) {
	s.turn.offered = slices.Clip(before.offered)
	for name := range before.reasons {
		reason, picked := s.turn.picked[name]
		if !picked {
			reason = Kept
		}
		s.turn.reasons[name] = reason
	}
}

// Offer returns the tools for the next call of the model: the tools of the
// previous call in this turn, byte for byte, then those that have become
// available. It is nil before the first turn.
func (s *Set) Offer(m llm.Model) []llm.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.turn
	if t.all == nil {
		return nil
	}
	inText := llm.CallsInText(m)
	if t.picked == nil { // neither filter nor dependencies are on
		if !s.cfg.TAFC.Enabled || inText {
			return t.all
		}
		if t.offered == nil {
			t.offered = s.thinking.addToAll(t.all)
		}
		return t.offered
	}
	if inText && !t.left.any() { // its calls are found in text by the names of its tools
		return slices.DeleteFunc(slices.Clone(t.all), func(tool llm.Tool) bool { return s.isHidden(t, tool.Name) })
	}
	s.offerAvailable(t)
	if inText {
		return slices.DeleteFunc(slices.Clone(t.all), func(tool llm.Tool) bool { return t.reasons[tool.Name] == "" })
	}
	return slices.Clip(t.offered)
}

// offerAvailable appends the tools that have become available.
func (s *Set) offerAvailable(t *turn) {
	first := !t.begun
	t.begun = true
	for _, tool := range t.all {
		if _, offered := t.reasons[tool.Name]; offered || s.isHidden(t, tool.Name) {
			continue
		}
		reason := s.reason(t, tool.Name)
		if reason == "" {
			continue
		}
		_, picked := t.picked[tool.Name]
		if picked && (!first || s.graph.requires[tool.Name] != nil && !s.bypasses(t, tool.Name) && !t.ignoresRules) {
			reason = DependencyMet
		}
		t.reasons[tool.Name] = reason
		t.offered = append(t.offered, s.forModel(tool))
	}
}

// reason returns the reason for offering a tool; "" if there is no reason.
func (s *Set) reason(t *turn, name string) Reason {
	reason, picked := t.picked[name]
	switch {
	case picked:
		return reason
	case t.left.any() && s.found[name]:
		return Found
	case !t.left.servers && t.called[name]:
		return AlreadyUsed
	}
	return ""
}

// forModel returns a tool in the form that the model gets.
func (s *Set) forModel(tool llm.Tool) llm.Tool {
	if s.cfg.TAFC.Enabled {
		return s.thinking.addTo(tool)
	}
	return tool
}

// StripCall returns a model's call without the parameters that begin with "_tafc_think", and notes
// that the model called the tool. Bare reports that there were no other parameters.
func (s *Set) StripCall(call llm.ToolCall) (stripped llm.ToolCall, bare bool) {
	call.Input, bare = strip(call.Input)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn.called != nil {
		s.turn.called[call.Name] = true
	}
	return call, bare
}

// sameTools reports whether two catalogues are equal.
func sameTools(a, b []llm.Tool) bool {
	return slices.EqualFunc(a, b, llm.Tool.Same)
}
