package oracle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// anthropicData is the directory of recorded streams.
const anthropicData = "../../session/llm/anthropic/testdata"

// Each request to Claude is one of the SDK, for all models and levels.
func TestAnthropicRequests(t *testing.T) {
	models := []string{"claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-8", "claude-opus-5-5", "claude-mythos-5", "llama"}
	for _, line := range anthropic.Current {
		models = append(models, line.Model)
	}
	answer := llmtest.SSE(t, filepath.Join(anthropicData, "text.sse"))
	for _, model := range models {
		s := record(t, answer)
		m := anthropic.New(anthropic.Config{Model: model, BaseURL: s.URL, APIKey: func() string { return "k" }})
		thoughts := []string{`{"type":"thinking","thinking":"as it was","signature":"sig"}`, `{"type":"redacted_thinking","data":"xyz"}`}
		for name, history := range histories(m.Name(), thoughts...) {
			t.Run(model+"/"+name, func(t *testing.T) {
				for _, level := range append(llm.Levels(m), "") {
					for _, req := range []llm.Request{{}, {System: "Be brief.", Tools: llmtest.Tools()}} {
						s.bodies = nil
						req.Messages, req.Thought = history, level
						if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.bodies) != 1 {
							t.Fatalf("%d requests: %v", len(s.bodies), err)
						}
						if err := roundTrip[sdk.MessageNewParams](s.bodies[0], "stream"); err != nil {
							t.Errorf("level %q: %v", level, err)
						}
					}
				}
			})
		}
	}
}

// A request that the SDK would not send is detected.
func TestAnthropicMistakes(t *testing.T) {
	for name, body := range map[string]string{
		"no mistake":              `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		"unknown member":          `{"model":"m","max_tokens":1,"messages":[],"reasoning":1}`,
		"unknown member of block": `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a","id":"x"}]}]}`,
		"another type":            `{"model":"m","max_tokens":"1","messages":[]}`,
		"missing member":          `{"model":"m","messages":[]}`,
		"missing member of block": `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","input":{}}]}]}`,
		"unknown block":           `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"texts","text":"a"}]}]}`,
	} {
		if err := roundTrip[sdk.MessageNewParams]([]byte(body)); (err != nil) != (name != "no mistake") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The requests after a refusal are requests of the SDK too: without thoughts, and with
// those that a compatible server misses.
func TestAnthropicRefusals(t *testing.T) {
	for message, first := range map[string]string{
		"messages.1.content.0: Invalid `signature` in `thinking` block":      `{"type":"thinking","thinking":"t","signature":"s"}`,
		"The `content[].thinking` in the thinking mode must be passed back.": `{"type":"other"}`,
	} {
		refusal, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": message}})
		if err != nil {
			t.Fatal(err)
		}
		s := record(t, llmtest.Status(400, string(refusal)), llmtest.SSE(t, filepath.Join(anthropicData, "text.sse")))
		m := anthropic.New(anthropic.Config{BaseURL: s.URL, APIKey: func() string { return "k" }})
		history := histories(m.Name(), first)["thoughts"]
		if strings.Contains(first, "other") {
			history = histories(m.Name())["thoughts"]
		}
		if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil || len(s.bodies) != 2 {
			t.Fatalf("%d requests: %v", len(s.bodies), err)
		}
		for _, body := range s.bodies {
			if err := roundTrip[sdk.MessageNewParams](body, "stream"); err != nil {
				t.Error(err)
			}
		}
	}
}

// The SDK and the adapter read the same from recorded streams.
func TestAnthropicRecordedStreams(t *testing.T) {
	for _, file := range []string{"text.sse", "parallel.sse", "refusal.sse", "window.sse", "future.sse"} {
		data, err := os.ReadFile(filepath.Join(anthropicData, file))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(file, func(t *testing.T) { compareAnthropic(t, data) })
	}
}

// The SDK and the adapter read the same from the streams of the SDK's own tests. Those
// that are not JSON are left out.
func TestAnthropicStreamsOfTheSDK(t *testing.T) {
	compared := 0
	for _, events := range stringLists(t, "github.com/anthropics/anthropic-sdk-go", "message_test.go") {
		invalid := func(e string) bool { return !json.Valid([]byte(e)) }
		if !strings.Contains(events[0], `"message_start"`) || slices.ContainsFunc(events, invalid) {
			continue
		}
		// They have no stop reason, which every answer of the API has.
		events = slices.Insert(events, len(events)-1, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)
		if strings.Contains(strings.Join(events, ""), `"tool_use"`) {
			events[len(events)-2] = strings.Replace(events[len(events)-2], "end_turn", "tool_use", 1)
		}
		var stream bytes.Buffer
		for _, e := range events {
			var kind struct{ Type string }
			if err := json.Unmarshal([]byte(e), &kind); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&stream, "event: %s\ndata: %s\n\n", kind.Type, e)
		}
		if _, err := officialAnthropic(stream.Bytes()); err != nil {
			continue // that it is refused is the SDK's test
		}
		compared++
		t.Run(fmt.Sprint(compared), func(t *testing.T) { compareAnthropic(t, stream.Bytes()) })
	}
	if compared < 3 {
		t.Errorf("found %d streams", compared)
	}
}

// The SDK and the adapter read the same from streams of any blocks in any pieces.
func TestAnthropicRandomStreams(t *testing.T) {
	for seed := range uint64(100) {
		stream := anthropicStream(rand.New(rand.NewPCG(seed, 0)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareAnthropic(t, stream) })
	}
}

// compareAnthropic reads a stream by both.
func compareAnthropic(t *testing.T, stream []byte) {
	t.Helper()
	want, err := officialAnthropic(stream)
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, stream)
	}
	s := record(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	})
	m := anthropic.New(anthropic.Config{BaseURL: s.URL, APIKey: func() string { return "k" }})
	events, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	if err != nil {
		t.Fatalf("ours: %v\n%s", err, stream)
	}
	if diff := gocmp.Diff(want, oursOf(events)); diff != "" {
		t.Errorf("answer (-SDK +ours)\n%s\n%s", diff, stream)
	}
}

