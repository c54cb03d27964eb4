package main

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A price says what a token costs, as a multiple of an uncached one.
type price struct {
	name       string
	new, known float64 // known tokens are read from the cache
	marks      bool    // the provider caches only what the agent marked
}

// prices are those of the providers. The first is the one that tables compare by.
var prices = []price{
	{"openai 1/0.1", 1, 0.1, false},
	{"anthropic 1.25/0.1", 1.25, 0.1, true},
	{"openai 1/0.25", 1, 0.25, false},
	{"no cache", 1, 1, false},
}

// A bill is what a request, or a whole task, costs, in tokens by part.
type bill struct {
	bytes  int
	tokens map[part]int
	known  map[part]int // in the cache of a provider that caches every prefix
	marked map[part]int // in the cache of one that caches prefixes with a mark at their end
}

func newBill() *bill {
	return &bill{tokens: map[part]int{}, known: map[part]int{}, marked: map[part]int{}}
}

// add adds another bill.
func (b *bill) add(other *bill) {
	b.bytes += other.bytes
	for _, p := range parts {
		b.tokens[p] += other.tokens[p]
		b.known[p] += other.known[p]
		b.marked[p] += other.marked[p]
	}
}

// sent returns the tokens of a part, or of all.
func (b *bill) sent(only ...part) int { return sum(b.tokens, only) }

// fresh returns the tokens of a part, or of all, that are in no cache.
func (b *bill) fresh(only ...part) int { return sum(b.tokens, only) - sum(b.known, only) }

// cost returns the tokens that are billed for a part, or for all.
func (b *bill) cost(pr price, only ...part) float64 {
	cached := sum(b.known, only)
	if pr.marks {
		cached = sum(b.marked, only)
	}
	return pr.new*float64(b.sent(only...)-cached) + pr.known*float64(cached)
}

func sum(tokens map[part]int, only []part) (n int) {
	for _, p := range orAll(only) {
		n += tokens[p]
	}
	return n
}

func orAll(only []part) []part {
	if len(only) == 0 {
		return parts
	}
	return only
}

// A meter bills requests. It assumes that the provider's cache holds every earlier request
// of the task.
type meter struct {
	earlier []*request
	tokens  map[string]int // by text
}

// lookBack is the number of items before a mark at which Anthropic looks for a cached prefix.
const lookBack = 20

func (m *meter) bill(r *request) *bill {
	known, marked := 0, 0
	for _, e := range m.earlier {
		n := 0
		for n < min(len(e.items), len(r.items)) && e.items[n].same(r.items[n]) {
			n++
			if e.items[n-1].mark && r.looksAt(n) {
				marked = max(marked, n)
			}
		}
		known = max(known, n)
	}
	if !r.hasMarks() { // in another protocol, whose agent would set marks if it needed them
		marked = known
	}
	m.earlier = append(m.earlier, r)
	b := newBill()
	b.bytes = r.bytes
	for i, it := range r.items {
		n := m.count(it.text)
		b.tokens[it.part] += n
		if i < known {
			b.known[it.part] += n
		}
		if i < marked {
			b.marked[it.part] += n
		}
	}
	return b
}

func (r *request) hasMarks() bool {
	return slices.ContainsFunc(r.items, func(it item) bool { return it.mark })
}

// looksAt reports whether the provider looks for the prefix of n items in its cache.
func (r *request) looksAt(n int) bool {
	return slices.ContainsFunc(r.items[n-1:min(len(r.items), n-1+lookBack)], func(it item) bool { return it.mark })
}

// count returns the estimated tokens of an item.
func (m *meter) count(text string) int {
	if m.tokens == nil {
		m.tokens = map[string]int{}
	}
	n, ok := m.tokens[text]
	if !ok {
		n = llm.TextTokens("", text)
		m.tokens[text] = n
	}
	return n
}

// lost returns the facts that no result in the requests contained.
func lost(facts []fact, requests []*request) []fact {
	var results strings.Builder
	seen := map[string]bool{}
	for _, r := range requests {
		for _, it := range r.items {
			if it.part == partResults && !seen[it.text] {
				seen[it.text] = true
				results.WriteString(it.text + "\n")
			}
		}
	}
	all := results.String()
	var missing []fact
	for _, f := range facts {
		if !strings.Contains(all, f.text) {
			missing = append(missing, f)
		}
	}
	return missing
}
