// Package cache is the link of the chain that returns the result of an earlier call, if
// the call would have the same result again.
//
// Start with [New], which returns the cache of one session, and [Cache.Middleware].
// It promises never to return a result that a later call may have changed. Results
// of calls that mutate are never kept. Such calls drop the results that they may
// change, before they run and after. A tool decides whether its result is still
// valid ([executors.Result.Valid]). A result without that function is never kept,
// nor are failures, cancelled calls, and results of MCP servers.
//
// It comes after the gates, so that a call which is no longer allowed gets no
// result from it. It never writes to a disk.
package cache

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Limits of one session's cache. The least recently used entry is evicted
// first.
const (
	maxEntries = 512
	maxBytes   = 8 << 20
	maxEntry   = 1 << 20 // so that one entry does not displace all others
)

// Cache holds results of one session. It may be used concurrently.
type Cache struct {
	// Busy reports whether a command runs in the background, which may change
	// anything at any time. Meanwhile the cache neither keeps nor returns results.
	// Nil means that there are no such commands.
	Busy func() bool

	config Config

	mu       sync.Mutex
	entries  map[key]*list.Element // of recent
	recent   list.List             // of *entry; the one used last is first
	bytes    int
	mutating int    // running calls that mutate
	changes  uint64 // counts changes that may invalidate a result that is being computed
	stats    Stats
}

// Stats are the statistics of a cache.
type Stats struct {
	Hits, Misses   int // since the last Clear, of calls that only read; not counted while a call mutates
	Entries, Bytes int // now
}

// entry is one result that may be returned again.
type entry struct {
	key        key
	result     executors.Result
	record     executors.Record
	paths      []string // that the call's card names
	url        string   // that the call's card names
	readsFiles bool     // the result depends on files
	storedAt   time.Time
	size       int
}

// New returns the cache of one session.
func New(cfg Config) *Cache {
	return &Cache{config: cfg, entries: map[key]*list.Element{}}
}

// Clear drops all entries and resets the statistics.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.drop(func(*entry) bool { return true })
	c.stats = Stats{}
}

// Stats returns the statistics of the cache.
func (c *Cache) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries, s.Bytes = len(c.entries), c.bytes
	return s
}

// Middleware puts the link around next. It returns next if the cache is off.
func (c *Cache) Middleware(next executors.Executor) executors.Executor {
	if !c.config.Enabled {
		return next
	}
	return &link{next, c}
}

type link struct {
	executors.Executor // Tools and Prepare pass through
	cache              *Cache
}

func (l *link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	switch effect := call.Spec.Effect; {
	case effect == 0 || effect.Has(executors.Mutates):
		defer l.cache.mutate(call.Card.Paths)()
	case !effect.Has(executors.Internal):
		return l.recall(ctx, call, effect)
	}
	return l.Executor.Execute(ctx, call)
}

// recall returns the result of an earlier call, or runs this one and keeps its
// result.
func (l *link) recall(ctx context.Context, call *executors.Call, effect executors.Effect) (executors.Result, error) {
	k, ok := keyOf(call)
	changes, quiet := l.cache.quiet()
	if !ok || !quiet {
		return l.Executor.Execute(ctx, call)
	}
	if e := l.cache.get(k, call.Card); e != nil {
		if call.Record != nil {
			copyFacts(call.Record, e.record)
			call.Record.Cached = true
		}
		return e.result, nil
	}
	res, err := l.Executor.Execute(ctx, call)
	if err != nil || ctx.Err() != nil || !storable(res, call.Record) {
		return res, err
	}
	e := &entry{key: k, result: res, paths: call.Card.Paths, url: call.Card.URL, storedAt: time.Now()}
	e.readsFiles = len(e.paths) > 0 || !effect.Has(executors.Network)
	if call.Record != nil {
		copyFacts(&e.record, *call.Record)
	}
	if e.size, ok = entrySize(e); ok && e.size <= maxEntry {
		l.cache.put(e, changes)
	}
	return res, nil
}

// copyFacts copies the facts of a result from its record, but not the permission
// decision.
func copyFacts(to *executors.Record, from executors.Record) {
	to.ClaimSource, to.ExitCode, to.Truncated, to.OutputBytes = from.ClaimSource, from.ExitCode, from.Truncated, from.OutputBytes
}

// storable reports whether a result may be cached at all.
func storable(res executors.Result, record *executors.Record) bool {
	switch {
	case res.Failed, res.Valid == nil, res.Full != nil, res.Done != nil:
		return false
	case record != nil && record.ClaimSource == executors.FromMCP:
		return false
	}
	return !slices.ContainsFunc(res.Content, func(c executors.Content) bool { return c.Terminal != "" })
}

// busy must be called without the lock: Busy is the caller's code.
func (c *Cache) busy() bool { return c.Busy != nil && c.Busy() }

// quiet reports whether no running call can change files. put compares the
// counter that it returns to detect changes since.
func (c *Cache) quiet() (changes uint64, ok bool) {
	if c.busy() {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes, c.mutating == 0
}

// get returns the entry of a call, nil if there is no valid one.
func (c *Cache) get(k key, card executors.Card) *entry {
	c.mu.Lock()
	at := c.entries[k]
	if at == nil {
		c.stats.Misses++
		c.mu.Unlock()
		return nil
	}
	e := at.Value.(*entry)
	c.mu.Unlock()
	// A path may lead elsewhere now, and a file may have changed. The disk is
	// slow, so check without the lock.
	holds := !c.expired(e) && e.url == card.URL && slices.Equal(e.paths, card.Paths) && e.result.Valid()

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[k] != at { // dropped in the meantime
		holds = false
	} else if !holds {
		c.remove(at)
	} else {
		c.recent.MoveToFront(at)
	}
	if !holds || c.mutating > 0 {
		c.stats.Misses++
		return nil
	}
	c.stats.Hits++
	return e
}

func (c *Cache) expired(e *entry) bool {
	return c.config.TTLSecs > 0 && time.Since(e.storedAt) >= c.config.ttl()
}

// put stores an entry, unless something may have changed since quiet.
func (c *Cache) put(e *entry, changes uint64) {
	if c.busy() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes || c.mutating > 0 {
		return
	}
	if old := c.entries[e.key]; old != nil { // of the same call, which ran in parallel
		c.remove(old)
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += e.size
	for len(c.entries) > maxEntries || c.bytes > maxBytes {
		c.remove(c.recent.Back())
	}
}

// mutate drops the results that a mutating call may change. The caller calls after
// when the call has run; it drops them again.
func (c *Cache) mutate(paths []string) (after func()) {
	change := func(running int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.mutating += running
		c.changes++
		c.drop(touched(paths))
	}
	change(+1)
	return func() { change(-1) }
}

// drop removes the entries for which stale returns true.
func (c *Cache) drop(stale func(*entry) bool) {
	for at := c.recent.Front(); at != nil; {
		next := at.Next()
		if stale(at.Value.(*entry)) {
			c.remove(at)
		}
		at = next
	}
}

func (c *Cache) remove(at *list.Element) {
	e := c.recent.Remove(at).(*entry)
	delete(c.entries, e.key)
	c.bytes -= e.size
}