// answer is an answer in a form common to both.
type answer struct {
	Text   string
	Blocks []string // thoughts and calls
	Stop   llm.StopReason
	Usage  llm.Usage
}

// officialAnthropic returns the answer that the SDK reads.
func officialAnthropic(stream []byte) (answer, error) {
	res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(stream))}
	events := ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(res), nil)
	var m sdk.Message
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			return answer{}, err
		}
	}
	var a answer
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			a.Text += b.Text
		case "thinking":
			a.Blocks = append(a.Blocks, fmt.Sprintf("thinking %q %q", b.Thinking, b.Signature))
		case "redacted_thinking":
			a.Blocks = append(a.Blocks, fmt.Sprintf("redacted %q", b.Data))
		case "tool_use":
			a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s", b.ID, b.Name, compact(b.Input)))
		}
	}
	a.Stop = map[sdk.StopReason]llm.StopReason{
		sdk.StopReasonEndTurn: llm.StopEnd, sdk.StopReasonToolUse: llm.StopTools, sdk.StopReasonMaxTokens: llm.StopMaxTokens,
		sdk.StopReasonRefusal: llm.StopRefusal, sdk.StopReasonStopSequence: llm.StopEnd, sdk.StopReasonPauseTurn: llm.StopEnd,
		sdk.StopReasonModelContextWindowExceeded: llm.StopMaxTokens,
	}[m.StopReason]
	u := m.Usage
	a.Usage = llm.Usage{
		Input:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
	}
	return a, events.Err()
}

