package app

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// pair is two factors with a value each; values are indices.
type pair struct{ f, v, g, w int }

// covering returns rows of values such that each pair of values of two factors occurs in a row.
// sizes are the numbers of values of the factors. The first row has the value 0 everywhere. The
// result depends on sizes and seed alone.
//
// It is greedy: each row begins with a pair that no row has yet, and gets the factors in random
// order, each with the value that covers most new pairs. The best of several such rows is kept.
func covering(sizes []int, seed uint64) [][]int {
	const attempts = 12
	rng := rand.New(rand.NewPCG(seed, 1))
	open := map[pair]bool{}
	for f := range sizes {
		for g := range f {
			for v := range sizes[f] {
				for w := range sizes[g] {
					open[pair{f, v, g, w}] = true
				}
			}
		}
	}
	rows := [][]int{make([]int, len(sizes))}
	for drop(open, rows[0]); len(open) > 0; {
		var best []int
		most := 0
		first := firstOf(open)
		for range attempts {
			row := greedyRow(sizes, open, first, rng)
			if n := covered(open, row); n > most {
				best, most = row, n
			}
		}
		drop(open, best)
		rows = append(rows, best)
	}
	return rows
}

// firstOf returns the smallest pair of a set, whatever the order of the map.
func firstOf(open map[pair]bool) pair {
	var first pair
	found := false
	for p := range open {
		if !found || slices.Compare([]int{p.f, p.v, p.g, p.w}, []int{first.f, first.v, first.g, first.w}) < 0 {
			first, found = p, true
		}
	}
	return first
}

// greedyRow returns a row with a pair.
func greedyRow(sizes []int, open map[pair]bool, with pair, rng *rand.Rand) []int {
	row := slices.Repeat([]int{-1}, len(sizes))
	row[with.f], row[with.g] = with.v, with.w
	for _, f := range rng.Perm(len(sizes)) {
		if row[f] >= 0 {
			continue
		}
		best, most := 0, -1
		for _, v := range rng.Perm(sizes[f]) {
			n := 0
			for g, w := range row {
				if w >= 0 && open[ordered(f, v, g, w)] {
					n++
				}
			}
			if n > most {
				best, most = v, n
			}
		}
		row[f] = best
	}
	return row
}

func ordered(f, v, g, w int) pair {
	if f < g {
		f, v, g, w = g, w, f, v
	}
	return pair{f, v, g, w}
}

// each calls do with all pairs of a row.
func each(row []int, do func(pair)) {
	for f, v := range row {
		for g := range f {
			do(pair{f, v, g, row[g]})
		}
	}
}

func covered(open map[pair]bool, row []int) (n int) {
	each(row, func(p pair) {
		if open[p] {
			n++
		}
	})
	return n
}

func drop(open map[pair]bool, row []int) { each(row, func(p pair) { delete(open, p) }) }

// TestCovering checks that the array is complete, small and always the same.
func TestCovering(t *testing.T) {
	sizes := slices.Concat(slices.Repeat([]int{2}, 60), slices.Repeat([]int{3}, 8), []int{5, 4})
	rows := covering(sizes, 1)
	if again := covering(sizes, 1); !slices.EqualFunc(rows, again, slices.Equal[[]int]) {
		t.Error("the same seed makes another array")
	}
	if len(rows) > 45 {
		t.Errorf("%d rows, want at most 45", len(rows))
	}
	seen := map[pair]bool{}
	for _, row := range rows {
		each(row, func(p pair) { seen[p] = true })
	}
	for f := range sizes {
		for g := range f {
			for v := range sizes[f] {
				for w := range sizes[g] {
					if !seen[pair{f, v, g, w}] {
						t.Fatalf("no row has value %d of factor %d with value %d of factor %d", v, f, w, g)
					}
				}
			}
		}
	}
}
