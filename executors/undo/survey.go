package undo

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Survey is how a part of the workspace is looked at.
type Survey struct {
	Roots *workspace.Roots // with the rules for reading contents
	Limits
	Store Store // of the contents

	Ignore bool // leave out the entries that ignore files such as .gitignore exclude
	// Exact fails if a directory cannot be read, and reads again all files whose stamps a program can set.
	Exact bool
	// Covers reports whether the survey includes an entry; nil includes all.
	Covers func(path string, dir bool) bool
}

// Run returns the state of the paths, which have no links, and of everything below the directories among
// them. The paths need not exist. It keeps the contents that differ from old. It reads no file if there are
// too many files.
func (s Survey) Run(ctx context.Context, paths []string, old Index) (Index, error) {
	found := make(Index, len(old))
	add := func(path string, e Entry) bool {
		if s.Covers == nil || s.Covers(path, e.IsDir()) {
			found[path] = e
		}
		return len(found) <= s.MaxFiles
	}
	for _, path := range paths {
		if e, ok := s.entry(path); ok {
			add(path, e)
		}
		unseen, err := s.List(ctx, path, add)
		switch unread := unseen.Unread(); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case len(found) > s.MaxFiles:
			return nil, s.TooManyFiles()
		case err == nil && s.Exact && unread != "":
			return nil, errors.New("could not read " + unread)
		case err != nil && !workspace.Missing(err):
			return nil, err
		}
	}
	return found, s.readContents(ctx, old, found)
}

// entry returns the entry of a path; ok is false if there is none.
func (s Survey) entry(path string) (e Entry, ok bool) {
	dir, name, err := s.Roots.Writing().Parent(path)
	if err != nil {
		return Entry{}, false
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err != nil {
		return Entry{}, false
	}
	if e = newEntry(info, time.Now()); e.isLink() {
		e.Target, err = dir.Readlink(name)
	}
	return e, err == nil
}

// List calls each for the entries below a directory, without their contents and in the order of their paths, until it
// returns false. Below a path that is no directory it finds nothing.
func (s Survey) List(ctx context.Context, dir string, each func(path string, e Entry) bool) (walk.Unseen, error) {
	info, err := s.Roots.Writing().Lstat(dir)
	if err != nil || !info.IsDir() {
		return walk.Unseen{}, nil
	}
	tree := walk.Tree{Roots: s.Roots, Dir: dir, Ignore: s.Ignore, Budget: math.MaxInt}
	began := time.Now()
	return walk.Do(ctx, tree, func() walk.Visit[*listed] { return visitor(dir, began) }, (*listed).size,
		func(l *listed) bool { return each(l.path, l.entry) })
}

// listed is one entry without its content.
type listed struct {
	path  string
	entry Entry
}

func (*listed) size() int { return 200 }

// visitor returns a visit that records the stamps of entries below dir.
func visitor(dir string, began time.Time) walk.Visit[*listed] {
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return func(e walk.Entry, _ func() bool) (*listed, bool, error) {
		abs := prefix + filepath.FromSlash(e.Path())
		info, err := os.Lstat(abs)
		if err != nil {
			return nil, false, nil // it has just disappeared
		}
		entry := newEntry(info, began)
		if entry.isLink() {
			if entry.Target, err = os.Readlink(abs); err != nil {
				return nil, false, nil
			}
		}
		return &listed{abs, entry}, true, nil
	}
}

func newEntry(info fs.FileInfo, began time.Time) (e Entry) {
	e.Mode, e.Changed, e.Stamped = modeOf(info), info.ModTime().UnixNano(), inodeChanged(info)
	e.Linked = workspace.LinkID(info)
	e.Recent = began.UnixNano()-max(e.Changed, e.Stamped) < int64(stableAge)
	if e.IsFile() {
		e.Size = info.Size()
	}
	return e
}

// filesPerReader is how many files of a survey one reader reads.
const filesPerReader = 256

// readContents adds the contents to a survey.
func (s Survey) readContents(ctx context.Context, old, found Index) error {
	var total int64
	var unread []string
	for path, e := range found {
		if !e.IsFile() {
			continue
		}
		if e.Size > s.MaxFileBytes {
			e.NotKept = s.tooLarge()
		} else if total += e.Size; total > s.MaxBytes {
			return s.TooManyBytes()
		} else if was := old[path]; was.unchanged(e, s.Exact) {
			e.Hash, e.NotKept = was.Hash, was.NotKept
		} else {
			unread = append(unread, path)
			continue
		}
		found[path] = e
	}
	slices.Sort(unread)
	states, err := s.readStates(ctx, unread)
	for i, path := range unread {
		e := found[path]
		e.State = states[i]
		if found[path] = e; !e.Exists() { // it has just disappeared
			delete(found, path)
		}
	}
	return err
}

// readStates returns the states of files. If ctx ends, those that were not read are empty.
func (s Survey) readStates(ctx context.Context, paths []string) ([]State, error) {
	var reading errgroup.Group
	reading.SetLimit(runtime.GOMAXPROCS(0))
	states := make([]State, len(paths))
	for from := 0; from < len(paths); from += filesPerReader {
		part := paths[from:min(from+filesPerReader, len(paths))]
		reading.Go(func() error {
			r := NewReader(s.Roots, s.Limits, s.Store)
			defer r.Close()
			for i, path := range part {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				states[from+i] = r.State(path)
			}
			return nil
		})
	}
	return states, reading.Wait()
}

// Targets returns the paths that a program may change by writing to paths, without links, sorted: what each leads to, a
// link itself, and the directories that do not exist yet. It leaves out the paths in .git and outside of the roots.
func Targets(roots *workspace.Roots, paths []string) []string {
	roots = roots.Writing()
	var all []string
	add := func(path string) {
		if !roots.Contains(path) || roots.InGit(path) {
			return
		}
		all = append(all, path)
		for at := filepath.Dir(path); roots.Contains(at); at = filepath.Dir(at) {
			if info, err := roots.Lstat(at); err == nil && info.IsDir() {
				break
			}
			all = append(all, at)
		}
	}
	for _, path := range paths {
		if full, err := roots.Resolve(path); err == nil {
			add(full)
		}
		if entry, err := roots.ResolveEntry(filepath.Clean(path)); err == nil {
			add(entry)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Outermost returns the paths that lie in no other one, sorted.
func Outermost(paths []string) (tops []string) {
	for _, path := range slices.Sorted(slices.Values(paths)) {
		if !slices.ContainsFunc(tops, func(top string) bool { return workspace.Within(top, path) }) {
			tops = append(tops, path)
		}
	}
	return tops
}
