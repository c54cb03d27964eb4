package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// person is a user at a terminal that runs zeph-acp.
type person struct {
	t        *testing.T
	cmd      *exec.Cmd
	terminal *os.File // the person's end
	screen   strings.Builder
}

// startInTerminal runs zeph-acp in a terminal of its own.
func startInTerminal(t *testing.T, home string, args ...string) *person {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { terminal.Close() })
	n, err := control(terminal, func(fd int) (int, error) {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return 0, err
		}
		return unix.IoctlGetInt(fd, unix.TIOCGPTN)
	})
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	defer tty.Close()                                                     // so that reading ends with the program
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // ends a program that hangs
	t.Cleanup(cancel)
	p := &person{t: t, cmd: exec.CommandContext(ctx, "zeph-acp", args...), terminal: terminal}
	p.cmd.Env = append(os.Environ(), "ZEPH_HOME="+home, "ANTHROPIC_API_KEY=")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// control calls a function with the descriptor, which stays non-blocking.
func control(f *os.File, call func(fd int) (int, error)) (n int, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	return n, errors.Join(c.Control(func(fd uintptr) { n, err = call(int(fd)) }), err)
}

// sees waits until the screen shows text.
func (p *person) sees(text string) {
	p.t.Helper()
	buf := make([]byte, 1024)
	for !strings.Contains(p.screen.String(), text) {
		n, err := p.terminal.Read(buf)
		if err != nil {
			p.t.Fatalf("%v; no %q in %q", err, text, p.screen.String())
		}
		p.screen.Write(buf[:n])
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the program to end, and checks its exit status and that the
// terminal echoes again.
func (p *person) ends(status int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("%v, want exit status %d; %q", err, status, p.screen.String())
	}
	if !p.echoes() {
		p.t.Error("the terminal is left without echo")
	}
}

// echoes reports whether the terminal has the mode that a shell expects.
func (p *person) echoes() bool {
	p.t.Helper()
	var flags uint32
	if _, err := control(p.terminal, func(fd int) (int, error) {
		modes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			flags = modes.Lflag
		}
		return 0, err
	}); err != nil {
		p.t.Fatal(err)
	}
	const all = unix.ECHO | unix.ICANON | unix.ISIG
	return flags&all == all
}

const manyProviders = `
[[llm.providers]]
name = "home"
type = "claude"
api_key_env = "KEY_OF_HOME"
[[llm.providers]]
name = "work"
type = "claude"
api_key_env = "KEY_OF_WORK"
`

func TestLoginInTerminal(t *testing.T) {
	const question = "(not shown): "
	for name, tt := range map[string]struct {
		config string
		args   []string
		talk   func(p *person)
		status int
		saved  string // a line of the file; empty means that there is no such line
		shows  string
	}{
		"nothing configured": {"", nil, func(p *person) {
			p.sees("  1  claude (ANTHROPIC_API_KEY)\r\n  2  openai (OPENAI_API_KEY)\r\n  3  gemini (GEMINI_API_KEY)\r\n")
			p.sees("Number or name [1]: ")
			p.types("\r")
			p.sees("Key of claude " + question)
			p.types(" sk-secret\r")
		}, 0, `ANTHROPIC_API_KEY = "sk-secret"`, "Stored the key of claude"},
		"as an editor does": {"", []string{"serve"}, func(p *person) {
			p.sees("Number or name [1]: ")
			p.types("openai\n")
			p.sees(question)
			p.types("sk-secret\n")
		}, 0, `OPENAI_API_KEY = "sk-secret"`, "Stored"},
		"the first of several": {manyProviders, nil, func(p *person) {
			p.sees("  1  home, claude (KEY_OF_HOME)\r\n  2  work (KEY_OF_WORK)\r\n")
			p.sees("Number or name [1]: ")
			p.types("\r")
			p.sees("Key of home, claude " + question)
			p.types("sk-secret\r")
		}, 0, `KEY_OF_HOME = "sk-secret"`, "Stored the key of home, claude"},
		"by number, typed ahead": {manyProviders, nil, func(p *person) {
			p.sees("Number or name [1]: ")
			p.types("2\rsk-secret\r")
		}, 0, `KEY_OF_WORK = "sk-secret"`, "Stored the key of work"},
		"by name, corrected": {manyProviders, nil, func(p *person) {
			p.sees("Number or name [1]: ")
			p.types("wori\x7fk\r")
			p.sees("Key of work " + question)
			p.types("sk-X\x7fsecret\r")
		}, 0, `KEY_OF_WORK = "sk-secret"`, "Stored the key of work"},
		"by flag": {manyProviders, []string{"--provider", "work"}, func(p *person) {
			p.sees("Key of work " + question)
			p.types("sk-secret\r")
		}, 0, `KEY_OF_WORK = "sk-secret"`, "Stored the key of work"},
		"no such number": {manyProviders, nil, func(p *person) {
			p.sees("Number or name [1]: ")
			p.types("9\r")
		}, 1, "", `no key was stored: the list has no "9": want a number from 1 to 4, or a name`},
		"empty": {"", []string{"--provider", "claude"}, func(p *person) {
			p.sees(question)
			p.types("\r")
		}, 1, "", "the key is empty"},
		"too long": {"", []string{"--provider", "claude"}, func(p *person) {
			p.sees(question)
			for range 5 {
				p.types(strings.Repeat("k", 1024))
			}
			p.types("\r")
		}, 1, "", "too long"},
		"Ctrl-C": {"", []string{"--provider", "claude"}, func(p *person) {
			p.sees(question)
			p.types("sk-secr\x03")
		}, 1, "", "no key was stored"},
		"Ctrl-C at the first question": {manyProviders, nil, func(p *person) {
			p.sees("Number or name [1]: ")
			p.types("\x03")
		}, 1, "", "no key was stored"},
		"Ctrl-D": {"", []string{"--provider", "claude"}, func(p *person) {
			p.sees(question)
			p.types("\x04")
		}, 1, "", "no key was stored"},
		"SIGTERM": {"", []string{"--provider", "claude"}, func(p *person) {
			p.sees(question)
			p.cmd.Process.Signal(syscall.SIGTERM)
		}, 1, "", "no key was stored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"login"}, tt.args...)
			if len(tt.args) > 0 && tt.args[0] == "serve" {
				args = []string{"serve", "login"}
			}
			p := startInTerminal(t, home, args...)
			tt.talk(p)
			p.sees(tt.shows)
			p.ends(tt.status)
			if strings.Contains(strings.ReplaceAll(p.screen.String(), "\r\n", ""), "\n") {
				t.Errorf("a line doesn't begin at the left: %q", p.screen.String())
			}
			if strings.Contains(p.screen.String(), "secr") {
				t.Errorf("the key is on the screen: %q", p.screen.String())
			}
			saved, err := os.ReadFile(filepath.Join(home, "keys.toml"))
			if tt.saved == "" && err == nil || !strings.Contains(string(saved), tt.saved) {
				t.Errorf("the file of keys has %q, %v, want the line %q", saved, err, tt.saved)
			}
		})
	}
}
