package rewind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/files/walk"
)

// index is the state of all surveyed entries, by absolute path.
type index map[string]entry

// entry is a surveyed file with the stamps that show a change.
type entry struct {
	State
	Changed int64 `json:"m,omitempty"` // modification time in nanoseconds
	Stamped int64 `json:"c,omitempty"` // time of the last change of the inode, 0 where it is unknown
	// Fresh says that the file changed so shortly before the survey that its next
	// change may leave the same times.
	Fresh bool `json:"f,omitempty"`
}

// settled is the age from which a further change of a file shows in its times.
// Some file systems count in steps of two seconds.
const settled = 2100 * time.Millisecond

// survey returns the state of the session's directories, without the entries
// that .gitignore leaves out. It keeps the contents that differ from old.
func (s *Session) survey(ctx context.Context, old index) (index, error) {
	v := surveyor{session: s, ctx: ctx, old: old, began: s.Now()}
	found := make(index, len(old))
	var total int64
	for _, dir := range s.tops() {
		tree := walk.Tree{Roots: s.Roots, Dir: dir, Ignore: true, Budget: s.Config.MaxFiles - len(found)}
		newVisit := func() walk.Visit[surveyed] { return v.visitor(dir) }
		var failed error
		unseen, err := walk.Do(ctx, tree, newVisit, func(surveyed) int { return 200 }, func(e surveyed) bool {
			found[e.path] = e.entry
			if e.Hash != "" {
				total += e.Size
			}
			failed = e.err
			if total > s.Config.MaxBytes {
				failed = fmt.Errorf("the workspace has more than %s bytes (tools.rewind.max_bytes)", executors.Grouped(s.Config.MaxBytes))
			}
			return failed == nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case failed != nil:
			return nil, failed
		case unseen.Cut:
			return nil, fmt.Errorf("the workspace has more than %s files (tools.rewind.max_files)", executors.Grouped(int64(s.Config.MaxFiles)))
		}
	}
	return found, nil
}

// tops returns the session's directories that lie in no other one.
func (s *Session) tops() []string {
	var tops []string
	for _, dir := range slices.Sorted(slices.Values(s.Dirs)) {
		inside := func(top string) bool {
			rel, err := filepath.Rel(top, dir)
			return err == nil && filepath.IsLocal(rel)
		}
		if !slices.ContainsFunc(tops, inside) {
			tops = append(tops, dir)
		}
	}
	return tops
}

// surveyed is one entry, or the error that ends the survey.
type surveyed struct {
	path string
	entry
	err error
}

// surveyor surveys entries, on several goroutines.
type surveyor struct {
	session *Session
	ctx     context.Context
	old     index
	began   time.Time
}

func (v surveyor) visitor(dir string) walk.Visit[surveyed] {
	var buf []byte
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return func(e walk.Entry, _ func() bool) (surveyed, bool, error) {
		abs := prefix + filepath.FromSlash(e.Path())
		info, err := os.Lstat(abs)
		if err != nil {
			return surveyed{}, false, nil // it has just disappeared
		}
		found := surveyed{path: abs}
		found.Mode, found.Changed = modeOf(info), info.ModTime().UnixNano()
		found.Stamped = stamped(info)
		latest := max(found.Changed, found.Stamped)
		found.Fresh = v.began.UnixNano()-latest < int64(settled)
		switch {
		case info.Mode().IsRegular():
			found.Size = info.Size()
			if was, ok := v.old[abs]; ok && was.unchanged(found.entry) {
				found.Hash, found.Left = was.Hash, was.Left
				break
			}
			if found.Size > v.session.Config.MaxFileBytes {
				found.Left = tooLarge(v.session.Config.MaxFileBytes)
				break
			}
			data, _, err := e.Dir.Read(e.Name, buf, int(v.session.Config.MaxFileBytes))
			if err != nil {
				found.Left = "it could not be read"
				break
			}
			buf = data[:0]
			found.Size = int64(len(data))
			found.Hash, found.err = v.session.contents.put(data)
		case info.Mode()&fs.ModeSymlink != 0:
			if found.Target, err = os.Readlink(abs); err != nil {
				return surveyed{}, false, nil
			}
		}
		return found, true, nil
	}
}

func tooLarge(limit int64) string {
	return fmt.Sprintf("it is larger than %s bytes (tools.rewind.max_file_bytes)", executors.Grouped(limit))
}

// unchanged reports whether the stamps of a file show no change since.
func (e entry) unchanged(now entry) bool {
	return !e.Fresh && e.Mode.IsRegular() && e.Size == now.Size && e.Changed == now.Changed && e.Stamped == now.Stamped &&
		(e.Hash != "" || e.Left != "")
}

// changes returns the paths whose state differs between two surveys.
func changes(before, after index) []string {
	var paths []string
	for path, e := range before {
		if now, ok := after[path]; !ok || differs(e.State, now.State) {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// differs is like !same, but files without a kept content are compared by their
// size and mode.
func differs(a, b State) bool {
	if a.isFile() && b.isFile() && a.Hash == "" && b.Hash == "" {
		return a.Mode != b.Mode || a.Size != b.Size
	}
	return !a.same(b)
}

// latest is the last survey of a workspace, as its file has it.
type latest struct {
	index index
	file  fs.FileInfo
}

// mostInMemory bounds the entries of a survey that stays in memory between turns.
const mostInMemory = 20_000

// loadIndex returns the last survey of this workspace, whose contents are kept.
// A broken one only costs time.
func (s *Session) loadIndex() index {
	info, err := os.Stat(s.indexFile())
	if err != nil {
		return nil
	}
	if was := s.latest.file; was != nil && os.SameFile(was, info) && was.ModTime().Equal(info.ModTime()) {
		return s.latest.index
	}
	var found index
	if _, err := readJSON(s.indexFile(), &found); err != nil {
		return nil
	}
	s.latest = latest{found, info}
	return found
}

// keepIndex stores a survey as the last one. If also is not empty, that file becomes a
// copy of it.
func (s *Session) keepIndex(found index, also string) error {
	was := s.loadIndex()
	if s.latest.file == nil || was == nil || !maps.Equal(was, found) {
		if err := writeJSON(s.indexFile(), found, false); err != nil {
			return err
		}
		info, err := os.Stat(s.indexFile())
		if err != nil {
			return err
		}
		s.latest = latest{found, info}
	}
	if also == "" {
		return nil
	}
	if os.Link(s.indexFile(), also) == nil {
		return nil
	}
	return writeJSON(also, found, false)
}
