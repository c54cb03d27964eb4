package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// endless is a body that repeats a piece forever, after a head.
type endless struct {
	head  io.Reader
	piece string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	if n, _ := e.head.Read(p); n > 0 {
		return n, nil
	}
	n := 0
	for n+len(e.piece) <= len(p) {
		n += copy(p[n:], e.piece)
	}
	if n == 0 {
		n = copy(p, e.piece[e.read%len(e.piece):])
	}
	e.read += n
	return n, nil
}

func (e *endless) Close() error { return nil }

// TestEndless reads streams without a complete event, or without an end. They
// fail before they fill the memory.
func TestEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("many MiB on one goroutine: nothing for the race detector")
	}
	block := `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"read"}}` + "\n\n"
	for name, tt := range map[string]struct {
		head, piece string
		most        int
	}{
		"an event of many lines": {"", "data: x\n", 32 << 20},
		"one line":               {"data: ", "x", 32 << 20},
		"nothing but comments":   {"", ": still here\n\n", 32 << 20},
		"arguments of a call": {block, `data: {"type":"content_block_delta","index":0,"delta":{"partial_json":"` +
			strings.Repeat("x", 16<<10) + `"}}` + "\n\n", 16 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endless{head: strings.NewReader(tt.head), piece: tt.piece}
			e := &wire.Endpoint{Provider: "p"}
			open := func(context.Context) (*http.Response, error) {
				return &http.Response{Header: http.Header{}, Body: body}, nil
			}
			var last error
			for _, err := range e.Stream(t.Context(), open, wire.JSONOrSSE, func() wire.Answer { return anthropic.NewAnswer("") }) {
				last = err
			}
			if f, ok := errors.AsType[*llm.Error](last); !ok || f.Retryable {
				t.Errorf("error %v, want one that tells not to try again", last)
			}
			if body.read > tt.most+1<<20 {
				t.Errorf("read %d MiB, want %d at most", body.read>>20, tt.most>>20)
			}
		})
	}
}

// TestEndlessList checks the limit on the size of a list of models.
func TestEndlessList(t *testing.T) {
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[{"id":"`)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, strings.Repeat("a", 64<<10))
		}
	})
	for _, kind := range []string{TypeClaude, TypeCompatible, TypeGemini} {
		m, err := Provider{Type: kind, Name: "p", Model: "m", BaseURL: s.URL}.open(func(string) string { return wireKey }, nil)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := llm.As[modelLister](m)
		if list, err := l.List(t.Context()); err == nil || len(list) > 0 {
			t.Errorf("%s: %d models, error %v, want an error", kind, len(list), err)
		}
	}
}

// pieces are chunks of each dialect: one that begins a call, one that only
// keeps the connection alive, and one with 16 bytes of arguments.
var pieces = map[string]struct {
	begin              func() wire.Answer
	start, alive, args string
}{
	"claude": {func() wire.Answer { return anthropic.NewAnswer("") },
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"read"}}`, `{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"partial_json":"xxxxxxxxxxxxxxxx"}}`},
	"responses": {func() wire.Answer { return openai.NewResponsesAnswer("") },
		`{"type":"response.output_item.added","item":{"type":"function_call","name":"read"}}`, `{"type":"response.in_progress"}`,
		`{"type":"response.function_call_arguments.delta","delta":"xxxxxxxxxxxxxxxx"}`},
	"chat": {func() wire.Answer { return openai.NewChatAnswer("") },
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read"}}]}}]}`, `{"choices":[{"delta":{"content":""}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"xxxxxxxxxxxxxxxx"}}]}}]}`},
	"gemini": {func() wire.Answer { return gemini.NewAnswer("") },
		`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":""}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"xxxxxxx"}}}]}}]}`},
	"ollama": {func() wire.Answer { return ollama.NewAnswer("", nil) },
		`{"message":{"content":"a"}}`, `{"message":{"content":""},"done":false}`,
		`{"message":{"tool_calls":[{"function":{"name":"read","arguments":{"path":"xxxxxxx"}}}]}}`},
}

// streamed returns the failure of a stream whose chunks come from next, one
// minute apart; nil ends it.
func streamed(t *testing.T, begin func() wire.Answer, next func(minute int) []byte) (failed *llm.Error, minutes int) {
	t.Helper()
	var alive context.Context
	open := func(ctx context.Context) (*http.Response, error) {
		alive = ctx
		return &http.Response{Body: io.NopCloser(strings.NewReader(""))}, nil
	}
	chunks := func(*http.Response) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for chunk := next(0); chunk != nil; chunk = next(minutes) {
				if minutes++; !yield(chunk, nil) {
					return
				}
				time.Sleep(time.Minute)
				if alive.Err() != nil {
					yield(nil, context.Cause(alive))
					return
				}
			}
		}
	}
	e := &wire.Endpoint{Provider: "p", Silence: 1000 * time.Hour, FirstByte: 1000 * time.Hour} // the chunks do not come from the body
	for _, err := range e.Stream(t.Context(), open, chunks, begin) {
		if err != nil && !errors.As(err, &failed) {
			t.Error(err)
		}
	}
	return failed, minutes
}

