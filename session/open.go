package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// New opens a session.
func (s *Sessions) New(_ context.Context, client *acp.Client, p acp.NewSessionRequest) (acp.Session, error) {
	sess := s.session(store.Session{ID: s.NewID(), CWD: filepath.Clean(p.CWD)})
	if err := sess.setUp(client, p, settings{}); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	s.add(sess)
	return sess, nil
}

// session returns a new Session without an agent.
func (s *Sessions) session(row store.Session) *Session {
	sess := &Session{
		id: row.ID, sessions: s, cwd: row.CWD, tally: tally{costs: map[string]float64{}},
		queue: queue{turns: map[*turn]struct{}{}, ended: make(chan struct{})},
	}
	sess.journal = journal{
		db: s.Store, holder: s.leaseHolder(), warn: sess.warn, log: s.Log, now: s.Now, session: row,
		exit: func() texts.Change { return s.exit(row.ID) },
	}
	return sess
}

// setUp creates the agent for a client and its directories. An empty setting in want
// means the configured one.
func (s *Session) setUp(client *acp.Client, p acp.NewSessionRequest, want settings) error {
	model, err := want.model, error(nil)
	if model == nil {
		model, err = s.openModel(want.modelName)
	}
	if err != nil {
		return err
	}
	changed := p.SystemPrompt != nil && *p.SystemPrompt != want.system
	if changed {
		want.system = *p.SystemPrompt
	}
	o, err := s.sessions.NewAgent(Host{
		ID:           s.id,
		Client:       client,
		CWD:          p.CWD,
		Dirs:         p.AdditionalDirectories,
		MCPServers:   p.MCPServers,
		Resumed:      want.modelName != "",
		Unattended:   s.sessions.Unattended,
		MCPWait:      p.Meta.MCPWait,
		Mode:         s.Mode,
		SetMode:      s.switchMode,
		Model:        s.model,
		Thought:      s.thought,
		SystemPrompt: s.systemPrompt,
		Record:       s.record,
		Stored:       s.stored,
		Update:       s.update,
		State:        s.state,
		Spend:        s.addCost,
		Warn:         s.warn,
		Withdraw:     s.withdraw,
		Announce:     s.renewCommands,
	})
	if err != nil {
		return err
	}
	s.sessions.notifySelected(model)
	s.announcing.Lock()
	s.sentCommands = nil // this client knows none
	s.announcing.Unlock()
	s.closeTools() // the parts that were made for an earlier client or other directories
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.dirs, s.agent, s.tools, s.announced = client, p.AdditionalDirectories, o.Agent, o.Tools, false
	if changed && s.journal.hasBegun() { // else the first prompt records it
		s.journal.record(transcript.Setting{ID: optionSystem, Value: want.systemValue()})
	}
	s.adopt(want, model, o.Mode)
	s.hint = o.Hint
	s.warnings, s.beforeTurn = append(s.warnings, o.Warnings...), o.BeforeTurn
	s.journal.setDirs(p.AdditionalDirectories)
	return nil
}

// openModel opens the model of a stored session, or the default one if that model
// no longer exists.
func (s *Session) openModel(name string) (llm.Model, error) {
	if name == "" {
		return s.sessions.Model("")
	}
	reason := errors.New("its provider is not configured")
	if s.sessions.Offers(name) {
		var m llm.Model
		if m, reason = s.sessions.Model(name); reason == nil || errors.Is(reason, acp.ErrAuthRequired) {
			return m, reason
		}
	}
	s.warn(fmt.Sprintf("The model of this session, %s, is no longer available (%v). The session continues with the default model.", name, reason))
	return s.sessions.Model("")
}

// Offers reports whether a log may select a model: one from the list, or any
// other of a provider that accepts every name. A script is a file, which a log
// from elsewhere must not select.
func (s *Sessions) Offers(name string) bool {
	provider, _, _ := strings.Cut(name, ":")
	return slices.ContainsFunc(s.Models(), func(c llm.Choice) bool {
		of, _, _ := strings.Cut(c.Name, ":")
		return c.Name == name || c.Open && of == provider
	})
}

