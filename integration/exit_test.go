package integration

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestEndOfInput ends an idle agent as an editor does.
//
// Statement 129.
func TestEndOfInput(t *testing.T) {
	a := connect(t, start{})
	a.open()
	began := time.Now()
	a.in.Close()
	a.exits(0)
	t.Logf("gone after %s", time.Since(began).Round(time.Millisecond))
}

// TestEndMidTurn ends the agent in every way during a command
// that ignores SIGTERM and has forked. No process is left.
//
// Statements 118, 129, 130.
func TestEndMidTurn(t *testing.T) {
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
			done := e.startPrompt(e.session(), "run")
			pids := e.stubbornPIDs()
			tt.end(e.agent)
			e.exits(tt.status)
			e.waitGone(pids)
			within(t, patience, "answer to the prompt", done)
		})
	}
}

// TestEndInBackground ends the agent while a background command that ignores
// SIGTERM and SIGINT outlives its turn. No process is left.
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
			p := fakemodel.NewAnthropic(t,
				fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": `trap "" HUP INT; ` + stubborn, "background": true})),
				fakemodel.Answer(fakemodel.Say("It runs.")))
			e := (&ide{}).begin(t, start{env: p.Env()})
			e.prompt(e.session(), "run")
			pids := e.stubbornPIDs()
			tt.end(e.agent)
			e.exits(tt.status)
			e.waitGone(pids)
		})
	}
}

// TestSignalIdle ends an idle agent by a signal.
//
// Statement 130.
func TestSignalIdle(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		a := connect(t, start{})
		if err := a.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		a.exits(want)
	}
}

// TestOutputClosed closes the reading end of stdout. The agent exits.
//
// Statement 131.
func TestOutputClosed(t *testing.T) {
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
