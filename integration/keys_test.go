package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// keyless configures a provider whose key is missing.
const keyless = "[[llm.providers]]\ntype = \"claude\"\n"

// startUnlocked starts an agent without its provider's key.
func startUnlocked(t *testing.T, p *fakemodel.Anthropic) *agent {
	t.Helper()
	a := launch(t, start{config: keyless, env: []string{"ANTHROPIC_BASE_URL=" + p.URL}})
	a.initialize(`{"auth":{"terminal":true}}`)
	return a
}

// refused checks that a request gets auth_required with advice.
func (a *agent) refused(id, method, params string) {
	a.t.Helper()
	a.request(id, method, params)
	f := a.answer(id)
	if f.Error == nil || f.Error.Code != -32000 || !strings.Contains(f.Error.Message, "zeph-acp login") || !strings.Contains(f.Error.Message,
		"ANTHROPIC_API_KEY") {
		a.t.Errorf("%s: %s", method, f.line)
	}
}

// accepted returns the result of a request.
func (a *agent) accepted(id, method, params string) string {
	a.t.Helper()
	a.request(id, method, params)
	f := a.answer(id)
	if f.Error != nil {
		a.t.Errorf("%s: %s", method, f.line)
	}
	return string(f.Result)
}

// subcommand runs the binary in this agent's environment with args appended, and
// returns its exit status and output.
func (a *agent) subcommand(stdin string, args ...string) (status int, out string) {
	a.t.Helper()
	cmd := exec.Command(binary, append(append([]string(nil), a.cmd.Args[1:]...), args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = a.cmd.Env, a.cmd.Dir, strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		a.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// login stores the key that the fake provider accepts.
func (a *agent) login() {
	a.t.Helper()
	if status, out := a.subcommand("test\n", "login", "--provider", "claude"); status != 0 {
		a.t.Fatalf("login: exit status %d: %s", status, out)
	}
}

// TestNoKey configures a provider without its key. The client gets a
// request to authenticate, with advice. Without any configuration, sessions work.
//
// Statement 44.
func TestNoKey(t *testing.T) {
	a := startUnlocked(t, fakemodel.NewAnthropic(t))
	a.refused("1", "session/new", `{"cwd":`+quote(a.dir)+`,"mcpServers":[]}`)
	a.refused("2", "authenticate", `{"methodId":"api-key"}`)
	a.refused("3", "authenticate", `{"methodId":"login"}`)
	b := connect(t, start{})
	if got := b.accepted("1", "authenticate", `{"methodId":"api-key"}`); got != "{}" {
		t.Errorf("authenticate with nothing configured: %s", got)
	}
	b.open()
}

// TestKeyAppears stores a key while the agent runs. The client's next
// request works, without a restart.
//
// Statement 48.
func TestKeyAppears(t *testing.T) {
	for _, next := range []string{"authenticate", "session/new"} {
		t.Run(next, func(t *testing.T) {
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")))
			a := startUnlocked(t, p)
			a.refused("1", "authenticate", `{"methodId":"api-key"}`)
			a.refused("2", "session/new", `{"cwd":`+quote(a.dir)+`,"mcpServers":[]}`)
			a.login()
			if next == "authenticate" {
				a.accepted("3", "authenticate", `{"methodId":"api-key"}`)
			}
			if got := a.accepted("4", "session/prompt", promptParams(a.open(), "hi")); !strings.Contains(got, "end_turn") {
				t.Errorf("the answer to the prompt is %s", got)
			}
		})
	}
	t.Run("session/prompt", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")))
		a := startUnlocked(t, p)
		a.login()
		s := a.open()
		if status, out := a.subcommand("", "logout"); status != 0 {
			t.Fatalf("logout: exit status %d: %s", status, out)
		}
		a.refused("1", "session/prompt", promptParams(s, "hi"))
		a.login()
		a.accepted("2", "session/prompt", promptParams(s, "hi"))
	})
}

// TestLogout removes the stored key. Requests that need it are refused
// until another one is stored; a second logout is no error.
//
// Statement 49.
func TestLogout(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")), fakemodel.Answer(fakemodel.Say("Here again.")))
	a := startUnlocked(t, p)
	var said struct {
		AgentCapabilities struct {
			Auth struct{ Logout *struct{} }
		}
	}
	if err := json.Unmarshal(a.answer(`"init"`).Result, &said); err != nil || said.AgentCapabilities.Auth.Logout == nil {
		t.Errorf("logout is not advertised: %+v, %v", said, err)
	}
	a.login()
	s := a.open()
	a.accepted("1", "session/prompt", promptParams(s, "hi"))
	for _, id := range []string{"2", "3"} {
		if got := a.accepted(id, "logout", `{}`); got != "{}" {
			t.Errorf("logout: %s", got)
		}
	}
	if _, err := os.Stat(filepath.Join(a.home, "keys.toml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the keys are still there: %v", err)
	}
	a.refused("4", "session/new", `{"cwd":`+quote(a.dir)+`,"mcpServers":[]}`)
	a.refused("5", "authenticate", `{"methodId":"api-key"}`)
	a.refused("6", "session/prompt", promptParams(s, "again"))
	a.login()
	a.accepted("7", "session/prompt", promptParams(s, "again"))
	a.open()
}

// TestLogin runs the terminal method as a client does: the agent's own
// command with the method's args appended.
//
// Statement 50.
func TestLogin(t *testing.T) {
	a := startUnlocked(t, fakemodel.NewAnthropic(t))
	var said struct {
		AuthMethods []struct {
			Type string
			Args []string
		}
	}
	if err := json.Unmarshal(a.answer(`"init"`).Result, &said); err != nil || len(said.AuthMethods) != 2 || said.AuthMethods[1].Type != "terminal" {
		t.Fatalf("the methods are %+v, %v", said.AuthMethods, err)
	}
	login := append(said.AuthMethods[1].Args, "--provider", "claude") // in a terminal, login would ask for it
	for name, tt := range map[string]struct {
		key    string
		stored bool
	}{
		"a key":       {"test\n", true},
		"no newline":  {"test", true},
		"nothing":     {"", false},
		"blank":       {" \n", false},
		"two of them": {"one\ntwo\n", false},
		"a wrong key": {"wrong\n", false},
	} {
		status, out := a.subcommand(tt.key, login...)
		if (status == 0) != tt.stored || strings.Contains(out, "jsonrpc") ||
			name == "a wrong key" && !strings.Contains(out, "no key was stored: claude refuses it: invalid x-api-key") {
			t.Errorf("%s: exit status %d: %s", name, status, out)
		}
	}
	// An interrupt before the key is typed.
	if runtime.GOOS == "windows" {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out bytes.Buffer
	cmd := exec.Command(binary, login...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.cmd.Env, a.cmd.Dir, r, &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }() // the status is checked instead
	within(t, patience, "end of login", done)
	if cmd.ProcessState.ExitCode() == 0 || strings.Contains(out.String(), "jsonrpc") {
		t.Errorf("interrupted: exit status %d: %s", cmd.ProcessState.ExitCode(), &out)
	}
}