// applySettings applies the settings that another process has changed.
func (s *Session) applySettings(ctx context.Context, want settings) {
	m := s.model()
	if want.modelName != "" && want.modelName != m.Name() {
		if other, err := s.openModel(want.modelName); err == nil {
			m = other
		}
	}
	s.sessions.notifySelected(m)
	s.mu.Lock()
	was := s.settings
	s.adopt(want, m, was.mode)
	changed := s.settings != was
	s.mu.Unlock()
	if changed {
		s.sendSettings(ctx)
	}
}

// adopt uses a model, and the mode and the level of thought of want. If want's mode does not
// exist, it uses another one. The caller holds mu.
func (s *Session) adopt(want settings, m llm.Model, otherMode string) {
	s.settings = settings{mode: otherMode, modelName: m.Name(), model: m, system: want.system}
	if s.hasMode(want.mode) {
		s.settings.mode = want.mode
	}
	s.settings.setThought(want.thought)
}

// Load opens a session and sends its whole history.
func (s *Sessions) Load(ctx context.Context, client *acp.Client, p acp.LoadSessionRequest) (acp.Session, error) {
	sess, t, events, err := s.findOrRestore(ctx, client, p)
	if err != nil {
		return nil, err
	}
	defer t.End()
	// The replay runs between two turns, so that it is complete and in order.
	if err := t.wait(); err != nil {
		return nil, err
	}
	if events == nil {
		if events, err = sess.journal.events(ctx); err != nil {
			return nil, err
		}
	}
	err = transcript.ReplayFamily(sess.id, events, client.Capabilities(), func(id string, u acp.SessionUpdate) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return client.Replay(ctx, id, u)
	})
	return sess, err
}

// Resume opens a session without sending its history.
func (s *Sessions) Resume(ctx context.Context, client *acp.Client, p acp.LoadSessionRequest) (acp.Session, error) {
	sess, t, _, err := s.findOrRestore(ctx, client, p)
	if err != nil {
		return nil, err
	}
	defer t.End()
	sess.mu.Lock()
	defer sess.mu.Unlock()
	sess.usageUnsent = true
	return sess, nil
}

// findOrRestore returns a session and a turn in its queue. A session that is not open is
// read from the store; only then the events are not nil. While a closed session's turns
// are still ending, it waits: two Sessions with the same id would corrupt its log.
func (s *Sessions) findOrRestore(
	ctx context.Context, client *acp.Client, p acp.LoadSessionRequest,
) (*Session, *turn, []transcript.Event, error) {
	if err := s.lockLoading(ctx, p.ID()); err != nil {
		return nil, nil, nil, err
	}
	defer s.loading.Unlock()
	sess, open := s.find(p.ID())
	var events []transcript.Event
	var err error
	if open {
		err = sess.reopen(client, p.NewSessionRequest)
	} else if sess, events, err = s.restore(ctx, client, p); err == nil {
		s.add(sess)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return sess, sess.enqueue(ctx, &turn{withoutPrompt: true}), events, nil
}

// lockLoading locks loading once no session with that id is being closed.
func (s *Sessions) lockLoading(ctx context.Context, id string) error {
	for {
		if err := s.awaitClosed(ctx, id); err != nil {
			return err
		}
		s.loading.Lock()
		s.mu.Lock()
		again := s.closing[id] != nil
		s.mu.Unlock()
		if !again {
			return nil
		}
		s.loading.Unlock()
	}
}

// reopen changes the directories of an open session. Its mode and model stay.
func (s *Session) reopen(client *acp.Client, p acp.NewSessionRequest) error {
	if err := sameDir(s.cwd, p.CWD); err != nil {
		return err
	}
	s.mu.Lock()
	want := s.settings
	s.mu.Unlock()
	return s.setUp(client, p, want)
}

// restore opens a session from the store.
func (s *Sessions) restore(ctx context.Context, client *acp.Client, p acp.LoadSessionRequest) (*Session, []transcript.Event, error) {
	if s.Store == nil {
		return nil, nil, acp.ErrUnknownSession
	}
	row, err := s.Store.Session(ctx, p.ID())
	if errors.Is(err, store.ErrUnknown) {
		return nil, nil, acp.ErrUnknownSession
	}
	if err != nil {
		return nil, nil, err
	}
	if err := sameDir(row.CWD, p.CWD); err != nil {
		return nil, nil, err
	}
	sess := s.session(row)
	sess.journal.stored, sess.journal.begun = true, true
	events, err := sess.journal.events(ctx)
	if err != nil {
		return nil, nil, err
	}
	want := sess.rebuild(texts.Map(events, s.exit(row.ID))) // the log may be of an earlier version, or from elsewhere
	if err := sess.setUp(client, p.NewSessionRequest, want); err != nil {
		return nil, nil, err
	}
	return sess, events, nil
}

// rebuild rebuilds the session from its log and returns its last settings.
func (s *Session) rebuild(events []transcript.Event) (want settings) {
	s.history, s.sentTitle, s.turnNumber = transcript.History(events), s.journal.title(), transcript.LastTurnNumber(events)
	s.adoptKeys(events)
	for _, e := range events {
		if e, ok := e.(transcript.State); ok {
			s.setState(e)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.costs)
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Setting:
			want.set(e.ID, e.Value)
		case transcript.Answer:
			if e.Shown == nil {
				continue
			}
			s.usage = *e.Shown
			if c := e.Shown.Cost; c != nil {
				s.costs[c.Currency] = c.Amount
			}
		}
	}
	return want
}

