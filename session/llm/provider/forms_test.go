package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// protocol writes the chunks of an answer that is text alone.
type protocol struct {
	begin func() wire.Answer
	text  func(piece string) string
	end   func(stop llm.StopReason) []string
}

func encoded(v any) string {
	raw, _ := json.Marshal(v) // strings always encode
	return string(raw)
}

// protocols are the protocols of model servers.
var protocols = map[string]protocol{
	"chat": {
		func() wire.Answer { return openai.NewChatAnswer("chat:m") },
		func(piece string) string {
			return `{"choices":[{"index":0,"delta":{"content":` + encoded(piece) + `}}]}`
		},
		func(stop llm.StopReason) []string {
			reason := map[llm.StopReason]string{llm.StopEnd: "stop", llm.StopMaxTokens: "length"}[stop]
			return []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`, "[DONE]"}
		},
	},
	"responses": {
		func() wire.Answer { return openai.NewResponsesAnswer("responses:m") },
		func(piece string) string {
			return `{"type":"response.output_text.delta","delta":` + encoded(piece) + `}`
		},
		func(stop llm.StopReason) []string {
			if stop == llm.StopMaxTokens {
				return []string{`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`}
			}
			return []string{`{"type":"response.completed","response":{"status":"completed"}}`}
		},
	},
	"messages": {
		func() wire.Answer { return anthropic.NewAnswer("claude:m") },
		func(piece string) string {
			return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + encoded(piece) + `}}`
		},
		func(stop llm.StopReason) []string {
			reason := map[llm.StopReason]string{llm.StopEnd: "end_turn", llm.StopMaxTokens: "max_tokens"}[stop]
			return []string{`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`, `{"type":"message_stop"}`}
		},
	},
	"gemini": {
		func() wire.Answer { return gemini.NewAnswer("gemini:m") },
		func(piece string) string {
			return `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":` + encoded(piece) + `}]}}]}`
		},
		func(stop llm.StopReason) []string {
			reason := map[llm.StopReason]string{llm.StopEnd: "STOP", llm.StopMaxTokens: "MAX_TOKENS"}[stop]
			return []string{`{"candidates":[{"index":0,"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]},"finishReason":"` + reason + `"}]}`}
		},
	},
	"ollama": {
		func() wire.Answer { return ollama.NewAnswer("ollama:m", func() int { return 1 }) },
		func(piece string) string { return `{"message":{"content":` + encoded(piece) + `},"done":false}` },
		func(stop llm.StopReason) []string {
			reason := map[llm.StopReason]string{llm.StopEnd: "stop", llm.StopMaxTokens: "length"}[stop]
			return []string{`{"message":{"content":""},"done":true,"done_reason":"` + reason + `"}`}
		},
	},
}

// chunked is a model that answers with these chunks.
type chunked struct {
	answer wire.Answer
	chunks []string
}

func (*chunked) Name() string { return "chunked" }

func (*chunked) Window() int { return 0 }

func (c *chunked) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		more := true
		emit := func(ev llm.Event) bool {
			more = more && yield(ev, nil)
			return more
		}
		for _, chunk := range c.chunks {
			done, err := c.answer.ReadChunk([]byte(chunk), emit)
			if err != nil && more {
				yield(llm.Event{}, err)
			}
			if done || err != nil || !more {
				return
			}
		}
		if err := c.answer.End(emit); err != nil && more {
			yield(llm.Event{}, err)
		}
	}
}

// inPieces returns the transcript of an answer in these pieces, without usage and with calls that were cut marked.
func (p protocol) inPieces(t *testing.T, pieces []string, stop llm.StopReason) string {
	t.Helper()
	m := &chunked{answer: p.begin()}
	for _, piece := range pieces {
		m.chunks = append(m.chunks, p.text(piece))
	}
	m.chunks = append(m.chunks, p.end(stop)...)
	req := llm.Request{Messages: []llm.Message{llmtest.UserText("hi")}, Tools: llmtest.Tools(), IsProgram: llmtest.IsProgram}
	events, err := llmtest.Collect(textcalls.Auto(m, new(textcalls.ToolUse)), t.Context(), req)
	var kept []llm.Event
	for _, ev := range events {
		switch {
		case ev.Usage != nil, ev.Opaque != nil:
			continue
		case ev.Notice != "":
			ev.Notice = "…"
		case ev.Call != nil && ev.Call.Incomplete:
			ev.Call.Name = "cut " + ev.Call.Name
		}
		if ev.Call != nil {
			var v any
			if json.Unmarshal(ev.Call.Input, &v) != nil {
				t.Errorf("input %q", ev.Call.Input)
			}
			var plain strings.Builder
			enc := json.NewEncoder(&plain)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(v)
			ev.Call.Input = json.RawMessage(strings.TrimSpace(plain.String()))
		}
		kept = append(kept, ev)
	}
	return strings.ReplaceAll(llmtest.Transcript(kept, err), "notice:…", "notice")
}

// splits yields ways to cut a text: whole, every two parts, and single characters.
func splits(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if !yield([]string{text}) {
			return
		}
		var single []string
		for i, r := range text {
			single = append(single, string(r))
			if i > 0 && !yield([]string{text[:i], text[i:]}) {
				return
			}
		}
		yield(single)
	}
}

// Each file in testdata/forms is an answer with calls in the form of some model, or with text that is like one. All
// protocols read it alike, however it is cut.
func TestForms(t *testing.T) {
	if testing.Short() {
		t.Skip("long, on one goroutine")
	}
	files, err := filepath.Glob("testdata/forms/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d forms, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, answer, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n---\n")
		stop := llm.StopEnd
		if rest, ok := strings.CutPrefix(head, "stop: max_tokens\n"); ok {
			head, stop = rest, llm.StopMaxTokens
		}
		want := strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(strings.TrimPrefix(head, "want: "))
		if !strings.HasSuffix(want, "|end") { // the inputs are JSON, whose escapes stay
			text, calls := cutCalls(strings.TrimPrefix(head, "want: "))
			want = strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(text) + calls
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for name, p := range protocols {
				for pieces := range splits(answer) {
					if got := p.inPieces(t, pieces, stop); got != want {
						t.Fatalf("%s, in %s\n got %s\nwant %s", name, fmt.Sprintf("%.200q", pieces), got, want)
					}
				}
			}
		})
	}
}

// cutCalls splits a transcript before its first call.
func cutCalls(transcript string) (text, calls string) {
	for i := range transcript {
		for _, tool := range llmtest.Tools() {
			for _, name := range []string{tool.Name, "Read", "functions.read", "default_api.read", "cut " + tool.Name} {
				if strings.HasPrefix(transcript[i:], name+" {") || strings.HasPrefix(transcript[i:], name+":") || strings.HasPrefix(transcript[i:], name+` "`) {
					return transcript[:i], transcript[i:]
				}
			}
		}
	}
	return transcript, ""
}
