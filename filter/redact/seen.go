package redact

import "hash/maphash"

// Seen remembers lines. It forgets some of them if there are many, but never
// reports a line that was not added. A nil Seen remembers nothing.
type Seen struct {
	seed   maphash.Seed
	hashes [][2]uint32 // two lines for each bucket
	count  int         // lines added
}

// The number of remembered lines, a power of two.
const (
	initialSeen = 1 << 10 // until so many lines were added
	maxSeen     = 1 << 17 // after that; they need 512 KiB
)

// harmlessBit is the bit of a line in which nothing was found and which implies
// nothing for later lines. Such a line need not be scanned again.
const harmlessBit = 1

// NewSeen returns a Seen without lines.
func NewSeen() *Seen {
	return &Seen{seed: maphash.MakeSeed(), hashes: make([][2]uint32, initialSeen/2)}
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
	if f.count++; f.count == initialSeen {
		f.hashes = make([][2]uint32, maxSeen/2) // the lines so far are forgotten
	}
	m := f.bucket(hash)
	if m[0]&^harmlessBit != uint32(hash)&^harmlessBit {
		m[1] = m[0]
	}
	m[0] = uint32(hash)
}

func (f *Seen) bucket(hash uint64) *[2]uint32 { return &f.hashes[hash>>32&uint64(len(f.hashes)-1)] }

// Has reports whether a line is remembered.
func (f *Seen) Has(line []byte) bool {
	h := f.hash(line)
	m := f.bucket(h)
	return m[0]&^harmlessBit == uint32(h) || m[1]&^harmlessBit == uint32(h)
}

// isHarmless reports whether a line is remembered as harmless.
func (f *Seen) isHarmless(hash uint64) bool {
	if f == nil {
		return false
	}
	m := f.bucket(hash)
	return m[0] == uint32(hash)|harmlessBit || m[1] == uint32(hash)|harmlessBit
}

// forgetHarmless makes all lines be scanned again, since a new value was learned.
func (f *Seen) forgetHarmless() {
	if f == nil {
		return
	}
	for i := range f.hashes {
		f.hashes[i][0] &^= harmlessBit
		f.hashes[i][1] &^= harmlessBit
	}
}
