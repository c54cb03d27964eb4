package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	var r results
	a, b := json.RawMessage(`"a"`), json.RawMessage(`"b"`)
	if r.put(1, a) || r.take(1) != nil {
		t.Error("a result before its call")
	}
	r.expect(1)
	r.expect(2)
	if !r.put(1, a) || r.put(1, b) {
		t.Error("the first result of a call counts, and no other")
	}
	if got := r.take(1); string(got) != string(a) {
		t.Errorf("got %s", got)
	}
	if r.put(1, b) || r.take(1) != nil {
		t.Error("a late result was kept")
	}
	if r.take(2) != nil || len(r.of) > 0 {
		t.Error("a call that failed has a result, or is still open")
	}
}

func BenchmarkCall(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("\tif err != nil { return \"größer\" }\n", 1<<20/42))
	for name, content := range map[string]string{"short": `"a"`, "a file of 1 MiB": string(text)} {
		b.Run(name, func(b *testing.B) {
			w := serve(b, newServer(b, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				for {
					if _, err := c.ReadTextFile(ctx, "s1", "/w/a"); err != nil {
						return "", err
					}
				}
			}}))
			w.send(open)
			w.read()
			w.send(promptFrame("1"))
			w.read()
			b.ReportAllocs()
			for id := 1; b.Loop(); id++ {
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":%s}}`, id, content))
				w.read()
			}
			w.send(cancel)
		})
	}
}
