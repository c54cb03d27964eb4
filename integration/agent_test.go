package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

const (
	// patience is how long a test waits for what must come.
	patience = 30 * time.Second
	// promptly is how long the protocol's promises of "at once" may take: the
	// answer to a cancel, the exit after the end of input.
	promptly = 2 * time.Second
)

// agent is the built binary behind real pipes, with all that passed through
// them.
type agent struct {
	t       testing.TB
	cmd     *exec.Cmd
	in      io.WriteCloser // raw; write with send
	dir     string         // workspace: absolute, no symlink in it
	home    string         // ZEPH_HOME
	stderr  lockedBuffer
	check   *schema.Validator
	exited  chan struct{} // closed when the process is gone and its stdout is read
	status  int           // exit status; after exited
	feed    io.Writer     // gets each line too; nil means nobody
	allowed bool          // the test ends the process itself, or makes it fail: its status and stderr are the test's business

	mu     sync.Mutex
	frames []frame
	more   chan struct{} // closed, and replaced, when there is a new frame
}

// start is how the binary is started.
type start struct {
	args   []string
	env    []string // besides PATH, HOME and ZEPH_HOME
	bare   bool     // no environment at all
	config string   // config.toml
	feed   io.Writer
	stdout *os.File // instead of the recorded pipe
}

// launch starts the binary in an empty home. It is stopped when the test ends,
// which must go well.
func launch(t testing.TB, s start) *agent {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{
		t: t, dir: filepath.Join(root, "work"), home: filepath.Join(root, "zeph"),
		check: schema.Load(t), exited: make(chan struct{}), feed: s.feed, more: make(chan struct{}),
	}
	for _, d := range []string{a.dir, a.home, filepath.Join(root, "home"), filepath.Join(root, "tmp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if s.config != "" {
		a.file(filepath.Join(a.home, "config.toml"), s.config)
	}
	a.cmd = exec.Command(binary, s.args...)
	a.cmd.Dir = root // not the session's cwd: it must not matter
	a.cmd.Env = []string{}
	if !s.bare {
		a.cmd.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "ZEPH_HOME=" + a.home, "TMPDIR=" + filepath.Join(root, "tmp"),
			"GORACE=atexit_sleep_ms=0", // else a binary built with -race takes a second to exit
		}, s.env...)
	}
	a.cmd.Stderr = &a.stderr
	ownGroup(a.cmd)
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// Our own pipe: Cmd's would be closed under the reader by Wait.
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
		a.read(r)
		r.Close()
		_ = a.cmd.Wait() // the status tells
		a.status = a.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(a.stop)
	return a
}

// read records what the process writes until it closes its stdout.
func (a *agent) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := a.check.Frame(string(agentSide), bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				a.t.Errorf("the agent wrote a bad frame: %v\n%.2000s", err, line)
			}
			a.record(agentSide, line)
			if a.feed != nil {
				_, _ = a.feed.Write(line) // the reader may have gone
			}
		}
		if err != nil {
			if c, ok := a.feed.(io.Closer); ok {
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
		killGroup(a.cmd)
		a.t.Error("the agent does not exit after the end of its input")
		<-a.exited
	}
	if a.allowed {
		return
	}
	if a.status != 0 {
		a.t.Errorf("the agent exited with %d", a.status)
	}
	if text := a.stderr.String(); text != "" {
		a.t.Errorf("the agent wrote to stderr:\n%s", text)
	}
}

// waitExit waits until the process has ended by itself.
func (a *agent) waitExit(within time.Duration) {
	a.t.Helper()
	a.allowed = true
	select {
	case <-a.exited:
	case <-time.After(within):
		killGroup(a.cmd)
		a.t.Fatalf("the agent still runs after %s", within)
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

// content gives what the disk holds.
func (a *agent) content(path string) string {
	a.t.Helper()
	b, err := os.ReadFile(filepath.Join(a.dir, path))
	if err != nil {
		a.t.Fatal(err)
	}
	return string(b)
}

// side is who wrote a line.
type side string

const (
	clientSide side = "client"
	agentSide  side = "agent"
)

// frame is one line of the wire.
type frame struct {
	side   side
	line   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *fault          `json:"error"`
}

// fault is a JSON-RPC error.
type fault struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// update is a session/update, as far as the tests look into it.
type update struct {
	Kind       string `json:"sessionUpdate"`
	ToolCallID string `json:"toolCallId"`
	Title      string `json:"title"`
	Status     string `json:"status"`
	Content    json.RawMessage
	RawOutput  json.RawMessage `json:"rawOutput"`
	Meta       struct {
		Info   *struct{ Terminal_ID, CWD string }  `json:"terminal_info"`
		Output *struct{ Terminal_ID, Data string } `json:"terminal_output"`
		Exit   *struct {
			Terminal_ID string
			Exit_Code   *int
		} `json:"terminal_exit"`
	} `json:"_meta"`
}

// update gives the update of a session/update.
func (f frame) update() (u update, ok bool) {
	var p struct{ Update update }
	if f.Method != "session/update" || json.Unmarshal(f.Params, &p) != nil {
		return update{}, false
	}
	return p.Update, true
}

func (a *agent) record(s side, line []byte) {
	f := frame{side: s, line: string(line)}
	_ = json.Unmarshal(line, &f) // the checker and the client tell of what is no JSON
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames = append(a.frames, f)
	close(a.more)
	a.more = make(chan struct{})
}

// sent gives all that the agent wrote so far.
func (a *agent) sent() []frame {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.frames), func(f frame) bool { return f.side != agentSide })
}

