// Package sandbox restricts local commands with Landlock, the Linux interface
// through which a process drops rights:
// https://docs.kernel.org/userspace-api/landlock.html.
//
// Start with [New], pass every program through [Sandbox.Wrap] before it starts,
// and put [Sandbox.Middleware] around the tool. Wrap returns a program that
// first runs this binary as [Main]. Main restricts itself and then executes the
// program. So the program keeps its pid, session, standard files and
// parent-death signal, and every process that it starts is restricted as well.
//
// It promises that a command writes only below the session's directories, the temporary ones, the
// caches of build tools and the paths of extra_write. A command cannot read zeph-acp's own files,
// or files that deny_read names, under any name. It makes no TCP connection if the network is off.
// If the restriction fails, the command does not run. docs/sandbox.md lists the limits.
//
// Why does this process compute the rules, and the helper enforce them? A Landlock grant includes
// everything below a directory. If a directory contains a file that must not be read, each other
// entry needs its own grant, and the refused file must be recognised later. The helper checks that
// each grant still names the same file.
//
// Why can a command not read a file that it creates next to a refused one? The grants are
// made before it runs, so only the next command can read the file. If the directory for
// temporary files has such a file, commands get a subdirectory of it.
package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Arg is the first argument with which this binary must call [Main], before
// anything else.
const Arg = "__sandbox"

// exitCode is the exit status of a command that did not run because its sandbox
// failed; its stderr states the reason.
const exitCode = 126

// marker begins the line with the reason.
const marker = "zeph-acp: sandbox: "

// Session describes a session for its sandbox or box.
type Session struct {
	Roots    *workspace.Roots  // of the session, with zeph-acp's own files hidden
	OwnFiles []workspace.Place // the places of those files
	// DenyPatterns are the patterns of deny_read. Refuses reports whether they match an
	// absolute path without links; nil means that there are no patterns.
	DenyPatterns []string
	Refuses      func(abs string) bool
	Network      bool                // commands may use it; not those in a Box
	Home         string              // absolute; empty means unknown
	Getenv       func(string) string // for the cache directories
	Temp         []string            // directories for temporary files, the usual one first; nil means the system's
	// The rest is for a Box. State is the directory for the files of launchers; empty means
	// the system's for temporary files. Limit is how long a command may run; 0 means
	// [process.MaxTime]. Objects is a directory from which the session's repository borrows git objects, empty
	// if there is none. Read are directories and files outside the session's directories that the user lets
	// commands read; secrets in them stay refused.
	State   string
	Limit   time.Duration
	Objects string
	Read    []string
	// Write are files and directories of a Box that its programs may write besides their own
	// temporary files. Such programs may also change modes and times, which the kernel cannot
	// confine to directories. Only programs that zeph-acp needs for itself have any.
	Write []string
	// Probe returns the ABI of Landlock; 0 comes with the reason why there is
	// none. Nil asks the kernel.
	Probe func() (abi int, reason string)
}

// Sandbox is the sandbox of one session. Its methods may be called concurrently. A
// nil Sandbox restricts nothing.
type Sandbox struct {
	cfg            Config
	session        Session
	abi            int
	reason         string // why commands are not restricted
	roots          []string
	writablePlaces []writablePlace
	denyScopes     []denyScope
	refusedFiles   refusedFiles

	programDirs  []string       // directories with programs in the home directory
	outsideCache *outsideGrants // guarded by refusedFiles.mu
	tempDir      string         // guarded by refusedFiles.mu; empty if commands use the usual directory

	mu       sync.Mutex
	lastPlan commandPlan
}

// commandPlan is the result of computing the rules of one command.
type commandPlan struct {
	grants           []grant
	tempDir          string   // directory for temporary files, if it is not the usual one
	createUnreadable []string // writable directories in which a new file is unreadable at first
	notes            []string // warnings for the user
}

// New returns the sandbox that cfg describes; nil if it is off.
func New(cfg Config, session Session) *Sandbox {
	if !cfg.Enabled && !cfg.Required {
		return nil
	}
	if session.Probe == nil {
		session.Probe = Available
	}
	if session.Getenv == nil {
		session.Getenv = os.Getenv
	}
	if session.Temp == nil {
		session.Temp = Temporary()
	}
	if session.Refuses == nil {
		session.DenyPatterns = nil
	}
	s := &Sandbox{cfg: cfg, session: session, roots: session.Roots.Dirs()}
	if s.abi, s.reason = session.Probe(); s.abi <= 0 {
		return s
	}
	if home, err := filepath.EvalSymlinks(session.Home); err == nil && session.Home != "" {
		s.session.Home = home
	}
	var cached []string
	if cfg.Caches {
		cached = caches(s.session.Home, session.Getenv)
	}
	s.writablePlaces = writablePlaces(s.roots, session.Temp, cached, cfg.ExtraWrite, s.session.Home)
	s.programDirs = programDirs(s.session.Home, session.Getenv)
	for _, pattern := range session.DenyPatterns {
		s.denyScopes = append(s.denyScopes, newDenyScopes(pattern, session.Home, s.roots)...)
	}
	return s
}

