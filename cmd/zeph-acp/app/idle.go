package app

import (
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// pause is how long a client must be silent before work is done ahead. Clients that
// send their requests one after another never wait for such work.
const pause = 20 * time.Millisecond

// idle does work ahead while the client is silent. The work has no effect but speed. It
// builds tables that the process keeps anyway. It also runs code that the next request
// needs, since code takes several times as long on its first run.
type idle struct {
	mu    sync.Mutex
	work  []func()
	timer *time.Timer // nil if nothing waits for the pause
	busy  bool        // run is working
	doing sync.WaitGroup
}

// plan replaces the work to be done in the next pause.
func (i *idle) plan(work ...func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.work = work
}

// begin is called when a request was answered.
func (i *idle) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer == nil && len(i.work) > 0 {
		i.timer = time.AfterFunc(pause, i.run)
	}
}

// end is called when a request came. It drops the work that has not begun.
func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer != nil {
		i.timer.Stop()
	}
	i.work, i.timer = nil, nil
}

// run does the work in its order. It returns immediately if an earlier run is already
// doing the work: its pause ended just as the request came.
func (i *idle) run() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy {
		return
	}
	i.busy = true
	for len(i.work) > 0 {
		do := i.work[0]
		i.work = i.work[1:]
		i.doing.Add(1)
		i.mu.Unlock()
		do()
		i.doing.Done()
		i.mu.Lock()
	}
	i.busy = false
}

// close waits for work that has begun.
func (i *idle) close() {
	i.end()
	i.doing.Wait()
}

// beforeSession plans the work before the first session: the schemas of all tools.
func (a *App) beforeSession() { a.idle.plan(func() { catalogue.Tools() }) }

// beforePrompt plans the work before the first prompt of the process: the system prompt, a
// request to the model and the first events of a turn. All of it is discarded, since the
// project's files may change until the prompt. The number of saved entries is kept, as
// between two turns.
func (b *sessionBuilder) beforePrompt(of *agent.Agent, f *sessionFeatures) {
	text := ""
	b.app.idle.plan(
		func() {
			if !isDirect(b.session.Model()) {
				text = f.system.write(func(string) {})
			}
		},
		func() {
			hello := llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: "hello"}}}
			llm.Prepare(b.session.Model(), llm.Request{System: text, Messages: []llm.Message{hello}, Tools: of.Tools()})
		},
		func() {
			for _, e := range []transcript.Event{transcript.Prompt{}, transcript.Block{}, transcript.Answer{}, transcript.TurnEnd{}} {
				_, _ = plainjson.Marshal(e) // every event can be encoded
			}
		},
		find(f.list, "memory").BeforeTurn,
	)
}
