package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// canonical makes frames comparable.
func canonical(t testing.TB, line string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	return v
}

const alive = `{"jsonrpc":"2.0","id":"alive","method":"authenticate","params":{"methodId":"api-key"}}`

// Each line gets the answer that JSON-RPC and docs/architecture.md state, and the
// server continues.
func TestFrames(t *testing.T) {
	const parse = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: one message per line is expected"}}`
	invalid := func(why string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":%q}}`, why)
	}
	badID := invalid("id must be a string, a number or null")
	ok := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }
	auth := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"authenticate","params":{"methodId":"api-key"}}`
	}
	for name, tt := range map[string]struct{ line, want string }{
		"not JSON":            {`{nope`, parse},
		"two messages":        {alive + alive, parse},
		"batch":               {`[` + alive + `]`, invalid("batches are not supported: send one message per line")},
		"empty batch":         {`[]`, invalid("batches are not supported: send one message per line")},
		"number":              {`42`, invalid("not a JSON-RPC message: an object is expected")},
		"string":              {`"x"`, invalid("not a JSON-RPC message: an object is expected")},
		"null":                {`null`, invalid("not a JSON-RPC message: an object is expected")},
		"no method":           {`{"jsonrpc":"2.0","id":5}`, invalid("method, result and error are missing")},
		"method is a number":  {`{"jsonrpc":"2.0","id":5,"method":7}`, invalid("method must be a string")},
		"no version":          {`{"id":5,"method":"x"}`, invalid(`jsonrpc must be "2.0"`)},
		"version 1":           {`{"jsonrpc":"1.0","id":5,"method":"x"}`, invalid(`jsonrpc must be "2.0"`)},
		"id null":             {auth("null"), ok("null")},
		"id empty":            {auth(`""`), ok(`""`)},
		"id zero":             {auth("0"), ok("0")},
		"id negative":         {auth("-1"), ok("-1")},
		"id beyond a double":  {auth("9007199254740993"), ok("9007199254740993")},
		"id beyond an int64":  {auth("123456789012345678901234567890"), ok("123456789012345678901234567890")},
		"id text":             {auth(`"1"`), ok(`"1"`)},
		"id with an escape":   {auth(`"a\u003cb\n"`), ok(`"a<b\n"`)},
		"id fraction":         {auth("1.5"), ok("1.5")},
		"id exponent":         {auth("1e3"), ok("1e3")},
		"id true":             {auth("true"), badID},
		"id object":           {auth("{}"), badID},
		"id array":            {auth("[]"), badID},
		"blank":               {"  \n\r\n\t", ""},
		"carriage return":     {auth("3") + "\r", ok("3")},
		"byte order mark":     {"\xef\xbb\xbf" + auth("3"), ok("3")},
		"invalid UTF-8 in id": {auth("\"\xff\""), ok("\"\uFFFD\"")},
		"deep":                {strings.Repeat("[", 20000), parse},
		"unknown method": {`{"jsonrpc":"2.0","id":1,"method":"foo/bar"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: foo/bar"}}`},
		"unknown extension":  {`{"jsonrpc":"2.0","id":1,"method":"_x/y"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: _x/y"}}`},
		"notification":       {`{"jsonrpc":"2.0","method":"foo/x"}`, ""},
		"bad cancel":         {`{"jsonrpc":"2.0","method":"session/cancel","params":[]}`, ""},
		"cancel of nothing":  {`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"no"}}`, ""},
		"cancel_request":     {`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, ""},
		"bad cancel_request": {`{"jsonrpc":"2.0","method":"$/cancel_request"}`, ""},
		"method null":        {`{"jsonrpc":"2.0","id":5,"method":null}`, invalid("method, result and error are missing")},
		"nulls in a request": {`{"jsonrpc":"2.0","id":5,"method":"session/list","params":null,"result":null,"error":null}`,
			`{"jsonrpc":"2.0","id":5,"result":{"sessions":[]}}`},
		"nulls in a response": {`{"jsonrpc":"2.0","id":77,"method":null,"params":null,"result":null,"error":null}`, ""},
		"response to nothing": {`{"jsonrpc":"2.0","id":77,"result":{}}`, ""},
		"both result, error":  {`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, ""},
		"error, id null":      {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, ""},
		"error, odd shape":    {`{"jsonrpc":"2.0","id":1,"error":"x"}`, ""},
		"params array": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":[]}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: must be an object"}}`},
		"params string": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":"x"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: must be an object"}}`},
		"field missing": {`{"jsonrpc":"2.0","id":1,"method":"session/new"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"cwd: is required"}}`},
		"field of wrong type": {`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":5}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"sessionId: must be a string, not number"}}`},
		"relative directory": {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","additionalDirectories":["x"]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"additionalDirectories[0]: must be an absolute path, got \"x\""}}`},
		"unknown session": {`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"no","prompt":[{"type":"text","text":"hi"}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"session no: unknown session"}}`},
		"empty prompt": {`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"no","prompt":[{"type":"text","text":" \n"}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"prompt: is empty"}}`},
		"unknown block": {`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"no","prompt":[{"type":"smell"}]}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"prompt[0].type: unknown type \"smell\""}}`},
		"unknown auth method": {`{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"x"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"methodId: unknown method \"x\", there are \"api-key\" and \"login\""}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, newServer(t, &fakeSessions{}))
			w.send(tt.line)
			if tt.want != "" {
				if diff := cmp.Diff(canonical(t, tt.want), canonical(t, w.read())); diff != "" {
					t.Errorf("answer to %.80q (-want +got)\n%s", tt.line, diff)
				}
			}
			w.send(alive)
			if diff := cmp.Diff(canonical(t, ok(`"alive"`)), canonical(t, w.read())); diff != "" {
				t.Errorf("after %.80q the server is not alive (-want +got)\n%s", tt.line, diff)
			}
		})
	}
}

