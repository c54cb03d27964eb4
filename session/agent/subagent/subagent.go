// Package subagent offers the tool sub_agent, with which a model delegates a task to a
// sub-agent: a subturn with its own conversation.
//
// Start with [New] and call [Set.Ready] before each turn. The types of sub-agents are
// built in, the user's ([Types]), or files of the repository, which count only after the
// user has approved their text.
//
// It promises that no type extends permissions: a sub-agent has a part of the session's
// tools, its calls pass the session's chain, and it cannot start other sub-agents.
//
// Sub-agents that only read run concurrently. So do those with a copy of the project;
// their changes are applied to the project one after the other. All others can change the
// project itself, so only one of them runs at a time. [Config] limits their number.
package subagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	_ "embed" // texts for models

	"golang.org/x/sync/semaphore"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// toolName is the name of the tool.
const toolName = "sub_agent"

var (
	//go:embed sub_agent.md
	toolText string
	//go:embed system.md
	systemText string
	//go:embed worktree.md
	worktreeText string
)

// Options are the surroundings of a session.
type Options struct {
	Config
	Types Types  // of the user
	Dir   string // the session's working directory, absolute
	// Project returns the names of the repository's files, relative to Dir, and Read the
	// text of one. Nil means that the repository is left out.
	Project func(dir string) []string
	Read    func(name string) ([]byte, error)
	Desk    *approval.Desk
	Plugins []Plugin // whose types the user has approved

	// System returns the session's system prompt, and the part of it that differs between projects.
	System func() (system, project string)
	Tools  func() []executors.Tool // of the session
	Known  func() []executors.Tool // the tools that files may name
	// Model returns the full name of a model that a file names, or "" if there is none.
	Model func(name string) string
	Warn  func(string) // queues a line for the user
	// Worktree makes a copy of the project for a sub-agent of that name. An error of type
	// *executors.Failure is for the model. Nil means that there are no copies.
	Worktree func(ctx context.Context, name string) (Worktree, error)
}

// Plugin is a plug-in of the user that has types.
type Plugin struct {
	Name  string
	Files fs.FS    // Markdown files
	Names []string // of the files
	// Note gets a warning about each type that is left out, or that loses a part. Nil drops it, since the user saw
	// it when adding the plug-in.
	Note func(string)
}

// Worktree is a copy of the project in which one sub-agent works.
type Worktree interface {
	Chain() executors.Executor // whose tools work in the copy
	Dir() string               // the session's working directory in the copy
	// ToCopy and ToProject translate the names of files in a text.
	ToCopy(text string) string
	ToProject(text string) string
	// Bring makes the copy's changes in the project, by calls of the session, and adds
	// them to the result of the sub-agent.
	Bring(ctx context.Context, call executors.DelegatedCall, res *executors.Result) error
	// Keep stores the changes where the user finds them, and adds a note to the result.
	Keep(ctx context.Context, res *executors.Result)
	Close()
}

// Set holds the types of one session. Its methods may be called concurrently.
type Set struct {
	options Options
	working *semaphore.Weighted // sub-agents
	writing *semaphore.Weighted // sub-agents that can change something

	reading sync.Mutex // held by Ready

	mu    sync.Mutex
	types []Type
	tools executors.Registry // the tool, which describes the types
	ready bool
}

// New returns the types of a session. It reads no file.
func New(o Options) *Set {
	s := &Set{options: o, working: semaphore.NewWeighted(int64(max(o.MaxParallel, 1))), writing: semaphore.NewWeighted(1)}
	s.types = slices.Clone(builtIn)
	for _, t := range o.Types {
		s.add(t)
	}
	for _, p := range o.Plugins {
		s.addPlugin(p)
	}
	s.bind()
	return s
}

// add adds a type. It replaces the one of the same name.
func (s *Set) add(t Type) {
	s.types = append(slices.DeleteFunc(s.types, func(other Type) bool { return other.Name == t.Name }), t)
}

// addPlugin adds the types of a plug-in. Their names begin with the plug-in's.
func (s *Set) addPlugin(p Plugin) {
	note := func(text string) {
		if p.Note != nil {
			p.Note(executors.Shown(text))
		}
	}
	for i, name := range p.Names {
		about := "The sub-agent " + name + " of the plug-in"
		if i == maxTypes {
			note(fmt.Sprintf("Only the first %d of its sub-agents are used", maxTypes))
			return
		}
		data, err := fs.ReadFile(p.Files, name)
		var t Type
		var warnings []string
		if err == nil {
			t, warnings, err = read(p.Name+"/"+name, strings.ToValidUTF8(string(data), "\uFFFD"), s.options.Known())
		}
		if t.Name = cmp.Or(t.Name, strings.TrimSuffix(path.Base(name), ".md")); err == nil && !pluginType.MatchString(t.Name) {
			err = fmt.Errorf("its name %q is not one of at most 64 letters, digits, - and _", t.Name)
		}
		if err != nil {
			note(about + " is left out: " + err.Error())
			continue
		}
		t.Name = p.Name + ":" + t.Name
		for _, w := range append(warnings, s.setModel(&t)...) {
			note(about + ": " + w)
		}
		s.add(t)
	}
}

