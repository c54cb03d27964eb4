package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ollamaServer plays an Ollama: what it says of a model, its list, and one answer
// for each chat.
type ollamaServer struct {
	*httptest.Server
	show, tags string // bodies; empty means 404

	mu    sync.Mutex
	paths []string
	chats []string // the bodies
	keys  []string // the Authorization of each request
}

const qwenShow = `{"license":"…","details":{"family":"qwen3","parameter_size":"8.2B"},"capabilities":["completion","tools","thinking"],
	"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.vision.context_length":7},"parameters":"stop    \"<|im_end|>\"\ntop_k    20"}`

func serveOllama(t testing.TB, show, tags string, answers ...http.HandlerFunc) *ollamaServer {
	t.Helper()
	s := &ollamaServer{show: show, tags: tags}
	s.Server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		s.mu.Lock()
		s.paths = append(s.paths, r.Method+" "+r.URL.Path)
		s.keys = append(s.keys, r.Header.Get("Authorization"))
		if r.URL.Path == "/api/chat" {
			s.chats = append(s.chats, string(body))
		}
		n := len(s.chats)
		s.mu.Unlock()
		reply := func(body string) {
			if body == "" {
				w.WriteHeader(http.StatusNotFound)
				body = `{"error":"model 'm' not found"}`
			}
			io.WriteString(w, body)
		}
		switch r.URL.Path {
		case "/api/show":
			reply(s.show)
		case "/api/tags":
			reply(s.tags)
		default:
			answers[min(n, len(answers))-1](w, r)
		}
	})
	return s
}

func ollamaAt(address, model string) *Ollama {
	return NewOllama(OllamaConfig{Model: model, Address: address})
}

// ndjson answers with lines.
func ndjson(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, strings.Join(lines, "\n")+"\n")
	}
}

// says is a line of an answer.
func says(message string) string {
	return `{"model":"m","created_at":"2026-01-02T03:04:05.678Z","message":{"role":"assistant",` + message + `},"done":false}`
}

const ollamaDone = `{"model":"m","created_at":"2026-01-02T03:04:05.678Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":26,"eval_count":7}`