func TestInitializeVersions(t *testing.T) {
	for version, ok := range map[string]bool{
		"0": true, "1": true, "2": true, "99": true, "65535": true,
		`"1"`: false, "-1": false, "1.5": false, "70000": false, "null": false, "[]": false,
	} {
		w := serve(t, newServer(t, &fakeSessions{}))
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":` + version +
			`,"clientCapabilities":{"fs":"yes","terminal":1,"session":null,"auth":[]},"x":1}}`)
		got := w.read()
		if ok != strings.Contains(got, `"protocolVersion":1`) || ok == strings.Contains(got, `"code":-32602`) {
			t.Errorf("protocolVersion %s: %s", version, got)
		}
	}
}

func TestLineTooLong(t *testing.T) {
	s := newServer(t, &fakeSessions{})
	s.Config.MaxLineBytes = 1 << 10
	w := serve(t, s)
	w.send(strings.Repeat("x", 200<<10), alive)
	if got := w.read(); !strings.Contains(got, `"code":-32600`) || !strings.Contains(got, `"id":null`) {
		t.Errorf("w.read(): got %v, want %q and %q in it", got, `"code":-32600`, `"id":null`)
	}
	if got := w.read(); !strings.Contains(got, `"alive"`) {
		t.Errorf("w.read(): got %v, want %q in it", got, `"alive"`)
	}
}

const (
	open   = `{"jsonrpc":"2.0","id":0,"method":"session/new","params":{"cwd":"/w","mcpServers":null}}`
	cancel = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1","reason":"x"}}`
)

func promptFrame(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}`
}

// A cancel in the same write always reaches the turn, even one whose model
// answers at once.
func TestCancelInTheNextFrame(t *testing.T) {
	w := serve(t, newServer(t, &fakeSessions{}))
	w.send(open)
	w.read()
	for i := range 200 {
		w.send(promptFrame(fmt.Sprint(i)), cancel)
		want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"cancelled"}}`, i)
		if got := w.read(); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	w.send(promptFrame("1"))
	if got := w.read(); !strings.Contains(got, "end_turn") {
		t.Error("a cancel reached the turn after the one it was meant for:", got)
	}
}

// A request that the client never answers ends with the turn, and the client is
// notified. A late answer has no effect.
func TestCallCancelled(t *testing.T) {
	asked := make(chan error, 2)
	f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
		_, err := c.ReadTextFile(ctx, "s1", "/w/<a>&b")
		asked <- err
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return StopEndTurn, err
	}}
	w := serve(t, newServer(t, f))
	w.send(open)
	w.read()
	w.send(promptFrame(`"1"`))
	if got, want := w.read(), `{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/w/<a>&b"}}`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	// None of these is an answer to request 1.
	w.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`, `{"jsonrpc":"2.0","id":"1","result":{"content":"x"}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, cancel)
	if err := <-asked; !errors.Is(err, ErrTurnCancelled) {
		t.Error(err)
	}
	if got := w.read(); !strings.Contains(got, `"cancelled"`) {
		t.Errorf("w.read(): got %v, want %q in it", got, `"cancelled"`)
	}
	w.send(`{"jsonrpc":"2.0","id":1,"result":{"content":"late"}}`, promptFrame("2"))
	w.read()
	w.send(`{"jsonrpc":"2.0","id":2,"result":{"content":"now"}}`)
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if got := w.read(); !strings.Contains(got, `"end_turn"`) {
		t.Errorf("w.read(): got %v, want %q in it", got, `"end_turn"`)
	}
}

