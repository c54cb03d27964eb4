package integration

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

const (
	// patience limits the wait for an expected event.
	patience = 30 * time.Second
	// promptly limits events that the protocol promises "at once": the answer to a
	// cancel, the exit after the end of input. The agent's own limits add up to 2
	// seconds; the rest is for a machine that is busy with other tests.
	promptly = 10 * time.Second
)

// agent is the built binary on real pipes, with every frame that passed through
// them.
type agent struct {
	t           testing.TB
	cmd         *exec.Cmd
	in          io.WriteCloser // raw; write with send
	root        string         // contains the directories below
	dir         string         // workspace: absolute, no symlink in it
	home        string         // ZEPH_HOME
	stderr      lockedBuffer
	check       *schema.Validator
	exited      chan struct{} // closed when the process is gone and its stdout is read
	status      int           // exit status; after exited
	mirror      io.Writer     // also receives each line; may be nil
	exitChecked bool          // the test ends the process or makes it fail, and checks status and stderr itself
	killed      atomic.Bool   // by SIGKILL: the last line may be partial, and the exit is not checked

	writing sync.Mutex // held for one Write

	mu       sync.Mutex
	frames   []frame
	newFrame chan struct{} // closed, and replaced, when there is a new frame
}

// start are the options with which launch starts the binary.
type start struct {
	binary   string // instead of the one that TestMain builds
	args     []string
	env      []string // in addition to PATH, HOME and ZEPH_HOME
	emptyEnv bool     // an empty HOME is the whole environment
	config   string   // config.toml
	mirror   io.Writer
	stdout   *os.File // instead of the recorded pipe
	root     string   // result of home, for processes that share it; empty means a new one
	// afterLine, if not nil, is called after the nth line was read and before the next.
	afterLine  func(a *agent, n int)
	wrapOutput func(io.Reader) io.Reader // if not nil, the client reads from its result
	wrapper    []string                  // a command that runs the binary: its path and arguments follow
	unchecked  bool                      // there are too many frames to check each against the schema
	// onFrame, if not nil, is called with each frame of the agent. The frames are not
	// kept then.
	onFrame func(frame)
}

// launch starts the binary. The end of the test stops it, and fails if it exits
// with an error.
func launch(t testing.TB, s start) *agent {
	t.Helper()
	root := s.root
	if root == "" {
		root = home(t)
	}
	a := &agent{
		t: t, root: root, dir: filepath.Join(root, "work"), home: filepath.Join(root, "zeph"),
		check: schema.Load(t), exited: make(chan struct{}), mirror: s.mirror, newFrame: make(chan struct{}),
	}
	if s.config != "" {
		a.file(filepath.Join(a.home, "config.toml"), s.config)
	}
	argv := slices.Concat(s.wrapper, []string{cmp.Or(s.binary, binary)}, s.args)
	a.cmd = exec.Command(argv[0], argv[1:]...)
	a.cmd.Dir = root // not the session's cwd: it must not matter
	a.cmd.Env = slices.Clone(fakemodel.Alone)
	if s.emptyEnv {
		a.cmd.Env = append(a.cmd.Env, "HOME=") // without it, the agent would find this user's files
	} else {
		a.cmd.Env = append(a.cmd.Env, append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "ZEPH_HOME=" + a.home, "TMPDIR=" + filepath.Join(root, "tmp"),
			"GORACE=atexit_sleep_ms=0", // else a binary built with -race takes a second to exit
		}, s.env...)...)
	}
	a.cmd.Stderr = &a.stderr
	fakeide.OwnGroup(a.cmd)
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// Not Cmd.StdoutPipe: Wait would close it under the reader.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a.cmd.Stdout = w
	if s.stdout != nil {
		a.cmd.Stdout = s.stdout
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		defer close(a.exited)
		if s.wrapOutput != nil {
			a.read(s.wrapOutput(r), s)
		} else {
			a.read(r, s)
		}
		r.Close()
		_ = a.cmd.Wait() // the status is checked instead
		a.status = a.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(a.stop)
	return a
}

// connect starts the binary and initializes it as a client without capabilities.
func connect(t testing.TB, s start) *agent {
	t.Helper()
	a := launch(t, s)
	a.initialize()
	return a
}

// home creates the directories of a process, or of several that share them.
func home(t testing.TB) string {
	t.Helper()
	return homeIn(t, t.TempDir())
}

func homeIn(t testing.TB, dir string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"work", "zeph", "home", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read records the output of the process until it closes its stdout.
func (a *agent) read(r io.Reader, options start) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && a.killed.Load() {
			line = nil // partial
		}
		if len(line) > 0 {
			if options.unchecked {
			} else if err := a.check.Frame(string(agentSide), bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				a.t.Errorf("the agent wrote a bad frame: %v\n%.2000s", err, line)
			}
			if f := parseFrame(agentSide, line); options.onFrame != nil {
				options.onFrame(f)
			} else {
				a.record(f)
			}
			if a.mirror != nil {
				_, _ = a.mirror.Write(line) // the reader may be closed
			}
			if options.afterLine != nil {
				options.afterLine(a, n)
			}
		}
		if err != nil {
			if c, ok := a.mirror.(io.Closer); ok {
				c.Close()
			}
			return
		}
	}
}

// stop ends the process as an editor does.
func (a *agent) stop() {
	a.in.Close()
	select {
	case <-a.exited:
	case <-time.After(patience):
		fakeide.KillGroup(a.cmd)
		a.t.Error("the agent does not exit after the end of its input")
		<-a.exited
	}
	if a.exitChecked || a.killed.Load() {
		return
	}
	if a.status != 0 {
		a.t.Errorf("the agent exited with %d", a.status)
	}
	if text := a.stderr.String(); text != "" {
		a.t.Errorf("the agent wrote to stderr:\n%s", text)
	}
}