// methods gives the agent's requests and notifications but the updates, in
// order.
func (a *agent) methods() []string {
	var names []string
	for _, f := range a.sent() {
		if f.Method != "" && f.Method != "session/update" {
			names = append(names, f.Method)
		}
	}
	return names
}

// await waits for a frame of the agent that fits.
func (a *agent) await(what string, fits func(frame) bool) frame {
	a.t.Helper()
	return a.awaitWithin(patience, what, fits)
}

func (a *agent) awaitWithin(d time.Duration, what string, fits func(frame) bool) frame {
	a.t.Helper()
	timeout := time.After(d)
	for next := 0; ; {
		a.mu.Lock()
		frames, more := a.frames, a.more
		a.mu.Unlock()
		for ; next < len(frames); next++ {
			if f := frames[next]; f.side == agentSide && fits(f) {
				return f
			}
		}
		select {
		case <-more:
		case <-a.exited:
			a.mu.Lock()
			done := len(a.frames) == next
			a.mu.Unlock()
			if done {
				a.t.Fatalf("the agent exited (%d) before %s\nstderr: %s", a.status, what, &a.stderr)
			}
		case <-timeout:
			a.t.Fatalf("no %s after %s; the agent's last frames:\n%s", what, d, a.tail())
		}
	}
}

// tail shows the last frames for a failure.
func (a *agent) tail() string {
	frames := a.sent()
	var b strings.Builder
	for _, f := range frames[max(0, len(frames)-8):] {
		fmt.Fprintf(&b, "%.600s\n", strings.TrimSpace(f.line))
	}
	return b.String()
}

// answer waits for the response with that id, given as JSON.
func (a *agent) answer(id string) frame {
	a.t.Helper()
	return a.await("answer to "+id, func(f frame) bool { return f.Method == "" && string(f.ID) == id })
}

// send writes raw text.
func (a *agent) send(text string) {
	a.t.Helper()
	if _, err := a.Write([]byte(text)); err != nil {
		a.t.Fatalf("write to the agent: %v\nstderr: %s", err, &a.stderr)
	}
}

// Write notes what a client writes, line by line, and passes it on.
func (a *agent) Write(p []byte) (int, error) {
	a.note(string(p))
	return a.in.Write(p)
}

// note tells the checker of lines of the client, so that it knows what the agent
// answers.
func (a *agent) note(text string) {
	for line := range strings.Lines(text) {
		_ = a.check.Frame(string(clientSide), []byte(strings.TrimSuffix(line, "\n"))) // what the client does is not judged
	}
}

// request writes one request, whose id and params are JSON.
func (a *agent) request(id, method, params string) {
	a.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params))
}

// initialize shakes hands with raw frames, as a client that can do nothing.
func (a *agent) initialize() {
	a.t.Helper()
	a.request(`"init"`, "initialize", `{"protocolVersion":1}`)
	if f := a.answer(`"init"`); f.Error != nil {
		a.t.Fatalf("initialize: %s", f.line)
	}
}

// open opens a session with raw frames.
func (a *agent) open() string {
	a.t.Helper()
	id := fmt.Sprintf(`"new-%d"`, len(a.sent()))
	a.request(id, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, a.dir))
	f := a.answer(id)
	var r struct{ SessionID string }
	if err := json.Unmarshal(f.Result, &r); err != nil || r.SessionID == "" {
		a.t.Fatalf("session/new: %s", f.line)
	}
	return r.SessionID
}

// alive proves that the agent still answers.
func (a *agent) alive() {
	a.t.Helper()
	id := fmt.Sprintf(`"alive-%d"`, len(a.sent()))
	a.request(id, "_ping", `{}`)
	if f := a.answer(id); f.Error == nil || f.Error.Code != -32601 {
		a.t.Fatalf("_ping: %s", f.line)
	}
}

// promptParams makes the params of a session/prompt.
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

// eventually waits for what has no event of its own, such as the end of
// somebody else's child.
func eventually(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(d)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("after %s still waiting for %s", d, what)
		}
	}
}

// script writes an executable shell script.
func (a *agent) script(path, text string) {
	a.t.Helper()
	path = a.file(path, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		a.t.Fatal(err)
	}
}

// optionOf gives the id of the option of that kind.
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

// quote gives a string as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
