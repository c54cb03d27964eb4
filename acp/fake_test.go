package acp

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// fakeSessions opens sessions whose turns run the function turn.
type fakeSessions struct {
	turn      func(ctx context.Context, c *Client, prompt []ContentBlock) (StopReason, error)
	loud      bool            // Opened and Sync send updates
	history   []SessionUpdate // what Load replays; nil is one chunk
	replaying func()          // called by Load before it replays the running turn; may be nil
	broken    error           // of Load, after the history
	// steer is the error for each text of _session/steering; nil means that no turn runs.
	steer func(ctx context.Context) error

	mu   sync.Mutex
	open map[string]*fakeSession
}

type fakeSession struct {
	owner  *fakeSessions
	client *Client
	id     string
	mu     sync.Mutex
	model  string
	cancel []context.CancelCauseFunc
}

func (f *fakeSessions) New(_ context.Context, c *Client, p NewSessionRequest) (Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[string]*fakeSession{}
	}
	id := fmt.Sprintf("s%d", len(f.open)+1)
	f.open[id] = &fakeSession{owner: f, client: c, id: id, model: "a"}
	return f.open[id], nil
}

// Load replays the chunks of history, one by default, and what the running turn has shown.
func (f *fakeSessions) Load(ctx context.Context, r *Replay, p LoadSessionRequest) (Session, error) {
	s, err := f.Resume(ctx, r.Client(), p)
	if err != nil {
		return nil, err
	}
	work, err := r.Begin(ctx)
	history := f.history
	if history == nil {
		history = []SessionUpdate{MessageChunk{Update: UpdateUserMessage, Content: TextBlock("hi"), MessageID: "m"}}
	}
	for _, u := range history {
		err = cmp.Or(err, r.Send(ctx, p.ID(), u))
	}
	if f.replaying != nil {
		f.replaying()
	}
	for _, u := range work {
		err = cmp.Or(err, r.Send(ctx, u.Session, u.Update))
	}
	return s, cmp.Or(err, f.broken)
}

func (f *fakeSessions) Resume(_ context.Context, _ *Client, p LoadSessionRequest) (Session, error) {
	return f.Find(p.ID())
}

func (f *fakeSessions) Fork(ctx context.Context, c *Client, p ForkSessionRequest) (Session, error) {
	if _, err := f.Find(p.ID()); err != nil {
		return nil, err
	}
	return f.New(ctx, c, p.NewSessionRequest)
}

func (f *fakeSessions) List(_ context.Context, p ListSessionsRequest) (r ListSessionsResponse, err error) {
	if p.Cursor != "" {
		return r, &ParamsError{Field: "cursor", Reason: "unknown"}
	}
	if p.CWD == "/w" {
		r.Sessions = []SessionInfo{{SessionID: "s1", CWD: "/w", UpdatedAt: time.Unix(0, 0).UTC()}}
		r.NextCursor = "next"
	}
	return r, nil
}

func (f *fakeSessions) Delete(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.open[id]; s != nil {
		s.client.Closed(id)
	}
	delete(f.open, id)
	return nil
}

func (f *fakeSessions) Find(id string) (Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.open[id]; ok {
		return s, nil
	}
	return nil, ErrUnknownSession
}

type fakeTurn struct {
	ctx context.Context
	s   *fakeSession
}

func (s *fakeSession) Begin(ctx context.Context, _ Prompt) Turn {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = append(s.cancel, cancel)
	return fakeTurn{ctx, s}
}

func (s *fakeSession) Steer([]ContentBlock) (Steering, bool) {
	return fakeSteering{s.owner.steer}, s.owner.steer != nil
}

type fakeSteering struct{ wait func(context.Context) error }

func (f fakeSteering) Wait(ctx context.Context) error { return f.wait(ctx) }
func (fakeSteering) Answered()                        {}

func (s *fakeSession) CancelChild(string) {}

func (s *fakeSession) CallCancel(string) func() { return nil }

func (s *fakeSession) TerminalCancel(string) func() { return nil }

func (s *fakeSession) Commands() []Command { return []Command{{Name: "help", Description: "Help"}} }

func (s *fakeSession) MessageID(string) (string, bool) { return "", false }

func (s *fakeSession) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cancel {
		c(ErrTurnCancelled)
	}
}
func (s *fakeSession) SetMode(id string) error {
	if id != "code" {
		return &ParamsError{Field: "modeId", Reason: "unknown mode"}
	}
	return nil
}
func (s *fakeSession) Close() func(context.Context) error {
	s.Cancel()
	return func(context.Context) error { s.client.Closed(s.id); return nil }
}
func (s *fakeSession) ID() string { return s.id }

func (s *fakeSession) State() SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SessionState{
		Modes: SessionModeState{CurrentModeID: "code", AvailableModes: []SessionMode{{ID: "code", Name: "Code"}}},
		ConfigOptions: []ConfigOption{{
			ID: "model", Name: "Model", Category: CategoryModel, Value: OptionValue{Text: s.model},
			Options: []ConfigChoice{{Value: "a", Name: "A"}, {Value: "b", Name: "B"}},
		}},
	}
}

func (s *fakeSession) SetOption(id string, v OptionValue) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case id == "panic":
		panic("boom")
	case id != "model":
		return &ParamsError{Field: "configId", Reason: "unknown option"}
	case v.Bool || v.Text != "a" && v.Text != "b":
		return &ParamsError{Field: "value", Reason: "unknown value"}
	}
	s.model = v.Text
	return nil
}

// Opened and Sync send updates, which show when they are called.
func (s *fakeSession) Opened()                  { s.update(context.Background(), "opened") }
func (s *fakeSession) Sync(ctx context.Context) { s.update(ctx, "sync") }

func (s *fakeSession) update(ctx context.Context, title string) {
	if s.owner.loud {
		_ = s.client.Update(ctx, s.id, InfoUpdate{Update: UpdateInfo, Title: title})
	}
}

func (t fakeTurn) End() {}

func (t fakeTurn) Run(p Prompt) (StopReason, error) {
	t.s.client.BeginWork(t.s.id)
	defer t.s.client.EndWork(t.s.id)
	if p.Inserted != nil {
		if t.ctx.Err() != nil {
			return "", context.Cause(t.ctx)
		}
		t.s.client.ShowPrompt(t.s.id, "m1", p.Content)
		p.Inserted("m1", false)
	}
	if t.ctx.Err() != nil {
		return "", context.Cause(t.ctx)
	}
	if t.s.owner.turn == nil {
		return StopEndTurn, nil
	}
	return t.s.owner.turn(t.ctx, t.s.client, p.Content)
}

func newServer(t testing.TB, sessions *fakeSessions) *Server {
	cfg := setting.Default[Config]()
	return &Server{
		Config: cfg, Agent: Implementation{Name: "zeph-acp", Version: "1"}, Sessions: sessions,
		Ready: func() error { return nil }, Log: slog.New(slog.DiscardHandler),
	}
}

// wire is a client's end of a served connection.
type wire struct {
	t   testing.TB
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

func serve(t testing.TB, s *Server) *wire {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t: t, in: inW, out: bufio.NewReader(outR), end: make(chan error, 1)}
	go func() {
		w.end <- s.Serve(context.Background(), inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); io.Copy(io.Discard, w.out); <-w.end })
	return w
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) read() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}
