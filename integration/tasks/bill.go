package main

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A price says what a token costs, as a multiple of an uncached one.
type price struct {
	name       string
	new, known float64 // known tokens are read from the cache
}

// prices are those of the providers. The first is the one that tables compare by.
var prices = []price{
	{"openai 1/0.1", 1, 0.1},
	{"anthropic 1.25/0.1", 1.25, 0.1},
	{"openai 1/0.25", 1, 0.25},
	{"no cache", 1, 1},
}

// A bill is what a request, or a whole task, costs.
type bill struct {
	bytes      int
	new, known map[part]int // tokens
}

func newBill() *bill { return &bill{new: map[part]int{}, known: map[part]int{}} }

// add adds another bill.
func (b *bill) add(other *bill) {
	b.bytes += other.bytes
	for _, p := range parts {
		b.new[p] += other.new[p]
		b.known[p] += other.known[p]
	}
}

// sent returns the tokens of a part, or of all.
func (b *bill) sent(only ...part) int {
	n := 0
	for _, p := range orAll(only) {
		n += b.new[p] + b.known[p]
	}
	return n
}

// cost returns the tokens that are billed for a part, or for all.
func (b *bill) cost(pr price, only ...part) float64 {
	sum := 0.0
	for _, p := range orAll(only) {
		sum += pr.new*float64(b.new[p]) + pr.known*float64(b.known[p])
	}
	return sum
}

func orAll(only []part) []part {
	if len(only) == 0 {
		return parts
	}
	return only
}

// A meter bills requests. It assumes that the provider's cache holds every earlier request
// of the task, and that the agent marked the prefix where the provider wants that.
type meter struct {
	earlier []*request
	tokens  map[string]int // by text
}

func (m *meter) bill(r *request) *bill {
	known := 0
	for _, e := range m.earlier {
		n := 0
		for n < min(len(e.items), len(r.items)) && e.items[n] == r.items[n] {
			n++
		}
		known = max(known, n)
	}
	m.earlier = append(m.earlier, r)
	b := newBill()
	b.bytes = r.bytes
	for i, it := range r.items {
		if i < known {
			b.known[it.part] += m.count(it.text)
		} else {
			b.new[it.part] += m.count(it.text)
		}
	}
	return b
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
