package ideproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// terminals is an editor whose terminals run programs as spawn does.
type terminals struct {
	spawn func(program string, args []string) *exec.Cmd
	show  func(command, output string) string // how the screen shows an output; nil means as it is

	mu      sync.Mutex
	scripts []string // as they were asked for
	screens []string
}

func (e *terminals) answer(method string, params json.RawMessage) string {
	var p struct {
		Command, TerminalID string
		Args                []string
	}
	_ = json.Unmarshal(params, &p)
	e.mu.Lock()
	defer e.mu.Unlock()
	var n int
	fmt.Sscanf(p.TerminalID, "t%d", &n)
	switch method {
	case "terminal/create":
		e.scripts = append(e.scripts, p.Args[len(p.Args)-1])
		out, _ := e.spawn(p.Command, p.Args).CombinedOutput()
		shown := string(out)
		if e.show != nil {
			shown = e.show(strings.Join(append([]string{p.Command}, p.Args...), " "), shown)
		}
		e.screens = append(e.screens, shown)
		return fmt.Sprintf(`{"terminalId":"t%d"}`, len(e.screens))
	case "terminal/wait_for_exit":
		return `{"exitCode":0}`
	case "terminal/output":
		out, _ := json.Marshal(map[string]any{"output": e.screens[n-1], "truncated": false})
		return string(out)
	}
	return `{}`
}

// argv passes each argument on unchanged.
func argv(program string, args []string) *exec.Cmd { return exec.Command(program, args...) }

// joined joins the arguments for a shell, as Node's spawn with shell: true does.
func joined(program string, args []string) *exec.Cmd {
	return exec.Command("sh", "-c", strings.Join(append([]string{program}, args...), " "))
}

// doubleQuoted puts each argument in double quotes, in which a shell still expands.
func doubleQuoted(program string, args []string) *exec.Cmd {
	return exec.Command("sh", "-c", program+` "`+strings.Join(args, `" "`)+`"`)
}

func TestProbe(t *testing.T) {
	const told = "join the arguments"
	for name, tt := range map[string]struct {
		spawn func(string, []string) *exec.Cmd
		show  func(command, output string) string
		local bool
	}{
		"keeps arguments":  {argv, nil, false},
		"joins arguments":  {joined, nil, true},
		"quotes by halves": {doubleQuoted, nil, true},
		"echoes, CRLF":     {argv, func(c, out string) string { return "$ " + c + "\r\n" + out + "\r\n" }, false},
		"echoes and joins": {joined, func(c, out string) string { return "$ " + c + "\r\n" + out }, true},
		"shows no output":  {argv, func(string, string) string { return "" }, true},
		"keeps the end":    {argv, func(_, out string) string { return "…" + out[max(0, len(out)-len(probeKept)):] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &terminals{spawn: tt.spawn, show: tt.show}
			wire := &editor{answer: e.answer}
			client, here, shared := connect(t, wire), &local{}, &Terminals{}
			var events []executors.Event
			for range 2 {
				term := &Terminal{Client: client, Shared: shared, Local: here}
				if _, err := term.Run(t.Context(),
					shell.Command{Line: "echo run", Dir: "/", Session: "s1", Notify: func(ev executors.Event) { events = append(events, ev) }}); err != nil {
					t.Fatal(err)
				}
			}
			want, ran := []string{probeScript, "echo run", "echo run"}, 0
			if tt.local {
				want, ran = want[:1], 2
			}
			if !slices.Equal(e.scripts, want) || len(here.lines) != ran {
				t.Errorf("in the terminal %q, here %q", e.scripts, here.lines)
			}
			for _, ev := range events {
				if ev.Terminal == "t1" {
					t.Error("the probe's terminal was shown")
				}
			}
			for m := range wire.seen {
				if m == "terminal/release" {
					break
				}
			}
			if why := shared.quirks.why; tt.local != strings.Contains(why, told) {
				t.Errorf("why is %q", why)
			}
		})
	}
}

func count(methods []string, method string) (n int) {
	for _, m := range methods {
		if m == method {
			n++
		}
	}
	return n
}

// An inconclusive probe counts against the client, and is not repeated.
func TestUndecidedProbe(t *testing.T) {
	for name, tt := range map[string]struct {
		answers map[string]string
		why     string
	}{
		"refuses":  {map[string]string{"terminal/create": refused}, "disk full"},
		"has none": {map[string]string{"terminal/create": unknownMethod}, "no such method"},
		"no output": {map[string]string{"terminal/create": `{"terminalId":"t1"}`, "terminal/wait_for_exit": `{}`, "terminal/output": refused,
			"terminal/release": `{}`}, "disk full"},
		"never answers": {map[string]string{}, "no answer in time"},
		"never ends":    {map[string]string{"terminal/create": `{"terminalId":"t1"}`}, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wire := &editor{answer: func(m string, _ json.RawMessage) string { return tt.answers[m] }}
				here, shared := &local{}, &Terminals{}
				term := &Terminal{Client: connect(t, wire), Shared: shared, Local: here}
				for range 2 {
					if _, err := term.Run(t.Context(), shell.Command{Line: "x", Dir: "/", Session: "s1"}); err != nil {
						t.Fatal(err)
					}
				}
				if count(wire.methods(), "terminal/create") != 1 || len(here.lines) != 2 || !strings.Contains(shared.quirks.why, tt.why) {
					t.Errorf("calls %q, here %q, why %q", wire.methods(), here.lines, shared.quirks.why)
				}
			})
		})
	}
}

