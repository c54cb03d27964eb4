package acp

import (
	"context"
	"sync"
)

// family is a session and its child sessions as a connection shows them. While their history is sent,
// everything else about them waits.
type family struct {
	mu     sync.Mutex
	replay chan struct{} // closed when the history was sent; nil if none is being sent
	held   []Shown       // the updates that wait for it
	work   *work         // nil while no turn runs
}

// family returns the family of a session or child session.
func (c *Client) family(session string) *family {
	c.familiesMu.Lock()
	defer c.familiesMu.Unlock()
	root := rootOf(session)
	f := c.families[root]
	if f == nil {
		if c.families == nil {
			c.families = map[string]*family{}
		}
		f = &family{}
		c.families[root] = f
	}
	return f
}

// show sends an update, or holds it back while the history is sent.
func (f *family) show(c *Client, session string, u SessionUpdate) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.work.add(session, u)
	if f.replay != nil {
		f.held = append(f.held, Shown{session, u})
		return nil
	}
	return c.dialect.update(c, session, u)
}

// live calls do while no history is sent. It waits for the end of one unless ctx ends first.
func (f *family) live(ctx context.Context, do func()) error {
	for {
		f.mu.Lock()
		replay := f.replay
		if replay == nil {
			defer f.mu.Unlock()
			do()
			return nil
		}
		f.mu.Unlock()
		select {
		case <-replay:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// BeginWork is called when a turn of a session begins, before its first event is recorded. Until
// EndWork, the client remembers what it was shown, for a [Replay] in the midst of the turn.
func (c *Client) BeginWork(session string) {
	f := c.family(session)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.work = &work{}
}

// EndWork is called when all updates of the turn were sent and all its events are recorded. If a history
// is being sent, it waits until the client has the updates of the turn too.
func (c *Client) EndWork(session string) {
	f := c.family(session)
	_ = f.live(context.Background(), func() { f.work = nil })
}

// NextWork is called when one part of a long turn follows another: all updates so far were sent and all
// events recorded, so that a history has them. logged is called in the same moment.
func (c *Client) NextWork(session string, logged func()) {
	f := c.family(session)
	_ = f.live(context.Background(), func() {
		f.work = &work{}
		logged()
	})
}

// Replay sends the history of a session to the client, in the midst of a turn too.
type Replay struct {
	client  *Client
	session string
	family  *family // set by Begin
}

func (c *Client) replay(session string) *Replay { return &Replay{client: c, session: session} }

// Client returns the client that gets the history.
func (r *Replay) Client() *Client { return r.client }

// Begin holds back all other updates of the session and its child sessions until the client has the
// response. It returns what the client was shown of the running turn, nil if no turn runs. It waits for
// another replay of the session unless ctx ends first. Begin is called once, before the log is read.
func (r *Replay) Begin(ctx context.Context) (work []Shown, err error) {
	f := r.client.family(r.session)
	err = f.live(ctx, func() {
		f.replay, r.family = make(chan struct{}), f
		if f.work != nil {
			work = f.work.updates()
		}
	})
	return work, err
}

// Send sends an update of the history. If too much output is queued, it first waits until there is room
// or ctx ends.
func (r *Replay) Send(ctx context.Context, session string, u SessionUpdate) error {
	c := r.client
	if u = c.Capabilities().form(withoutImages(u)); u == nil {
		return nil
	}
	c.stream.out.waitForRoom(ctx.Done)
	return c.dialect.replayed(c, session, u)
}

// end sends the updates that were held back.
func (r *Replay) end() {
	f := r.family
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.client.dialect.replayEnded(r.session)
	for _, s := range f.held {
		_ = r.client.dialect.update(r.client, s.Session, s.Update) // nobody reads a closed connection
	}
	f.held = nil
	close(f.replay)
	f.replay = nil
}
