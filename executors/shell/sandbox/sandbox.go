// Package sandbox bounds what a command that runs here can reach, by Landlock,
// the Linux kernel's means for a process to give up rights:
// https://docs.kernel.org/userspace-api/landlock.html.
//
// Start with [New] and give [Sandbox.Wrap] to who starts commands: it makes of a
// program one that first starts this binary, as [Main], which restricts itself
// and then becomes the program. So pid, session, standard files and the signal
// for the parent's death are those of the program, and all that it starts is
// bound as it is.
//
// It promises that a command writes only below the session's directories, the
// temporary ones, the caches of build tools and what extra_write names; that it
// reads neither zeph-acp's own files nor what deny_read names, by whatever name;
// that it makes no TCP connection where the network is off; and that where the
// restriction fails the command does not run. What it cannot hold is in
// docs/sandbox.md.
//
// Why are the rules computed here and enforced there? Because Landlock only
// knows grants, which hold for all below: around a file that must not be read
// every neighbour is granted by itself, and what was refused once must be known
// again. The helper takes each grant for the very file that it was given for.
//
// Why is what a command makes beside a refused file not readable to that same
// command? For the same reason: the grants are made before it runs. It is to the
// next one. Where the directory for temporary files is such a place, commands
// get one of their own in it.
package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Arg is the first argument with which this binary is to call [Main], before it
// does anything else.
const Arg = "__sandbox"

// ExitCode is the exit status of a command that did not run since the sandbox
// failed; its stderr says why.
const ExitCode = 126

// marker begins the line that says why.
const marker = "zeph-acp: sandbox: "

// Setup is what a sandbox is for.
type Setup struct {
	Roots *workspace.Roots  // of the session, with zeph-acp's own files hidden
	Own   []workspace.Place // where those files are
	// Deny are the patterns of deny_read, and Refuses whether they name an
	// absolute path without links; nil means that there are none.
	Deny    []string
	Refuses func(abs string) bool
	Network bool                // commands may use it
	Home    string              // absolute; empty means that it is not known
	Getenv  func(string) string // for the directories of caches
	Temp    []string            // directories for temporary files, the usual one first; nil means the system's
	// Probe tells the ABI of Landlock, or 0 and why there is none; nil asks the
	// kernel.
	Probe func() (abi int, reason string)
}

// Sandbox is that of one session. Its methods may be called concurrently. A nil
// one lets all run as it is.
type Sandbox struct {
	cfg    Config
	setup  Setup
	abi    int
	reason string // why there is none
	roots  []string
	places []place
	reach  []reach
	memory memory

	software []string // directories in the home directory that hold programs
	known    *outside // guarded by memory.mu

	mu   sync.Mutex
	last planned
}

// planned is what the rules of one command came to.
type planned struct {
	grants  []grant
	scratch string   // directory for temporary files, if it is not the usual one
	split   []string // directories that commands write, where what is new is not readable
	notes   []string // for a person
}

// New makes the sandbox that cfg asks for; nil if it asks for none.
func New(cfg Config, setup Setup) *Sandbox {
	if !cfg.Enabled && !cfg.Required {
		return nil
	}
	if setup.Probe == nil {
		setup.Probe = Available
	}
	if setup.Getenv == nil {
		setup.Getenv = os.Getenv
	}
	if setup.Temp == nil {
		setup.Temp = temporary()
	}
	if setup.Refuses == nil {
		setup.Deny = nil
	}
	s := &Sandbox{cfg: cfg, setup: setup, roots: setup.Roots.Dirs()}
	if s.abi, s.reason = setup.Probe(); s.abi <= 0 {
		return s
	}
	if home, err := filepath.EvalSymlinks(setup.Home); err == nil && setup.Home != "" {
		s.setup.Home = home
	}
	var cached []string
	if cfg.Caches {
		cached = caches(s.setup.Home, setup.Getenv)
	}
	s.places = places(s.roots, setup.Temp, cached, cfg.ExtraWrite, s.setup.Home)
	s.software = software(s.setup.Home, setup.Getenv)
	for _, pattern := range setup.Deny {
		s.reach = append(s.reach, newReach(pattern, setup.Home, s.roots)...)
	}
	return s
}

