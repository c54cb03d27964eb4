//go:build linux && !amd64

package sandbox

// oldChanges are system calls that only amd64 has.
var oldChanges []uint32
