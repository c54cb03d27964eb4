// Command tasks measures what whole tasks cost: it runs tasks of about twenty calls with
// zeph-acp and other agents against a fake model, and prints the bytes and tokens of all
// requests:
//
//	go run ./integration/tasks [-task NAMES] [-agents NAMES] [-peers DIR] [-rounds] [-json] [-binary FILE]
//
// A task is a list of calls in neutral terms, such as "read these lines", which is
// translated to the tools of each agent, so that all do the same work. Each task also lists
// the facts that it needs, such as the names of all failing tests. Facts that no request of
// zeph-acp contained are printed, and the exit status is 1.
//
// Other agents are run if they are on PATH or in DIR. The modules that the tasks work on
// come from the module cache, or are downloaded.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

func main() {
	var o options
	flag.Var(&o.tasks, "task", "run only these tasks, separated by commas: "+strings.Join(taskNames(), ", "))
	flag.Var(&o.agents, "agents", "run only these agents, separated by commas: "+strings.Join(agents.Names(), ", "))
	flag.StringVar(&o.peers, "peers", "", "also look for other agents in `DIR`")
	flag.StringVar(&o.binary, "binary", "", "measure this `FILE` instead of a new build")
	flag.StringVar(&o.keep, "keep", "", "keep the requests and outputs of the agents in `DIR`")
	flag.BoolVar(&o.rounds, "rounds", false, "print each request")
	flag.BoolVar(&o.json, "json", false, "print a list in JSON")
	flag.BoolVar(&o.record, "record", false, "record the outputs of the Python task with the installed pip and pytest, and exit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

type options struct {
	tasks, agents       names
	peers, binary, keep string
	rounds, json        bool
	record              bool
}

// names is a list on the command line. An empty one contains every name.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }

func (n *names) Set(list string) error {
	*n = strings.Split(list, ",")
	return nil
}

func (n names) contains(name string) bool { return len(n) == 0 || slices.Contains(n, name) }

// run measures and prints. It returns false if zeph-acp lost a fact or failed.
func run(ctx context.Context, o options) (ok bool, err error) {
	if o.record {
		return true, recordPython(ctx)
	}
	root, err := os.MkdirTemp("", "zeph-tasks-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(root)
	if o.binary == "" {
		o.binary = filepath.Join(root, "zeph-acp.exe")
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", o.binary, "github.com/zeph-acp/zeph-acp/cmd/zeph-acp")
		if out, err := cmd.CombinedOutput(); err != nil {
			return false, fmt.Errorf("building zeph-acp: %w\n%s", err, out)
		}
	}
	ok = true
	var all []*outcome
	for _, t := range tasks {
		if !o.tasks.contains(t.name) {
			continue
		}
		for _, a := range agents.All {
			if !o.agents.contains(a.Name) {
				continue
			}
			program := find(a, o)
			if program == "" {
				fmt.Fprintf(os.Stderr, "%s is not installed\n", a.Name)
				continue
			}
			fmt.Fprintln(os.Stderr, t.name, "with", a.Name)
			out, err := play(ctx, root, o.keep, t, a, program)
			if err != nil {
				return false, fmt.Errorf("%s with %s: %w", t.name, a.Name, err)
			}
			all = append(all, out)
			ok = ok && (a.Peer || out.sound())
		}
	}
	if o.json {
		return ok, printJSON(os.Stdout, all)
	}
	return ok, print(os.Stdout, all, o.rounds)
}
