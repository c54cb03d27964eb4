package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// memoryFeature has the tools for the memory. It shows the model how much is saved.
func memoryFeature(m *memory.Memory) Feature {
	return Feature{
		Name: "memory", Tools: m.Tools(), Late: true, Status: m.Status, Reset: m.Reset,
		Turns:      func(a *agent.Agent) { a.Memory = m.Line },
		BeforeTurn: func() { m.Refresh(context.Background()) }, // also for /tools, which is not a turn of the agent
		Ready:      func(ctx context.Context, _ string) { m.Refresh(ctx) },
	}
}

// memory returns the memory of a session.
func (b *sessionBuilder) memory(labels *flow.Flow) *memory.Memory {
	m := b.app.Memory(b.cfg, b.dirs.files)
	m.Session, m.CWD, m.Log, m.DryRun = b.session.ID, b.session.CWD, b.app.Log, b.app.checking != nil
	m.Labels, m.AddLabels = labels.State, labels.Add
	if b.app.Store == nil {
		return m
	}
	if b.emptyStore {
		m.StartEmpty()
	}
	earlier := earlierSessions{
		store: b.app.Store, session: b.session.ID, dirs: []string{m.Project, b.session.CWD}, mask: b.mask(),
	}
	m.Sessions = earlier.search
	m.Embedder = func() (string, rank.Embedder) {
		e, ok := llm.EmbedderOf(b.session.Model())
		if !ok {
			return "", nil
		}
		return e.Name(), e
	}
	return m
}

// Memory returns the memory of a project, whose directory is the first of the roots, for
// its user. It has no Store if nothing is stored.
func (a *App) Memory(cfg config.Config, roots *workspace.Roots) *memory.Memory {
	m := &memory.Memory{Config: cfg.Tools.Memory, Project: roots.Cwd(), CWD: roots.Cwd(), Roots: roots, KnownTools: catalogue.Known, Now: a.Now}
	if a.Store != nil {
		m.Store = memories{a.Store}
	}
	security := filter.Security{Enabled: true, ExtraPatterns: cfg.Tools.Filters.Security.ExtraPatterns} // also where results are not masked
	m.Secret = func(text string) string {
		scanner := a.filters.scanner(security)
		_, found := scanner.Visible(text)
		var kinds []string
		for _, f := range found {
			kinds = append(kinds, f.Kind)
		}
		if len(kinds) == 0 {
			kinds = scanner.Divided(text)
		}
		return strings.Join(kinds, ", ")
	}
	return m
}

// memories is the database in the form that package memory uses.
type memories struct{ *store.DB }

func (s memories) PutMemory(ctx context.Context, e memory.Entry, key string, limit int) (int64, bool, error) {
	id, existed, err := s.DB.PutMemory(ctx, store.Memory(e), key, limit)
	if errors.Is(err, store.ErrFull) {
		err = memory.ErrFull
	}
	return id, existed, err
}

func (s memories) Memories(ctx context.Context, projects ...string) ([]memory.Entry, error) {
	all, err := s.DB.Memories(ctx, projects...)
	out := make([]memory.Entry, len(all))
	for i, m := range all {
		out[i] = memory.Entry(m)
	}
	return out, err
}

// earlierSessions are the stored sessions of a project.
type earlierSessions struct {
	store   *store.DB
	session string // the current one
	dirs    []string
	mask    func(string) string
}

const (
	// readTime limits the time that a search takes to read sessions.
	readTime = 2 * time.Second
	// maxMessage is the part of a message that can be searched, in bytes.
	maxMessage = 16 << 10
)

// search implements memory.Sessions.
func (e earlierSessions) search(ctx context.Context, expression string, limit int) ([]memory.Message, int, error) {
	unread, err := e.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	found, err := e.store.MatchMessages(ctx, expression, e.session, limit, e.dirs...)
	if err != nil {
		return nil, 0, err
	}
	labels := map[string]json.RawMessage{}
	out := make([]memory.Message, len(found))
	for i, m := range found {
		if _, known := labels[m.Session]; !known {
			if labels[m.Session], err = e.labels(ctx, m.Session); err != nil {
				return nil, 0, err
			}
		}
		out[i] = memory.Message{
			ID: m.ID, Session: m.Session, Title: m.Title, Role: m.Role, Text: m.Text, Time: m.Time,
			Labels: labels[m.Session],
		}
	}
	return out, unread, nil
}

// labels returns the labels of a stored session.
func (e earlierSessions) labels(ctx context.Context, id string) (labels json.RawMessage, err error) {
	states, err := e.store.EventsOfKind(ctx, id, transcript.State{}.Kind())
	for _, event := range states {
		if decoded, err := transcript.Decode(event.Kind, event.Data); err == nil {
			if state, ok := decoded.(transcript.State); ok && state.Name == flow.Name {
				labels = state.Value
			}
		}
	}
	return labels, err
}

// index makes the messages of the sessions searchable, the newest first. It returns the
// number of sessions that it had no time to read.
func (e earlierSessions) index(ctx context.Context) (unread int, err error) {
	ids, err := e.store.Unread(ctx, e.session, e.dirs...)
	if err != nil {
		return 0, err
	}
	until := time.Now().Add(readTime)
	for i, id := range ids {
		if time.Now().After(until) {
			return len(ids) - i, nil
		}
		events, last, err := e.store.UnreadEvents(ctx, id, transcript.Prompt{}.Kind(), transcript.Steer{}.Kind(), transcript.Block{}.Kind())
		if err != nil {
			return 0, err
		}
		messages, parts := e.messages(events)
		if err := e.store.PutMessages(ctx, id, last, messages, parts); err != nil && !errors.Is(err, store.ErrUnknown) {
			return 0, err
		}
	}
	return 0, nil
}

// messages returns the texts that the user typed and that the agent wrote. For each text,
// parts has further words by which a search finds it.
func (e earlierSessions) messages(events []store.Event) (messages []store.Message, parts []string) {
	for _, event := range events {
		decoded, err := transcript.Decode(event.Kind, event.Data)
		if err != nil {
			continue // it cannot be read
		}
		m := store.Message{Time: event.Time}
		switch d := decoded.(type) {
		case transcript.Prompt:
			if d.NoModel {
				continue
			}
			m.Role, m.Text = "user", transcript.TypedText(d.Content)
			if strings.HasPrefix(m.Text, modelTaskPrefix) {
				m.Role = "agent"
			}
		case transcript.Steer:
			m.Role, m.Text = "user", transcript.TypedText(d.Content)
		case transcript.Block:
			m.Role, m.Text = "agent", d.Block.Text
		}
		text := strings.TrimSpace(m.Text[:min(len(m.Text), maxMessage)])
		if text == "" {
			continue
		}
		m.Text = strings.ToValidUTF8(e.mask(text), "")
		messages, parts = append(messages, m), append(parts, rank.Parts(m.Text))
	}
	return messages, parts
}