// On reports whether commands run restricted.
func (s *Sandbox) On() bool { return s != nil && s.abi > 0 }

// Required reports whether no command may run outside of the sandbox, as in a
// terminal of the client.
func (s *Sandbox) Required() bool { return s != nil && s.cfg.Required }

// lacks tells what of the configuration this kernel cannot do; empty if it can.
func (s *Sandbox) lacks() string {
	switch {
	case s.abi <= 0:
		return s.reason
	case !s.setup.Network && s.abi < abiTCP:
		return "this kernel's Landlock has no rules for TCP, and allow_network is false (Linux 6.7 and later have)"
	}
	return ""
}

// Warning is what the user should know once; empty if there is nothing.
func (s *Sandbox) Warning() string {
	if s == nil {
		return ""
	}
	lacks := s.lacks()
	switch {
	case lacks == "":
		return ""
	case s.cfg.Required:
		return "commands are refused, since [tools.sandbox] requires a sandbox: " + lacks
	case s.abi <= 0:
		return "commands run without a sandbox: " + lacks
	}
	return "the sandbox leaves the network open: " + lacks
}

// State is one line for a person.
func (s *Sandbox) State() string {
	switch {
	case s == nil:
		return "Sandbox: off"
	case s.cfg.Required && s.lacks() != "":
		return "Sandbox: required, so no command runs: " + s.lacks()
	case s.abi <= 0:
		return "Sandbox: not available: " + s.reason
	}
	text := fmt.Sprintf("Sandbox: on for local commands (Landlock ABI %d: %s)", s.abi, covers(s.abi, s.setup.Network))
	if s.cfg.Required {
		text += "; all commands run locally"
	} else {
		text += "; commands in the editor's terminal are not covered"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append([]string{text}, s.last.notes...), "; ")
}

// ReadOnlyState is one line for a person where the kernel cannot hold commands to
// reading, see [ReadOnly]; else empty.
func ReadOnlyState() string {
	abi, reason := Available()
	switch {
	case abi <= 0:
		return "Read-only commands: not held by the kernel: " + reason
	case abi < abiTCP:
		return "Read-only commands: the kernel holds writes, and the network by seccomp alone (Linux 6.7 and later have rules for it)"
	}
	return ""
}

// Wrap makes of a program one that runs in the sandbox. Path is looked up in
// PATH unless it has a separator, args are without the program's name, and env
// is its whole environment. An error is a [*executors.Failure]: the program must
// not run then.
func (s *Sandbox) Wrap(path string, args, env []string) (string, []string, []string, error) {
	if s == nil {
		return path, args, env, nil
	}
	if lacks := s.lacks(); lacks != "" && s.cfg.Required {
		return "", nil, nil, executors.Failuref(executors.PolicyBlocked, "no command runs here, since [tools.sandbox] requires a sandbox: %s", lacks).
			Hint("Do without commands, or ask the user to change [tools.sandbox] required.")
	}
	if s.abi <= 0 {
		return path, args, env, nil
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", nil, nil, err
	}
	r := handled(s.abi, s.setup.Network)
	p := s.plan()
	r.Grants = p.grants
	vars, err := r.fit(&p.notes)
	if err != nil {
		return "", nil, nil, executors.Failuref(executors.PermanentFailure, "the sandbox of the command could not be set up: %v", err).
			Hint("The command did not run. Ask the user to look at [tools.sandbox].")
	}
	s.mu.Lock()
	s.last = p
	s.last.grants = nil
	s.mu.Unlock()
	env = append(withoutRules(env), vars...)
	if p.scratch != "" {
		env = append(env, "TMPDIR="+p.scratch)
	}
	return self(), append([]string{Arg, found, path}, args...), env, nil
}

// self is this binary as it was started, even if another one has its name now.
func self() string {
	if runtime.GOOS == "linux" {
		const link = "/proc/self/exe"
		if _, err := os.Stat(link); err == nil {
			return link
		}
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// failed reports whether a command did not run because its sandbox failed, and why.
func failed(code *int, stderr string) (reason string, ok bool) {
	if code == nil || *code != ExitCode {
		return "", false
	}
	reason, ok = strings.CutPrefix(strings.TrimSpace(stderr), marker)
	return reason, ok && !strings.Contains(reason, "\n")
}