// slowCommand is an editor whose second command, after the probe, ends when its output has
// been requested twice.
type slowCommand struct {
	waited, ended    string // the answer to terminal/wait_for_exit, and exitStatus at the end
	terminals, asked int
}

func (e *slowCommand) answer(method string, _ json.RawMessage) string {
	switch method {
	case "terminal/create":
		e.terminals++
		return fmt.Sprintf(`{"terminalId":"t%d"}`, e.terminals)
	case "terminal/wait_for_exit":
		return e.waited
	case "terminal/output":
		if e.terminals == 1 {
			return fmt.Sprintf(`{"output":%q,"truncated":false,"exitStatus":%s}`, probeKept, e.ended)
		}
		if e.asked++; e.asked < 3 {
			return `{"output":"half","truncated":false}`
		}
		return fmt.Sprintf(`{"output":"all","truncated":false,"exitStatus":%s}`, e.ended)
	}
	return `{}`
}

// A client may answer terminal/wait_for_exit without a status, while the command runs. The
// output must have the status then, or commands do not run there.
func TestClientThatDoesNotWait(t *testing.T) {
	for name, tt := range map[string]struct {
		waited, ended, want string
	}{
		"empty":         {`{}`, `{"exitCode":0}`, "all"},
		"null":          {`null`, `{"exitCode":3,"signal":null}`, "all"},
		"nulls":         {`{"exitCode":null,"signal":null}`, `{"signal":"SIGTERM"}`, "all"},
		"refused":       {refused, `{"exitCode":0}`, "half"}, // an error is no answer
		"with a status": {`{"exitCode":0}`, `null`, "half"},
		"no status":     {`{}`, `null`, "here"},
		"empty status":  {`{}`, `{}`, "here"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &slowCommand{waited: tt.waited, ended: tt.ended}
				shared := &Terminals{}
				term := &Terminal{Client: connect(t, &editor{answer: e.answer}), Shared: shared, Local: &local{}}
				out, _ := term.Run(t.Context(), shell.Command{Line: "x", Dir: "/", Session: "s1"})
				if out.Text != tt.want || (tt.want == "here") != strings.Contains(shared.quirks.why, "does not report how a command ends") {
					t.Errorf("%+v, why %q", out, shared.quirks.why)
				}
			})
		})
	}
}

// A probe that the user cancels decides nothing: the next command probes again.
func TestCancelledProbe(t *testing.T) {
	hang := make(chan struct{}, 1)
	e := &terminals{spawn: argv}
	wire := &editor{parallel: true, answer: func(m string, p json.RawMessage) string {
		if m == "terminal/wait_for_exit" {
			select {
			case hang <- struct{}{}: // the first one
				return ""
			default:
			}
		}
		return e.answer(m, p)
	}}
	here, shared := &local{}, &Terminals{}
	term := &Terminal{Client: connect(t, wire), Shared: shared, Local: here}
	stop := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for m := range wire.seen {
			if m == "terminal/wait_for_exit" {
				cancel(stop)
				return
			}
		}
	}()
	if _, err := term.Run(ctx, shell.Command{Line: "x", Dir: "/", Session: "s1"}); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	out, err := term.Run(t.Context(), shell.Command{Line: "echo run", Dir: "/", Session: "s1"})
	if err != nil || out.Text != "run\n" || len(here.lines) > 0 {
		t.Errorf("%+v, %v, here %q", out, err, here.lines)
	}
}

// If several first commands run at once, one probes, and the others wait for
// its result.
func TestParallelProbes(t *testing.T) {
	e := &terminals{spawn: argv}
	wire := &editor{parallel: true, answer: e.answer}
	shared, client := &Terminals{}, connect(t, wire)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			term := &Terminal{Client: client, Shared: shared, Local: &local{}}
			if out, err := term.Run(t.Context(), shell.Command{Line: "echo run", Dir: "/", Session: "s1"}); err != nil || out.Text != "run\n" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	group.Wait()
	if len(e.scripts) != 9 || e.scripts[0] != probeScript {
		t.Errorf("ran %q", e.scripts)
	}
}

func TestQuirks(t *testing.T) {
	zed := quirks{arguments: argumentsKept, dropsEnd: true, showsCall: true, plainCommands: true, followsLast: true, titlesTerminals: true}
	for client, want := range map[acp.Implementation]quirks{
		{Name: "vscode-acp-client", Version: "0.2.0"}:  {arguments: argumentsUnsafe},
		{Name: "vscode-acp-client"}:                    {arguments: argumentsUnsafe},
		{Name: "zed", Version: "1.20.0"}:               zed,
		{Name: "Zed", Version: "v1.0"}:                 zed,
		{Name: "zed", Version: "0.190.2"}:              {},
		{Name: "zed", Version: "nightly"}:              {},
		{Name: "zed"}:                                  {},
		{Name: "acpx", Version: "0.19.1"}:              {arguments: argumentsKept, readsDiskOnly: true},
		{Name: "CodeCompanion.nvim", Version: "1.0.0"}: {firstDiff: true},
		{Name: "somebody", Version: "9"}:               {},
		{}:                                             {},
	} {
		got := quirksOf(client)
		got.why = ""
		if got != want {
			t.Errorf("%+v: %+v, want %+v", client, got, want)
		}
	}
	for _, c := range clients {
		if c.source == "" || (c.why != "") != (c.arguments == argumentsUnsafe) {
			t.Errorf("%s lacks its source, or its reason", c.name)
		}
	}
}
