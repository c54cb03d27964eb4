//go:build linux && !amd64

package sandbox

// olderChangingCalls are system calls that only amd64 has.
var olderChangingCalls []uint32

var olderModeCalls []uint32