// List returns a page of the stored sessions.
func (s *Sessions) List(ctx context.Context, p acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	r := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	if s.Store == nil {
		return r, nil
	}
	q, err := s.query(ctx, p.CWD)
	if err != nil {
		return r, fmt.Errorf("list the sessions: %w", err)
	}
	q.Cursor = p.Cursor
	rows, next, err := s.Store.List(ctx, q)
	if errors.Is(err, store.ErrCursor) {
		return r, acp.ParamsErrorf("cursor", "was not returned with an earlier page")
	}
	if err != nil {
		return r, fmt.Errorf("list the sessions: %w", err)
	}
	for _, row := range rows {
		r.Sessions = append(r.Sessions, acp.SessionInfo{
			SessionID: row.ID, CWD: row.CWD, AdditionalDirectories: row.Dirs, Title: row.Title, UpdatedAt: row.Updated,
		})
	}
	r.NextCursor = next
	return r, nil
}

// Delete closes a session and removes it from the store.
func (s *Sessions) Delete(ctx context.Context, id string) error {
	if sess, ok := s.find(id); ok {
		sess.Close()
	}
	closed := s.awaitClosed(ctx, id)
	if s.Store == nil {
		return closed
	}
	err := s.Store.Delete(ctx, id)
	if err == nil && s.Deleted != nil {
		s.Deleted(id)
	}
	return cmp.Or(err, closed)
}

// settings are the settings of a session that the user can change.
type settings struct {
	mode      string
	modelName string
	thought   string // a level of the model; empty means the model's default
	model     llm.Model
	system    acp.SystemPrompt // the client's; without a text there is none
}

// Words of the setting optionSystem, before its text.
const (
	systemAppend   = "append\n"
	systemOverride = "override\n"
)

// systemValue returns the system prompt as the value of a setting.
func (s settings) systemValue() string {
	if s.system.Override {
		return systemOverride + s.system.Text
	}
	return systemAppend + s.system.Text
}

// systemPrompt returns the client's system prompt, or nil.
func (s *Session) systemPrompt() *acp.SystemPrompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.settings.system; p.Text != "" {
		return &p
	}
	return nil
}

// set applies a setting from the log.
func (s *settings) set(id, value string) {
	switch id {
	case optionMode:
		s.mode = value
	case optionModel:
		s.modelName = value
	case optionThought:
		s.thought = value
	case optionSystem:
		text, override := strings.CutPrefix(value, systemOverride)
		s.system = acp.SystemPrompt{Override: override, Text: strings.TrimPrefix(text, systemAppend)}
	}
}