// oursOf returns the answer in the events of an adapter of Claude.
func oursOf(events []llm.Event) answer {
	var a answer
	for _, e := range events {
		a.Text += e.Text
		a.Stop = cmp.Or(e.Stop, a.Stop)
		switch {
		case e.Usage != nil:
			a.Usage = *e.Usage
		case e.Call != nil:
			a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s", e.Call.ID, e.Call.Name, compact(e.Call.Input)))
		case e.Opaque != nil:
			var b struct{ Type, Thinking, Signature, Data string }
			if err := json.Unmarshal(e.Opaque.Data, &b); err != nil {
				panic(err) // the adapter wrote it
			}
			if b.Type == "thinking" {
				a.Blocks = append(a.Blocks, fmt.Sprintf("thinking %q %q", b.Thinking, b.Signature))
			} else {
				a.Blocks = append(a.Blocks, fmt.Sprintf("redacted %q", b.Data))
			}
		}
	}
	return a
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err.Error()
	}
	return b.String()
}

// anthropicStream returns a random stream as the API documents them.
// https://platform.claude.com/docs/en/build-with-claude/streaming
func anthropicStream(r *rand.Rand) []byte {
	var b bytes.Buffer
	send := func(kind string, members map[string]any) {
		members["type"] = kind
		data, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
		if r.IntN(5) == 0 {
			b.WriteString("event: ping\ndata: {\"type\":\"ping\"}\n\n")
		}
	}
	usage := map[string]any{"input_tokens": r.IntN(1000), "cache_read_input_tokens": r.IntN(1000), "cache_creation_input_tokens": r.IntN(1000), "output_tokens": 1}
	send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	for i := range r.IntN(6) {
		start, kind, text := anthropicBlock(r, i)
		send("content_block_start", map[string]any{"index": i, "content_block": start})
		for _, piece := range pieces(r, text) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind + "_delta", deltaMember[kind]: piece}})
		}
		if kind == "thinking" && r.IntN(4) > 0 {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "signature_delta", "signature": words(r)}})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	reasons := []string{"end_turn", "tool_use", "refusal", "model_context_window_exceeded"}
	reason := reasons[r.IntN(len(reasons))]
	if reason == "end_turn" && strings.Contains(b.String(), `"tool_use"`) {
		reason = "tool_use" // calls need results, whatever the server says
	}
	if reason == "tool_use" && !strings.Contains(b.String(), `"tool_use"`) {
		reason = "end_turn"
	}
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 1 + r.IntN(1000)}})
	send("message_stop", map[string]any{})
	return b.Bytes()
}

// deltaMember is the member of each kind of delta.
var deltaMember = map[string]string{"text": "text", "thinking": "thinking", "input_json": "partial_json"}

// anthropicBlock returns the start of a random block, the kind of its deltas, and the
// text that they divide.
func anthropicBlock(r *rand.Rand, i int) (start map[string]any, kind, text string) {
	switch r.IntN(4) {
	case 0:
		return map[string]any{"type": "text", "text": ""}, "text", words(r)
	case 1:
		return map[string]any{"type": "thinking", "thinking": "", "signature": ""}, "thinking", words(r)
	case 2:
		return map[string]any{"type": "redacted_thinking", "data": words(r)}, "text", ""
	}
	input, err := json.Marshal(map[string]any{"path": words(r), "n": r.Uint64(), "deep": []any{nil, true, map[string]any{"x": words(r)}}})
	if err != nil {
		panic(err)
	}
	return map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": "read", "input": map[string]any{}}, "input_json", string(input)
}

// words returns random text with characters that need an escape or several bytes.
func words(r *rand.Rand) string {
	all := strings.Fields(`a "b" c\d <e> 日本語 🙂 ä` + " \u2028 {} \t")
	out := make([]string, 1+r.IntN(8))
	for i := range out {
		out[i] = all[r.IntN(len(all))]
	}
	return strings.Join(out, " ")
}

// pieces divides a text between characters.
func pieces(r *rand.Rand, text string) []string {
	var out []string
	for runes := []rune(text); len(runes) > 0; {
		n := min(1+r.IntN(9), len(runes))
		out = append(out, string(runes[:n]))
		runes = slices.Delete(runes, 0, n)
	}
	return out
}
