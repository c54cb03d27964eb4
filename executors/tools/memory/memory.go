// Package memory keeps facts for later sessions. The model saves one with memory_save,
// and finds it again with memory_search, which also searches the project's earlier
// sessions.
//
//	m := &memory.Memory{Store: db, Project: dir, Roots: roots, Config: cfg}
//	tools := m.Tools()
//	m.Look(ctx) // before each turn
//
// A fact belongs to one project, or to all; a search never returns another project's facts. A fact
// keeps the session and the time, and the hashes of the files that it cites: a hit says which files
// have changed since. Equal facts become one. Credentials, refusals and tool policies are not saved
// ([Memory.Save]). Nothing is added to a prompt unasked, except the line that [Memory.Line]
// returns.
//
// A fact is an older text and not an instruction: results say so. It has the
// labels of the session that saved it, and adds them to a session that reads it.
//
// Why is a hit left out if few of its words match? A wrong fact costs more than a
// missing one: the model believes it.
//
// Why is a text indexed when it is searched, not when it is written? A session that never
// searches should pay nothing for it.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
)

// The names of the tools.
const (
	SaveName   = "memory_save"
	SearchName = "memory_search"
)

// Entry is a saved fact.
type Entry struct {
	ID      int64
	Project string // its directory; "" means all projects
	Text    string
	Session string            // that saved it last; "" means that the user did, by a command
	Files   map[string]string // the hashes of the files that it cites, by path
	Labels  json.RawMessage   // of the session; nil means none
	Created time.Time
	Updated time.Time
	Model   string    // of Vector; "" means that there is no vector
	Vector  []float32 // the embedding of Text
}

// Message is a message of an earlier session.
type Message struct {
	ID      int64
	Session string // id
	Title   string // of the session
	Role    string // "user" or "agent"
	Text    string // the part around the match
	Time    time.Time
	Labels  json.RawMessage // of the session; nil means none
}

// Store keeps entries. It may be used concurrently.
type Store interface {
	// PutMemory saves an entry. Entries with equal text have equal keys. It replaces the entry
	// e.ID, or else the project's entry with that key; existed reports whether there was one. The
	// error is fs.ErrNotExist if e.ID does not exist, and ErrFull if the project has most
	// entries; 0 means no limit.
	PutMemory(ctx context.Context, e Entry, key string, most int) (id int64, existed bool, err error)
	// DeleteMemory deletes an entry. The error is fs.ErrNotExist if there is none.
	DeleteMemory(ctx context.Context, id int64) error
	// Memories returns the entries of projects, the oldest first; without a project, all.
	Memories(ctx context.Context, projects ...string) ([]Entry, error)
	// PutVectors stores embeddings of entries that have not changed since they were read.
	PutVectors(ctx context.Context, model string, vectors map[int64][]float32, read time.Time) error
	// CountMemories returns the number of entries of a project and the number of entries
	// for all projects. earlier reports whether the project has another session than the
	// given one.
	CountMemories(ctx context.Context, project, cwd, session string) (own, all int, earlier bool, err error)
}

// ErrFull is the error of a Store that keeps no more entries of a project.
var ErrFull = errors.New("there are too many memories")

// Sessions searches the messages of a project's earlier sessions. Behind is the number of
// sessions that it could not search yet.
type Sessions func(ctx context.Context, expression string, limit int) (found []Message, behind int, err error)

// Memory is the memory of one session. Its exported fields must not change after the
// first use.
type Memory struct {
	Store   Store // nil: there is no memory
	Config  Config
	Session string           // id; "" means that the user runs a command
	Project string           // the session's directory, without symlinks
	CWD     string           // the same as the client wrote it
	Roots   *workspace.Roots // of the files that entries may cite
	// Sessions searches earlier sessions; nil means that there are none.
	Sessions Sessions
	// Embedder returns the embedder of the session's model and the model's name; nil, or
	// a nil embedder, means that words are compared.
	Embedder func() (model string, e rank.Embedder)
	// EmbedTimeout limits the time that embeddings add to a search; 0 means 5 s.
	EmbedTimeout time.Duration
	// Secret describes the credentials in a text; "" means that it has none. Nil finds
	// none.
	Secret func(text string) string
	// Labels returns the labels of the session, and AddLabels adds another session's labels,
	// which may be nil. Nil functions mean that there are no labels.
	Labels    func() json.RawMessage
	AddLabels func(labels json.RawMessage)
	// KnownTools returns the agent's tools, whose permissions are no facts to save; nil means none.
	KnownTools func() []executors.Tool
	Now        func() time.Time // nil means time.Now
	Log        *slog.Logger
	// DryRun reports that calls are only checked, not run: both tools are offered without
	// reading the store.
	DryRun bool

	policyOnce  sync.Once
	policy      *regexp.Regexp // of isToolPolicy
	counts      atomic.Pointer[counts]
	refreshing  sync.Mutex   // held while the entries are counted
	refreshedAt atomic.Int64 // when, as Unix nanoseconds; 0 means that the next Refresh must read
	failures    atomic.Int32 // of the embedder, in a row
}

