package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// BenchmarkRequest is the cost of writing one request of a conversation that grows.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{11, 301} {
		b.Run(fmt.Sprint(n-1), func(b *testing.B) {
			c := New(Config{})
			req := llm.Request{System: "Be brief.", Messages: llmtest.Conversation(n), Tools: llmtest.Tools()}
			b.ReportAllocs()
			for b.Loop() {
				data, err := json.Marshal(c.params(req, llm.Repair(llm.Shown(c, req.Messages))))
				if err != nil {
					b.Fatal(err)
				}
				io.Discard.Write(data)
			}
		})
	}
}
