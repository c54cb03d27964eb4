package filter

import "hash/maphash"

// familiar knows lines again: of many most of the later ones. What it knows was
// there.
type familiar struct {
	seed  maphash.Seed
	marks []uint64 // hashes, each at its place
	n     int
}

// How many lines are known at most: of short texts, and of long ones, which takes
// 512 KiB.
const (
	familiarFew  = 1 << 10
	familiarMany = 1 << 16
)

func newFamiliar() *familiar {
	return &familiar{seed: maphash.MakeSeed(), marks: make([]uint64, familiarFew)}
}

func (f *familiar) add(line []byte) {
	if f.n++; f.n == familiarFew {
		f.marks = make([]uint64, familiarMany) // the few are forgotten
	}
	h := maphash.Bytes(f.seed, line)
	f.marks[h%uint64(len(f.marks))] = h
}

func (f *familiar) has(line []byte) bool {
	h := maphash.Bytes(f.seed, line)
	return f.marks[h%uint64(len(f.marks))] == h
}
