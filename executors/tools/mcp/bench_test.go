package mcp

import (
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// BenchmarkCall compares a call through a session with one of the bare SDK, each of
// the same program on stdin and stdout.
func BenchmarkCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sdk", func(b *testing.B) {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "SERVE=tools")
		c, err := sdk.NewClient(&sdk.Implementation{Name: "bench"}, nil).Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		for b.Loop() {
			if _, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"a": 1}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		p := &Servers{Version: "1", Env: os.Environ, Log: slog.New(slog.DiscardHandler)}
		defer p.Close()
		e := NewServer()
		e.Name, e.Command, e.Env = "s", self, map[string]string{"SERVE": "tools"}
		s := p.Session(Options{Dir: b.TempDir(), Servers: []Server{e}, Wait: time.Minute})
		s.Ready(b.Context())
		for b.Loop() {
			r, err := s.Execute(b.Context(), &executors.Call{Tool: "s__echo", Input: []byte(`{"a":1}`), Record: &executors.Record{}, Notify: func(executors.Event) {}})
			if err != nil || r.Failed {
				b.Fatal(r.Text, err)
			}
		}
	})
}
