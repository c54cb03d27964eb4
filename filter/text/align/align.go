// Package align pairs the equal elements of two sequences, such as the lines of a
// text before and after a change.
//
// Start with [Common]. Its time is nearly linear, so the pairs are not always the
// most that are possible.
package align

import (
	"cmp"
	"slices"
)

// Pair is a pair of indexes, of the first and of the second sequence.
type Pair = [2]int

const (
	maxTable = 1 << 20 // entries of a table of byTable
	maxWork  = 1 << 24 // entries of all tables
	maxDepth = 8       // of parts between anchors
)

// Common returns pairs of equal elements of a and b; both indexes ascend. It pairs
// equal ends first, then elements that are unique in both. A part without these is
// paired as well as possible if it is short, else not at all.
func Common[T comparable](a, b []T) []Pair {
	c := common[T]{work: maxWork}
	c.part(a, b, 0, 0, maxDepth)
	return c.pairs
}

// common collects pairs.
type common[T comparable] struct {
	pairs []Pair
	work  int // entries that tables may still have
}

// part adds the pairs of a and b, with atA and atB added to their indexes.
func (c *common[T]) part(a, b []T, atA, atB, depth int) {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		c.pairs = append(c.pairs, Pair{atA + head, atB + head})
		head++
	}
	m, n := len(a), len(b)
	for m > head && n > head && a[m-1] == b[n-1] {
		m, n = m-1, n-1
	}
	c.middle(a[head:m], b[head:n], atA+head, atB+head, depth)
	for ; m < len(a); m, n = m+1, n+1 {
		c.pairs = append(c.pairs, Pair{atA + m, atB + n})
	}
}

// middle is part for sequences whose ends differ.
func (c *common[T]) middle(a, b []T, atA, atB, depth int) {
	switch {
	case len(a) == 0 || len(b) == 0:
		return
	case len(a) <= min(maxTable, c.work)/len(b):
		c.byTable(a, b, atA, atB)
		return
	case depth == 0:
		return
	}
	a0, b0 := 0, 0
	all := anchors(a, b)
	for _, p := range all {
		c.part(a[a0:p[0]+1], b[b0:p[1]+1], atA+a0, atB+b0, depth-1)
		a0, b0 = p[0]+1, p[1]+1
	}
	if len(all) > 0 {
		c.part(a[a0:], b[b0:], atA+a0, atB+b0, depth-1)
	}
}

// anchors returns the longest ascending sequence of pairs of elements that are unique in a
// and in b.
func anchors[T comparable](a, b []T) []Pair {
	type places struct{ inA, inB, at int } // counts, and the index in a
	seen := make(map[T]places, len(a))
	for i, e := range a {
		p := seen[e]
		p.inA, p.at = p.inA+1, i
		seen[e] = p
	}
	for _, e := range b {
		if p, ok := seen[e]; ok {
			p.inB++
			seen[e] = p
		}
	}
	var unique []Pair // by the index in b
	for i, e := range b {
		if p := seen[e]; p.inA == 1 && p.inB == 1 {
			unique = append(unique, Pair{p.at, i})
		}
	}
	var ends []int // at n the pair with the smallest index in a that ends a sequence of n+1 pairs
	before := make([]int, len(unique))
	for i, p := range unique {
		n, _ := slices.BinarySearchFunc(ends, p[0], func(end, at int) int { return cmp.Compare(unique[end][0], at) })
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		}
		ends[n] = i
	}
	if len(ends) == 0 {
		return nil
	}
	longest := make([]Pair, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		longest[n] = unique[i]
	}
	return longest
}

// byTable adds a longest common subsequence, by dynamic programming.
func (c *common[T]) byTable(a, b []T, atA, atB int) {
	width := len(b) + 1
	c.work -= len(a) * len(b)
	length := make([]int32, (len(a)+1)*width) // of the best for a[i:], b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			c.pairs = append(c.pairs, Pair{i + atA, j + atB})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}
