package anthropic

import (
	"fmt"
	"io"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// BenchmarkRequest writes one request of a conversation with that many messages: all
// of it, or only the new ones after a call and its result.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{10, 300} {
		history := llmtest.Conversation(n + 1)
		write := func(b *testing.B, c *Model, req llm.Request) {
			body := c.body(req, llm.Repair(llm.WithoutRefusedImages(c, req.Messages)))
			if _, err := io.Copy(io.Discard, body.Reader()); err != nil {
				b.Fatal(err)
			}
		}
		c := New(Config{})
		req := llm.Request{System: "Be brief.", Messages: history, Tools: llmtest.Tools()}
		b.Run(fmt.Sprintf("whole/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				write(b, c, req)
			}
		})
		b.Run(fmt.Sprintf("next/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				req := req
				req.Cache, req.Messages = new(llm.Cache), history[:n-1]
				write(b, c, req)
				req.Messages = history
				b.StartTimer()
				write(b, c, req)
			}
		})
	}
}
