package llm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// TestTextTokens compares the estimate with what four tokenizers count: o200k and cl100k of
// OpenAI, the last vocabulary that Anthropic published, and Qwen's.
func TestTextTokens(t *testing.T) {
	models := map[string]string{
		"o200k": "openai:gpt-5", "cl100k": "openai:gpt-4", "claude": "anthropic:claude-sonnet-5", "qwen": "local:Qwen2.5-Coder-1.5B",
	}
	// The tokenizers themselves differ by this much in the languages other than English,
	// and Claude's joins numbers and blanks that the others divide.
	wide := map[string]bool{"korean": true, "japanese": true, "russian": true, "german": true, "chinese": true, "numbers": true, "blanks": true}
	for name, counts := range tokenCounts(t) {
		text := tokenSample(t, name)
		for tokenizer, count := range counts {
			bound := 20
			if wide[name] {
				bound = 55
			}
			got := llm.TextTokens(models[tokenizer], text)
			if off := 100 * (got - count) / count; off < -bound || off > bound {
				t.Errorf("%s: estimated %d tokens for %s, which counts %d: off by %d %%, want at most %d %%", name, got, tokenizer, count, off, bound)
			}
		}
	}
}

func TestTokensOfParts(t *testing.T) {
	text := tokenSample(t, "server.log")
	message := llm.Message{Role: llm.User, Blocks: []llm.Block{
		{Text: text}, {Thought: text}, {Image: &llm.Image{}}, {Result: &llm.ToolResult{Text: text}}, {Opaque: &llm.Opaque{Provider: "a"}},
	}}
	sum := 2*llm.TextTokens("a", text) + 1600
	got := llm.MessageTokens(message, "a")
	if got < sum || got > sum+10 {
		t.Errorf("a message with a text, an image and a result: %d tokens, want %d and its framing", got, sum)
	}
	tool := llm.Tool{Name: "read", Description: text, Schema: json.RawMessage(`{}`)}
	if got := llm.Tokens("a", llm.Request{System: text, Tools: []llm.Tool{tool}}); got < sum-1600 || got > sum-1600+3 {
		t.Errorf("a system prompt and a tool: %d tokens, want %d and two words", got, sum-1600)
	}
	if got := llm.Tokens("a", llm.Request{}); got != 0 {
		t.Errorf("an empty request: %d tokens, want 0", got)
	}
	if all := llm.Tokens("a", llm.Request{Messages: []llm.Message{message}}); all != got {
		t.Errorf("the request has %d tokens, its one message %d: want the same", all, got)
	}
}

func tokenCounts(t testing.TB) (counts map[string]map[string]int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tokens", "counts.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &counts); err != nil {
		t.Fatal(err)
	}
	return counts
}

func tokenSample(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tokens", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func BenchmarkTextTokens(b *testing.B) {
	text := tokenSample(b, "server.log")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		llm.TextTokens("a", text)
	}
}
