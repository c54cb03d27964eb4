// Package hooks runs the user's programs at events of a session: before and after tool
// calls, with a prompt, at the start of a session and at the end of a turn. Files, input
// and output have the format of Claude Code: https://code.claude.com/docs/en/hooks
//
// Make a [Session] with [New], call [Session.Ready] before each turn, and put
// [Session.Middleware] into the chain. The turn loop calls [Session.Prompt],
// [Session.Stop] and [Session.Stopped].
//
// It promises that a hook can only tighten. It denies a call, asks the user about it, or changes
// its input, which every gate then checks again; "allow" overrides nothing. A hook that crashes,
// times out or answers in another form is a reason to ask. The hooks of a repository run only after
// the user has approved them and the scripts that they name, by hash. Without hooks a call costs
// nothing.
//
// Why does a hook's own reason reach the model? Because the format defines it so: a hook
// that denies with "use rg, not grep" is written for the model.
package hooks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
)

// FileName is the name of the user's file in the configuration directory.
const FileName = "hooks.json"

// ProjectFiles are the files of a repository, relative to its directory.
var ProjectFiles = []string{".claude/settings.json", ".zeph/hooks.json"}

// Event is a point in a session at which hooks run.
type Event string

// The events.
const (
	PreToolUse       Event = "PreToolUse"
	PostToolUse      Event = "PostToolUse"
	UserPromptSubmit Event = "UserPromptSubmit"
	SessionStart     Event = "SessionStart"
	Stop             Event = "Stop"
)

var events = []Event{SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop}

// Events returns the events at which hooks run.
func Events() []Event { return slices.Clone(events) }

// Source is a file of hooks.
type Source struct {
	Name string                 // for people
	Read func() ([]byte, error) // fs.ErrNotExist: there is no file
	// Project reports that the file belongs to the repository, so that its hooks need an
	// approval.
	Project bool
	// Env are variables for the hooks of a plug-in, NAME=VALUE. Check returns an error if the plug-in has changed
	// since the user approved it; it is called before each run. Nil means that this is no plug-in.
	Env   func() []string
	Check func() error
}

// users reports whether the file is the user's own.
func (s Source) users() bool { return !s.Project && s.Check == nil }

// Options are the surroundings of a session.
type Options struct {
	Config
	Session string // ACP session id
	Dir     string // the session's working directory: hooks run there
	Resumed bool   // the session was stored before
	Sources []Source
	Desk    *approval.Desk

	Env    func() []string // the environment of a hook
	Shell  func(command string) (program string, args []string, err error)
	Reaper *process.Reaper
	// Script returns the hash of a file of the project, by its absolute path.
	Script func(path string) (hash string, err error)
	Mask   func(string) string // removes control characters and redacts secrets
	Mode   func() string       // the session's mode
	Model  func() string       // the name of the session's model
	Warn   func(string)        // queues a line for the user
	// Confirm asks the user whether a prompt is sent although one of its hooks failed;
	// nil means that there is no user.
	Confirm func(ctx context.Context, question, why string) bool
	NewID   func() string
	// Names returns two functions on texts: the first replaces the real names of files by
	// those that hooks before the call see, the second does the reverse. Nil, or nil
	// functions, change nothing.
	Names func(call *executors.Call) (shown, real func(text string) string)
	// Checking means that calls have no effect, so that no hook runs after them.
	Checking bool
	// Audit records the runs that belong to no tool call.
	Audit executors.Middleware
}

// Session holds the hooks of one session. Its methods may be called concurrently.
type Session struct {
	options Options

	running *semaphore.Weighted // the hooks that run
	reading sync.Mutex          // held by Ready

	mu          sync.Mutex
	files       []*file
	startSource string // the source of the next SessionStart; "" if it ran
	stopped     bool
	stopReason  string // with stopped
}

// file is a source as it was last read.
type file struct {
	Source
	data   []byte
	hooks  []*hook
	note   string // why hooks are left out; "" if none are
	text   string // for the approval
	mayRun bool   // its hooks may run
}

