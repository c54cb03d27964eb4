//go:build unix

package ideproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// launcher makes launches whose tickets lie in a directory.
type launcher struct {
	dir     string
	tickets []string
	argv    []string
	env     []string
	err     error
}

func (l *launcher) launch(argv, env []string) (Launch, error) {
	ticket := filepath.Join(l.dir, fmt.Sprint(len(l.tickets)))
	l.tickets, l.argv, l.env = append(l.tickets, ticket), argv, env
	if err := os.WriteFile(ticket, nil, 0o600); err != nil {
		return Launch{}, err
	}
	return Launch{Path: "/opt/zeph-acp", Args: append([]string{"__box", ticket, "--"}, argv...), Ticket: ticket}, l.err
}

// An unasked command starts in a terminal as the box's launcher. If the terminal is on another
// machine or cannot start the launcher, it runs here; so do the next ones, without another try.
func TestLaunch(t *testing.T) {
	const (
		running = `{"output":"","truncated":false}`
		status  = `{"output":%q,"truncated":false,"exitStatus":{"exitCode":%d}}`
	)
	for name, tt := range map[string]struct {
		create func(l acp.CreateTerminalRequest) string // the answer to the launcher's terminal
		output string
		here   bool   // the command runs here
		err    string // the refusal of the editor
		state  string // a part of the line in /status
	}{
		"on this kernel": {create: func(p acp.CreateTerminalRequest) string { os.Remove(p.Args[1]); return `{"terminalId":"t1"}` },
			output: fmt.Sprintf(status, "out", 3)},
		"a little later": {create: func(p acp.CreateTerminalRequest) string {
			time.AfterFunc(50*time.Millisecond, func() { os.Remove(p.Args[1]) })
			return `{"terminalId":"t1"}`
		}, output: fmt.Sprintf(status, "out", 3)},
		"slower than its exit": {create: func(p acp.CreateTerminalRequest) string { return `{"terminalId":"t1"}` },
			output: fmt.Sprintf(status, "bash: /opt/zeph-acp: No such file or directory\n", 127), here: true, state: "No such file"},
		"another kernel": {create: func(p acp.CreateTerminalRequest) string { return `{"terminalId":"t1"}` },
			output: fmt.Sprintf(status, "zeph-acp: sandbox: this terminal is on another machine\n", 126), here: true, state: "another machine"},
		"not a word": {create: func(p acp.CreateTerminalRequest) string { return `{"terminalId":"t1"}` }, output: fmt.Sprintf(status, "", 0), here: true,
			state: "do not start"},
		"no program there": {create: func(p acp.CreateTerminalRequest) string { return `!{"code":-32603,"message":"spawn ENOENT"}` }, here: true,
			state: "spawn ENOENT"},
		"no terminals": {create: func(p acp.CreateTerminalRequest) string { return unknownMethod }, here: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, here, shared := &launcher{dir: t.TempDir()}, &local{}, &Terminals{}
			shared.quirks.arguments = argumentsKept
			created := 0
			e := &editor{answer: func(m string, params json.RawMessage) string {
				switch m {
				case "terminal/create":
					var p acp.CreateTerminalRequest
					_ = json.Unmarshal(params, &p)
					if p.Command == "bash" { // the probe of the arguments
						return `{"terminalId":"probe"}`
					}
					created++
					return tt.create(p)
				case "terminal/output":
					if strings.Contains(string(params), "probe") {
						return fmt.Sprintf(status, probeKept, 0)
					}
					return tt.output
				case "terminal/wait_for_exit":
					return `{"exitCode":3}`
				}
				return `{}`
			}}
			term := &Terminal{Client: connect(t, e), Shared: shared, Local: here, Launch: l.launch}
			var events []executors.Event
			for range 2 {
				cmd := shell.Command{Line: "cat a", Dir: "/", Session: "s1", ReadOnly: true}
				cmd.Notify = func(ev executors.Event) { events = append(events, ev) }
				out, err := term.Run(t.Context(), cmd)
				if err != nil {
					t.Fatal(err)
				}
				if !tt.here && (out.Text != "out" || out.ExitCode == nil || *out.ExitCode != 3 || !out.ReadOnly || out.Terminal != "t1") {
					t.Errorf("got %+v", out)
				}
			}
			want, shown := 2, 2
			if tt.here {
				want, shown = 1, 0
				if tt.create(acp.CreateTerminalRequest{Args: []string{"", ""}}) == unknownMethod {
					want = 2 // a session without terminals costs no program
				}
			}
			terminals := slices.DeleteFunc(events, func(ev executors.Event) bool { return ev.Terminal == "" })
			if ran := 2 - len(here.lines); created != want || len(terminals) != shown || ran != shown {
				t.Errorf("%d terminals for the command, %d shown, %d runs in them", created, len(terminals), ran)
			}
			if !slices.Equal(l.argv, []string{"bash", "-p", "-c", "cat a"}) {
				t.Errorf("argv %q", l.argv)
			}
			if !slices.Contains(l.env, "GIT_OPTIONAL_LOCKS=0") || !slices.Contains(l.env, "PATH="+os.Getenv("PATH")) {
				t.Errorf("environment %q", l.env)
			}
			for _, ticket := range l.tickets {
				if _, err := os.Lstat(ticket); err == nil {
					t.Error("a ticket is left, so the command could start later")
				}
			}
			if state := shared.noBox; tt.state == "" != (state == "") || !strings.Contains(state, tt.state) {
				t.Errorf("state %q, want %q", state, tt.state)
			}
		})
	}
}