func TestOllamaAnswer(t *testing.T) {
	usage := Event{Usage: &Usage{Input: 26, Output: 7}}
	call := func(id, name, input string) Event {
		return Event{Call: &ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	tool := func(calls string) string { return says(`"content":"","tool_calls":[` + calls + `]`) }
	for name, tt := range map[string]struct {
		lines []string
		want  []Event
	}{
		"text": {[]string{says(`"content":"Grüß"`), says(`"content":" Gott 🙂"`), ollamaDone},
			[]Event{{Text: "Grüß Gott 🙂"}, usage, {Stop: StopEnd}}},
		"thoughts": {[]string{says(`"content":"","thinking":"Hm"`), says(`"content":"","thinking":"."`), says(`"content":"Yes"`), ollamaDone},
			[]Event{{Thought: "Hm."}, {Opaque: &Opaque{Provider: "ollama:m", Data: json.RawMessage(`{"thinking":"Hm."}`)}}, {Text: "Yes"}, usage, {Stop: StopEnd}}},
		"a call with its ID": {[]string{tool(`{"id":"call_x","function":{"index":0,"name":"read","arguments":{"path":"a","n":12345678901234567890}}}`), ollamaDone},
			[]Event{call("call_x", "read", `{"path":"a","n":12345678901234567890}`), usage, {Stop: StopTools}}},
		"three calls in two lines, without IDs": {[]string{
			tool(`{"function":{"name":"read","arguments":{"path":"a"}}},{"function":{"name":"read","arguments":{"path":"b"}}}`),
			tool(`{"function":{"name":"list","arguments":{}}}`), ollamaDone},
			[]Event{call("call_1", "read", `{"path":"a"}`), call("call_2", "read", `{"path":"b"}`), call("call_3", "list", `{}`), usage, {Stop: StopTools}}},
		"an ID twice": {[]string{tool(`{"id":"c","function":{"name":"a"}},{"id":"c","function":{"name":"b"}},{"id":"c_2","function":{"name":"d"}}`), ollamaDone},
			[]Event{call("c", "a", `{}`), call("c_2", "b", `{}`), call("c_2_3", "d", `{}`), usage, {Stop: StopTools}}},
		"arguments that are no object": {[]string{
			tool(`{"function":{"name":"a","arguments":null}},{"function":{"name":"b","arguments":"{\"x\": 1}"}},{"function":{"name":"c","arguments":"ls -l"}},{"function":{"name":"d","arguments":[1]}}`), ollamaDone},
			[]Event{call("call_1", "a", `{}`), call("call_2", "b", `{"x": 1}`), call("call_3", "c", `"ls -l"`), call("call_4", "d", `"[1]"`), usage, {Stop: StopTools}}},
		"cut off": {[]string{says(`"content":"Once"`), strings.Replace(ollamaDone, `"stop"`, `"length"`, 1)},
			[]Event{{Text: "Once"}, usage, {Stop: StopMaxTokens}}},
		"nothing said": {[]string{ollamaDone}, []Event{usage, {Stop: StopEnd}}},
		"all of it cached": {[]string{says(`"content":"a"`), strings.Replace(ollamaDone, `"prompt_eval_count":26,`, ``, 1)},
			[]Event{{Text: "a"}, {Usage: &Usage{Input: Tokens(hello()), Output: 7}}, {Stop: StopEnd}}},
		"some of it cached": {[]string{says(`"content":"a"`), strings.Replace(ollamaDone, `"eval_count"`, `"prompt_eval_cached_count":20,"eval_count"`, 1)},
			[]Event{{Text: "a"}, {Usage: &Usage{Input: 26, Output: 7, CacheRead: 20}}, {Stop: StopEnd}}},
		"a word of the future": {[]string{says(`"content":"a","logprobs":[{"x":1}]`), "", strings.Replace(ollamaDone, `"stop"`, `"paused"`, 1), says(`"content":"not read"`)},
			[]Event{{Text: "a"}, usage, {Stop: StopEnd}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collect(ollamaAt(serveOllama(t, "", "", ndjson(tt.lines...)).URL, "m"), t.Context(), hello())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Stream: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestOllamaFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   Error
	}{
		"no such model": {status(404, `{"error":"model 'm' not found"}`),
			Error{Status: 404, Message: "model 'm' not found", Hint: "run: ollama pull m"}},
		"another server": {status(404, `404 page not found`),
			Error{Status: 404, Message: "404 page not found", Hint: `check model "m" and base_url`}},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html>") },
			Error{Status: 200, Message: `it sent "text/html; charset=utf-8" instead of a stream of events`, Hint: "check base_url"}},
		"no tools": {status(400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`),
			Error{Status: 400, Message: "registry.ollama.ai/library/gemma:2b does not support tools"}},
		"too long": {status(400, `{"error":"the input length exceeds the context length"}`),
			Error{Status: 400, Message: "the input length exceeds the context length", TooLong: true,
				Hint: "the window is 32768 tokens: type /compact, or set a larger context_window"}},
		"no memory": {status(500, `{"error":"model requires more system memory (9.0 GiB) than is available (3.1 GiB)"}`),
			Error{Status: 500, Message: "model requires more system memory (9.0 GiB) than is available (3.1 GiB)", Hint: "pick a smaller model, or set a smaller context_window"}},
		"crashed": {status(500, `{"error":"llama runner process has terminated: exit status 2"}`),
			Error{Status: 500, Message: "llama runner process has terminated: exit status 2", Hint: "try again later", Again: true}},
		"busy": {status(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, "Retry-After", "2"),
			Error{Status: 503, Message: "server busy, please try again. maximum pending requests exceeded", Hint: "try again later", Again: true, RetryAfter: 2 * time.Second}},
		"not signed in": {status(401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=k"}`),
			Error{Status: 401, Message: "unauthorized", Auth: true, Hint: "run: ollama signin, or name the variable of a key with api_key_env"}},
		"in the middle": {ndjson(says(`"content":"a"`), `{"error":"an error was encountered while running the model"}`),
			Error{Message: "an error was encountered while running the model", Hint: "try again later", Again: true}},
		"an object in the middle": {ndjson(`{"error":{"message":"oops"}}`),
			Error{Message: "oops", Hint: "try again later", Again: true}},
		"cut off": {ndjson(says(`"content":"a"`)),
			Error{Message: "the answer broke off before its end", Hint: "try again", Again: true}},
		"cut off in a line": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, says(`"content":"a"`)+"\n"+`{"model":"m","mess`)
		},
			Error{Message: "the answer broke off before its end", Hint: "try again", Again: true}},
		"no JSON": {ndjson(`oops`, ``),
			Error{Message: "reading its stream: invalid character 'o' looking for beginning of value", Hint: "try again", Again: true}},
		"only loaded": {ndjson(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`),
			Error{Message: "it gave no answer, but loaded or unloaded the model", Hint: "try again", Again: true}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := collect(ollamaAt(serveOllama(t, "", "", tt.answer).URL, "m"), t.Context(), hello())
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("Stream: %v", err)
			}
			tt.want.Provider = "ollama"
			if diff := cmp.Diff(tt.want, *e); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOllamaNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, model := range []string{"m", ""} {
		_, err := collect(NewOllama(OllamaConfig{Model: model, Address: address}), t.Context(), hello())
		e, ok := errors.AsType[*Error](err)
		if want := "is Ollama running at " + address + "? Else start it with: ollama serve"; !ok || e.Hint != want || e.Again {
			t.Errorf("Stream: %#v", err)
		}
	}
}

// A line may be as long as a file is that a call writes.
func TestOllamaLongLine(t *testing.T) {
	text := strings.Repeat("ä", 6<<20)
	s := serveOllama(t, "", "", ndjson(says(`"content":"","tool_calls":[{"function":{"name":"write","arguments":{"text":"`+text+`"}}}]`), ollamaDone))
	got, err := collect(ollamaAt(s.URL, "m"), t.Context(), hello())
	if err != nil || len(got) != 3 || len(got[0].Call.Input) != len(text)+len(`{"text":""}`) {
		t.Errorf("Stream: %d events, %v", len(got), err)
	}
}

func TestOllamaCancel(t *testing.T) {
	s := serveOllama(t, "", "", func(w http.ResponseWriter, r *http.Request) {
		ndjson(says(`"content":"a"`))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("stop")
	var last error
	for ev, err := range ollamaAt(s.URL, "m").Stream(ctx, hello()) {
		if ev.Text != "" {
			cancel(stop)
		}
		last = err
	}
	if !errors.Is(last, stop) {
		t.Errorf("Stream: %v", last)
	}
}

// Who waits for another to learn of the model still sees a cancel.
func TestOllamaCancelWhileAnotherAsks(t *testing.T) {
	m := ollamaAt(serveOllama(t, "", "").URL, "m")
	m.memory("m").asking <- struct{}{} // the other one
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := collect(m, ctx, hello()); !errors.Is(err, stop) {
		t.Errorf("Stream: %v", err)
	}
}

// A model without tools is asked once more, in text.
func TestOllamaWithoutTools(t *testing.T) {
	s := serveOllama(t, "", "", status(400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`),
		ndjson(says("\"content\":\"```bash\\nls\\n```\""), ollamaDone))
	m, err := Select(Config{Providers: []Provider{{Type: "ollama", Model: "gemma:2b", BaseURL: s.URL}}}, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	bash := Tool{Name: "bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`), Invocation: Invocation{Tag: "bash", Param: "command"}}
	got, err := collect(m, t.Context(), Request{Tools: []Tool{bash}, Messages: []Message{said("hi")}})
	if err != nil || len(got) != 3 || got[1].Call == nil || string(got[1].Call.Input) != `{"command":"ls"}` || !CallsInText(m) {
		t.Errorf("Stream: %+v, %v", got, err)
	}
	if strings.Contains(s.chats[1], `"tools"`) {
		t.Errorf("tools in %s", s.chats[1])
	}
}

func TestOllamaKey(t *testing.T) {
	s := serveOllama(t, "", "", ndjson(ollamaDone))
	env := map[string]string{"OLLAMA_API_KEY": "not for you", "LAB_KEY": " secret-key\n", "OLLAMA_HOST": s.URL}
	getenv := func(k string) string { return env[k] }
	for want, p := range map[string]Provider{
		"":                  {Type: "ollama", Model: "m"},
		"Bearer secret-key": {Type: "ollama", Model: "m", BaseURL: s.URL + "/api", APIKeyEnv: "LAB_KEY"},
	} {
		s.keys = nil
		m, err := Select(Config{Providers: []Provider{p}}, getenv, nil, "")
		if err == nil {
			_, err = collect(m, t.Context(), hello())
		}
		if err != nil || len(s.keys) == 0 || s.keys[len(s.keys)-1] != want {
			t.Errorf("Authorization: %q, want %q, %v", s.keys, want, err)
		}
	}
	m, err := Select(Config{Providers: []Provider{{Type: "ollama", BaseURL: "https://ollama.com"}}}, func(string) string { return "" }, nil, "")
	if e, ok := errors.AsType[*Error](Ready(m)); err != nil || !ok || !e.Auth || !strings.Contains(e.Hint, "OLLAMA_API_KEY") {
		t.Errorf("ollama.com without a key: %v", Ready(m))
	}
}

// However the network cuts the stream, its events are the same, and whatever it
// is, it ends with a stop or an error.
func FuzzOllamaStream(f *testing.F) {
	for _, lines := range [][]string{
		{says(`"content":"Grüß 🙂"`), says(`"content":"","thinking":"h"`), ollamaDone},
		{says(`"content":"","tool_calls":[{"function":{"name":"a","arguments":{"x":[1,2]}}},{"id":"c","function":{"name":"b","arguments":"{}"}}]`), ollamaDone},
		{says(`"content":"a"`), `{"error":"oops"}`}, {says(`"content":"a"`)}, {`{"done":true,"done_reason":"load"}`}, {"\r", "null", "[]"},
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
func readOllama(data []byte, cut int) (events []Event, err error) {
	cut = min(cut, len(data))
	body := io.MultiReader(strings.NewReader(string(data[:cut])), strings.NewReader(string(data[cut:])))
	a := &ollamaAnswer{provider: "p", estimate: func() int { return 1 }}
	emit := func(e Event) bool { events = append(events, e); return true }
	for line, err := range ndjsonChunks(&http.Response{Body: io.NopCloser(body)}) {
		if err != nil {
			return events, err
		}
		if done, err := a.take(line, emit); done || err != nil {
			return events, err
		}
	}
	return events, a.end(emit)
}

func BenchmarkOllamaChunk(b *testing.B) {
	line := []byte(says(`"content":" word"`))
	a := &ollamaAnswer{provider: "p"}
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if done, err := a.take(line, func(Event) bool { return true }); done || err != nil {
			b.Fatal(err)
		}
	}
}
