// Package mcp offers the tools, prompts and resources of MCP servers: programs that
// speak on stdin and stdout, and servers on the web.
//
// Start with [Servers], one for the process; [Servers.Session] starts the servers of a session and
// returns the executor of their tools. It promises that only the first prompt, and calls of a
// server's own tools, wait for the server. A failed server is reported once and started again, with
// growing waits. No process of a server is left after [Servers.Close]. New tools are listed after
// the others, so that the provider's cache of the prefix stays valid.
//
// Nothing that a server writes is trusted. Descriptions and results are bounded and marked as the
// server's words, and schemas are checked. A tool counts as reading only if the user trusts its
// server. The package does not offer sampling: a server must not spend the user's tokens without
// the user's knowledge.
//
// Why are servers of the configuration shared? Twenty sessions in one directory would
// start twenty processes of each. Servers that a client sends belong to their session.
package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
)

// Servers are the running servers of a process. Its exported fields do not change
// once it is used; its methods may be called concurrently.
type Servers struct {
	Version string              // of this program, for the servers
	Env     func() []string     // returns NAME=value, the environment of programs without secrets
	Getenv  func(string) string // looks up the variables that an entry names; nil means no variables
	Log     *slog.Logger
	Mask    func(string) string // masks credentials in log lines; nil leaves them unmasked
	// MaskLines returns a function that masks the lines of one stream; nil means Mask for each line.
	MaskLines func() func(line string) string
	// Approvals store the user's approvals; nil stores none.
	Approvals *approval.Store
	// Logins store the user's logins at servers on the web; nil means no logins.
	Logins oauth.Store
	Learn  func(secret string) // receives secrets of logins, to be masked; nil drops them
	// Open shows the user the page on which to log in to a server, in Login and while
	// servers start. If it is nil, users of sessions are asked who can open pages;
	// others have to run "zeph-acp mcp login".
	Open func(ctx context.Context, server, url string) error
	// Used remembers the servers whose tools were called; nil remembers none.
	Used *Used
	// Reaper returns the process that ends the servers if this one is killed; nil means
	// no such process.
	Reaper func() *process.Reaper

	mu      sync.Mutex
	running map[*instance]int    // number of sessions that use it
	shared  map[string]*instance // by entry and directory
	closed  bool
}

// open returns a running server for an entry, and starts it if necessary. It does
// not wait.
func (p *Servers) open(e Server, dir string, dirs []string, watch *watcher, user *queue) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, roots := "", append([]string{dir}, dirs...)
	if e.shared() {
		roots = roots[:1] // the other directories differ from session to session
		key = fmt.Sprint(e.hash(), " ", user.forms(), " ", user.pages(), " ", dir)
	}
	i := p.shared[key]
	if i == nil {
		i = newInstance(p, e, roots, user)
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

// release ends a session's use of a server. The last session stops the server and
// waits until it has ended.
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

// shutdownStep is the time for each step of stopping a server when this process ends. All
// steps together take less than a second.
const shutdownStep = 300 * time.Millisecond

// Close stops all servers and waits until they have ended, which takes less than a
// second. Sessions may be closed later. Close of a nil Servers does nothing.
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
			i.end(shutdownStep)
			<-i.done
		})
	}
	p.mu.Unlock()
	all.Wait()
}

// maskLines returns a function that masks the lines of one stream, in which a private key has
// several.
func (p *Servers) maskLines() func(line string) string {
	if p.MaskLines == nil {
		return p.mask
	}
	return p.MaskLines()
}

func (p *Servers) mask(text string) string {
	if p.Mask == nil {
		return text
	}
	return p.Mask(text)
}

// watcher receives the failures of a server for one session. Its functions must not
// block.
type watcher struct {
	failed  func(i *instance, err error) // called once for each outage
	changed func()                       // called when prompts may have changed; may be nil
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
