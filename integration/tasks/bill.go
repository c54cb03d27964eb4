package main

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/agents"
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
	tokens map[agents.Part]int
	known  map[agents.Part]int // in the cache of a provider that caches every prefix
	marked map[agents.Part]int // in the cache of one that caches prefixes with a mark at their end
}

func newBill() *bill {
	return &bill{tokens: map[agents.Part]int{}, known: map[agents.Part]int{}, marked: map[agents.Part]int{}}
}

// add adds another bill.
func (b *bill) add(other *bill) {
	b.bytes += other.bytes
	for _, p := range agents.Parts {
		b.tokens[p] += other.tokens[p]
		b.known[p] += other.known[p]
		b.marked[p] += other.marked[p]
	}
}

// sent returns the tokens of a part, or of all.
func (b *bill) sent(only ...agents.Part) int { return sum(b.tokens, only) }

// fresh returns the tokens of a part, or of all, that are in no cache.
func (b *bill) fresh(only ...agents.Part) int { return sum(b.tokens, only) - sum(b.known, only) }

// cost returns the tokens that are billed for a part, or for all.
func (b *bill) cost(pr price, only ...agents.Part) float64 {
	cached := sum(b.known, only)
	if pr.marks {
		cached = sum(b.marked, only)
	}
	return pr.new*float64(b.sent(only...)-cached) + pr.known*float64(cached)
}

func sum(tokens map[agents.Part]int, only []agents.Part) (n int) {
	for _, p := range orAll(only) {
		n += tokens[p]
	}
	return n
}

func orAll(only []agents.Part) []agents.Part {
	if len(only) == 0 {
		return agents.Parts
	}
	return only
}

// A meter bills requests. It assumes that the provider's cache holds every earlier request
// of the task.
type meter struct {
	earlier []*agents.Request
	tokens  map[string]int // by text
}

// lookBack is the number of items before a mark at which Anthropic looks for a cached prefix.
const lookBack = 20

func (m *meter) bill(r *agents.Request) *bill {
	known, marked := 0, 0
	for _, e := range m.earlier {
		n := 0
		for n < min(len(e.Items), len(r.Items)) && e.Items[n].Same(r.Items[n]) {
			n++
			if e.Items[n-1].Mark && looksAt(r, n) {
				marked = max(marked, n)
			}
		}
		known = max(known, n)
	}
	if !hasMarks(r) { // in another protocol, whose agent would set marks if it needed them
		marked = known
	}
	m.earlier = append(m.earlier, r)
	b := newBill()
	b.bytes = r.Bytes
	for i, it := range r.Items {
		n := m.count(it.Text)
		b.tokens[it.Part] += n
		if i < known {
			b.known[it.Part] += n
		}
		if i < marked {
			b.marked[it.Part] += n
		}
	}
	return b
}

func hasMarks(r *agents.Request) bool {
	return slices.ContainsFunc(r.Items, func(it agents.Item) bool { return it.Mark })
}

// looksAt reports whether the provider looks for the prefix of n items in its cache.
func looksAt(r *agents.Request, n int) bool {
	return slices.ContainsFunc(r.Items[n-1:min(len(r.Items), n-1+lookBack)], func(it agents.Item) bool { return it.Mark })
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
func lost(facts []fact, requests []*agents.Request) []fact {
	var results strings.Builder
	seen := map[string]bool{}
	for _, r := range requests {
		for _, it := range r.Items {
			if it.Part == agents.PartResults && !seen[it.Text] {
				seen[it.Text] = true
				results.WriteString(it.Text + "\n")
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