// After an hour, a server fails that keeps the connection alive without an
// answer. A server whose model writes a long call does not, although no event
// comes until the call is complete.
func TestKeptAlive(t *testing.T) {
	for name, d := range pieces {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed, minutes := streamed(t, d.begin, func(minute int) []byte {
					if minute == 0 {
						return []byte(d.start)
					}
					return []byte(d.alive)
				})
				if failed == nil || !failed.Retryable || !strings.Contains(failed.Message, "sent nothing of an answer for 1h0m0s") || minutes < 59 || minutes > 62 {
					t.Errorf("after %d minutes: %v", minutes, failed)
				}
				failed, minutes = streamed(t, d.begin, func(minute int) []byte {
					switch {
					case minute == 0:
						return []byte(d.start)
					case minute == 300:
						return nil
					case minute%50 == 0:
						return []byte(d.args)
					}
					return []byte(d.alive)
				})
				if failed == nil || !strings.Contains(failed.Message, "broke off") || minutes != 300 {
					t.Errorf("with arguments, after %d minutes: %v", minutes, failed)
				}
			})
		})
	}
}

// A server that says nothing fails after two minutes, and one nearby after an hour: it may read a long request for that long, or work for
// another session. After the first byte of its answer it may say nothing for ten minutes.
func TestSilence(t *testing.T) {
	for address, want := range map[string]time.Duration{
		"https://api.example.com/v1": 2 * time.Minute, "http://127.0.0.1:8080/v1": time.Hour, "http://localhost:8080": time.Hour,
		"http://192.168.1.7:8000/v1": time.Hour, "http://gpu:8000/v1": 10 * time.Minute, "http://gpu.lan/v1": 10 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			e := &wire.Endpoint{Provider: "p", Address: address}
			silent := func(ctx context.Context) (*http.Response, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			for _, err := range e.Stream(t.Context(), silent, nil, nil) {
				if took := time.Since(began); err == nil || took != want {
					t.Errorf("%s fails after %s with %v, want %s", address, took, err, want)
				}
			}
			began = time.Now()
			e.FirstByte = 7 * time.Second
			for _, err := range e.Stream(t.Context(), silent, nil, nil) {
				f, ok := errors.AsType[*llm.Error](err)
				if took := time.Since(began); !ok || f.Message != "sent nothing for 7 s" || !f.Stalled || !f.Retryable || took != 7*time.Second {
					t.Errorf("%s: %v after %s", address, err, took)
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		e := &wire.Endpoint{Provider: "p", Address: "https://api.example.com/v1"}
		one := func(ctx context.Context) (*http.Response, error) {
			time.Sleep(time.Minute)
			return &http.Response{Body: &oneByte{ctx: ctx}}, nil
		}
		read := func(res *http.Response) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) {
				_, err := io.ReadAll(res.Body)
				yield(nil, err)
			}
		}
		for _, err := range e.Stream(t.Context(), one, read, pieces["claude"].begin) {
			f, ok := errors.AsType[*llm.Error](err)
			if took := time.Since(began); !ok || f.Stalled || took != 11*time.Minute {
				t.Errorf("after the first byte: %v after %s", err, took)
			}
		}
	})
}

// oneByte is a body with one byte and no end.
type oneByte struct {
	ctx  context.Context
	read bool
}

func (b *oneByte) Read(p []byte) (int, error) {
	if !b.read {
		b.read = true
		return copy(p, ":"), nil
	}
	<-b.ctx.Done()
	return 0, context.Cause(b.ctx)
}

func (*oneByte) Close() error { return nil }

// Endless arguments fail long before they fill the memory.
func TestEndlessArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("many MiB on one goroutine: nothing for the race detector")
	}
	var numbers strings.Builder
	for i := 0; numbers.Len() < 1<<20; i++ {
		fmt.Fprintf(&numbers, "%d,", i)
	}
	long := numbers.String()
	for name, d := range pieces {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed, n := streamed(t, d.begin, func(minute int) []byte {
					if minute == 0 {
						return []byte(d.start)
					}
					return []byte(strings.ReplaceAll(d.args, "xxxxxxx", long))
				})
				if failed == nil || failed.Retryable || !strings.Contains(failed.Message, "more than 16 MiB of arguments") || n > 18 {
					t.Errorf("after %d chunks: %v", n, failed)
				}
			})
		})
	}
}

// Arguments that repeat themselves end the answer after some thousand bytes.
func TestRepeatedArguments(t *testing.T) {
	sentence := strings.Repeat("the same words again and again ", 4)
	for name, d := range pieces {
		if name == "ollama" || name == "gemini" { // send whole calls; the agent counts them
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed, n := streamed(t, d.begin, func(minute int) []byte {
					if minute == 0 {
						return []byte(d.start)
					}
					return []byte(strings.ReplaceAll(d.args, "xxxxxxx", sentence))
				})
				if failed == nil || failed.Retryable || !strings.Contains(failed.Message, "repeats the same text without end") || n > 45 {
					t.Errorf("after %d chunks: %v", n, failed)
				}
			})
		})
	}
}
