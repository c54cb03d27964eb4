package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// small is a server that speaks Anthropic's stream, with a small window. It
// counts tokens by a rule of its own and refuses longer requests. In each turn
// it reads long pieces of a file, and it writes a summary when asked to.
type small struct {
	window int
	hang   chan struct{} // if set, a summary begins, is reported here and never ends

	mu       sync.Mutex
	largest  int
	refused  int
	summed   int
	calls    int
	turn     int // of the last prompt
	rounds   int // of this turn so far
	missing  []string
	messages []json.RawMessage // of the last request that asked for no summary
}

// instructions are requests that the user makes once, by turn.
var instructions = map[int]string{1: "Always answer in rhymes.", 150: "Never touch the file zebra.txt."}

// countedTokens counts the strings of a request: five letters of a word per
// token, any other character alone.
func countedTokens(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		run := 0
		for _, r := range v {
			switch {
			case unicode.IsLetter(r):
				if run++; run%5 == 1 {
					n++
				}
			case r == ' ':
				run = 0
			default:
				run = 0
				n++
			}
		}
	case []any:
		for _, e := range v {
			n += countedTokens(e)
		}
	case map[string]any:
		n += 2
		for _, e := range v {
			n += countedTokens(e)
		}
	}
	return n
}

var turnNumber = regexp.MustCompile(`(?m)^turn (\d+):`)

func (s *small) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var all any
	var req struct {
		System   []struct{ Text string }
		Messages []json.RawMessage
	}
	if err != nil || json.Unmarshal(body, &all) != nil || json.Unmarshal(body, &req) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := countedTokens(all)
	if n > s.window {
		s.refused++
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > %d maximum"}}`, n, s.window)
		return
	}
	s.largest = max(s.largest, n)
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.HasPrefix(req.System[0].Text, "You summarize") {
		s.summed++
		if s.hang != nil {
			w.(http.Flusher).Flush()
			s.hang <- struct{}{}
			<-r.Context().Done()
			return
		}
		s.stream(w, n, map[string]any{"type": "text", "text": "They looked at many pieces of the file."})
		return
	}
	s.messages = req.Messages
	last := string(req.Messages[len(req.Messages)-1])
	if !strings.Contains(last, `"tool_result"`) {
		var m struct{ Content []struct{ Text string } }
		_ = json.Unmarshal([]byte(last), &m)
		for _, c := range m.Content {
			if found := turnNumber.FindStringSubmatch(c.Text); found != nil {
				s.turn, _ = strconv.Atoi(found[1])
				s.rounds = 0
			}
		}
	}
	for turn, text := range instructions {
		if s.turn >= turn && !bytes.Contains(body, []byte(text)) {
			s.missing = append(s.missing, fmt.Sprintf("turn %d: %q", s.turn, text))
		}
	}
	if s.rounds++; s.rounds > 1+s.turn%3 {
		s.stream(w, n, map[string]any{"type": "text", "text": fmt.Sprintf("Turn %d is done.", s.turn)})
		return
	}
	s.calls++
	s.stream(w, n, map[string]any{"type": "tool_use", "id": fmt.Sprint("c", s.calls), "name": "read",
		"input": map[string]any{"path": "long.txt", "offset": s.calls % 1000, "limit": 30 + s.calls%6*30}})
}

// stream answers with one block.
func (s *small) stream(w http.ResponseWriter, input int, block map[string]any) {
	event := func(kind string, data map[string]any) {
		data["type"] = kind
		b, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	output, stop := countedTokens(block), "end_turn"
	var delta map[string]any
	switch block["type"] {
	case "text":
		delta = map[string]any{"type": "text_delta", "text": block["text"]}
		block["text"] = ""
	default:
		b, _ := json.Marshal(block["input"])
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(b)}
		block["input"] = map[string]any{}
		stop = "tool_use"
	}
	event("message_start", map[string]any{"message": map[string]any{"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []any{},
		"usage": map[string]int{"input_tokens": input, "output_tokens": 1}}})
	event("content_block_start", map[string]any{"index": 0, "content_block": block})
	event("content_block_delta", map[string]any{"index": 0, "delta": delta})
	event("content_block_stop", map[string]any{"index": 0})
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]int{"output_tokens": output}})
	event("message_stop", map[string]any{})
}

