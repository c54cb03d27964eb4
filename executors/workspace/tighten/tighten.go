// Package tighten adopts the keys of a repository's configuration that make the
// user's configuration stricter, and collects the names of all others.
package tighten

import (
	"cmp"
	"slices"
)

// Keys are the keys of one table. A Keys is made for one call of a Tighten method.
type Keys struct {
	isSet   func(key string) bool
	ignored []string
}

// New returns the keys of a table; isSet reports whether the repository's file sets a
// key.
func New(isSet func(key string) bool) *Keys { return &Keys{isSet: isSet} }

// Has reports whether the file sets the key.
func (k *Keys) Has(key string) bool { return k.isSet(key) }

// Ignore records that a key, or a part of its value, is ignored.
func (k *Keys) Ignore(key string) { k.ignored = append(k.ignored, key) }

// Adopt calls set if the file sets the key, and strict reports that its value is at least
// as strict as the user's. It ignores a looser value.
func (k *Keys) Adopt(key string, strict bool, set func()) {
	switch {
	case !k.isSet(key):
	case strict:
		set()
	default:
		k.Ignore(key)
	}
}

// Enable adopts a switch that makes the configuration stricter if it is on.
func (k *Keys) Enable(key string, ours *bool, theirs bool) {
	k.Adopt(key, theirs || !*ours, func() { *ours = theirs })
}

// Disable adopts a switch that makes the configuration stricter if it is off.
func (k *Keys) Disable(key string, ours *bool, theirs bool) {
	k.Adopt(key, !theirs || *ours, func() { *ours = theirs })
}

// Append adds the new elements of a list that makes the configuration stricter.
func (k *Keys) Append(key string, ours *[]string, theirs []string) {
	k.Adopt(key, true, func() {
		all := slices.Clone(*ours)
		for _, s := range theirs {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
		*ours = all
	})
}

// Lower adopts a lower limit.
func Lower[T cmp.Ordered](k *Keys, key string, ours *T, theirs T) {
	k.Adopt(key, theirs <= *ours, func() { *ours = theirs })
}

// LowerOptional adopts a lower limit where 0 means no limit.
func LowerOptional[T int | int64](k *Keys, key string, ours *T, theirs T) {
	k.Adopt(key, theirs == *ours || theirs > 0 && (*ours == 0 || theirs < *ours), func() { *ours = theirs })
}

// Ignored returns the keys that were ignored, in the order of the calls.
func (k *Keys) Ignored() []string { return k.ignored }
