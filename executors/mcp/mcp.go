// Package mcp offers the tools of MCP servers: programs that speak on stdin and
// stdout, and servers on the web.
//
// Start with [Servers], one for the process; [Servers.Session] starts the servers of
// a session and returns the executor of their tools. It promises that nothing waits
// for a server but the first prompt and the calls of its own tools, that a server
// which fails is reported once and started again with growing waits, that no process
// of a server is left after [Servers.Close], and that tools which came later stand
// after the others, so that the provider's cache of the prefix holds.
//
// Nothing that a server writes is trusted. Descriptions and results are bounded and
// marked as the server's words, schemas are checked, and a tool counts as reading
// only if the user trusts its server. The package does not offer sampling: a server
// must not spend the user's tokens unseen.
//
// Why are servers of the configuration shared? Twenty sessions in one directory would
// start twenty processes of each. Servers that a client sends belong to their session.
package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/executors/shell/process"
)

// Servers are the running servers of a process. Its exported fields do not change
// once it is used; its methods may be called concurrently.
type Servers struct {
	Version string              // of this program, for the servers
	Env     func() []string     // returns NAME=value, the environment of programs without secrets
	Getenv  func(string) string // looks up variables that an entry names; nil means that there are none
	Log     *slog.Logger
	Mask    func(string) string // masks credentials in what is logged; nil masks nothing
	// Approvals keep what the user approved; nil keeps nothing.
	Approvals *Approvals
	// Logins keep the user's logins at servers on the web; nil means no logins.
	Logins oauth.Store
	Learn  func(secret string) // receives secrets of logins, to be masked; nil drops them
	// Open shows the user the page on which to log in to a server. If it is nil,
	// "zeph-acp mcp login" has to be run.
	Open func(ctx context.Context, server, url string) error
	// Reaper returns what ends servers if this process is killed; nil means nothing.
	Reaper func() *process.Reaper

	mu      sync.Mutex
	running map[*instance]int    // and how many sessions use it
	shared  map[string]*instance // by entry and directory
	closed  bool
}

// open returns a running server for an entry, and starts it if necessary. It does
// not wait.
func (p *Servers) open(e Server, dir string, dirs []string, watch *watcher) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, roots := "", append([]string{dir}, dirs...)
	if e.shared() {
		roots = roots[:1] // the other directories differ from session to session
		key = e.hash() + " " + dir
	}
	i := p.shared[key]
	if i == nil {
		i = newInstance(p, e, roots)
		if p.running == nil {
			p.running, p.shared = map[*instance]int{}, map[string]*instance{}
		}
		if key != "" {
			p.shared[key] = i
		}
		if p.closed {
			i.cancel(errClosed)
		}
		go i.run()
	}
	p.running[i]++
	i.watch(watch)
	return i
}

// release gives a server back. The last session ends it and waits for that.
func (p *Servers) release(i *instance, watch *watcher) {
	i.unwatch(watch)
	p.mu.Lock()
	p.running[i]--
	last := p.running[i] == 0
	if last {
		delete(p.running, i)
		for key, other := range p.shared {
			if other == i {
				delete(p.shared, key)
			}
		}
	}
	p.mu.Unlock()
	if last {
		i.cancel(errClosed)
		<-i.done
	}
}

// hurry is how long a server may take for each step of its end when this process
// ends: altogether less than a second.
const hurry = 300 * time.Millisecond

// Close ends all servers and waits for that, less than a second. Sessions may be
// closed later. A nil Servers has none.
func (p *Servers) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	var all sync.WaitGroup
	for i := range p.running {
		i.cancel(errClosed)
		all.Go(func() {
			i.end(hurry)
			<-i.done
		})
	}
	p.mu.Unlock()
	all.Wait()
}

func (p *Servers) mask(text string) string {
	if p.Mask == nil {
		return text
	}
	return p.Mask(text)
}

// watcher is a session that is told of changes. Its functions must not block.
type watcher struct {
	failed func(i *instance, err error) // it does not run; called once until it runs again
}

// State is the state of a server.
type State string

// The states.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Failed   State = "failed" // it is started again after a while
	Stopped  State = "stopped"
)

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
