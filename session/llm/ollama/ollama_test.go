package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func modelAt(address, model string) *Model {
	return New(Config{Model: model, Address: address})
}

func TestOllamaAnswer(t *testing.T) {
	usage := llm.Event{Usage: &llm.Usage{Input: 26, Output: 7}}
	call := func(id, name, input string) llm.Event {
		return llm.Event{Call: &llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	tool := func(calls string) string { return llmtest.OllamaSays(`"content":"","tool_calls":[` + calls + `]`) }
	for name, tt := range map[string]struct {
		lines []string
		want  []llm.Event
	}{
		"text": {[]string{llmtest.OllamaSays(`"content":"Grüß"`), llmtest.OllamaSays(`"content":" Gott 🙂"`), llmtest.OllamaDone},
			[]llm.Event{{Text: "Grüß Gott 🙂"}, usage, {Stop: llm.StopEnd}}},
		"thoughts": {[]string{llmtest.OllamaSays(`"content":"","thinking":"Hm"`), llmtest.OllamaSays(`"content":"","thinking":"."`),
			llmtest.OllamaSays(`"content":"Yes"`), llmtest.OllamaDone},
			[]llm.Event{{Thought: "Hm."}, {Opaque: &llm.Opaque{Provider: "ollama:m", Data: json.RawMessage(`{"thinking":"Hm."}`)}}, {Text: "Yes"}, usage,
				{Stop: llm.StopEnd}}},
		"a call with its ID": {[]string{tool(`{"id":"call_x","function":{"index":0,"name":"read","arguments":{"path":"a","n":12345678901234567890}}}`),
			llmtest.OllamaDone},
			[]llm.Event{call("call_x", "read", `{"path":"a","n":12345678901234567890}`), usage, {Stop: llm.StopTools}}},
		"three calls in two lines, without IDs": {[]string{
			tool(`{"function":{"name":"read","arguments":{"path":"a"}}},{"function":{"name":"read","arguments":{"path":"b"}}}`),
			tool(`{"function":{"name":"list","arguments":{}}}`), llmtest.OllamaDone},
			[]llm.Event{call("call_1", "read", `{"path":"a"}`), call("call_2", "read", `{"path":"b"}`), call("call_3", "list", `{}`), usage, {Stop: llm.StopTools}}},
		"an ID twice": {[]string{tool(`{"id":"c","function":{"name":"a"}},{"id":"c","function":{"name":"b"}},{"id":"c_2","function":{"name":"d"}}`),
			llmtest.OllamaDone},
			[]llm.Event{call("c", "a", `{}`), call("c_2", "b", `{}`), call("c_2_3", "d", `{}`), usage, {Stop: llm.StopTools}}},
		"arguments that are no object": {[]string{
			tool(`{"function":{"name":"a","arguments":null}},{"function":{"name":"b","arguments":"{\"x\": 1}"}},{"function":{"name":"c","arguments":"ls -l"}},{"function":{"name":"d","arguments":[1]}}`), llmtest.OllamaDone},
			[]llm.Event{call("call_1", "a", `{}`), call("call_2", "b", `{"x": 1}`), call("call_3", "c", `"ls -l"`), call("call_4", "d", `"[1]"`), usage,
				{Stop: llm.StopTools}}},
		"cut off": {[]string{llmtest.OllamaSays(`"content":"Once"`), strings.Replace(llmtest.OllamaDone, `"stop"`, `"length"`, 1)},
			[]llm.Event{{Text: "Once"}, usage, {Stop: llm.StopMaxTokens}}},
		"nothing said": {[]string{llmtest.OllamaDone}, []llm.Event{usage, {Stop: llm.StopEnd}}},
		"all of it cached": {[]string{llmtest.OllamaSays(`"content":"a"`), strings.Replace(llmtest.OllamaDone, `"prompt_eval_count":26,`, ``, 1)},
			[]llm.Event{{Text: "a"}, {Usage: &llm.Usage{Input: llm.Tokens("", llmtest.Hello()), Output: 7}}, {Stop: llm.StopEnd}}},
		"some of it cached": {[]string{llmtest.OllamaSays(`"content":"a"`),
			strings.Replace(llmtest.OllamaDone, `"eval_count"`, `"prompt_eval_cached_count":20,"eval_count"`, 1)},
			[]llm.Event{{Text: "a"}, {Usage: &llm.Usage{Input: 26, Output: 7, CacheRead: 20}}, {Stop: llm.StopEnd}}},
		"a word of the future": {[]string{llmtest.OllamaSays(`"content":"a","logprobs":[{"x":1}]`), "",
			strings.Replace(llmtest.OllamaDone, `"stop"`, `"paused"`, 1), llmtest.OllamaSays(`"content":"not read"`)},
			[]llm.Event{{Text: "a"}, usage, {Stop: llm.StopEnd}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := llmtest.Collect(modelAt(llmtest.ServeOllama(t, "", "", llmtest.NDJSONLines(tt.lines...)).URL, "m"), t.Context(), llmtest.Hello())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Stream: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestOllamaFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   llm.Error
	}{
		"no such model": {llmtest.Status(404, `{"error":"model 'm' not found"}`),
			llm.Error{Status: 404, Message: "model 'm' not found", Hint: "run: ollama pull m"}},
		"another server": {llmtest.Status(404, `404 page not found`),
			llm.Error{Status: 404, Message: "404 page not found", Hint: `check model "m" and base_url`}},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html>") },
			llm.Error{Status: 200, Message: `it sent "text/html; charset=utf-8" instead of a stream of events`, Hint: "check base_url"}},
		"no tools": {llmtest.Status(400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`),
			llm.Error{Status: 400, Message: "registry.ollama.ai/library/gemma:2b does not support tools"}},
		"too long": {llmtest.Status(400, `{"error":"the input length exceeds the context length"}`),
			llm.Error{Status: 400, Message: "the input length exceeds the context length", TooLong: true,
				Hint: "the window is 32768 tokens: type /compact, or set a larger context_window"}},
		"no memory": {llmtest.Status(500, `{"error":"model requires more system memory (9.0 GiB) than is available (3.1 GiB)"}`),
			llm.Error{Status: 500, Message: "model requires more system memory (9.0 GiB) than is available (3.1 GiB)",
				Hint: "pick a smaller model, or set a smaller context_window"}},
		"crashed": {llmtest.Status(500, `{"error":"llama runner process has terminated: exit status 2"}`),
			llm.Error{Status: 500, Message: "llama runner process has terminated: exit status 2", Hint: "try again later", Retryable: true}},
		"busy": {llmtest.Status(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, "Retry-After", "2"),
			llm.Error{Status: 503, Message: "server busy, please try again. maximum pending requests exceeded", Hint: "try again later", Retryable: true,
				RetryAfter: 2 * time.Second}},
		"not signed in": {llmtest.Status(401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=k"}`),
			llm.Error{Status: 401, Message: "unauthorized", Auth: true, Hint: "run: ollama signin, or name the variable of a key with api_key_env"}},
		"in the middle": {llmtest.NDJSONLines(llmtest.OllamaSays(`"content":"a"`), `{"error":"an error was encountered while running the model"}`),
			llm.Error{Message: "an error was encountered while running the model", Hint: "try again later", Retryable: true}},
		"an object in the middle": {llmtest.NDJSONLines(`{"error":{"message":"oops"}}`),
			llm.Error{Message: "oops", Hint: "try again later", Retryable: true}},
		"cut off": {llmtest.NDJSONLines(llmtest.OllamaSays(`"content":"a"`)),
			llm.Error{Message: "the answer broke off before its end", Hint: "try again", Retryable: true}},
		"cut off in a line": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, llmtest.OllamaSays(`"content":"a"`)+"\n"+`{"model":"m","mess`)
		},
			llm.Error{Message: "the answer broke off before its end", Hint: "try again", Retryable: true}},
		"no JSON": {llmtest.NDJSONLines(`oops`, ``),
			llm.Error{Message: "reading its stream: invalid character 'o' looking for beginning of value", Hint: "try again", Retryable: true}},
		"only loaded": {llmtest.NDJSONLines(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`),
			llm.Error{Message: "it gave no answer, but loaded or unloaded the model", Hint: "try again", Retryable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := llmtest.Collect(modelAt(llmtest.ServeOllama(t, "", "", tt.answer).URL, "m"), t.Context(), llmtest.Hello())
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("Stream: %v", err)
			}
			tt.want.Provider = "ollama:m"
			if diff := cmp.Diff(tt.want, *e); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOllamaNotRunning(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, model := range []string{"m", ""} {
		_, err := llmtest.Collect(New(Config{Model: model, Address: address}), t.Context(), llmtest.Hello())
		e, ok := errors.AsType[*llm.Error](err)
		if want := "is Ollama running at " + address + "? Else start it with: ollama serve"; !ok || e.Hint != want || e.Retryable {
			t.Errorf("Stream: %#v", err)
		}
	}
}

// A line may be as long as a file that a call writes.
func TestOllamaLongLine(t *testing.T) {
	text := strings.Repeat("ä", 6<<20)
	s := llmtest.ServeOllama(t, "", "",
		llmtest.NDJSONLines(llmtest.OllamaSays(`"content":"","tool_calls":[{"function":{"name":"write","arguments":{"text":"`+text+`"}}}]`), llmtest.OllamaDone))
	got, err := llmtest.Collect(modelAt(s.URL, "m"), t.Context(), llmtest.Hello())
	if err != nil || len(got) != 3 || len(got[0].Call.Input) != len(text)+len(`{"text":""}`) {
		t.Errorf("Stream: %d events, %v", len(got), err)
	}
}

func TestOllamaCancel(t *testing.T) {
	s := llmtest.ServeOllama(t, "", "", func(w http.ResponseWriter, r *http.Request) {
		llmtest.NDJSONLines(llmtest.OllamaSays(`"content":"a"`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("stop")
	var last error
	for ev, err := range modelAt(s.URL, "m").Stream(ctx, llmtest.Hello()) {
		if ev.Text != "" {
			cancel(stop)
		}
		last = err
	}
	if !errors.Is(last, stop) {
		t.Errorf("Stream: %v", last)
	}
}

// A request that waits for another one to ask about the model still ends with a
// cancel.
func TestOllamaCancelWhileAnotherAsks(t *testing.T) {
	m := modelAt(llmtest.ServeOllama(t, "", "").URL, "m")
	m.sharedFacts("m").asking <- struct{}{} // the other one
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := llmtest.Collect(m, ctx, llmtest.Hello()); !errors.Is(err, stop) {
		t.Errorf("Stream: %v", err)
	}
}

// The events of a stream do not depend on the pieces in which it arrives, and
// every stream ends with a stop or an error.
func FuzzOllamaStream(f *testing.F) {
	for _, lines := range [][]string{
		{llmtest.OllamaSays(`"content":"Grüß 🙂"`), llmtest.OllamaSays(`"content":"","thinking":"h"`), llmtest.OllamaDone},
		{llmtest.OllamaSays(`"content":"","tool_calls":[{"function":{"name":"a","arguments":{"x":[1,2]}}},{"id":"c","function":{"name":"b","arguments":"{}"}}]`),
			llmtest.OllamaDone},
		{llmtest.OllamaSays(`"content":"a"`), `{"error":"oops"}`}, {llmtest.OllamaSays(`"content":"a"`)}, {`{"done":true,"done_reason":"load"}`},
		{"\r", "null", "[]"},
	} {
		f.Add([]byte(strings.Join(lines, "\n") + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := readOllama(data, len(data)+1)
		if n := len(want); (wantErr == nil) != (n > 0 && want[n-1].Stop != "") {
			t.Fatalf("ends with neither a stop nor an error: %v, %v", want, wantErr)
		}
		for cut := 1; cut <= min(len(data), 1000); cut++ {
			got, err := readOllama(data, cut)
			if !reflect.DeepEqual(want, got) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("cut at %d: %v, want %v (-whole +cut)\n%s", cut, err, wantErr, cmp.Diff(want, got))
			}
		}
	})
}

// readOllama reads a stream that comes in two pieces.
func readOllama(data []byte, cut int) (events []llm.Event, err error) {
	cut = min(cut, len(data))
	body := io.MultiReader(strings.NewReader(string(data[:cut])), strings.NewReader(string(data[cut:])))
	a := &answerReader{provider: "p", estimate: func() int { return 1 }}
	emit := func(e llm.Event) bool { events = append(events, e); return true }
	for line, err := range NDJSON(&http.Response{Body: io.NopCloser(body)}) {
		if err != nil {
			return events, err
		}
		if done, err := a.ReadChunk(line, emit); done || err != nil {
			return events, err
		}
	}
	return events, a.End(emit)
}

func BenchmarkOllamaChunk(b *testing.B) {
	line := []byte(llmtest.OllamaSays(`"content":" word"`))
	a := &answerReader{provider: "p"}
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if done, err := a.ReadChunk(line, func(llm.Event) bool { return true }); done || err != nil {
			b.Fatal(err)
		}
	}
}
