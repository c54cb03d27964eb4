package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Main is the helper that [Arg] starts. It reads the rules from its
// environment, drops all other rights and executes the program that args name,
// path first. On an error it prints the reason to stderr and returns the exit
// status; no program has run then. It must run before all other code of this
// binary.
func Main(args []string) int {
	fmt.Fprintf(os.Stderr, "%s%v\n", marker, runRestricted(args))
	return exitCode
}

func runRestricted(args []string) error {
	r, env, err := decode(os.Environ())
	if err != nil {
		return err
	}
	if len(args) < 2 {
		return errors.New("there is no program to run")
	}
	// Rights belong to a thread, and the thread that executes a program passes
	// its rights on.
	runtime.LockOSThread()
	if err := r.restrict(); err != nil {
		return err
	}
	if err := unix.Exec(args[0], args[1:], env); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}
