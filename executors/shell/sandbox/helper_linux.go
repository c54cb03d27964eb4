package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Main is what [Arg] starts: it takes the rules out of its environment, gives
// up all other rights and becomes the program that args name, path first. Where
// any of that fails it says so on stderr and returns the exit status; nothing
// has run then. It needs nothing else of this program and comes before all of
// it.
func Main(args []string) int {
	fmt.Fprintf(os.Stderr, "%s%v\n", marker, become(args))
	return ExitCode
}

func become(args []string) error {
	r, env, err := decode(os.Environ())
	if err != nil {
		return err
	}
	if len(args) < 2 {
		return errors.New("there is no program to run")
	}
	// Rights are a thread's, and those of the thread that executes are kept.
	runtime.LockOSThread()
	if err := r.restrict(); err != nil {
		return err
	}
	if err := unix.Exec(args[0], args[1:], env); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}
