package integration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestStatement129EndOfInput ends an idle agent as an editor does.
func TestStatement129EndOfInput(t *testing.T) {
	a := launch(t, start{})
	a.initialize()
	a.open()
	began := time.Now()
	a.in.Close()
	a.waitExit(promptly)
	t.Logf("gone after %s", time.Since(began).Round(time.Millisecond))
	if a.status != 0 || a.stderr.String() != "" {
		t.Errorf("exit status %d, stderr %q", a.status, &a.stderr)
	}
}

// TestStatement118_129_130EndMidTurn ends the agent in every way while a command runs that ignores
// SIGTERM and has forked. Nothing of it may be left.
func TestStatement118_129_130EndMidTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		end    func(*agent)
		status int
	}{
		"end of input": {func(a *agent) { a.in.Close() }, 0},
		"SIGTERM":      {func(a *agent) { _ = a.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGINT":       {func(a *agent) { _ = a.cmd.Process.Signal(os.Interrupt) }, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": stubborn})))
			e := (&ide{}).begin(t, start{env: p.Env()})
			done := e.begun(e.session(), "run")
			pids := e.stubbornPIDs()
			tt.end(e.agent)
			e.waitExit(promptly)
			if e.status != tt.status || e.stderr.String() != "" {
				t.Errorf("exit status %d, stderr %q", e.status, &e.stderr)
			}
			e.gone(pids)
			within(t, patience, "answer to the prompt", done)
		})
	}
}

// TestEndInBackground ends the agent while a command that ignores all polite
// signals runs in the background, on after its turn. Nothing of it may be left.
func TestEndInBackground(t *testing.T) {
	for name, tt := range map[string]struct {
		end    func(*agent)
		status int
	}{
		"end of input": {func(a *agent) { a.in.Close() }, 0},
		"SIGTERM":      {func(a *agent) { _ = a.cmd.Process.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": `trap "" HUP INT; ` + stubborn, "background": true})), fakemodel.Answer(fakemodel.Say("It runs.")))
			e := (&ide{}).begin(t, start{env: p.Env()})
			e.prompt(e.session(), "run")
			pids := e.stubbornPIDs()
			tt.end(e.agent)
			e.waitExit(promptly)
			if e.status != tt.status || e.stderr.String() != "" {
				t.Errorf("exit status %d, stderr %q", e.status, &e.stderr)
			}
			e.gone(pids)
		})
	}
}

// TestStatement130SignalIdle ends an idle agent by a signal.
func TestStatement130SignalIdle(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		a := launch(t, start{})
		a.initialize()
		if err := a.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		a.waitExit(promptly)
		if a.status != want || a.stderr.String() != "" {
			t.Errorf("%s: exit status %d, stderr %q", signal, a.status, &a.stderr)
		}
	}
}

// TestStatement131OutputClosed takes the reader of stdout away. The agent must go.
func TestStatement131OutputClosed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	a := launch(t, start{stdout: w})
	w.Close()
	r.Close()
	a.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	a.waitExit(promptly)
	if text := a.stderr.String(); a.status == -1 || strings.Contains(text, "panic") {
		t.Errorf("exit status %d, stderr %q", a.status, text)
	}
}

// TestStatement036NothingThere starts the agent with nothing at all, as a
// registry does, and with an empty home: no keys and no files.
func TestStatement036NothingThere(t *testing.T) {
	for name, how := range map[string]start{"no environment": {bare: true}, "an empty home": {}} {
		t.Run(name, func(t *testing.T) {
			a := launch(t, how)
			a.request("1", "initialize", `{"protocolVersion":1}`)
			if f := a.awaitWithin(promptly, "answer", func(f frame) bool { return string(f.ID) == "1" }); f.Error != nil {
				t.Errorf("initialize: %s", f.line)
			}
			a.open()
		})
	}
}

// TestStatement002NoHome starts the agent where it can keep nothing.
func TestStatement002NoHome(t *testing.T) {
	a := launch(t, start{env: []string{"ZEPH_HOME=/nonexistent/zeph", "HOME=/nonexistent"}})
	a.initialize()
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, "/bash echo hi"))
	if f := a.answer("1"); !strings.Contains(string(f.Result), "end_turn") {
		t.Errorf("answer: %s", f.line)
	}
}

// TestStatement002BrokenConfig starts with a config.toml that cannot be: one line tells
// where, and no frame is written.
func TestStatement002BrokenConfig(t *testing.T) {
	for name, tt := range map[string]struct{ config, want string }{
		"not TOML":    {"[agent\nx", "config.toml:1"},
		"unknown key": {"[agent]\nmax_tool_iteration = 3\n", "max_tool_iteration"},
		"wrong type":  {"[agent]\nmax_tool_iterations = \"3\"\n", "config.toml:2"},
		"wrong value": {"\n[agent]\nmode = \"yolo\"\n", "config.toml:3"},
	} {
		t.Run(name, func(t *testing.T) {
			a := launch(t, start{config: tt.config})
			_, _ = a.in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")) // it may be gone already
			a.waitExit(promptly)
			text := a.stderr.String()
			if a.status != 1 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "zeph-acp: ") || !strings.Contains(text, tt.want) {
				t.Errorf("exit status %d, stderr %q", a.status, text)
			}
			if frames := a.sent(); len(frames) > 0 {
				t.Errorf("it wrote %q", frames[0].line)
			}
		})
	}
}