// A response with both a result and an error, or with neither, fails the call. A null
// member next to the other one does not count.
func TestInvalidResponse(t *testing.T) {
	for response, want := range map[string]string{
		`"result":{"content":"x"},"error":{"code":1,"message":"x"}`: "both a result and an error",
		`"x":1`:                                 "neither a result nor an error",
		`"error":null`:                          "neither a result nor an error",
		`"result":{"content":"x"},"error":null`: "",
		`"result":null,"error":{"code":1,"message":"no"}`: "no (1)",
		`"result":null,"error":null`:                      "no content",
	} {
		t.Run(response, func(t *testing.T) {
			asked := make(chan error, 1)
			w := serve(t, newServer(t, &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				_, err := c.ReadTextFile(ctx, "s1", "/w/a")
				asked <- err
				return StopEndTurn, nil
			}}))
			w.send(open)
			w.read()
			w.send(promptFrame(`"1"`))
			w.read()
			w.send(`{"jsonrpc":"2.0","id":1,` + response + `}`)
			if err := <-asked; want == "" && err != nil || want != "" && !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// $/cancel_request goes only to clients that declare it, and never after
// session/cancel: then the client settles its requests itself.
func TestGivenUpRequests(t *testing.T) {
	const notice = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`
	byRequest := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`
	for name, tt := range map[string]struct {
		capabilities, end string
		told              bool
	}{
		"declared, session/cancel":     {`{"_meta":{"cancel_request":true}}`, cancel, false},
		"declared, $/cancel_request":   {`{"_meta":{"cancel_request":true}}`, byRequest, true},
		"undeclared, session/cancel":   {`{}`, cancel, false},
		"undeclared, $/cancel_request": {`{}`, byRequest, false},
		"wrong type":                   {`{"_meta":{"cancel_request":"yes"}}`, byRequest, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
				_, err := c.ReadTextFile(ctx, "s1", "/w/a")
				return "", err
			}}
			w := serve(t, newServer(t, f))
			w.send(request(9, "initialize", `{"protocolVersion":1,"clientCapabilities":`+tt.capabilities+`}`), open)
			w.read()
			w.read()
			w.send(promptFrame("5"))
			w.read() // fs/read_text_file
			w.send(tt.end)
			got := w.read()
			if tt.told {
				if got != notice {
					t.Errorf("got %s, want %s", got, notice)
				}
				got = w.read()
			}
			if !strings.Contains(got, `"cancelled"`) {
				t.Errorf("got %v, want %q in it", got, `"cancelled"`)
			}
		})
	}
}

// A diff of a new file says so, and "<" is not escaped in it.
func TestDiffOnTheWire(t *testing.T) {
	old, text := "<", "a"
	for want, c := range map[string]ToolContent{
		`{"type":"diff","path":"/a","oldText":null,"newText":"a"}`: {Type: "diff", Path: "/a", NewText: &text},
		`{"type":"diff","path":"/a","oldText":"<","newText":"a"}`:  {Type: "diff", Path: "/a", OldText: &old, NewText: &text},
		`{"type":"terminal","terminalId":"t"}`:                     {Type: "terminal", TerminalID: "t"},
	} {
		got, err := plainjson.Marshal(c)
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		var back ToolContent
		if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("read back: %+v, %v", back, err)
		}
	}
}

// A duplicate id is refused while the first request runs. The first request
// continues.
func TestDuplicateID(t *testing.T) {
	release := make(chan struct{})
	f := &fakeSessions{turn: func(context.Context, *Client, []ContentBlock) (StopReason, error) {
		<-release
		return StopEndTurn, nil
	}}
	w := serve(t, newServer(t, f))
	w.send(open)
	w.read()
	w.send(promptFrame("7"), promptFrame("7"))
	if got := w.read(); !strings.Contains(got, `"id":null`) || !strings.Contains(got, "-32600") {
		t.Errorf("w.read(): got %v, want %q and %q in it", got, `"id":null`, "-32600")
	}
	close(release)
	if got := w.read(); got != `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}` {
		t.Errorf("w.read(): got %q, want %q", got, `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}`)
	}
}

