//go:build unix

package mcp

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// TestNothingIsLeft checks that neither a process nor a goroutine outlives the end of
// servers that are in use, that hang, and that do not start.
func TestNothingIsLeft(t *testing.T) {
	for name, end := range map[string]func(f *fixture, s *Session){
		"the session is closed": func(_ *fixture, s *Session) { s.Close() },
		"the process ends":      func(f *fixture, _ *Session) { f.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			before := goroutines()
			s := f.open(program(t, "s", "tools"), program(t, "bad", "exit"))
			var pid int
			fmt.Sscan(strings.TrimPrefix(f.call(s, "s__pid", `{}`).ForModel(), marked), &pid)
			hung := make(chan executors.Result)
			go func() {
				r, _ := s.Execute(t.Context(), &executors.Call{Tool: "s__hang", Record: &executors.Record{}, Notify: func(executors.Event) {}})
				hung <- r
			}()
			f.until("the call", func() bool {
				s.servers[0].mu.Lock()
				defer s.servers[0].mu.Unlock()
				return len(s.servers[0].progress) > 0
			})
			end(f, s)
			if r := <-hung; !r.Failed {
				t.Errorf("the call ended with %q", r.ForModel())
			}
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("process %d is left: %v", pid, err)
			}
			f.until("the end of all goroutines", func() bool { return goroutines() <= before })
		})
	}
}

// goroutines counts the goroutines.
func goroutines() int {
	runtime.Gosched()
	return runtime.NumGoroutine()
}
