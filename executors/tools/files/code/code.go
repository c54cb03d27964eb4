// Package code finds the definitions of symbols in source files, and lines of text,
// and ranks them.
//
// Start with [ParseQuery] and [NewSearch]. Each goroutine that reads files has a
// [Search.Scanner]; the hits of each file go to [Search.Add]. The package neither
// reads files nor chooses them.
//
// It promises that the result does not depend on the order in which files are
// scanned. Definitions come before lines of text. Tests, generated and vendored code
// come after other code. Go is parsed with go/parser. The definitions of other
// languages are found line by line, by patterns that are written for formatted code:
// they miss unusual layouts, and a line of a string may look like a definition.
//
// Why patterns and not an index? An index must stay in memory, and each edit makes it
// stale. A walk that searches for the rarest byte of a name is about as fast as the disk.
// Patterns are matched only with lines that contain the name.
//
// Why does a scanner drop hits? A name may occur in each line of a repository. A hit
// that ranks after all that are kept can no longer be shown, so it is dropped before
// its file is parsed. A file whose best possible hit ranks after them need not even be
// read; see [Scanner.MayShow].
package code

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// Hit is a definition, or a line of text.
type Hit struct {
	Path      string
	Line      int    // 1-based
	Kind      string // such as func or struct; Text for a line of text
	Name      string // of a definition, after the name of its container and a dot
	Signature string // the rest of the definition, or the line of text; on one line
	score     int
}

// Text is the kind of a line that defines nothing.
const Text = "text"

// Size returns the approximate size of h in bytes.
func (h Hit) Size() int { return 64 + len(h.Path) + len(h.Name) + len(h.Signature) }

// compare orders hits by their rank, the best first.
func (h *Hit) compare(other *Hit) int {
	return cmp.Or(cmp.Compare(other.score, h.score), cmp.Compare(h.Path, other.Path), cmp.Compare(h.Line, other.Line),
		cmp.Compare(h.Name, other.Name))
}

// Search collects the best hits for a query. Its methods may be called concurrently.
type Search struct {
	query   Query
	maxHits int
	worst   atomic.Pointer[Hit] // the worst hit that is kept, once the limit is reached
	more    atomic.Bool

	mu   sync.Mutex
	hits []Hit // the best so far, in order
}

// NewSearch returns a search that keeps at most maxHits hits, and at least one.
func NewSearch(q Query, maxHits int) *Search { return &Search{query: q, maxHits: max(1, maxHits)} }

// Add adds the hits of a file.
func (s *Search) Add(hits []Hit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hits {
		if s.hits = insert(s.hits, &h); len(s.hits) > s.maxHits {
			s.hits = s.hits[:s.maxHits]
			s.more.Store(true)
		}
	}
	if len(s.hits) == s.maxHits {
		last := s.hits[s.maxHits-1]
		s.worst.Store(&last)
	}
}

// insert inserts a hit into others that are in order.
func insert(hits []Hit, h *Hit) []Hit {
	at, _ := slices.BinarySearchFunc(hits, h, func(a Hit, b *Hit) int { return a.compare(b) })
	return slices.Insert(hits, at, *h)
}

// Hits returns the best hits in order, and whether there are more.
func (s *Search) Hits() (hits []Hit, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hits), s.more.Load()
}

// mayRank reports whether a hit may still be shown.
func (s *Search) mayRank(h *Hit) bool {
	last := s.worst.Load()
	return last == nil || h.compare(last) < 0
}

// admit is mayRank that also records that a hit is not shown.
func (s *Search) admit(h *Hit) bool {
	if s.mayRank(h) {
		return true
	}
	s.more.Store(true)
	return false
}
