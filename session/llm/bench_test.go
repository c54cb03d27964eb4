package llm_test

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// BenchmarkRepair is the cost of a history that needs no repair.
func BenchmarkRepair(b *testing.B) {
	history := llmtest.Conversation(301)
	b.ReportAllocs()
	for b.Loop() {
		llm.Repair(history)
	}
}

// BenchmarkMeter is the cost of counting a whole history, as at the beginning of a turn.
func BenchmarkMeter(b *testing.B) {
	history := llmtest.Conversation(301)
	b.ReportAllocs()
	for b.Loop() {
		new(llm.Meter).Sum("m", history)
	}
}
