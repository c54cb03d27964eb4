package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func parse(t testing.TB, text string) *Script {
	s, err := ParseScript("m.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScript(t *testing.T) {
	s := parse(t, `
{"thought": "hm"}
{"text": "Ä"}
{"tool": "bash", "input": {"command": "ls"}}
{"delay_ms": 50}
{"delay_ms": 0}
{"tool": "read", "id": "mine"}


{"usage": {"input": 9, "output": 2, "cache_read": 3, "cache_write": 1}}
{"text": "b"}
{"stop": "max_tokens"}

{"text": "c"}
{"error": "Overloaded", "status": 529}

{"text": "d"}
`)
	var slept time.Duration
	s.Sleep = func(_ context.Context, d time.Duration) error { slept += d; return nil }
	for i, want := range []struct {
		events []llm.Event
		err    error
	}{
		{[]llm.Event{{Thought: "hm"}, {Text: "Ä"},
			{Call: &llm.ToolCall{ID: "call_1", Name: "bash", Input: json.RawMessage(`{"command": "ls"}`)}},
			{Call: &llm.ToolCall{ID: "mine", Name: "read", Input: json.RawMessage(`{}`)}}, {Stop: llm.StopTools}}, nil},
		{[]llm.Event{{Usage: &llm.Usage{Input: 9, Output: 2, CacheRead: 3, CacheWrite: 1}}, {Text: "b"}, {Stop: llm.StopMaxTokens}}, nil},
		{[]llm.Event{{Text: "c"}}, &llm.Error{Provider: "script", Status: 529, Message: "Overloaded"}},
		{[]llm.Event{{Text: "d"}, {Stop: llm.StopEnd}}, nil},
		{nil, &llm.Error{Provider: "script", Message: "m.jsonl has no model call left after 4", Hint: "add one to the script"}},
	} {
		events, err := llmtest.Collect(s, t.Context(), llm.Request{})
		if diff := cmp.Diff(want.events, events) + cmp.Diff(want.err, err); diff != "" {
			t.Errorf("call %d (-want +got)\n%s", i, diff)
		}
	}
	if slept != 50*time.Millisecond {
		t.Errorf("slept %s", slept)
	}
}

func TestScriptMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"{\"text\":\"a\"}\nnonsense":                     "m.jsonl:2: invalid character 'o' in literal null (expecting 'u')",
		`{"txt": "a"}`:                                   `m.jsonl:1: json: unknown field "txt"`,
		`{"text": ""}`:                                   "m.jsonl:1: want exactly one of text, thought, tool, usage, delay_ms, wait, error and stop, not empty",
		`{"text": "a", "thought": "b"}`:                  "m.jsonl:1: want exactly one of text, thought, tool, usage, delay_ms, wait, error and stop, not empty",
		`{"text": "a"}}`:                                 "m.jsonl:1: want one JSON object on a line",
		`{"text": "a", "id": "b"}`:                       "m.jsonl:1: input and id belong to a tool",
		`{"text": "a", "status": 1}`:                     "m.jsonl:1: status, again and retry_after_ms belong to an error",
		`{"delay_ms": -1}`:                               "m.jsonl:1: delay_ms must not be negative",
		`{"wait": "5s"}`:                                 `m.jsonl:1: wait must be "cancel", not "5s"`,
		`{"stop": "soon"}`:                               `m.jsonl:1: stop must be end, tools, max_tokens or refusal, not "soon"`,
		"\n{\"wait\": \"cancel\"}\n{\"text\": \"late\"}": "m.jsonl:3: nothing can follow wait, error or stop; a blank line begins the next model call",
	} {
		if _, err := ParseScript("m.jsonl", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestScriptCancel(t *testing.T) {
	cause := errors.New("stopped")
	for name, text := range map[string]string{"wait": `{"wait": "cancel"}`, "delay": `{"delay_ms": 3600000}`} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, `{"text": "a"}`+"\n"+text+"\n\n"+`{"text": "next"}`)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var last error
			for e, err := range s.Stream(ctx, llm.Request{}) {
				if e.Text == "a" {
					cancel(cause)
				}
				last = err
			}
			if last != cause {
				t.Errorf("cancelled in the call: %v", last)
			}
			if _, err := llmtest.Collect(s, ctx, llm.Request{}); err != cause {
				t.Errorf("cancelled before: %v", err)
			}
			if events, err := llmtest.Collect(s, t.Context(), llm.Request{}); err != nil || events[0].Text != "next" {
				t.Errorf("the next call: %v, %v", events, err)
			}
		})
	}
}

func TestScriptConcurrent(t *testing.T) {
	const n = 50
	s := parse(t, strings.Repeat("{\"text\": \"a\"}\n\n", n))
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := llmtest.Collect(s, t.Context(), llm.Request{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := llmtest.Collect(s, t.Context(), llm.Request{}); err == nil {
		t.Error("a call was given twice")
	}
}

func TestLoadScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.jsonl")
	if _, err := LoadScript(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"text": "a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := LoadScript(path); err != nil || s.Name() != "script:"+path {
		t.Errorf("LoadScript: %v", err)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add("{\"text\": \"a\"}\n\n{\"tool\": \"b\"}\n{\"stop\": \"end\"}\n")
	f.Add("{\"error\": \"a\", \"status\": 1}\r\n\r\n{\"wait\": \"cancel\"}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript("f", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, call := range s.calls {
			for i, st := range call {
				if st.ends() != (i == len(call)-1) {
					t.Errorf("%+v", call)
				}
			}
		}
	})
}

func BenchmarkScript(b *testing.B) {
	s := parse(b, strings.Repeat("{\"text\": \"Hello, this is a chunk.\"}\n", 1000))
	b.ReportAllocs()
	for b.Loop() {
		s.next = 0
		for _, err := range s.Stream(b.Context(), llm.Request{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "chunks/s")
}

// A script may use the protocol's names and nest related fields.
func TestScriptSpellings(t *testing.T) {
	plain := `{"tool":"bash","input":{"command":"ls"},"id":"c1"}` + "\n" + `{"stop":"tools"}` + "\n\n" + `{"error":"busy","status":529}`
	other := `{"tool":{"name":"bash","input":{"command":"ls"},"id":"c1"}}` + "\n" + `{"stop":"tool_use"}` + "\n\n" + `{"error":{"message":"busy","status":529}}`
	want, err := ParseScript("a", strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseScript("a", strings.NewReader(other))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.calls, want.calls) {
		t.Errorf("got %+v, want %+v", got.calls, want.calls)
	}
	if _, err := ParseScript("a", strings.NewReader(`{"tool":{"name":"bash","oops":1}}`)); err == nil {
		t.Error("an unknown member is taken")
	}
}
