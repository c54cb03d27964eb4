package process

import (
	"syscall"
	"time"
)

// grace is the time from SIGTERM to SIGKILL, and how long SIGKILL is repeated.
const grace = 300 * time.Millisecond

// endSession ends the processes of the session that pid leads: first with SIGTERM,
// then with SIGKILL. The program may have exited already. Its pid stays reserved as
// long as its session has members, and is not reused immediately after that.
func endSession(pid int) {
	if !signalSession(pid, 0) {
		return
	}
	signalSession(pid, syscall.SIGTERM)
	if pollUntil(func() bool { return !signalSession(pid, 0) }) {
		return
	}
	// Repeat, since a process may have forked while the session was listed.
	pollUntil(func() bool { return !signalSession(pid, syscall.SIGKILL) })
}

// pollUntil polls until condition returns true or the grace is over. It reports whether
// the condition became true.
func pollUntil(condition func() bool) bool {
	over := time.After(grace)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}
