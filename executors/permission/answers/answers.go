// Package answers keeps the user's "always" answers to permission requests, by
// project, in a file that people can read and edit.
//
// A [Store] is the file permissions.toml, which all sessions share. [Store.Project]
// returns the answers of one session's project, in the form that the permission link
// uses. [Store.Entries] lists the answers of all projects, and [Store.Forget] removes
// some. The file looks like this:
//
//	[[project."/home/ann/app".allow]]
//	command = "go test -tags=a" # the program, its first argument and the options
//
//	[[project."/home/ann/app".reject]]
//	exactly = "rm -rf dist" # this text only
//
// It promises that a stored answer matches the same call again. A changed file is used from the
// next call on. A file with a mistake allows nothing. New answers are appended, so the user's own
// comments stay.
//
// Why is the project a directory and not a name? Because a repository chooses its
// name, and must not choose the answers that apply to it.
package answers

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// FileName is the name of the file in the configuration directory.
const FileName = "permissions.toml"

// Kind is the extent of an answer. It is a key of the file.
type Kind string

// The kinds.
const (
	Command Kind = "command" // a program with its first argument and these options, with any files
	Exactly Kind = "exactly" // one text of a command
	Host    Kind = "host"    // commands that download from these hosts
	Web     Kind = "web"     // tools that read pages of this host
	Tool    Kind = "tool"    // all calls of a tool, inside the project
	Reads   Kind = "reads"   // commands of a program that only ask its daemon or server
)

var kinds = []Kind{Command, Exactly, Host, Web, Tool, Reads}

// Entry is one stored answer.
type Entry struct {
	Project string             // the project's directory, absolute
	Answer  executors.Decision // Allow or Deny
	Kind    Kind
	Covers  string   // the command, the text, the hosts or the tool
	Dirs    []string // directories of the session besides the project's; an "allow" does not hold in others
	Line    int      // in the file, 1-based; 0 means that it was not read from a file
}

// key returns the text by which the permission link finds the answer.
func (e Entry) key() string { return string(e.Kind) + " " + e.Covers }

// appliesTo reports whether the answer applies to a session with these further directories.
func (e Entry) appliesTo(dirs []string) bool {
	return e.Answer == executors.Deny || !slices.ContainsFunc(dirs, func(d string) bool { return !slices.Contains(e.Dirs, d) })
}

// Store is the file of answers. It may be used concurrently, even by several processes.
type Store struct {
	// File is the absolute path of the file, which need not exist. If it is empty,
	// answers hold for their session.
	File string
	// Read returns the content of File, and Edit replaces it under a lock.
	Read func(file string) ([]byte, error)
	Edit func(file string, edit func(old []byte) ([]byte, error)) error

	mu      sync.Mutex
	stat    os.FileInfo // of the file that was read; nil means no file
	entries []Entry
	byKey   map[string][]Entry // entries, by project and key
	loadErr error              // why the file cannot be used
	changed signal             // an answer was stored
}

// Entries returns the answers of all projects, in the order of the file.
func (s *Store) Entries() ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.entries, s.loadErr
}

// load reads the file if it has changed. The caller holds mu.
func (s *Store) load() {
	if s.File == "" {
		return
	}
	now, err := os.Stat(s.File)
	if err == nil && s.stat != nil && os.SameFile(now, s.stat) && now.ModTime().Equal(s.stat.ModTime()) && now.Size() == s.stat.Size() {
		return
	}
	s.stat, s.entries, s.byKey, s.loadErr = now, nil, map[string][]Entry{}, nil
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var data []byte
	if err == nil {
		data, err = s.Read(s.File)
	}
	if err == nil {
		s.entries, err = Parse(data)
	}
	if err != nil {
		s.loadErr = s.withFileName(err)
	}
	for _, e := range s.entries {
		s.byKey[e.Project+"\x00"+e.key()] = append(s.byKey[e.Project+"\x00"+e.key()], e)
	}
}

// find returns the answers of a project for one key.
func (s *Store) find(project, key string) ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.byKey[project+"\x00"+key], s.loadErr
}

// withFileName adds the name of the file to an error.
func (s *Store) withFileName(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", executors.Shown(s.File), err)
}

// add stores new answers. A file with a mistake stays unchanged.
func (s *Store) add(added []Entry) error {
	if s.File == "" {
		return errors.New("there is no directory for it: set HOME or ZEPH_HOME")
	}
	return s.edit(func(old []byte) ([]byte, error) { return appendEntries(old, added) })
}