// talk is a client of an App.
type talk struct {
	t     *testing.T
	app   *App
	in    io.WriteCloser
	lines *bufio.Reader
	n     int
	dir   string
	said  strings.Builder // the last messages of the agent
}

// newTalk starts an App with its files in home.
func newTalk(t *testing.T, home, url string) *talk {
	t.Helper()
	text := fmt.Sprintf("[[llm.providers]]\nname = \"small\"\ntype = \"claude\"\nmodel = \"claude-small\"\nbase_url = %q\ncontext_window = 32000\n", url)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{File: filepath.Join(home, "config.toml"), Environ: []string{"ZEPH_HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	l.Config.LLM.FindOllama, l.Config.LLM.ListModels = false, false
	a := New(l, slog.New(slog.DiscardHandler))
	a.Model, a.Settle = "", 0
	a.Getenv = func(name string) string {
		if name == "ANTHROPIC_API_KEY" {
			return "key-of-the-test"
		}
		return ""
	}
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = out.CloseWithError(a.Server().Serve(context.Background(), in, out))
	}()
	k := &talk{t: t, app: a, in: clientOut, lines: bufio.NewReaderSize(clientIn, 1<<20), dir: filepath.Join(home, "w")}
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, k.lines) }()
		_ = clientOut.Close()
		<-served
		_ = a.Close()
	})
	k.request("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	return k
}

// send sends a request; receive waits for its answer.
func (k *talk) send(method, params string) {
	k.n++
	fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", k.n, method, params)
}

func (k *talk) receive() json.RawMessage {
	k.t.Helper()
	for {
		line, err := k.lines.ReadBytes('\n')
		if err != nil {
			k.t.Fatal(err)
		}
		var f struct {
			ID     int
			Method string
			Params struct {
				Update struct {
					SessionUpdate string
					Content       json.RawMessage
				}
			}
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &f); err != nil {
			k.t.Fatal(err)
		}
		switch {
		case f.Params.Update.SessionUpdate == "agent_message_chunk":
			k.said.Write(f.Params.Update.Content)
		case f.Error != nil:
			k.t.Fatalf("%s", line)
		case f.Method == "" && f.ID == k.n:
			return f.Result
		}
	}
}

func (k *talk) request(method, params string) json.RawMessage {
	k.t.Helper()
	k.send(method, params)
	return k.receive()
}

func (k *talk) open() string {
	k.t.Helper()
	var got struct{ SessionID string }
	if err := json.Unmarshal(k.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, k.dir)), &got); err != nil {
		k.t.Fatal(err)
	}
	return got.SessionID
}

func promptOf(session, text string) string {
	return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text)
}

func (k *talk) prompt(session, text string) {
	k.t.Helper()
	k.said.Reset()
	if got := string(k.request("session/prompt", promptOf(session, text))); !strings.Contains(got, `"end_turn"`) {
		k.t.Fatalf("%s: %s\n%s", text, got, k.said.String())
	}
}

