//go:build linux && !amd64

package sandbox

// oldChanges are calls that only amd64 has.
var oldChanges []uint32