// edit replaces the content of the file, and lets the next load read it again.
func (s *Store) edit(change func(old []byte) ([]byte, error)) error {
	if err := s.Edit(s.File, change); err != nil {
		return s.withFileName(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stat = nil
	return nil
}

// Forget removes the answers for which remove returns true, and returns them. The rest
// of the file stays unchanged.
func (s *Store) Forget(remove func(Entry) bool) (removed []Entry, err error) {
	if _, err := os.Stat(s.File); s.File == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever stored: create no directory
	}
	err = s.edit(func(old []byte) (data []byte, err error) {
		data, removed, err = removeEntries(old, remove)
		return data, err
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// Project returns the answers of a project for one session. dir is the project's
// directory, and dirs are the session's further directories; all are absolute and
// without symlinks.
func (s *Store) Project(dir string, dirs ...string) *Project {
	return &Project{store: s, dir: dir, dirs: dirs}
}

// Project holds the answers of one session. The zero value stores them in memory. It
// may be used concurrently.
type Project struct {
	store *Store // nil means no file
	dir   string
	dirs  []string

	mu       sync.Mutex
	unstored map[string]executors.Decision // answers of this session that could not be stored
	changed  signal                        // as in Store, without a store
}

// Set remembers an answer, Allow or Deny, for all keys. A key is a kind, a space and
// its extent: "command go test". If the answer cannot be stored, it holds for this
// session, and the error is the reason.
func (p *Project) Set(keys []string, answer executors.Decision) error {
	defer p.changes().send()
	err := errors.New("there is no file")
	if p.store != nil {
		err = p.store.add(p.entries(keys, answer))
	}
	if err == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unstored == nil {
		p.unstored = map[string]executors.Decision{}
	}
	for _, k := range keys {
		p.unstored[k] = answer
	}
	return err
}

// entries returns the entries for new answers.
func (p *Project) entries(keys []string, answer executors.Decision) []Entry {
	var out []Entry
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		kind, covers, _ := strings.Cut(k, " ")
		e := Entry{Project: p.dir, Answer: answer, Kind: Kind(kind), Covers: covers}
		if answer == executors.Allow {
			e.Dirs = p.dirs
		}
		out = append(out, e)
	}
	return out
}

// Answer returns the remembered answer: Deny if one key was rejected, Allow if all were
// allowed, else Ask. With an error, which names the file and the mistake, only the
// answers that could not be stored count.
func (p *Project) Answer(keys []string) (executors.Decision, error) {
	if len(keys) == 0 {
		return executors.Ask, nil
	}
	answer := executors.Allow
	var wrong error
	for _, k := range keys {
		one, err := p.answer(k)
		wrong = err
		switch one {
		case executors.Deny:
			return executors.Deny, err
		case executors.Allow:
		default:
			answer = executors.Ask
		}
	}
	return answer, wrong
}

// answer returns the answer for one key; "" if there is none.
func (p *Project) answer(key string) (answer executors.Decision, err error) {
	p.mu.Lock()
	answer = p.unstored[key]
	p.mu.Unlock()
	if p.store == nil {
		return answer, nil
	}
	stored, err := p.store.find(p.dir, key)
	for _, e := range stored {
		if e.appliesTo(p.dirs) && answer != executors.Deny {
			answer = e.Answer
		}
	}
	return answer, err
}

// Place returns the place of the stored answer for a key, FILE:LINE, or "this session" for an
// answer that is not stored.
func (p *Project) Place(key string) string {
	if p.store != nil {
		stored, _ := p.store.find(p.dir, key)
		for _, e := range slices.Backward(stored) {
			if e.appliesTo(p.dirs) {
				return fmt.Sprintf("%s:%d", p.store.File, e.Line)
			}
		}
	}
	return "this session"
}

// Entries returns the answers that apply to this session: the stored ones, in the order
// of the file, then those that could not be stored.
func (p *Project) Entries() ([]Entry, error) {
	var out []Entry
	var err error
	if p.store != nil {
		out, err = p.store.Entries()
		out = slices.DeleteFunc(slices.Clone(out), func(e Entry) bool { return e.Project != p.dir || !e.appliesTo(p.dirs) })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(p.unstored)) {
		out = append(out, p.entries([]string{key}, p.unstored[key])...)
	}
	return out, err
}

// Changed returns a channel that is closed when a session of this process stores an
// answer.
func (p *Project) Changed() <-chan struct{} { return p.changes().next() }

func (p *Project) changes() *signal {
	if p.store != nil {
		return &p.store.changed
	}
	return &p.changed
}

// signal wakes all goroutines that wait for it.
type signal struct {
	mu sync.Mutex
	ch chan struct{} // nil if no one waits
}

// next returns a channel that the next send closes.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
