package logs

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// If many different records are left, similar ones are folded. Then the middle
// is cut.
const (
	foldOver       = 40       // entries beyond which similar ones are folded
	minFoldByNames = 4        // entries to fold that differ in names, paths and numbers
	minFoldByWord  = 8        // entries to fold that differ in one word
	cutOver        = 120      // entries beyond which the middle is cut
	cutBytes       = 12 << 10 // bytes beyond which the middle is cut
	cutEnds        = 25       // entries kept at each end
	maxProblems    = 300      // entries kept that report problems
)

// logFold reduces the number of entries.
type logFold struct {
	entries []*logEntry
	short   bool // nothing is cut or folded
	lossy   bool // entries were folded that differ in words
	scratch logEntry
}

func (f *logFold) fold() {
	if f.short {
		return
	}
	if len(f.entries) > foldOver {
		f.foldSimilar(func(e *logEntry) bool { return !e.important }, minFoldByNames, minFoldByWord)
	}
	problems := 0
	for _, e := range f.entries {
		if e.important {
			problems++
		}
	}
	if problems > maxProblems {
		f.foldSimilar(func(e *logEntry) bool { return e.important }, minFoldByWord, minFoldByWord)
	}
}

// foldSimilar folds eligible entries: at least minByNames entries that differ only in
// names and paths, or at least minByWord entries that differ in one word.
func (f *logFold) foldSimilar(eligible func(*logEntry) bool, minByNames, minByWord int) {
	var h maphash.Hash
	f.foldByKey(func(e *logEntry, keys []uint64) []uint64 {
		if !eligible(e) || strings.Contains(e.key, "\n") {
			return keys
		}
		h.Reset()
		says := false
		for w := range strings.SplitSeq(e.key, " ") {
			if strings.ContainsAny(w, "#/@\\") || strings.Contains(strings.TrimRight(w, ".,:"), ".") || len(w) > 40 {
				w = "*"
			}
			says = says || saysSomething(w)
			h.WriteString(w)
			h.WriteByte(' ')
		}
		if !says { // such as a list of paths
			return keys
		}
		return append(keys, h.Sum64())
	}, minByNames)
	f.foldByKey(func(e *logEntry, keys []uint64) []uint64 {
		if !eligible(e) || strings.Contains(e.key, "\n") || len(e.key) > 1000 {
			return keys
		}
		for from := 0; from < len(e.key); {
			to := strings.IndexByte(e.key[from:], ' ')
			if to < 0 {
				to = len(e.key)
			} else {
				to += from
			}
			// the first word says the most
			if from > 0 && to > from+1 && (saysSomething(e.key[:from]) || saysSomething(e.key[to:])) {
				h.Reset()
				h.WriteString(e.key[:from])
				h.WriteByte(0)
				h.WriteString(e.key[to:])
				keys = append(keys, h.Sum64())
			}
			from = to + 1
		}
		return keys
	}, minByWord)
}

// saysSomething reports whether a part of a key has letters, so that records which share it are alike.
func saysSomething(part string) bool {
	return strings.IndexFunc(part, unicode.IsLetter) >= 0
}

// foldByKey folds entries that share a key with others, at least minimum in all, into the
// first of them. keysOf appends the hashes of the keys of an entry.
func (f *logFold) foldByKey(keysOf func(*logEntry, []uint64) []uint64, minimum int) {
	var all []uint64 // hashes of the keys of all entries
	ends := make([]int, len(f.entries))
	count := make(map[uint64]int, len(f.entries))
	for i, e := range f.entries {
		all = keysOf(e, all)
		ends[i] = len(all)
	}
	for _, k := range all {
		count[k]++
	}
	first := map[uint64]*logEntry{}
	kept := f.entries[:0]
	from := 0
	for i, e := range f.entries {
		keys := all[from:ends[i]]
		from = ends[i]
		best, most := uint64(0), minimum-1
		for _, k := range keys {
			if n := count[k]; n > most {
				best, most = k, n
			}
		}
		if most < minimum {
			kept = append(kept, e)
			continue
		}
		into := first[best]
		if into == nil {
			first[best] = e
			kept = append(kept, e)
			continue
		}
		into.merge(e, &f.scratch)
		f.lossy = true
	}
	clear(f.entries[len(kept):])
	f.entries = kept
}

// kept returns which entries stay, or nil if all do.
func (f *logFold) kept() []bool {
	if f.short {
		return nil
	}
	size, problems := 0, 0
	for _, e := range f.entries {
		size += min(len(e.text), maxRoutine)
		if e.important {
			problems++
		}
	}
	if n := len(f.entries); n <= cutOver && (n <= 2*foldOver || size <= cutBytes) {
		return nil
	}
	keep := make([]bool, len(f.entries))
	seen := 0
	for i, e := range f.entries {
		ends := i < cutEnds || i >= len(keep)-cutEnds
		if !e.important {
			keep[i] = keep[i] || ends
			continue
		}
		seen++
		if seen > maxProblems-100 && seen <= problems-100 && !ends {
			continue
		}
		for near := max(0, i-2); near <= min(len(keep)-1, i+1); near++ {
			keep[near] = true
		}
	}
	for _, k := range keep {
		if !k {
			f.lossy = true
			return keep
		}
	}
	return nil
}