// TestStatement136ChildrenDoNotShareThePipes runs a local command that reads its stdin and
// writes to its stdout: neither is the protocol's.
func TestStatement136ChildrenDoNotShareThePipes(t *testing.T) {
	a := launch(t, start{})
	a.initialize()
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, `/bash cat; echo "not a frame"`))
	a.alive()
	if f := a.answer("1"); !strings.Contains(string(f.Result), "end_turn") {
		t.Errorf("answer: %s", f.line)
	}
}

// TestSecretsStayInside proves that a local command does not get the key.
func TestSecretsStayInside(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "env"})), fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{}).begin(t, start{env: append(p.Env(), "MY_SECRET_TOKEN=hunter2", "PLAIN=visible")})
	e.prompt(e.session(), "env")
	body := p.Requests()[1]
	if strings.Contains(body, "hunter2") || strings.Contains(body, "ANTHROPIC_API_KEY") || !strings.Contains(body, "PLAIN=visible") {
		t.Errorf("the command sees:\n%s", body)
	}
}

// TestHomeStaysEmpty proves that nothing is written before there is something
// to keep.
func TestHomeStaysEmpty(t *testing.T) {
	a := launch(t, start{})
	a.initialize()
	a.alive()
	files, err := filepath.Glob(filepath.Join(a.home, "*"))
	if err != nil || len(files) > 0 {
		t.Errorf("%q, %v", files, err)
	}
}

// TestStatement002NoNoise proves that stdout has nothing but answers, whatever
// the environment and the log level say.
func TestStatement002NoNoise(t *testing.T) {
	a := launch(t, start{
		args: []string{"--log-level", "debug"},
		env:  []string{"DEBUG=*", "TERM=dumb", "ANTHROPIC_LOG=debug", "GODEBUG=inittrace=0", "NO_COLOR=1", "FORCE_COLOR=1", "ZEPH_LOG_LEVEL=debug"},
	})
	a.allowed = true // stderr is for the log
	a.alive()
	a.initialize()
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, "/bash echo hi"))
	a.answer("1")
	if f := a.sent()[0]; !strings.HasPrefix(string(f.ID), `"alive`) {
		t.Errorf("the first line is %q", f.line)
	}
	for _, f := range a.sent() {
		if !strings.HasPrefix(f.line, `{"jsonrpc":"2.0",`) {
			t.Errorf("it wrote %q", f.line)
		}
	}
}

// TestStatement003Quiet runs an ordinary session, in which a command and a
// request fail. At the default log level nobody is told on stderr.
func TestStatement003Quiet(t *testing.T) {
	a := launch(t, start{})
	a.initialize()
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, "/bash echo to stderr >&2; exit 3"))
	a.answer("1")
	a.request("2", "session/set_mode", `{"sessionId":`+quote(s)+`,"modeId":"none"}`)
	a.request("3", "session/close", `{"sessionId":`+quote(s)+`}`)
	a.answer("3")
	a.in.Close()
	a.waitExit(promptly)
	if a.status != 0 || a.stderr.String() != "" {
		t.Errorf("exit status %d, stderr %q", a.status, &a.stderr)
	}
}

// statusKiB returns a line of what Linux tells of a process's memory, such as
// VmRSS, what is resident, VmHWM, the most that ever was, and RssAnon, what of it
// is no file's; 0 where nobody tells.
func statusKiB(t testing.TB, pid int, key string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), key+":")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStatement134Idle watches an agent that has nothing to do until it does
// nothing for a second: the one place where time is passed, since that nothing
// happens has no event. On a busy machine it may still be at what it did before.
func TestStatement134Idle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a process did: /proc/PID")
	}
	t.Parallel()
	a := launch(t, start{})
	a.initialize()
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, "/bash echo hi"))
	a.answer("1")
	a.alive()
	ticks, writes := spent(t, a.cmd.Process.Pid)
	for range 5 {
		ticksBefore, writesBefore := ticks, writes
		time.Sleep(time.Second)
		ticks, writes = spent(t, a.cmd.Process.Pid)
		if writes == writesBefore && ticks-ticksBefore <= 2 {
			return
		}
		t.Logf("%d writes, %d ticks of CPU time in an idle second", writes-writesBefore, ticks-ticksBefore)
	}
	t.Error("it is never idle")
}

// spent returns the CPU time of a process, in ticks of 10 ms, and how often it has
// written.
func spent(t *testing.T, pid int) (ticks, writes int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the state on, the third of all
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(io), "syscw:")
	if _, err := fmt.Sscan(rest, &writes); err != nil {
		t.Fatal(err)
	}
	return ticks, writes
}
