package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// The cost of counting tokens depends on the new messages, not on the length of
// the history.
func TestMeter(t *testing.T) {
	var m llm.Meter
	var history []llm.Message
	for i := range 100 {
		history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: strings.Repeat("x", i)}}})
		if got, want := m.Sum("a", history), new(llm.Meter).Sum("a", history); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
	if got, want := m.Sum("a", history[:50]), new(llm.Meter).Sum("a", history[:50]); got != want {
		t.Errorf("cut off: %d, want %d", got, want)
	}
	opaque := []llm.Message{{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "t", Opaque: &llm.Opaque{Provider: "a", Data: []byte(`"12345678901234567890"`)}}}}}
	if a, b := new(llm.Meter).Sum("a", opaque), new(llm.Meter).Sum("b", opaque); a <= b {
		t.Errorf("a thought of another model is sent: %d, %d", a, b)
	}
}

// The tokens of the next request are exact where the provider counted, and
// estimated by its ratio elsewhere.
func TestTokens(t *testing.T) {
	long := llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: strings.Repeat("word ", 700)}}}
	one := llm.MessageTokens(long, "a")
	both := one + llm.MessageTokens(llm.Message{Blocks: []llm.Block{{Text: "ok"}}}, "a")
	scaled := func(n, tokens int) int { return n * (tokens * 100 / both) / 100 }
	answer := func(model string, tokens int) llm.Message {
		return llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "ok"}}, Count: &llm.Count{Model: model, Tokens: tokens, Estimate: both}}
	}
	for name, tt := range map[string]struct {
		history []llm.Message
		want    int
	}{
		"nothing counted":    {[]llm.Message{long}, one},
		"counted":            {[]llm.Message{long, answer("fake:a", 1234)}, 1234},
		"and more":           {[]llm.Message{long, answer("fake:a", 1516), long}, 1516 + scaled(one, 1516)},
		"out of all measure": {[]llm.Message{long, answer("fake:a", 9000), long}, 9000 + 2*one},
		"by another model":   {[]llm.Message{long, answer("fake:b", 1516)}, scaled(both, 1516)},
		"by one with larger": {[]llm.Message{long, answer("fake:b", 600)}, both},
		"the newest of ours": {[]llm.Message{long, answer("fake:a", 1234), answer("fake:b", 3)}, 1234 + scaled(both-one, 1234)},
		"far too few":        {[]llm.Message{long, answer("fake:a", 25)}, both / 4},
		"after a compaction": {[]llm.Message{answer("fake:a", 1516)}, 1516 - scaled(one, 1516)},
	} {
		t.Run(name, func(t *testing.T) {
			tn := &turn{Agent: &Agent{}, model: &fakeModel{name: "a"}, history: tt.history}
			if got := tn.tokens(); got < tt.want-2 || got > tt.want+2 {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// TestImpossibleCount gets a count beyond the window, which would otherwise end
// every later turn.
func TestImpossibleCount(t *testing.T) {
	history := []llm.Message{
		{Role: llm.User, Blocks: []llm.Block{{Text: strings.Repeat("word ", 700)}}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Text: "ok"}}, Count: &llm.Count{Model: "fake:a", Tokens: 1 << 41, Estimate: 1011}},
	}
	tn := &turn{Agent: &Agent{}, model: &fakeModel{name: "a", window: 10_000}, history: history}
	if got := tn.tokens(); got < 1011 || got > 2*1011 {
		t.Errorf("%d, want what is estimated, or twice that", got)
	}
}

// BenchmarkAccounting measures the cost of counting tokens in a round of the
// loop.
func BenchmarkAccounting(b *testing.B) {
	for _, messages := range []int{100, 10_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			t := &turn{Agent: &Agent{}, model: &fakeModel{name: "a"}}
			for range messages {
				t.history = append(t.history,
					llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "ok"}}, Count: &llm.Count{Model: "fake:a", Tokens: 3, Estimate: 3}})
			}
			b.ReportAllocs()
			for b.Loop() {
				t.meter.Forget(messages - 2) // the messages of a round
				t.tokens()
			}
		})
	}
}

func BenchmarkCompact(b *testing.B) {
	for _, turns := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			c := &client{}
			m := &fakeModel{window: 1 << 30, output: 1000, silent: true}
			a, _ := compacting(b, m, c)
			a.Record = func(...transcript.Event) {}
			var history []llm.Message
			for range turns {
				history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: "look"}}},
					llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c", Name: "say"}}}},
					llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c", Text: strings.Repeat("word ", 200)}}}},
					llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "done"}}})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Compact(b.Context(), history, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