// pluginType matches the names of a plug-in's types, which no configuration has.
var pluginType = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// setModel replaces the model that a file names by a configured one.
func (s *Set) setModel(t *Type) (warnings []string) {
	if t.Model == "" {
		return nil
	}
	full := s.options.Model(t.Model)
	if full == "" {
		warnings = append(warnings, "no configured model is called "+t.Model+", so it uses the model of the session")
	}
	t.Model = full
	return warnings
}

// Reset lets the next Ready look for the repository's files again.
func (s *Set) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = false
}

// Ready reads the repository's files, once in a conversation, and asks the user about
// those that are not approved. The types then stay the same, and with them the tool.
func (s *Set) Ready(ctx context.Context) {
	if !s.options.Enabled || s.options.Project == nil {
		return
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	done := s.ready
	s.mu.Unlock()
	if done {
		return
	}
	found, subjects := s.projectTypes()
	allowed := s.options.Desk.AllowedAll(ctx, subjects)
	fresh := New(s.options)
	for i, t := range found {
		if allowed[i] {
			fresh.add(t)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.types, s.ready = fresh.types, ctx.Err() == nil
	s.bind()
}

// projectTypes returns the types of the repository, with the texts that the user approves.
// None replaces a type of the user, or a built-in one.
func (s *Set) projectTypes() (found []Type, subjects []approval.Subject) {
	for _, dir := range projectDirs {
		for _, name := range s.options.Project(dir) {
			if path.Ext(name) != ".md" || strings.EqualFold(path.Base(name), "README.md") {
				continue
			}
			if len(found) == maxTypes {
				s.options.Warn("Only the first sub-agents of the project are used.")
				return found, subjects
			}
			t, subject, err := s.readProjectType(name, found)
			if err == nil {
				found, subjects = append(found, t), append(subjects, subject)
			} else if !errors.Is(err, fs.ErrNotExist) {
				s.options.Warn(executors.Shown("The sub-agent " + name + " is left out: " + err.Error()))
			}
		}
	}
	return found, subjects
}

// readProjectType reads a type of the repository.
func (s *Set) readProjectType(name string, found []Type) (t Type, subject approval.Subject, err error) {
	data, err := s.options.Read(name)
	if err != nil {
		return t, subject, err
	}
	t, warnings, err := parse(name, strings.ToValidUTF8(string(data), "\uFFFD"), s.options.Known())
	if err != nil {
		return t, subject, err
	}
	same := func(other Type) bool { return other.Name == t.Name }
	if slices.ContainsFunc(builtIn, same) || slices.ContainsFunc(s.options.Types, same) || slices.ContainsFunc(found, same) {
		return t, subject, errors.New("there is another sub-agent of its name, " + t.Name)
	}
	for _, w := range append(warnings, s.setModel(&t)...) {
		s.options.Warn(executors.Shown("The sub-agent " + name + ": " + w))
	}
	text, err := json.MarshalIndent(struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tools       []string `json:"tools,omitzero"`
		Except      []string `json:"except,omitempty"`
		Model       string   `json:"model,omitempty"`
		Worktree    bool     `json:"worktree,omitempty"`
		Prompt      string   `json:"prompt"`
	}{t.Name, t.Description, t.Tools, t.except, t.Model, t.Worktree, t.Prompt}, "", "  ")
	return t, approval.Subject{
		Verb: "Use", Kind: "sub-agents", What: "the sub-agent " + t.Name, File: name, Dir: s.options.Dir, Text: string(text),
		Covers: []string{string(data)},
	}, err
}

// List describes the types, in Markdown.
func (s *Set) List() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if !s.options.Enabled {
		return "Sub-agents are switched off: [tools.sub_agent] enabled is false in the configuration."
	}
	for _, t := range s.types {
		b.WriteString(t.markdown() + "\n")
	}
	return b.String()
}

// find returns the type of a task.
func (s *Set) find(name string) (Type, error) {
	if name == "" {
		name = general
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, t := range s.types {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return Type{}, executors.Failuref(executors.InvalidParameters, "there is no sub-agent of type %q", name).
		Hint("The types are: %s.", strings.Join(names, ", "))
}

// TypesOf returns the types of a plug-in.
func (s *Set) TypesOf(plugin string) (all []Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.types {
		if strings.HasPrefix(t.Name, plugin+":") {
			all = append(all, t)
		}
	}
	return all
}
