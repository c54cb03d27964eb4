package openai

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestTokenCounts reads impossible counts. The answer is never lost, and its
// text can be shown.
func TestTokenCounts(t *testing.T) {
	for count, want := range map[string]int{
		"7": 7, "7.5": 7, "1e3": 1000, "-7": 0, "null": 0, `"7"`: 0, "[]": 0,
		"9223372036854775807": 1 << 40, "18446744073709551616": 1 << 40, "1e400": 1 << 40,
	} {
		var u chatUsage
		if err := json.Unmarshal([]byte(`{"prompt_tokens":`+count+`,"completion_tokens":`+count+`}`), &u); err != nil {
			t.Errorf("decoding the count %s: %v", count, err)
		}
		if diff := cmp.Diff(llm.Event{Usage: &llm.Usage{Input: want, Output: want}}, u.event()); diff != "" {
			t.Errorf("the usage for the count %s (-want +got)\n%s", count, diff)
		}
	}
}

// Only the first of several answers is read, wherever it stands in a chunk.
func TestOnlyTheFirstChoice(t *testing.T) {
	const chunk = `{"choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"first"}}]}`
	var a chatReader
	var got []llm.Event
	if done, err := a.ReadChunk([]byte(chunk), func(ev llm.Event) bool { got = append(got, ev); return true }); done || err != nil {
		t.Fatalf("ReadChunk(%s) = %t, %v, want false", chunk, done, err)
	}
	if diff := cmp.Diff([]llm.Event{{Text: "first"}}, got); diff != "" {
		t.Errorf("events of %s (-want +got)\n%s", chunk, diff)
	}
}

// Thoughts that are kept to be sent back use memory in proportion to their length,
// not to its square.
func TestLongThoughts(t *testing.T) {
	const n = 10_000
	piece := strings.Repeat("x", 100)
	for name, field := range map[string]string{
		"reasoning_content": `"` + piece + `"`, "reasoning": `"` + piece + `"`,
		"reasoning_details": `[{"type":"reasoning.text","text":"` + piece + `"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			a := new(chatReader)
			chunk := []byte(`{"choices":[{"delta":{"` + name + `":` + field + `}}]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range n {
				if _, err := a.ReadChunk(chunk, func(llm.Event) bool { return true }); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 500 { // a quadratic cost would be ten times as much
				t.Errorf("%d MiB for %d MiB of thoughts", mib, n*len(piece)>>20)
			}
			var kept string
			a.emitReturned(func(ev llm.Event) bool { kept = string(ev.Opaque.Data); return true })
			if strings.Count(kept, "x") < n*len(piece) {
				t.Errorf("%d bytes are kept", len(kept))
			}
		})
	}
}