// longHome returns a directory with a workspace that has a long file.
func longHome(t *testing.T) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "w"), 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "func piece%d(a int, b string) error { return fmt.Errorf(%q, a, b) }\n", i, "what went wrong here")
	}
	if err := os.WriteFile(filepath.Join(home, "w", "long.txt"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func turnText(i int) string {
	return strings.TrimSpace(fmt.Sprintf("turn %d: look at the next piece. %s", i, instructions[i]))
}

// TestThreeHundredTurns has a conversation of 300 turns in a window of 32,000
// tokens. It keeps going, no request is too long, each later request has the
// user's instructions, and the store has all turns. Another process that loads
// it continues with the same history.
func TestThreeHundredTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("one turn after the other: for the race detector, the short conversations have all of it")
	}
	t.Cleanup(Isolate())
	const turns = 300
	s := &small{window: 32_000}
	server := httptest.NewServer(s)
	defer server.Close()
	home := longHome(t)
	k := newTalk(t, home, server.URL)
	id := k.open()
	for i := 1; i <= turns; i++ {
		k.prompt(id, turnText(i))
	}
	t.Logf("%d calls, %d summaries, the largest request had %d tokens", s.calls, s.summed, s.largest)
	if s.refused > 0 || len(s.missing) > 0 {
		t.Errorf("%d requests were too long; missing: %q", s.refused, s.missing)
	}
	if s.summed == 0 || s.summed > s.calls/4 {
		t.Errorf("%d summaries in %d calls, want from 1 to a quarter of the calls", s.summed, s.calls)
	}
	before := s.messages

	_, events, _, err := k.app.Sessions().Stored(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	prompts, results := 0, 0
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Prompt:
			if prompts++; *e.Content[0].Text != turnText(prompts) {
				t.Errorf("prompt %d is %q", prompts, *e.Content[0].Text)
			}
		case transcript.Result:
			if results++; len(e.Result.Text) < 2000 || e.Result.Failed {
				t.Errorf("result %d has %d bytes", results, len(e.Result.Text))
			}
		}
	}
	if prompts != turns || results != s.calls {
		t.Errorf("%d prompts and %d results are stored of %d and %d", prompts, results, turns, s.calls)
	}

	k.request("session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
	other := newTalk(t, home, server.URL)
	other.request("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, other.dir))
	other.prompt(id, turnText(turns+1))
	if s.refused > 0 {
		t.Error("a request was too long")
	}
	bare := regexp.MustCompile(`,"cache_control":\{[^}]*\}`) // the cache marks move
	was, is := bare.ReplaceAllString(string(before[0]), ""), bare.ReplaceAllString(string(s.messages[0]), "")
	if d := cmp.Diff(was, is); d != "" {
		t.Errorf("another history begins after a load (-want +got)\n%.2000s", d)
	}
}

// TestKilledDuringASummary looks at the store while a summary is being made,
// as a new process would after this one was killed. It finds the whole
// conversation and no trace of the compaction. A cancel returns at once.
func TestKilledDuringASummary(t *testing.T) {
	t.Cleanup(Isolate())
	s := &small{window: 32_000, hang: make(chan struct{}, 1)}
	server := httptest.NewServer(s)
	defer server.Close()
	home := longHome(t)
	k := newTalk(t, home, server.URL)
	id := k.open()
	turns := 0
	for begun := false; !begun && turns < 100; {
		turns++
		answered := make(chan json.RawMessage, 1)
		k.send("session/prompt", promptOf(id, turnText(turns)))
		go func() { answered <- k.receive() }()
		select {
		case <-answered:
		case <-s.hang:
			begun = true
			other := newTalk(t, home, server.URL)
			_, events, _, err := other.app.Sessions().Stored(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			prompts := 0
			for _, e := range events {
				switch e := e.(type) {
				case transcript.Prompt:
					prompts++
				case transcript.Compaction:
					if e.Head != nil { // without a head, results are references: that compaction has ended
						t.Error("a summary is stored that was not made")
					}
				}
			}
			history := transcript.History(events)
			if prompts != turns || len(history) < 2*turns {
				t.Errorf("%d prompts and %d messages are stored, want %d and at least %d", prompts, len(history), turns, 2*turns)
			}
			other.request("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, other.dir))
			at := time.Now()
			fmt.Fprintf(k.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", id)
			if got := string(<-answered); !strings.Contains(got, `"cancelled"`) {
				t.Errorf("the cancelled prompt was answered with %s", got)
			}
			t.Logf("cancelled in %v", time.Since(at))
		}
	}
	if turns == 100 {
		t.Fatal("nothing was summed up")
	}
	s.mu.Lock()
	s.hang = nil
	s.mu.Unlock()
	k.prompt(id, turnText(turns+1))
	if s.refused > 0 || s.summed < 2 {
		t.Errorf("%d requests were too long and %d summaries made, want 0 and at least 2", s.refused, s.summed)
	}
}

// TestCompressProvider opens a session whose provider of summaries does not
// exist. The user gets a warning, and the session's own model writes the
// summary.
func TestCompressProvider(t *testing.T) {
	t.Cleanup(Isolate())
	s := &small{window: 32_000}
	server := httptest.NewServer(s)
	defer server.Close()
	k := newTalk(t, longHome(t), server.URL)
	k.app.Config.Agent.CompressProvider = "nobody"
	id := k.open()
	k.prompt(id, turnText(1))
	if said := k.said.String(); !strings.Contains(said, "agent.compress_provider") || !strings.Contains(said, "nobody") {
		t.Errorf("no warning about agent.compress_provider in %s", said)
	}
	k.prompt(id, "/compact the names")
	if s.summed != 1 || !strings.Contains(k.said.String(), "Compacted: ") {
		t.Errorf("%d summaries, want 1, after %s", s.summed, k.said.String())
	}
}