// hook is one command of a file.
type hook struct {
	event   Event
	match   matcher
	command string
	timeout time.Duration
	broken  string // why it cannot be run; "" if it can
	file    *file

	mu   sync.Mutex
	last executors.HookRun // the last run; its Event is "" before the first one
}

// New returns the hooks of a session. It reads no file.
func New(o Options) *Session {
	s := &Session{options: o, startSource: "startup", running: semaphore.NewWeighted(maxParallel)}
	if o.Resumed {
		s.startSource = "resume"
	}
	return s
}

// Reset makes the next prompt the first of a new conversation.
func (s *Session) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startSource = "clear"
}

// Ready reads the files, and asks the user about hooks of the repository that are new or
// have changed. Between two calls the hooks stay the same.
func (s *Session) Ready(ctx context.Context) {
	if !s.options.Enabled {
		return
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	var files []*file
	disabled := false
	for i, source := range s.options.Sources {
		data, err := source.Read()
		switch before := s.file(i); {
		case errors.Is(err, fs.ErrNotExist):
			files = append(files, nil)
			continue
		case err == nil && before != nil && bytes.Equal(before.data, data):
			copied := *before
			files = append(files, &copied)
		default:
			files = append(files, s.parseSource(source, data, err))
		}
		f := files[i]
		f.mayRun = !source.Project || len(f.hooks) > 0 && s.options.Desk.Allowed(ctx, s.subject(f))
		disabled = disabled || source.users() && disables(data)
	}
	if disabled {
		files = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = files
}

// file returns a source as it was last read; nil if there was no file.
func (s *Session) file(i int) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < len(s.files) {
		return s.files[i]
	}
	return nil
}

// parseSource parses a file, and warns about the parts that have no effect.
func (s *Session) parseSource(source Source, data []byte, err error) *file {
	f := &file{Source: source, data: slices.Clone(data)}
	if err == nil {
		err = f.parse(s.options.Config)
	}
	if err == nil && source.Project {
		err = s.checkWords(f)
	}
	if err != nil {
		f.hooks, f.note = nil, err.Error()
		if source.users() { // the user's own rules must not get lost
			f.hooks = []*hook{{event: PreToolUse, file: f, command: source.Name, broken: f.note}}
		}
	}
	if f.note != "" && source.Check == nil { // the user saw the notes about a plug-in when adding it
		s.options.Warn(executors.Shown(source.Name + ": " + f.note))
	}
	return f
}

// subject returns the part of the repository that the user approves.
func (s *Session) subject(f *file) approval.Subject {
	return approval.Subject{What: "the hooks", File: f.Name, Dir: s.options.Dir, Text: f.text, Covers: s.scripts(f)}
}

// hooksFor returns the hooks of an event that fit one of the names, in the order of the files.
// No two of them have the same command.
func (s *Session) hooksFor(event Event, names ...string) []*hook {
	return s.matching(event, func(m matcher) bool { return m.fits(names) })
}

// hooksForCall is hooksFor for the event of a call. Models do not call the check of an
// edit, so it has only the hooks whose matcher selects it by its name.
func (s *Session) hooksForCall(event Event, call *executors.Call) []*hook {
	return s.matching(event, func(m matcher) bool {
		return m.fits(namesOf(call)) && (call.Phase != executors.PhaseVerifier || !m.isAny())
	})
}

// matching returns the hooks of an event whose matcher fits, each command once, in the order
// of the files. The same words are another command in another plug-in.
func (s *Session) matching(event Event, fits func(matcher) bool) []*hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*hook
	for _, f := range s.files {
		if f == nil || !f.mayRun {
			continue
		}
		for _, h := range f.hooks {
			same := func(o *hook) bool {
				return o.command == h.command && o.broken == h.broken && (o.file == h.file || o.file.Check == nil && h.file.Check == nil)
			}
			if h.event == event && fits(h.match) && !slices.ContainsFunc(out, same) {
				out = append(out, h)
			}
		}
	}
	return out
}
