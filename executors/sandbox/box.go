package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

// Box confines the commands of one session that run without a question. Its methods may be
// called concurrently.
//
// A nil Box means that this system has none: see [NewBox]. Such commands then run as unconfined
// as the user's own, so the policy must ask about all but the plainest.
// Test for nil before a method becomes a func value: [Box.Confined] of a nil Box fails.
type Box struct {
	session Session
	system
}

// NewBox returns the box of a session, or nil if the system cannot hold
// one. session.Network is ignored: nothing in a box reaches the network. It does not examine
// any directory yet.
func NewBox(session Session) *Box {
	if session.Getenv == nil {
		session.Getenv = os.Getenv
	}
	if session.Limit <= 0 {
		session.Limit = process.MaxTime
	}
	if home, err := filepath.EvalSymlinks(session.Home); err == nil && session.Home != "" {
		session.Home = home
	}
	return newBox(session)
}

// errNoBox is the error of a nil Box.
var errNoBox = errors.New("this system cannot confine commands that only read")

// Ready returns nil if commands can run in the box now, else the reason why they have to ask,
// in words for the user. It is cheap unless files have changed; call it before a decision.
func (b *Box) Ready() error {
	if b == nil {
		return errNoBox
	}
	return b.ready()
}

// Confined returns a copy of a program that runs in the box, with all programs that it starts, and
// [process.Program.Bounded]. It returns the error of [Box.Ready]; the program must then not start.
func (b *Box) Confined(prog process.Program) (process.Program, error) {
	if b == nil {
		return prog, errNoBox
	}
	return b.confined(prog)
}

// maxShownTools is how many directories of toolchains [Box.State] names.
const maxShownTools = 20

// BoxArg is the first argument with which this binary must call [BoxMain], before anything
// else.
const BoxArg = "__box"

// Launcher returns the program and the arguments that run argv in this box from another
// process, such as the editor's terminal: zeph-acp __box FILE -- ARGV. Like a local
// command, argv gets an empty stdin, a temporary directory of its own, the limits for memory
// and files, and ends with its whole session after the time limit, or when the launcher ends.
// It has no terminal. The launcher exits with argv's status, 128 + N after signal N, and 126 if
// argv did not run; a line on stderr then begins with "zeph-acp: sandbox:".
//
// argv[0] is looked up in PATH here. env is the whole environment of argv; the launcher's own
// environment does not matter. FILE contains env and the rules, and only the user can read it. Every
// call is for one start: the launcher removes FILE right before it starts argv, and starts nothing
// if it cannot. So a caller that removes FILE first knows that nothing will run. On another
// kernel or in a container FILE remains.
//
// The error is [errors.ErrUnsupported] where no other process can hold the box: argv then runs as a
// local command.
func (b *Box) Launcher(argv, env []string) (path string, args []string, err error) {
	if b == nil {
		return "", nil, errNoBox
	}
	if len(argv) == 0 {
		return "", nil, errors.New("there is no program to run")
	}
	rules, err := b.rules()
	if err != nil {
		return "", nil, err
	}
	l := launch{Version: launchVersion, Kernel: thisKernel(), Env: env, Limit: b.session.Limit, Rules: rules}
	if l.Path, err = exec.LookPath(argv[0]); err != nil {
		return "", nil, err
	}
	own, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("find the path of this program: %w", err)
	}
	file, err := l.write(b.session.State)
	if err != nil {
		return "", nil, fmt.Errorf("write the rules of the box: %w", err)
	}
	return own, append([]string{BoxArg, file, "--"}, argv...), nil
}

// launch is the content of a launcher's file.
type launch struct {
	Version int
	Kernel  string   // see thisKernel
	Path    string   // of the program
	Env     []string // of the program
	Limit   time.Duration
	Rules   json.RawMessage // of the system
}

// launchVersion changes with the meaning of launch, since another version of zeph-acp may have
// taken the path of the running one.
const launchVersion = 1

// unusedAge is the age at which a launcher's file was never used.
const unusedAge = time.Hour

// write writes l to a new file in dir, "" for the system's temporary directory, and removes
// unused files there.
func (l launch) write(dir string) (path string, err error) {
	if dir == "" {
		dir = os.TempDir()
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unused, _ := filepath.Glob(filepath.Join(dir, "box-*"))
	for _, old := range unused {
		if info, err := os.Lstat(old); err == nil && time.Since(info.ModTime()) > unusedAge {
			_ = os.Remove(old)
		}
	}
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "box-"+strings.ToLower(rand.Text()[:16]))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// readLaunch reads a launcher's file. It leaves the file where the launcher cannot run the program.
func readLaunch(path string) (l launch, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, errors.New("there are no rules; zeph-acp itself starts this command, once for each program")
	}
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("the rules are damaged: %w", err)
	}
	if l.Version != launchVersion || l.Path == "" || l.Limit <= 0 {
		return l, errors.New("the rules come from another version of zeph-acp; restart it in the editor")
	}
	if l.Kernel != thisKernel() {
		return l, errors.New("this terminal is on another machine, or in a container")
	}
	return l, nil
}

// State returns lines for people about the box.
func (b *Box) State() string {
	if b == nil {
		return "Box: none here, so zeph-acp asks before every command that does more than open named files of the session: " + boxMissing()
	}
	return b.state()
}
