package app

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
)

// allGates switches on the gates that need no model and no program. The patterns of
// information flow give both labels to each call.
const allGates = `
[tools.information_flow]
untrusted = ["a.*"]
private = ["a.*"]
[tools.utility]
enabled = true
threshold = -10.0
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "deny"
tool = "bash"
args_match = "secret"
[tools.authorization]
enabled = true
[[tools.authorization.rules]]
effect = "allow"
tool = "*"
paths = ["/**"]
`

// BenchmarkGates measures a call through the chain of a session whose tools have no
// effect, with all gates off and on. The difference is the time that they add.
func BenchmarkGates(b *testing.B) {
	for _, tt := range []struct{ name, config, tool, input string }{
		{"off/read", gatesOff, "read", `{"path":"a.txt"}`},
		{"on/read", allGates, "read", `{"path":"a.txt"}`},
		{"off/bash", gatesOff, "bash", `{"command":"cd . && cat a.txt | head -5; go test ./... 2>&1 | tail -20"}`},
		{"on/bash", allGates, "bash", `{"command":"cd . && cat a.txt | head -5; go test ./... 2>&1 | tail -20"}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			dir := b.TempDir()
			write(b, dir, "a.txt", "x\n")
			home := b.TempDir()
			l, err := config.Load(config.Options{File: write(b, home, "config.toml", tt.config), Environ: []string{"HOME=" + b.TempDir()}})
			if err != nil {
				b.Fatal(err)
			}
			c, err := New(l, slog.New(slog.DiscardHandler)).Checker(dir, "auto")
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				call := &executors.Call{
					ID: "c", Tool: tt.tool, Input: json.RawMessage(tt.input), Session: "s", Caller: "s", Attempt: 1,
					Record: &executors.Record{}, Notify: func(executors.Event) {},
				}
				call.Card, call.PrepareErr = c.chain.Prepare(b.Context(), call)
				if _, err := c.chain.Execute(b.Context(), call); err != nil {
					b.Fatal(err)
				}
				if call.Record.Decision() == "" {
					b.Fatal("the call did not reach the permission link")
				}
			}
		})
	}
}
