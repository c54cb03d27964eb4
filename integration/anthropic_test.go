package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// provider is a fake Anthropic server on loopback. It answers one request after
// the other by its script.
type provider struct {
	*httptest.Server
	t testing.TB
	// choose, if not nil, answers instead of the script.
	choose func(modelRequest) reply

	mu     sync.Mutex
	script []reply
	bodies []string
}

// reply answers one request.
type reply func(http.ResponseWriter, *http.Request)

// modelRequest is what the agent asked, as far as the tests look into it.
type modelRequest struct {
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content []struct {
			Type, ID    string
			Text        string
			Tool_Use_ID string
			Is_Error    bool
			Content     json.RawMessage
			Source      struct{ Media_Type, Data string } // of an image
		}
	}
}

// last gives the last text of the user's.
func (r modelRequest) last() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		for _, b := range slices.Backward(r.Messages[i].Content) {
			if b.Type == "text" && r.Messages[i].Role == "user" {
				return b.Text
			}
		}
	}
	return ""
}

// newProvider starts the server. A request beyond the script is a fault.
func newProvider(t testing.TB, script ...reply) *provider {
	p := &provider{t: t, script: script}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// env makes the binary ask this server.
func (p *provider) env() []string {
	return append([]string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=" + p.URL}, alone...)
}

// then adds to the script.
func (p *provider) then(script ...reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = append(p.script, script...)
}

// requests gives the bodies so far.
func (p *provider) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.bodies...)
}

// request decodes the nth request.
func (p *provider) request(n int) modelRequest {
	p.t.Helper()
	all := p.requests()
	if n >= len(all) {
		p.t.Fatalf("the model was asked %d times, want %d", len(all), n+1)
	}
	var r modelRequest
	if err := json.Unmarshal([]byte(all[n]), &r); err != nil {
		p.t.Fatalf("request %d: %v", n, err)
	}
	return r
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "test" {
		p.t.Errorf("%s %s with key %q", r.Method, r.URL.Path, r.Header.Get("X-Api-Key"))
	}
	var req modelRequest
	if err := json.Unmarshal(body, &req); err != nil {
		p.t.Errorf("request: %v", err)
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	var answer reply
	if p.choose == nil && len(p.script) > 0 {
		answer, p.script = p.script[0], p.script[1:]
	}
	p.mu.Unlock()
	if p.choose != nil {
		answer = p.choose(req)
	}
	if answer == nil {
		p.t.Errorf("a request that the script does not know: %.500s", body)
		answer = refuse(400, "invalid_request_error", "the script has ended")
	}
	answer(w, r)
}

// block is one content block of an answer.
type block struct {
	kind   string // text, thinking or tool_use
	text   string // of the whole block; the input's JSON for tool_use
	id     string
	name   string
	signed string
}

func say(text string) block           { return block{kind: "text", text: text} }
func think(text, signed string) block { return block{kind: "thinking", text: text, signed: signed} }

// call asks for a tool; input is a string of JSON, or what is to be one.
func call(id, name string, input any) block {
	text, ok := input.(string)
	if !ok {
		b, err := json.Marshal(input)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return block{kind: "tool_use", text: text, id: id, name: name}
}

// answer streams an answer of these blocks.
func answer(blocks ...block) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		stop := "end_turn"
		for _, b := range blocks {
			if b.kind == "tool_use" {
				stop = "tool_use"
			}
		}
		stream(w, events(blocks)+
			event("message_delta", `{"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, stop)+
			event("message_stop", `{}`))
	}
}

// hang streams blocks, closes started, and then sends nothing until the agent
// goes away.
func hang(started chan<- struct{}, blocks ...block) reply {
	return func(w http.ResponseWriter, r *http.Request) {
		stream(w, events(blocks))
		close(started)
		<-r.Context().Done()
	}
}

// breakOff streams blocks and closes the connection.
func breakOff(blocks ...block) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		stream(w, events(blocks))
		panic(http.ErrAbortHandler)
	}
}

// overload is an error in the middle of a stream.
func overload(blocks ...block) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		stream(w, events(blocks)+event("error", `{"error":{"type":"overloaded_error","message":"Overloaded"}}`))
	}
}

// refuse is an error instead of a stream; a retry need not wait.
func refuse(status int, kind, message string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	}
}

// events writes an answer up to the end of its blocks.
func events(blocks []block) string {
	var b strings.Builder
	b.WriteString(event("message_start", `{"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`))
	b.WriteString(event("ping", `{}`))
	for i, bl := range blocks {
		start, delta, member := `{"type":"text","text":""}`, "text_delta", "text"
		switch bl.kind {
		case "thinking":
			start, delta, member = `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", "thinking"
		case "tool_use":
			start = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, bl.id, bl.name)
			delta, member = "input_json_delta", "partial_json"
		}
		b.WriteString(event("content_block_start", `{"index":%d,"content_block":%s}`, i, start))
		for _, piece := range pieces(bl.text) {
			text, _ := json.Marshal(piece) // strings always encode
			b.WriteString(event("content_block_delta", `{"index":%d,"delta":{"type":%q,%q:%s}}`, i, delta, member, text))
		}
		if bl.signed != "" {
			b.WriteString(event("content_block_delta", `{"index":%d,"delta":{"type":"signature_delta","signature":%q}}`, i, bl.signed))
		}
		b.WriteString(event("content_block_stop", `{"index":%d}`, i))
	}
	return b.String()
}

// event writes one event; its type goes into the data too.
func event(name, format string, args ...any) string {
	data := fmt.Sprintf(format, args...)
	comma := ","
	if data == "{}" {
		comma = ""
	}
	return "event: " + name + "\ndata: " + fmt.Sprintf(`{"type":%q`, name) + comma + data[1:] + "\n\n"
}

// pieces splits a text into deltas of odd lengths.
func pieces(text string) []string {
	var out []string
	runes := []rune(text)
	size := max(3, len(runes)/50)
	for len(runes) > 0 {
		n := min(size+len(out)%3, len(runes))
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return out
}

// stream sends text in writes that end anywhere, also within a character.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	size := max(97, len(text)/40)
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return // the agent went away
		}
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}

// within waits for a value.
func within[T any](t testing.TB, d time.Duration, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(d):
		t.Fatalf("no %s after %s", what, d)
		panic("unreachable")
	}
}
