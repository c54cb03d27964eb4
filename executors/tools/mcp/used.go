package mcp

import (
	"context"
	"log/slog"
	"time"
)

// Used remembers the servers whose tools were called, by the directory of the session.
type Used struct {
	Counters Counters
	Log      *slog.Logger
}

// Counters are stored numbers by name.
type Counters interface {
	// AddCounters adds to counters, which start at 0.
	AddCounters(ctx context.Context, more map[string]int64) error
	// Counters returns the counters whose names begin with prefix.
	Counters(ctx context.Context, prefix string) (map[string]int64, error)
}

// counter returns the name of the counter of a server, or the prefix of all counters of a directory.
func counter(dir, server string) string { return "mcp.used\n" + dir + "\n" + server }

// note records a call.
func (u *Used) note(dir, server string) {
	if u == nil {
		return
	}
	if err := u.Counters.AddCounters(context.Background(), map[string]int64{counter(dir, server): 1}); err != nil {
		u.Log.Debug("record the use of an MCP server", "server", server, "err", err)
	}
}

// in returns the servers that were used in a directory.
func (u *Used) in(ctx context.Context, dir string) map[string]int64 {
	if u == nil {
		return nil
	}
	used, err := u.Counters.Counters(ctx, counter(dir, ""))
	if err != nil {
		u.Log.Debug("read the use of MCP servers", "err", err)
	}
	return used
}

// awaitStart waits for servers that are still starting, each for the session's wait from its own start: for those that
// were used in this directory before, or for all if none was.
func (s *Session) awaitStart(ctx context.Context) {
	all := s.allServers()
	used := s.pool.Used.in(ctx, s.dir)
	var awaited []*sessionServer
	for _, server := range all {
		if used[counter(s.dir, server.entry.Name)] > 0 {
			awaited = append(awaited, server)
		}
	}
	if len(awaited) == 0 {
		awaited = all
	}
	for _, server := range awaited {
		waiting, cancel := context.WithDeadline(ctx, server.added.Add(s.wait))
		server.started(waiting)
		cancel()
	}
}

// newSessionServer returns a server that a session begins to use now.
func newSessionServer(i *instance, prefix string) *sessionServer {
	return &sessionServer{instance: i, prefix: prefix, added: time.Now()}
}
