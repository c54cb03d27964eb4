package process

import (
	"syscall"
	"time"
)

// grace is the time from SIGTERM to SIGKILL, and how long SIGKILL is repeated.
const grace = 300 * time.Millisecond

// endSession stops what is left of the session that pid leads: first by asking.
// The program may be gone already; its pid stays taken as long as its session has
// members, and is not given out again at once when it has none.
func endSession(pid int) {
	if !signalSession(pid, 0) {
		return
	}
	signalSession(pid, syscall.SIGTERM)
	if gone(func() bool { return !signalSession(pid, 0) }) {
		return
	}
	// Again and again, since a process may have forked while it was looked for.
	gone(func() bool { return !signalSession(pid, syscall.SIGKILL) })
}

// gone polls until is reports true or the grace is over.
func gone(is func() bool) bool {
	over := time.After(grace)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}
