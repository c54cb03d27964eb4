package redact

import "hash/maphash"

// Seen remembers lines. It forgets some of them if there are many, but never
// reports a line that it was not given. A nil Seen remembers nothing.
type Seen struct {
	seed  maphash.Seed
	marks [][2]uint32 // two lines for each index
	n     int
}

// The number of remembered lines of short texts, and of long ones, for which
// they need 512 KiB. Both are powers of two.
const (
	familiarFew  = 1 << 10
	familiarMany = 1 << 17
)

// harmlessBit is the bit of a line in which nothing was found and which implies
// nothing for later lines. Such a line need not be scanned again.
const harmlessBit = 1

// NewSeen returns a Seen without lines.
func NewSeen() *Seen {
	return &Seen{seed: maphash.MakeSeed(), marks: make([][2]uint32, familiarFew/2)}
}

// hash returns the hash of a line, without the harmless bit.
func (f *Seen) hash(line []byte) uint64 {
	if f == nil {
		return 0
	}
	return maphash.Bytes(f.seed, line) &^ harmlessBit
}

// add remembers a line by its hash.
func (f *Seen) add(hash uint64) {
	if f == nil {
		return
	}
	if f.n++; f.n == familiarFew {
		f.marks = make([][2]uint32, familiarMany/2) // the lines so far are forgotten
	}
	m := f.at(hash)
	if m[0]&^harmlessBit != uint32(hash)&^harmlessBit {
		m[1] = m[0]
	}
	m[0] = uint32(hash)
}

func (f *Seen) at(hash uint64) *[2]uint32 { return &f.marks[hash>>32&uint64(len(f.marks)-1)] }

// Has reports whether a line is remembered.
func (f *Seen) Has(line []byte) bool {
	h := f.hash(line)
	m := f.at(h)
	return m[0]&^harmlessBit == uint32(h) || m[1]&^harmlessBit == uint32(h)
}

// isHarmless reports whether a line is remembered as harmless.
func (f *Seen) isHarmless(hash uint64) bool {
	if f == nil {
		return false
	}
	m := f.at(hash)
	return m[0] == uint32(hash)|harmlessBit || m[1] == uint32(hash)|harmlessBit
}

// doubt marks no line as harmless any more, since a new value was learned: all lines are
// scanned again.
func (f *Seen) doubt() {
	if f == nil {
		return
	}
	for i := range f.marks {
		f.marks[i][0] &^= harmlessBit
		f.marks[i][1] &^= harmlessBit
	}
}
