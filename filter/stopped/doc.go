// Package stopped finds what a command was doing when a signal or a time limit ended it: its last
// lines, the last lines that announce steps, and the tests and tasks that began but did not end.
//
// Start with [By] and [Watch]. The lines have to stay whatever the rules remove, since such an output
// has no summary.
package stopped

// By reports whether an exit code, as [strategy.Run] documents it, means that the command was stopped:
// 124 by timeout(1), more than 128 by a signal.
func By(exit int) bool { return exit < 0 || exit == 124 || exit > 128 && exit <= 128+64 }