// Close removes the temporary files of the session's commands. No command may run any more.
func (s *Sandbox) Close() error {
	if s == nil {
		return nil
	}
	return s.removeTempDir()
}

// On reports whether commands run restricted.
func (s *Sandbox) On() bool { return s != nil && s.abi > 0 }

// Required reports whether no command may run outside the sandbox, for example
// in a terminal of the client.
func (s *Sandbox) Required() bool { return s != nil && s.cfg.Required }

// unsupported returns the part of the configuration that this kernel does not support, or "".
func (s *Sandbox) unsupported() string {
	switch {
	case s.abi <= 0:
		return s.reason
	case !s.session.Network && s.abi < abiTCP:
		return "this kernel's Landlock has no rules for TCP, and allow_network is false (Linux 6.7 and later have)"
	}
	return ""
}

// Warning returns a warning that the user should see once, or "".
func (s *Sandbox) Warning() string {
	if s == nil {
		return ""
	}
	unsupported := s.unsupported()
	switch {
	case unsupported == "":
		return ""
	case s.cfg.Required:
		return "commands are refused, because [tools.sandbox] requires a sandbox: " + unsupported
	case s.abi <= 0:
		return "commands run without a sandbox: " + unsupported
	}
	return "the sandbox leaves the network open: " + unsupported
}

// State returns the state of the sandbox as one line for people.
func (s *Sandbox) State() string {
	switch {
	case s == nil:
		return "Sandbox: off"
	case s.cfg.Required && s.unsupported() != "":
		return "Sandbox: required, so no command runs: " + s.unsupported()
	case s.abi <= 0:
		return "Sandbox: not available: " + s.reason
	}
	text := fmt.Sprintf("Sandbox: on for local commands (Landlock ABI %d: %s)", s.abi, describeCoverage(s.abi, s.session.Network))
	if s.cfg.Required {
		text += "; all commands run locally"
	} else {
		text += "; commands in the editor's terminal are not covered"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append([]string{text}, s.lastPlan.notes...), "; ")
}

// Wrap returns the program, arguments and environment that run path in the
// sandbox. path is looked up in PATH unless it contains a separator, args are
// without the program's name, and env is the whole environment. An error is a
// [*executors.Failure]; the program must then not run.
func (s *Sandbox) Wrap(path string, args, env []string) (string, []string, []string, error) {
	if s == nil {
		return path, args, env, nil
	}
	if unsupported := s.unsupported(); unsupported != "" && s.cfg.Required {
		return "", nil, nil, executors.Failuref(executors.PolicyBlocked, "no command runs here, because [tools.sandbox] requires a sandbox: %s", unsupported).
			Hint("Work without commands, or ask the user to change [tools.sandbox] required.")
	}
	if s.abi <= 0 {
		return path, args, env, nil
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", nil, nil, err
	}
	r := newRules(s.abi, s.session.Network)
	p := s.plan()
	r.Grants = p.grants
	vars, err := r.encodeToFit(&p.notes)
	if err != nil {
		return "", nil, nil, executors.Failuref(executors.PermanentFailure, "the sandbox of the command could not be set up: %v", err).
			Hint("The command did not run. Ask the user to check [tools.sandbox].")
	}
	s.mu.Lock()
	s.lastPlan = p
	s.lastPlan.grants = nil
	s.mu.Unlock()
	env = append(withoutRules(env), vars...)
	if p.tempDir != "" {
		env = append(env, "TMPDIR="+p.tempDir)
	}
	return ownBinary(), append([]string{Arg, found, path}, args...), env, nil
}

// ownBinary returns the path of the running binary, even if another file has taken
// its name.
func ownBinary() string {
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

// setupFailure reports whether a command did not run because its sandbox failed. It
// returns the reason.
func setupFailure(code *int, stderr string) (reason string, ok bool) {
	if code == nil || *code != exitCode {
		return "", false
	}
	reason, ok = strings.CutPrefix(strings.TrimSpace(stderr), marker)
	return reason, ok && !strings.Contains(reason, "\n")
}
