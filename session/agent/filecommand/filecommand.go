// Package filecommand turns Markdown files into commands that the user types: the file
// git/commit.md is the command /git:commit. Its text is the prompt. Its front matter may
// describe the command and limit the tools of the turn.
//
// Start with [New]. [Set.Commands] lists the commands for the client, and [Set.Expand]
// returns the prompt of one. The files are read again each time, within limits.
//
// Files are the user's or a repository's. One of a repository is used only after the user has
// approved exactly its text; before that, only its name is shown. A command grants no permission,
// and cannot replace a built-in command or a tool.
//
// Why is the user asked at the first use, and not at the first prompt as for skills? No
// model selects a command, so no text of the repository is needed before.
package filecommand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// ProjectDirs are the directories of commands in a repository, in order of precedence.
var ProjectDirs = []string{".zeph/commands", ".claude/commands"}

// Options are the surroundings of a session.
type Options struct {
	// Sources are the directories, in order of precedence.
	Sources []skills.Source
	Dir     string                  // the session's working directory, absolute
	Known   func() []executors.Tool // the tools that files may name
	Desk    *approval.Desk
	// Stat reports whether a path in the session's directory exists, and whether it is a
	// directory.
	Stat     func(path string) (exists, dir bool)
	Warn     func(string) // queues a line for the user
	Announce func()       // sends the commands again soon, if they have changed
}

// Command is a command in the form for the client.
type Command struct {
	Name, Description string
	Hint              string // for its arguments; empty if it has none
}

// file is a command as its file defines it.
type file struct {
	Command
	tools   []string // in the notation of allowed-tools; nil means all
	body    string
	project bool
	subject approval.Subject // only of a project's file
}

// Set holds the commands of one session. Its methods may be called concurrently.
type Set struct {
	options Options

	mu     sync.Mutex
	shown  []Command
	warned map[string]bool
}

// New returns the commands of a session. It reads no file.
func New(o Options) *Set { return &Set{options: o, warned: map[string]bool{}} }

// Commands returns the commands. A command that is not approved has our description, not
// the repository's.
func (s *Set) Commands() []Command {
	var out []Command
	for _, f := range s.read() {
		c := f.Command
		if f.project && s.options.Desk.State(f.subject) != approval.Approved {
			c.Description, c.Hint = "A command of this project's "+f.subject.File+" that you have not approved", ""
		}
		out = append(out, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = out
	return out
}

// Ready announces the commands if a file has changed.
func (s *Set) Ready() {
	s.mu.Lock()
	before := s.shown
	s.mu.Unlock()
	if !slices.Equal(before, s.Commands()) {
		s.options.Announce()
	}
}

// commandName matches the names of commands.
var commandName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(:[A-Za-z0-9][A-Za-z0-9_.-]{0,63})*$`)

// Expand returns the prompt of a command whose name the user typed with a text after it.
// It returns false if there is no such command. A reply to the user replaces the prompt.
func (s *Set) Expand(ctx context.Context, name, rest string) (p Prompt, reply string, ok bool, err error) {
	if !commandName.MatchString(name) {
		return Prompt{}, "", false, nil
	}
	all := s.read()
	i := slices.IndexFunc(all, func(f file) bool { return f.Name == name })
	if i < 0 {
		return Prompt{}, "", false, nil
	}
	allowed := s.isAllowed(ctx, all, i)
	if ctx.Err() != nil {
		return Prompt{}, "", true, context.Cause(ctx)
	}
	if !allowed {
		return Prompt{}, "`/" + name + "` was not used: you have not approved " + executors.Quoted(all[i].subject.File) + " in its present form.", true, nil
	}
	if all[i].tooLong(rest) {
		return Prompt{}, "`/" + name + "` was not used: with these arguments its text is too long.", true, nil
	}
	if p = s.prompt(all[i], rest); len(p.Parts) == 0 {
		return Prompt{}, "`/" + name + "` has no text without arguments.", true, nil
	}
	return p, "", true, nil
}

// isAllowed reports whether a command may be used. It asks about all commands of the
// repository that wait for an approval, and about this one first.
func (s *Set) isAllowed(ctx context.Context, all []file, i int) bool {
	if !all[i].project || s.options.Desk.State(all[i].subject) == approval.Approved {
		return true
	}
	subjects := []approval.Subject{all[i].subject}
	for j, f := range all {
		if f.project && j != i {
			subjects = append(subjects, f.subject)
		}
	}
	return s.options.Desk.AllowedAll(ctx, subjects)[0]
}

// parse returns the command of a file.
func (s *Set) parse(source skills.Source, name string, data []byte) (file, error) {
	f := file{project: source.Project}
	f.Name = source.Prefix + strings.ReplaceAll(strings.TrimSuffix(name, extension), "/", ":")
	if !commandName.MatchString(f.Name) {
		return f, errors.New("its path may only have letters, digits, dashes, underscores and dots")
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	head, body, err := frontmatter.Split(text)
	if err != nil {
		return f, err
	}
	f.body = strings.TrimSpace(body)
	if f.body == "" {
		return f, errors.New("it has no text")
	}
	if n := len(shellLine.FindAllString(f.body, -1)); n > maxLines {
		return f, fmt.Errorf("it has more than %d commands of the shell", maxLines)
	}
	first, _, _ := strings.Cut(f.body, "\n")
	f.Description = executors.WholeLine(executors.Shown(strings.TrimLeft(first, "# ")))
	if about := head["description"].Text(); about != "" {
		f.Description = executors.WholeLine(executors.Shown(about))
	}
	f.Hint = executors.WholeLine(executors.Shown(hint(head["argument-hint"], f.body)))
	if tools, narrowed := head["allowed-tools"]; narrowed {
		f.tools = append([]string{}, tools.List()...)
	}
	if f.project {
		f.subject, err = s.subject(f, path.Join(source.Name, name), text)
	}
	return f, err
}

// subject returns the text that the user approves.
func (s *Set) subject(f file, name, text string) (approval.Subject, error) {
	shown, err := json.MarshalIndent(struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tools       []string `json:"allowed-tools,omitzero"`
		Prompt      string   `json:"prompt"`
	}{f.Name, f.Description, f.tools, f.body}, "", "  ")
	return approval.Subject{
		Verb: "Use", Kind: "commands", What: "the command " + f.Name, File: name, Dir: s.options.Dir, Text: string(shown), Covers: []string{text},
	}, err
}