// Where no other process can hold the box, unasked commands run here, and the editor starts nothing.
func TestLaunchUnsupported(t *testing.T) {
	l, here, shared := &launcher{dir: t.TempDir(), err: errors.ErrUnsupported}, &local{}, &Terminals{}
	shared.quirks.arguments = argumentsKept
	e := &editor{answer: func(m string, _ json.RawMessage) string {
		t.Errorf("the editor was asked for %s", m)
		return `{}`
	}}
	term := &Terminal{Client: connect(t, e), Shared: shared, Local: here, Launch: l.launch}
	for range 2 {
		if _, err := term.Run(t.Context(), shell.Command{Line: "cat a", Dir: "/", Session: "s1", ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
	}
	if len(here.lines) != 2 || len(l.tickets) != 1 {
		t.Errorf("ran here: %q; %d launches", here.lines, len(l.tickets))
	}
}

// Where the editor starts nothing at all, it has refused, and the command does not run elsewhere.
func TestLaunchRefused(t *testing.T) {
	l, here := &launcher{dir: t.TempDir()}, &local{}
	term := &Terminal{Client: connect(t, &editor{answer: always(refused)}), Local: here, Launch: l.launch}
	_, err := term.Run(t.Context(), shell.Command{Line: "cat a", Dir: "/", Session: "s1", ReadOnly: true})
	if err == nil || !strings.Contains(err.Error(), "disk full") || len(here.lines) > 0 {
		t.Errorf("%v, here %q", err, here.lines)
	}
	l.err = errors.New("no kernel")
	_, err = term.Run(t.Context(), shell.Command{Line: "cat a", Dir: "/", Session: "s1", ReadOnly: true})
	if err == nil || !strings.Contains(err.Error(), "no kernel") || len(here.lines) > 0 {
		t.Errorf("%v, here %q", err, here.lines)
	}
}

// A command that the user allowed runs as it is.
func TestLaunchAllowedCommand(t *testing.T) {
	var p acp.CreateTerminalRequest
	e := &editor{answer: func(m string, params json.RawMessage) string {
		if m == "terminal/create" {
			_ = json.Unmarshal(params, &p)
		}
		return map[string]string{
			"terminal/create": `{"terminalId":"t1"}`, "terminal/wait_for_exit": `{"exitCode":0}`, "terminal/output": `{"output":"","truncated":false}`,
		}[m]
	}}
	l := &launcher{dir: t.TempDir()}
	term := &Terminal{Client: connect(t, e), Launch: l.launch}
	if _, err := term.Run(t.Context(), shell.Command{Line: "make", Dir: "/", Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	if p.Command != "bash" || !slices.Equal(p.Args, []string{"-c", "make"}) || len(l.tickets) > 0 {
		t.Errorf("%s %q", p.Command, p.Args)
	}
}
