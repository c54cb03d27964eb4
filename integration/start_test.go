package integration

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEmptyEnvironment starts the agent with an empty environment, as a
// registry does, and with an empty home: no keys and no files.
//
// Statement 36.
func TestEmptyEnvironment(t *testing.T) {
	for name, how := range map[string]start{"no environment": {emptyEnv: true}, "an empty home": {}} {
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

// TestNoHome starts the agent without a directory that it could write.
//
// Statement 2.
func TestNoHome(t *testing.T) {
	a := connect(t, start{env: []string{"ZEPH_HOME=/nonexistent/zeph", "HOME=/nonexistent"}})
	s := a.open()
	a.runTurn(s, "/bash echo hi")
}

// TestBrokenConfig starts with an invalid config.toml. One line on
// stderr names the place, and no frame is written.
//
// Statement 2.
func TestBrokenConfig(t *testing.T) {
	for name, tt := range map[string]struct{ config, want string }{
		"not TOML":    {"[agent\nx", "config.toml:1"},
		"unknown key": {"[agent]\nmax_tool_iteration = 3\n", "max_tool_iteration"},
		"wrong type":  {"[agent]\nmax_tool_iterations = \"3\"\n", "config.toml:2"},
		"wrong value": {"\n[agent]\nmode = \"yolo\"\n", "config.toml:3"},
	} {
		t.Run(name, func(t *testing.T) {
			a := launch(t, start{config: tt.config})
			_, _ = a.in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")) // it may have exited
			a.waitExit(promptly)
			text := a.stderr.String()
			if a.status != 1 || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "zeph-acp: ") || !strings.Contains(text, tt.want) {
				t.Errorf("exit status %d, stderr %q", a.status, text)
			}
			if frames := a.agentFrames(); len(frames) > 0 {
				t.Errorf("the agent wrote %q", frames[0].line)
			}
		})
	}
}

// TestHomeStaysEmpty checks that no file is written before it is needed.
func TestHomeStaysEmpty(t *testing.T) {
	a := connect(t, start{})
	a.alive()
	files, err := filepath.Glob(filepath.Join(a.home, "*"))
	if err != nil || len(files) > 0 {
		t.Errorf("%q, %v", files, err)
	}
}

// TestNoNoise checks that stdout has only answers, whatever the
// environment and the log level.
//
// Statement 2.
func TestNoNoise(t *testing.T) {
	a := launch(t, start{
		args: []string{"--log-level", "debug"},
		env:  []string{"DEBUG=*", "TERM=dumb", "ANTHROPIC_LOG=debug", "GODEBUG=inittrace=0", "NO_COLOR=1", "FORCE_COLOR=1", "ZEPH_LOG_LEVEL=debug"},
	})
	a.exitChecked = true // stderr has the log
	a.alive()
	a.initialize()
	s := a.open()
	a.runTurn(s, "/bash echo hi")
	if f := a.agentFrames()[0]; !strings.HasPrefix(string(f.ID), `"alive`) {
		t.Errorf("the first line is %q", f.line)
	}
	for _, f := range a.agentFrames() {
		if !strings.HasPrefix(f.line, `{"jsonrpc":"2.0",`) {
			t.Errorf("the agent wrote %q", f.line)
		}
	}
}

// TestQuiet runs an ordinary session in which a command and a request
// fail. At the default log level stderr stays empty.
//
// Statement 3.
func TestQuiet(t *testing.T) {
	a := connect(t, start{})
	s := a.open()
	a.runTurn(s, "/bash echo to stderr >&2; exit 3")
	a.request("2", "session/set_mode", `{"sessionId":`+quote(s)+`,"modeId":"none"}`)
	a.closeSession(s)
	a.in.Close()
	a.exits(0)
}