// waitExit waits until the process ends by itself.
func (a *agent) waitExit(within time.Duration) {
	a.t.Helper()
	a.exitChecked = true
	select {
	case <-a.exited:
	case <-time.After(within):
		fakeide.KillGroup(a.cmd)
		a.t.Fatalf("the agent still runs after %s", within)
	}
}

// exits waits until the process ends by itself with a status, and checks that stderr is empty.
func (a *agent) exits(status int) {
	a.t.Helper()
	a.waitExit(promptly)
	if a.status != status || a.stderr.String() != "" {
		a.t.Errorf("got exit status %d and stderr %q, want %d and nothing", a.status, &a.stderr, status)
	}
}

// file writes a file and its parents.
func (a *agent) file(path, text string) string {
	a.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// content returns the text of a file on the disk.
func (a *agent) content(path string) string {
	a.t.Helper()
	return read(a.t, filepath.Join(a.dir, path))
}

// auditLog returns the text of the audit log.
func auditLog(t testing.TB, home string) string {
	t.Helper()
	return read(t, filepath.Join(home, "audit.jsonl"))
}

// auditLines returns the lines of the audit log.
func (a *agent) auditLines() []string {
	a.t.Helper()
	return strings.Split(strings.TrimSpace(auditLog(a.t, a.home)), "\n")
}

// send writes raw text.
func (a *agent) send(text string) {
	a.t.Helper()
	if _, err := a.Write([]byte(text)); err != nil {
		a.t.Fatalf("write to the agent: %v\nstderr: %s", err, &a.stderr)
	}
}

// Write passes client lines on, and shows them to the checker.
func (a *agent) Write(p []byte) (int, error) {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.note(string(p))
	return a.in.Write(p)
}

// note passes the client's lines to the checker, which matches the agent's answers
// with them.
func (a *agent) note(text string) {
	for line := range strings.Lines(text) {
		_ = a.check.Frame(string(clientSide), []byte(strings.TrimSuffix(line, "\n"))) // client frames are not checked
	}
}

// request writes one request, whose id and params are JSON.
func (a *agent) request(id, method, params string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params))
}

// knownClient names a client whose terminals need no probe.
const knownClient = `"clientInfo":{"name":"zeph-acp-run","version":"0"}`

// initialize sends raw frames, with these capabilities or with none.
func (a *agent) initialize(capabilities ...string) {
	a.t.Helper()
	a.request(`"init"`, "initialize", `{"protocolVersion":1,`+knownClient+`,"clientCapabilities":`+strings.Join(append(capabilities, "{}")[:1], "")+`}`)
	if f := a.answer(`"init"`); f.Error != nil {
		a.t.Fatalf("initialize: %s", f.line)
	}
}

// open opens a session with raw frames.
func (a *agent) open() string {
	a.t.Helper()
	return a.openWith()
}

// closeSession closes a session with raw frames.
func (a *agent) closeSession(session string) {
	a.t.Helper()
	id := fmt.Sprintf(`"close-%d"`, len(a.agentFrames()))
	a.request(id, "session/close", `{"sessionId":`+quote(session)+`}`)
	if f := a.answer(id); f.Error != nil {
		a.t.Errorf("session/close: %s", f.line)
	}
}

// runTurn runs a turn that must end well.
func (a *agent) runTurn(session, text string) {
	a.t.Helper()
	id := fmt.Sprintf(`"turn-%d"`, len(a.agentFrames()))
	a.request(id, "session/prompt", promptParams(session, text))
	a.ends(id)
}

// ends waits for the answer to a prompt and checks that the turn ended well.
func (a *agent) ends(id string) {
	a.t.Helper()
	if f := a.answer(id); stopReason(f) != "end_turn" {
		a.t.Fatalf("prompt %s: got %.2000s, want the stop reason end_turn", id, f.line)
	}
}

// alive checks that the agent still answers.
func (a *agent) alive() {
	a.t.Helper()
	id := fmt.Sprintf(`"alive-%d"`, len(a.agentFrames()))
	a.request(id, "_ping", `{}`)
	if f := a.answer(id); f.Error == nil || f.Error.Code != -32601 {
		a.t.Fatalf("_ping: %s", f.line)
	}
}

// promptParams returns the params of a session/prompt.
func promptParams(session, text string) string {
	b, err := json.Marshal(map[string]any{
		"sessionId": session, "prompt": []map[string]string{{"type": "text", "text": text}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// script writes an executable shell script.
func (a *agent) script(path, text string) {
	a.t.Helper()
	path = a.file(path, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		a.t.Fatal(err)
	}
}

// permissionRequest waits for a permission request.
func (a *agent) permissionRequest() frame {
	a.t.Helper()
	return a.await("a permission request", func(f frame) bool { return f.Method == "session/request_permission" })
}

// choose answers a permission request with the option of a kind.
func (a *agent) choose(question frame, kind string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`+"\n", question.ID, optionOf(a.t, question, kind)))
}

// optionOf returns the id of the option with that kind.
func optionOf(t testing.TB, question frame, kind string) string {
	t.Helper()
	var p struct {
		Options []struct{ OptionID, Kind string }
	}
	if err := json.Unmarshal(question.Params, &p); err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Options {
		if o.Kind == kind {
			return o.OptionID
		}
	}
	t.Fatalf("no option %s: %s", kind, question.line)
	return ""
}

// quote returns a string as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// commandIn returns another command of the binary, in the home of an agent.
func commandIn(a *agent, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = a.dir, a.cmd.Env
	return cmd
}
