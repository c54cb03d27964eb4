package rewind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// index is the state of all surveyed entries, by absolute path.
type index map[string]entry

// entry is a surveyed file with the stamps that show a change.
type entry struct {
	State
	Changed int64 `json:"m,omitempty"` // modification time in nanoseconds
	Stamped int64 `json:"c,omitempty"` // time of the last change of the inode, 0 where it is unknown
	// Recent says that the file changed so shortly before the survey that its next
	// change may leave the same times.
	Recent bool `json:"f,omitempty"`
}

// stableAge is the minimum age of a file whose next change is sure to change its times.
// Some file systems count in steps of two seconds.
const stableAge = 2100 * time.Millisecond

// survey returns the state of the session's directories, without the entries that .gitignore leaves
// out. It keeps the contents that differ from old. It reads no file if the workspace has too many
// files.
func (s *Session) survey(ctx context.Context, old index) (index, error) {
	began := s.Now()
	found := make(index, len(old))
	for _, dir := range s.topDirs() {
		tree := walk.Tree{Roots: s.Roots, Dir: dir, Ignore: true, Budget: s.Config.MaxFiles - len(found)}
		unseen, err := walk.Do(ctx, tree, func() walk.Visit[*surveyedEntry] { return visitor(dir, began) }, (*surveyedEntry).size,
			func(e *surveyedEntry) bool {
				found[e.path] = e.entry
				return true
			})
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case unseen.Cut:
			return nil, fmt.Errorf("the workspace has more than %s files (tools.rewind.max_files)",
				executors.Grouped(int64(s.Config.MaxFiles)))
		}
	}
	return found, s.readContents(ctx, old, found)
}

// filesPerReader is how many files of a survey one reader reads.
const filesPerReader = 256

// readContents adds the contents to a survey.
func (s *Session) readContents(ctx context.Context, old, found index) error {
	var total int64
	var unread []string
	for path, e := range found {
		if !e.isFile() {
			continue
		}
		if e.Size > s.Config.MaxFileBytes {
			e.NotKept = tooLarge(s.Config.MaxFileBytes)
		} else if total += e.Size; total > s.Config.MaxBytes {
			return fmt.Errorf("the workspace has more than %s bytes (tools.rewind.max_bytes)", executors.Grouped(s.Config.MaxBytes))
		} else if was := old[path]; was.unchanged(e) {
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
		if found[path] = e; !e.exists() { // it has just disappeared
			delete(found, path)
		}
	}
	return err
}

// readStates returns the states of files. If ctx ends, those that were not read are empty.
func (s *Session) readStates(ctx context.Context, paths []string) ([]State, error) {
	var reading errgroup.Group
	reading.SetLimit(runtime.GOMAXPROCS(0))
	states := make([]State, len(paths))
	for from := 0; from < len(paths); from += filesPerReader {
		part := paths[from:min(from+filesPerReader, len(paths))]
		reading.Go(func() error {
			r := s.reader()
			defer r.close()
			for i, path := range part {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				states[from+i] = r.state(path)
			}
			return nil
		})
	}
	return states, reading.Wait()
}

// topDirs returns the session's directories that lie in no other one.
func (s *Session) topDirs() []string {
	var tops []string
	for _, dir := range slices.Sorted(slices.Values(s.Dirs)) {
		if !slices.ContainsFunc(tops, func(top string) bool { return workspace.Within(top, dir) }) {
			tops = append(tops, dir)
		}
	}
	return tops
}

// surveyedEntry is one entry without its content.
type surveyedEntry struct {
	path string
	entry
}

func (*surveyedEntry) size() int { return 200 }

// visitor returns a visit that records the stamps of entries below dir.
func visitor(dir string, began time.Time) walk.Visit[*surveyedEntry] {
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return func(e walk.Entry, _ func() bool) (*surveyedEntry, bool, error) {
		abs := prefix + filepath.FromSlash(e.Path())
		info, err := os.Lstat(abs)
		if err != nil {
			return nil, false, nil // it has just disappeared
		}
		found := &surveyedEntry{path: abs}
		found.Mode, found.Changed, found.Stamped = modeOf(info), info.ModTime().UnixNano(), inodeChanged(info)
		found.Recent = began.UnixNano()-max(found.Changed, found.Stamped) < int64(stableAge)
		if info.Mode().IsRegular() {
			found.Size = info.Size()
		} else if info.Mode()&fs.ModeSymlink != 0 {
			if found.Target, err = os.Readlink(abs); err != nil {
				return nil, false, nil
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
	return !e.Recent && e.Mode.IsRegular() && e.Size == now.Size && e.Changed == now.Changed && e.Stamped == now.Stamped &&
		(e.Hash != "") != (e.NotKept != "") // with both, the content could not be kept
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

// differs is like !same, but files are compared by their size and mode if the content
// of one of them was not read.
func differs(a, b State) bool {
	if a.isFile() && b.isFile() && (a.Hash == "" || b.Hash == "") {
		return a.Mode != b.Mode || a.Size != b.Size
	}
	return !a.same(b)
}

// latest is the last survey of a workspace, as its file has it.
type latest struct {
	index index
	file  fs.FileInfo
}

// maxInMemory bounds the entries of a survey that stays in memory between turns.
const maxInMemory = 20_000

// loadIndex returns the last survey of this workspace, whose contents are kept.
// A damaged one is ignored, which only costs time.
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
		if err := writeJSON(s.indexFile(), found); err != nil {
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
	return writeJSON(also, found)
}
