//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentProcess is zeph-acp in a process of its own, connected by pipes.
type agentProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File // our end
	lines  *bufio.Reader
	stderr bytes.Buffer
}

// start runs zeph-acp where every command is allowed.
func start(t *testing.T, args ...string) *agentProcess {
	t.Helper()
	home := t.TempDir()
	config := "[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // ends a process that hangs
	t.Cleanup(cancel)
	p := &agentProcess{t: t, cmd: exec.CommandContext(ctx, "zeph-acp", args...), out: r, lines: bufio.NewReader(r)}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append(os.Environ(), "ZEPH_HOME="+home, "ZEPH_MODEL=")
	p.cmd.Stdout, p.cmd.Stderr = w, &p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { p.cmd.Process.Kill(); r.Close() })
	return p
}

func (p *agentProcess) send(method string, id int, params any) {
	p.t.Helper()
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(frame, '\n')); err != nil {
		p.t.Fatal(err)
	}
}

// until reads lines until one matches, and returns its first group.
func (p *agentProcess) until(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		line, err := p.lines.ReadString('\n')
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1]
		}
		if err != nil {
			p.t.Fatalf("no line matches %s: %v; stderr %q", pattern, err, p.stderr.String())
		}
	}
}

// status waits for the process to end and returns its exit status.
func (p *agentProcess) status() int {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	} else if ok {
		return exit.ExitCode()
	}
	return 0
}

// stays is a command that prints the pid of a child and ignores requests to
// end.
const stays = `trap "" TERM INT HUP; sleep 600 & echo "child $!"; while :; do wait; done`

// command starts a turn that runs stays, and returns the pid of its child.
func (p *agentProcess) command() (child int) {
	p.t.Helper()
	p.send("initialize", 1, map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"_meta": map[string]any{"terminal_output": true}}})
	p.send("session/new", 2, map[string]any{"cwd": p.cmd.Dir, "mcpServers": []string{}})
	session := p.until(`"sessionId":"([^"]+)"`)
	p.send("session/prompt", 3, map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": "/bash " + stays}}})
	child, _ = strconv.Atoi(p.until(`"data":"child (\d+)`))
	return child
}

// alive reports whether a process runs and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || !strings.HasPrefix(state, "Z")
}

// However the client ends the agent, the agent exits with the matching status,
// prints nothing and leaves no command running.
func TestServeEnds(t *testing.T) {
	ends := map[string]struct {
		do     func(p *agentProcess)
		status int
	}{
		"EOF":     {func(p *agentProcess) { p.in.Close() }, 0},
		"SIGTERM": {func(p *agentProcess) { p.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGINT":  {func(p *agentProcess) { p.cmd.Process.Signal(syscall.SIGINT) }, 130},
		"SIGHUP":  {func(p *agentProcess) { p.cmd.Process.Signal(syscall.SIGHUP) }, 129},
		"twice": {func(p *agentProcess) {
			p.cmd.Process.Signal(syscall.SIGTERM)
			p.cmd.Process.Signal(syscall.SIGINT)
		}, -1}, // 143, or 130 if the second signal was needed
		"EPIPE": {func(p *agentProcess) {
			p.out.Close()
			// More than once: a program that another test is starting may still
			// hold our end of the pipe, so the first answer may be written
			// without an error.
			for err := error(nil); err == nil; {
				_, err = io.WriteString(p.in, `{"jsonrpc":"2.0","id":9,"method":"unknown"}`+"\n")
			}
		}, 0},
	}
	for name, tt := range ends {
		check := func(t *testing.T, p *agentProcess) {
			tt.do(p)
			if got := p.status(); got != tt.status && tt.status >= 0 {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			if p.stderr.Len() > 0 {
				t.Errorf("stderr has %q, want nothing", p.stderr.String())
			}
		}
		t.Run(name+" idle", func(t *testing.T) {
			t.Parallel()
			p := start(t, "serve")
			p.send("initialize", 1, map[string]any{"protocolVersion": 1})
			p.until(`("protocolVersion":1)`)
			check(t, p)
		})
		t.Run(name+" during a command", func(t *testing.T) {
			t.Parallel()
			p := start(t)
			child := p.command()
			check(t, p)
			if alive(child) {
				t.Error("the command's child still runs")
			}
		})
	}
}

func TestRunEnds(t *testing.T) {
	signal := func(sig syscall.Signal) func(p *agentProcess) {
		return func(p *agentProcess) { p.cmd.Process.Signal(sig) }
	}
	for name, tt := range map[string]struct {
		do     func(p *agentProcess)
		status int
		stderr string
	}{
		"Ctrl-C":  {signal(syscall.SIGINT), 130, "\nThe turn was cancelled.\n"},
		"SIGTERM": {signal(syscall.SIGTERM), 143, "\nThe turn was cancelled.\n"},
		"twice": {func(p *agentProcess) {
			signal(syscall.SIGINT)(p)
			signal(syscall.SIGINT)(p)
		}, 130, ""}, // the second one may come before the end of the turn
		"nobody reads": {func(p *agentProcess) { p.out.Close(); p.in.Close() }, 141, "\nThe turn was cancelled.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := stays
			if name == "nobody reads" { // the agent keeps writing once asked to
				command = `sleep 600 & echo "child $!"; while sleep 0.01; do echo more; done`
			}
			p := start(t, "run", "/bash "+command)
			child, _ := strconv.Atoi(p.until(`child (\d+)`))
			tt.do(p)
			if got := p.status(); got != tt.status || !strings.HasSuffix(p.stderr.String(), tt.stderr) {
				t.Errorf("exit status %d, stderr %q; want %d, %q", got, p.stderr.String(), tt.status, tt.stderr)
			}
			if alive(child) {
				t.Error("the command's child still runs")
			}
		})
	}
}

// A turn that is cancelled has a result too.
func TestRunEndsWithResult(t *testing.T) {
	p := start(t, "run", "--json", "/bash "+stays)
	p.until(`"status":"(in_progress)"`)
	p.cmd.Process.Signal(syscall.SIGINT)
	p.until(`^\{"type":"result",.*"stopReason":"(cancelled)","exitCode":130,"error":\{"code":0,`)
	if got := p.status(); got != 130 {
		t.Errorf("exit status %d, want 130; stderr %q", got, p.stderr.String())
	}
}

// TestSignalEndsWaitForServer interrupts a test of an MCP server that never becomes ready.
func TestSignalEndsWaitForServer(t *testing.T) {
	dir := t.TempDir()
	pipe, config := filepath.Join(dir, "pipe"), filepath.Join(dir, "config.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf("[[mcp.servers]]\nname = \"silent\"\ncommand = \"sh\"\nargs = [\"-c\", \"echo >'%s'; exec sleep 600\"]\n", pipe)
	if err := os.WriteFile(config, []byte(server), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "mcp", "test", "silent", "--config", config)
	if _, err := os.ReadFile(pipe); err != nil { // returns once the server runs
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := p.status(); got != 130 || strings.Contains(p.stderr.String(), "does not run") {
		t.Errorf("exit status %d, stderr %q; want 130 and no failure", got, p.stderr.String())
	}
}
