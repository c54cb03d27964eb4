package integration

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestChatEnds ends the conversation in a turn: by Ctrl-D, by a signal, and by a second one. The terminal is as it was.
func TestChatEnds(t *testing.T) {
	const model = `{"tool": "bash", "input": {"command": "echo begun; sleep 600"}}
`
	for name, tt := range map[string]struct {
		end    func(s *screen)
		status string
	}{
		"Ctrl-D":  {func(s *screen) { s.key("C-d") }, "0"},
		"SIGTERM": {func(s *screen) { s.signal(syscall.SIGTERM) }, "143"},
		"SIGHUP":  {func(s *screen) { s.signal(syscall.SIGHUP) }, "129"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openScreen(t, 80, model, nil)
			s.enter("clear; stty -g >before; zeph-acp chat wait; echo status $?")
			s.await(`│ begun\n+[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] +\d+ s `)
			tt.end(s)
			s.await(`status ` + tt.status + `\n\$$`)
			s.left()
		})
	}
}

// signal sends a signal to the agent in the terminal.
func (s *screen) signal(sig syscall.Signal) {
	s.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		s.t.Fatal(err)
	}
	children := read(s.t, filepath.Join("/proc", strconv.Itoa(pid), "task", strconv.Itoa(pid), "children"))
	child, err := strconv.Atoi(strings.Fields(children)[0])
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(child, sig); err != nil {
		s.t.Fatal(err)
	}
}