// counts is the state of the store at the beginning of a turn.
type counts struct {
	project, global int  // the number of entries
	earlierSessions bool // earlier sessions can be searched
}

// refreshInterval is how long a session uses the number of entries before it reads the number
// again, unless it saves an entry itself. A query takes a twentieth of the time of a short turn.
const refreshInterval = time.Minute

// Refresh reads the number of entries, unless it was read in the last minute. The tools and
// the line of a turn depend on it, so a turn waits for a Refresh that has begun before it.
func (m *Memory) Refresh(ctx context.Context) {
	m.refreshing.Lock()
	defer m.refreshing.Unlock()
	if now := m.now().UnixNano(); m.refreshedAt.Load() == 0 || time.Duration(now-m.refreshedAt.Load()).Abs() >= refreshInterval {
		m.loadCounts(ctx)
	}
}

// StartEmpty is a Refresh of a store that has no entries yet, which may still be opening.
func (m *Memory) StartEmpty() {
	if m.available() {
		m.setCounts(counts{})
	}
}

// available reports whether entries can be kept.
func (m *Memory) available() bool { return m.Store != nil && m.Config.Enabled }

// setCounts sets the result of a Refresh.
func (m *Memory) setCounts(k counts) {
	m.counts.Store(&k)
	m.refreshedAt.Store(m.now().UnixNano())
}

// Reset makes the next Refresh read, for a new conversation.
func (m *Memory) Reset() { m.refreshedAt.Store(0) }

// refreshNow reads the number of entries now.
func (m *Memory) refreshNow(ctx context.Context) {
	m.refreshing.Lock()
	defer m.refreshing.Unlock()
	m.loadCounts(ctx)
}

// loadCounts reads the number of entries; m.refreshing is held. After a failure the next
// Refresh tries again.
func (m *Memory) loadCounts(ctx context.Context) {
	if !m.available() {
		return
	}
	var k counts
	var err error
	if k.project, k.global, k.earlierSessions, err = m.Store.CountMemories(ctx, m.Project, m.CWD, m.Session); err != nil {
		m.log().Debug("count the memories", "session", m.Session, "err", err)
		m.counts.Store(nil)
		return
	}
	k.earlierSessions = k.earlierSessions && m.Config.Sessions && m.Sessions != nil
	m.setCounts(k)
}

// Line returns the line about the entries for the model, or "" if there are none.
func (m *Memory) Line() string {
	k := m.counts.Load()
	if k == nil || k.project+k.global == 0 {
		return ""
	}
	return fmt.Sprintf("[memory: %s; %s finds them.]", k, SearchName)
}

// Status returns the line about the entries for /status, or no line if there are none.
func (m *Memory) Status() []string {
	if k := m.counts.Load(); k != nil && k.project+k.global > 0 {
		return []string{"Memory: " + k.String()}
	}
	return nil
}

// String returns the number of entries in words.
func (k *counts) String() string {
	of := fmt.Sprintf("%d of this project", k.project)
	switch {
	case k.project == 0:
		of = "for all projects"
	case k.global > 0:
		of += fmt.Sprintf(", %d for all projects", k.global)
	}
	return fmt.Sprintf("%s (%s)", quantity.Count(k.project+k.global, "saved entry"), of)
}

// find returns an entry of the session's project or of all projects. The error is
// fs.ErrNotExist if there is none of that ID.
func (m *Memory) find(ctx context.Context, id int64) (Entry, error) {
	all, err := m.Store.Memories(ctx, m.Project, "")
	if err != nil {
		return Entry{}, err
	}
	for _, e := range all {
		if e.ID == id {
			return e, nil
		}
	}
	return Entry{}, fs.ErrNotExist
}

// Delete deletes an entry of any project. The error is fs.ErrNotExist if there is none.
func (m *Memory) Delete(ctx context.Context, id int64) error { return m.Store.DeleteMemory(ctx, id) }

func (m *Memory) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

func (m *Memory) log() *slog.Logger {
	if m.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return m.Log
}