// $/cancel_request distinguishes 1 from "1".
func TestCancelRequest(t *testing.T) {
	f := &fakeSessions{turn: func(ctx context.Context, _ *Client, _ []ContentBlock) (StopReason, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}}
	w := serve(t, newServer(t, f))
	w.send(open)
	w.read()
	w.send(promptFrame("1"), promptFrame(`"1"`), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}`)
	if got := w.read(); got != `{"jsonrpc":"2.0","id":"1","result":{"stopReason":"cancelled"}}` {
		t.Errorf("w.read(): got %q, want %q", got, `{"jsonrpc":"2.0","id":"1","result":{"stopReason":"cancelled"}}`)
	}
	w.send(cancel)
	if got := w.read(); got != `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}` {
		t.Errorf("w.read(): got %q, want %q", got, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`)
	}
}

// A panic in a handler is answered with -32603, and has no other effect.
func TestPanic(t *testing.T) {
	f := &fakeSessions{turn: func(context.Context, *Client, []ContentBlock) (StopReason, error) { panic("boom") }}
	w := serve(t, newServer(t, f))
	w.send(open)
	w.read()
	w.send(promptFrame("1"))
	if got := w.read(); !strings.Contains(got, "-32603") || !strings.Contains(got, "boom") {
		t.Errorf("w.read(): got %v, want %q and %q in it", got, "-32603", "boom")
	}
	w.send(alive)
	if got := w.read(); !strings.Contains(got, "alive") {
		t.Errorf("w.read(): got %v, want %q in it", got, "alive")
	}
}

// A client that does not read delays only its updates: the turn can be
// cancelled, and the limit of the queue bounds the memory.
func TestSlowReader(t *testing.T) {
	sent := make(chan int, 1)
	f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
		n := 0
		for ; ctx.Err() == nil; n++ {
			_ = c.Update(ctx, "s1", MessageChunk{Update: UpdateAgentMessage, Content: TextBlock(strings.Repeat("x", 1000)), MessageID: "m"})
		}
		sent <- n
		return "", context.Cause(ctx)
	}}
	s := newServer(t, f)
	s.maxQueue = 64 << 10
	w := serve(t, s)
	w.send(open)
	w.read()
	w.send(promptFrame("1"))
	for range 10 {
		w.read()
	}
	w.send(cancel)
	n := <-sent
	if n > 200 {
		t.Errorf("%d updates were queued for a client that does not read", n)
	}
	for range n - 10 {
		w.read()
	}
	if got := w.read(); !strings.Contains(got, "cancelled") {
		t.Errorf("w.read(): got %v, want %q in it", got, "cancelled")
	}
}

// When the agent is asked to stop, a running prompt is answered "cancelled", as
// when the client hangs up.
func TestStopAnswersCancelled(t *testing.T) {
	began := make(chan struct{})
	f := &fakeSessions{turn: func(ctx context.Context, _ *Client, _ []ContentBlock) (StopReason, error) {
		close(began)
		<-ctx.Done()
		return "", context.Cause(ctx)
	}}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancelCause(t.Context())
	end := make(chan error, 1)
	go func() { end <- newServer(t, f).Serve(ctx, inR, outW); outW.Close() }()
	w := &wire{t: t, in: inW, out: bufio.NewReader(outR)}
	w.send(open)
	w.read()
	w.send(promptFrame("1"))
	<-began
	stop(errors.New("got terminated"))
	if got := w.read(); got != `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}` {
		t.Errorf("w.read(): got %q, want %q", got, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"cancelled"}}`)
	}
	if err := <-end; err != nil {
		t.Error(err)
	}
}

func FuzzFrames(f *testing.F) {
	for _, s := range []string{alive, open, promptFrame("1"), cancel, `{"jsonrpc":"2.0","id":1,"error":{}}`, "[", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := serve(t, newServer(t, &fakeSessions{}))
		go w.send(string(data), alive)
		for {
			line := w.read()
			canonical(t, line) // every line is JSON
			if strings.Contains(line, `"alive"`) {
				return
			}
		}
	})
}

func BenchmarkRelay(b *testing.B) {
	f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
		for range b.N {
			if err := c.Update(ctx, "s1", MessageChunk{Update: UpdateAgentMessage, Content: TextBlock("a token or two <b>"), MessageID: "message-id"}); err != nil {
				return "", err
			}
		}
		return StopEndTurn, nil
	}}
	w := serve(b, newServer(b, f))
	w.send(open)
	w.read()
	b.ReportAllocs()
	w.send(promptFrame("1"))
	for !strings.Contains(w.read(), "end_turn") {
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
}

func BenchmarkRequest(b *testing.B) {
	w := serve(b, newServer(b, &fakeSessions{}))
	b.ReportAllocs()
	for b.Loop() {
		w.send(alive)
		w.read()
	}
}
