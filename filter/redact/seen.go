package redact

import "hash/maphash"

// Seen knows lines again: of many most of the later ones. What it knows was
// there. A nil one knows nothing.
type Seen struct {
	seed  maphash.Seed
	marks [][2]uint32 // of the last two lines whose hashes lead there
	n     int
}

// How many lines are known at most: of short texts, and of long ones, which takes
// 512 KiB. Both are powers of two.
const (
	familiarFew  = 1 << 10
	familiarMany = 1 << 17
)

// harmless is the bit of a line that scanning did nothing to, and nothing because
// of it: the same one again need not be scanned.
const harmless = 1

func NewSeen() *Seen {
	return &Seen{seed: maphash.MakeSeed(), marks: make([][2]uint32, familiarFew/2)}
}

// hash gives what a line is known by, which is not harmless.
func (f *Seen) hash(line []byte) uint64 {
	if f == nil {
		return 0
	}
	return maphash.Bytes(f.seed, line) &^ harmless
}

// add takes a line by its hash.
func (f *Seen) add(hash uint64) {
	if f == nil {
		return
	}
	if f.n++; f.n == familiarFew {
		f.marks = make([][2]uint32, familiarMany/2) // the few are forgotten
	}
	m := f.at(hash)
	if m[0]&^harmless != uint32(hash)&^harmless {
		m[1] = m[0]
	}
	m[0] = uint32(hash)
}

func (f *Seen) at(hash uint64) *[2]uint32 { return &f.marks[hash>>32&uint64(len(f.marks)-1)] }

func (f *Seen) Has(line []byte) bool {
	h := f.hash(line)
	m := f.at(h)
	return m[0]&^harmless == uint32(h) || m[1]&^harmless == uint32(h)
}

// isHarmless reports whether a line is known for that.
func (f *Seen) isHarmless(hash uint64) bool {
	if f == nil {
		return false
	}
	m := f.at(hash)
	return m[0] == uint32(hash)|harmless || m[1] == uint32(hash)|harmless
}

// doubt has all lines scanned again: there is more to be found.
func (f *Seen) doubt() {
	if f == nil {
		return
	}
	for i := range f.marks {
		f.marks[i][0] &^= harmless
		f.marks[i][1] &^= harmless
	}
}
