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
		id: row.ID, sessions: s, cwd: row.CWD,
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
	made, err := s.prepare(client, p, want)
	if err == nil {
		s.forgetShown()
		s.install(made, want)
	}
	return err
}

// setup is a new agent of a session, and what it was made for.
type setup struct {
	AgentSession
	client  *acp.Client
	request acp.NewSessionRequest
	model   llm.Model
}

// prepare creates the agent for a client and its directories.
func (s *Session) prepare(client *acp.Client, p acp.NewSessionRequest, want settings) (setup, error) {
	model, err := want.model, error(nil)
	if model == nil {
		model, err = s.openModel(want.modelName)
	}
	if err != nil {
		return setup{}, err
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
		Spent:        s.spentSoFar,
		Warn:         s.warn,
		Withdraw:     s.withdraw,
		Announce:     s.renewCommands,
	})
	return setup{o, client, p, model}, err
}

// forgetShown makes the session announce itself again: its client knows nothing of it.
func (s *Session) forgetShown() {
	s.announcing.Lock()
	s.sentCommands = nil
	s.announcing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced = false
}

// install makes the session use a new agent. No turn may be running.
func (s *Session) install(made setup, want settings) {
	p := made.request
	s.sessions.notifySelected(made.model)
	s.closeTools() // the parts that were made for an earlier client or other directories
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.dirs, s.agent, s.tools = made.client, p.AdditionalDirectories, made.Agent, made.Tools
	if p.SystemPrompt != nil && *p.SystemPrompt != want.system {
		want.system = *p.SystemPrompt
		if s.journal.hasBegun() { // else the first prompt records it
			s.journal.record(transcript.Setting{ID: optionSystem, Value: want.systemValue()})
		}
	}
	s.adopt(want, made.model, made.Mode)
	s.hint = made.Hint
	s.warnings, s.beforeTurn, s.awaitStart = append(s.warnings, made.Warnings...), made.BeforeTurn, made.AwaitStart
	s.journal.setDirs(p.AdditionalDirectories)
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

// Load opens a session and sends its whole history. The part of a running turn is what the client was
// shown of it: the log has messages and calls only when they are complete.
func (s *Sessions) Load(ctx context.Context, r *acp.Replay, p acp.LoadSessionRequest) (acp.Session, error) {
	sess, end, events, err := s.findOrRestore(ctx, r.Client(), p)
	if err != nil {
		return nil, err
	}
	defer end()
	work, err := r.Begin(ctx)
	switch {
	case err != nil:
		return nil, err
	case work != nil:
		events, err = sess.journal.eventsBeforeTurn(ctx)
	case events == nil:
		events, err = sess.journal.events(ctx)
	}
	if err != nil {
		return nil, err
	}
	send := func(id string, u acp.SessionUpdate) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return r.Send(ctx, id, u)
	}
	if err := transcript.ReplayFamily(sess.id, events, r.Client().Capabilities(), send); err != nil {
		return nil, err
	}
	return sess, transcript.ReplayWork(work, send)
}

// Resume opens a session without sending its history.
func (s *Sessions) Resume(ctx context.Context, client *acp.Client, p acp.LoadSessionRequest) (acp.Session, error) {
	sess, end, _, err := s.findOrRestore(ctx, client, p)
	if err != nil {
		return nil, err
	}
	defer end()
	sess.mu.Lock()
	defer sess.mu.Unlock()
	sess.usageUnsent = true
	return sess, nil
}

// findOrRestore returns a session. One that is not open is read from the store; only then the events are
// not nil, and its first turn waits until end is called. While a closed session's turns are still ending,
// it waits: two Sessions with the same id would corrupt its log.
func (s *Sessions) findOrRestore(
	ctx context.Context, client *acp.Client, p acp.LoadSessionRequest,
) (sess *Session, end func(), events []transcript.Event, err error) {
	if err := s.lockLoading(ctx, p.ID()); err != nil {
		return nil, nil, nil, err
	}
	defer s.loading.Unlock()
	if sess, open := s.find(p.ID()); open {
		return sess, func() {}, nil, sess.reopen(ctx, client, p.NewSessionRequest)
	}
	sess, events, err = s.restore(ctx, client, p)
	if err != nil {
		return nil, nil, nil, err
	}
	t := sess.enqueue(ctx, &turn{withoutPrompt: true})
	s.add(sess)
	return sess, t.End, events, nil
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

// reopen changes the directories and servers of an open session, at once or after the turns that have
// begun. Its mode and model stay.
func (s *Session) reopen(ctx context.Context, client *acp.Client, p acp.NewSessionRequest) error {
	if err := sameDir(s.cwd, p.CWD); err != nil {
		return err
	}
	made, err := s.prepare(client, p, s.currentSettings())
	if err != nil {
		return err
	}
	s.forgetShown()
	t := s.enqueue(context.WithoutCancel(ctx), &turn{withoutPrompt: true, reopens: true})
	finish := func() {
		defer t.End()
		switch {
		case t.wait() == nil:
			s.install(made, s.currentSettings())
		case made.Tools != nil: // the session was closed
			made.Tools.Close()
		}
	}
	if t.isNext() {
		finish()
		return nil
	}
	go func() { // Close waits for it, as for every turn
		finish()
		s.renewCommands()
	}()
	return nil
}

func (s *Session) currentSettings() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
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
	sess.hintAtGoal()
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
	s.restoreSpending(events)
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Setting:
			want.set(e.ID, e.Value)
		case transcript.Answer:
			if e.Shown != nil {
				s.usage = *e.Shown
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
