package openai

import (
	"fmt"
	"io"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// BenchmarkRequest writes one request of a conversation with that many messages: all
// of it, or only the new ones after a call and its result.
func BenchmarkRequest(b *testing.B) {
	for _, api := range []string{APIChat, APIResponses} {
		for _, n := range []int{10, 300} {
			history := llmtest.Conversation(n + 1)
			o := New(Config{API: api})
			req := llm.Request{System: "Be brief.", Messages: history, Tools: llmtest.Tools()}
			b.Run(fmt.Sprintf("%s/whole/%d", api, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					write(b, o, req)
				}
			})
			b.Run(fmt.Sprintf("%s/next/%d", api, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					req := req
					req.Cache, req.Messages = new(llm.Cache), history[:n-1]
					write(b, o, req)
					req.Messages = history
					b.StartTimer()
					write(b, o, req)
				}
			})
		}
	}
}

func write(b *testing.B, o *Model, req llm.Request) {
	messages := llm.Merge(llm.Repair(llm.WithoutRefusedImages(o, req.Messages)))
	body := o.dialect(wire.NewToolNames(req.Tools)).body(req, messages)
	if _, err := io.Copy(io.Discard, body.Reader()); err != nil {
		b.Fatal(err)
	}
}
