// Package rewind keeps the files that each turn of a session changes, and restores them.
//
// Start with [New]. [Session.Middleware] is the link of the chain that records
// the changes of calls, and [Session.Editor] the FS that records the texts of the
// editor. [Session.PlanRewind] plans the restoration of the state before a turn, and
// [Session.PlanRedo] undoes a rewind. [Plan.Apply] carries a plan out.
//
// It promises that a turn that changes nothing opens no file and costs nothing. Contents are kept
// exactly, below the data directory, in files that only the user can read. A file that may not be
// read is never copied. A file that somebody else changed after the agent is replaced only if the
// user agrees. A process that is killed during a restoration leaves a journal. With it the next
// process restores the old files, so they never stay between two states.
//
// It does not keep the contents of .git, pipes, sockets, devices, files over the size limit, and
// directories with more than is kept. Entries that ignore files exclude are kept only if a tool names them. It does
// not record the changes of MCP servers.
//
// Why are files copied and not linked? A program that writes in place would change
// both.
//
// Why is the time of a restored file not the old one? Build tools compare times,
// and would treat the results of the newer content as up to date.
package rewind

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// DirName is the name of the directory below the data directory.
const DirName = "zeph-rewind"

// FS is the editor's view of files, as files.FS.
type FS interface {
	ReadFile(ctx context.Context, path string) (string, error)
	WriteFile(ctx context.Context, path, text string) error
	ReadsDisk() bool
}

// Options are the parts of a Session. All are required, unless stated otherwise.
type Options struct {
	Config  Config
	Limits  undo.Limits
	Data    string           // the data directory; empty keeps nothing
	Session string           // the ACP session id
	Roots   *workspace.Roots // as the file tools have them
	Dirs    []string         // the session's directories, without links
	// Writes reports which paths a script may write, which of them are whole trees, or
	// that it could write anything.
	Writes func(script *command.Script) (paths, trees []string, all bool)
	// Ended is called with the files that a turn changed, sorted, at its end; nil
	// is not called.
	Ended func(paths []string)
	Now   func() time.Time
	Log   *slog.Logger
}

// Session keeps the files of one session. Its methods may be called
// concurrently, but only while no other process runs a turn of the session.
type Session struct {
	Options
	store  undo.DirStore
	dir    string // of this session's points
	editor *editorFS

	mu            sync.Mutex
	turn          int             // the running turn; 0 before the first one
	message       string          // the id of its prompt
	point         *point          // of the running turn; nil before its first change
	unsaved       map[int]*point  // points that could not be stored, by Seq
	before        undo.Index      // the survey before the first command of the running turn; nil if there was none
	commandRan    bool            // a command ran after that survey
	foundBySurvey map[string]bool // paths that surveys of the turn found changed
	latest        latest
	surveyErr     error // why this workspace cannot be surveyed
}

// New returns the Session that keeps the files of a session, or nil if nothing is to be
// kept. It opens no file.
func New(o Options) *Session {
	if !o.Config.Enabled || o.Data == "" {
		return nil
	}
	o.Dirs = slices.Sorted(slices.Values(o.Dirs))
	base := filepath.Join(o.Data, DirName, undo.Hash([]byte(strings.Join(o.Dirs, "\n")))[:16])
	return &Session{
		Options: o, unsaved: map[int]*point{}, store: store(base),
		dir: filepath.Join(base, "sessions", sessionDir(o.Session)),
	}
}

// store returns the contents of a workspace.
func store(base string) undo.DirStore { return undo.DirStore{Dir: filepath.Join(base, "contents")} }

// reader returns a reader for one pass over the files. The caller closes it.
func (s *Session) reader() *undo.Reader { return undo.NewReader(s.Roots, s.Limits, s.store) }

// sessionDir returns the name of the directory for a session, whose id may come
// from elsewhere.
func sessionDir(id string) string { return undo.Hash([]byte(id))[:32] }

// Forget removes the points of a session in all workspaces. The contents go with
// the next clean-up.
func Forget(data, session string) error {
	dirs, err := filepath.Glob(filepath.Join(data, DirName, "*", "sessions", sessionDir(session)))
	for _, dir := range dirs {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}
	return err
}

func (s *Session) base() string      { return filepath.Dir(filepath.Dir(s.dir)) }
func (s *Session) indexFile() string { return filepath.Join(s.base(), "index.json") }

// Begin begins a turn. Nothing is kept before its first change.
func (s *Session) Begin(turn int, messageID string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retryUnsaved()
	s.turn, s.message = turn, messageID
	s.point, s.before, s.commandRan, s.foundBySurvey = nil, nil, false, map[string]bool{}
}

// ended calls Ended for a turn; p is nil if the turn changed nothing.
func (s *Session) ended(p *point) {
	if s.Ended == nil {
		return
	}
	var paths []string
	if p != nil {
		paths = p.changed()
	}
	s.Ended(paths)
}

// End completes the point of the turn: it finds the changes of its commands. A
// cancel of the turn does not interrupt it.
func (s *Session) End(ctx context.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.point == nil {
		s.ended(nil)
		return
	}
	s.recordCommands(context.WithoutCancel(ctx))
	s.point.Open = ""
	maps.DeleteFunc(s.point.Files, func(_ string, c change) bool { return !c.Before.Differs(c.After) })
	s.ended(s.point)
	if len(s.point.Files) == 0 && len(s.point.Gaps) == 0 {
		s.drop(s.point)
	} else {
		s.save(s.point)
		s.prune()
		s.clean()
	}
	os.Remove(s.openFile(s.point.Seq))
	s.point, s.before, s.foundBySurvey = nil, nil, nil
	if len(s.latest.index) > maxInMemory {
		s.latest = latest{}
	}
}
