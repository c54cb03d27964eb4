package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

// BoxMain is the program that [Box.Launcher] describes; args follow [BoxArg]. It returns the exit
// status. reaper ends the program's session if this process is killed.
func BoxMain(args []string, reaper *process.Reaper) int {
	code, err := runInBox(args, reaper)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", marker, err)
		return exitCode
	}
	return code
}

func runInBox(args []string, reaper *process.Reaper) (code int, err error) {
	if len(args) < 3 || args[1] != "--" {
		return 0, errors.New("there is no program to run")
	}
	l, err := readLaunch(args[0])
	if err != nil {
		return 0, err
	}
	restrict, err := restriction(l.Rules)
	if err != nil {
		return 0, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	prog := process.Program{
		Path: l.Path, Args: args[3:], Env: l.Env, Dir: dir, MaxTime: l.Limit, Reaper: reaper,
		Sink: func(text []byte) { _, _ = os.Stdout.Write(text) }, // the terminal may be gone; the program then ends with it
	}
	prog.Env = slices.DeleteFunc(slices.Clone(prog.Env), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := os.Remove(args[0]); err != nil { // whoever started this has given it up
		return 0, err
	}
	if prog, err = prog.Confined(restrict); err != nil {
		return 0, err
	}
	p, err := process.Start(prog)
	if err != nil {
		return 0, err
	}
	go func() {
		<-stop
		p.Kill()
	}()
	exit, err := p.Wait(context.Background())
	if err != nil {
		return 0, err
	}
	return process.Status(exit), nil
}
