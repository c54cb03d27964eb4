//go:build unix

package stdio

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain lets the test binary be a server: with SERVE set it serves one tool on
// stdin and stdout.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE") == "" {
		os.Exit(machine.Tests{M: m}.Run())
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in struct{ Text string }) (*sdk.CallToolResult, any, error) {
		fmt.Println("noise inside of a call {")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}

// A context that ends while a message is written does not spoil the messages after it.
func TestWriteAndCancel(t *testing.T) {
	s, _ := start(t, "cat >/dev/null")
	message := &jsonrpc.Request{Method: "notifications/x"}
	for i := range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := s.Write(ctx, message); err != nil && err != context.Canceled {
			t.Fatalf("write %d, cancelled: %v", i, err)
		}
		cancel()
		if err := s.Write(t.Context(), message); err != nil {
			t.Fatalf("after the cancelled write %d: %v", i, err)
		}
	}
}

// logbook keeps what a server logs.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) add(stream, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, stream+": "+line)
}

func (l *logbook) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// start starts a shell script; $SERVER in it is this binary as a server.
func start(t *testing.T, script string) (*Server, *logbook) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	book := &logbook{}
	s, err := Start(process.Program{
		Path: "sh", Args: []string{"-c", script}, Env: append(os.Environ(), "SERVER="+self), Dir: t.TempDir(),
	}, book.add)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.End(0) })
	return s, book
}

func connect(t *testing.T, s *Server) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "zeph-acp", Version: "1"}, nil).Connect(t.Context(), s, nil)
}

func TestNoise(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		want   []string
	}{
		"a quiet server": {`SERVE=1 exec "$SERVER"`, []string{"stdout: noise inside of a call {"}},
		"banners": {
			`echo "npm notice"; echo; echo "{not JSON"; echo "[1,2]"; echo "{}"; echo warn >&2; SERVE=1 exec "$SERVER"`,
			[]string{"stdout: npm notice", "stdout: {not JSON", "stdout: [1,2]", "stdout: {}", "stderr: warn", "stdout: noise inside of a call {"},
		},
		"a banner without an end": {`printf 'Loading... '; SERVE=1 exec "$SERVER"`, []string{"stdout: noise inside of a call {"}},
		"much noise": {
			`for i in $(seq 100); do echo x; done; SERVE=1 exec "$SERVER"`,
			slices.Repeat([]string{"stdout: x"}, maxNoise),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, book := start(t, tt.script)
			c, err := connect(t, s)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"Text": "hi"}})
			if err != nil || r.Content[0].(*sdk.TextContent).Text != "hi" {
				t.Errorf("call: %+v, %v", r, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			got, want := book.all(), slices.Clone(tt.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("log\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct{ script, want, last string }{
		"ends at once":       {`echo "no such module" >&2; echo >&2; exit 3`, "", "no such module"},
		"an endless line":    {`yes "" | tr '\n' x`, "more than 64 MiB", ""},
		"closes its stdout":  {`read discover; exec >&-; sleep 60`, "EOF", ""},
		"an endless message": {`printf '{"jsonrpc":"2.0","id":1,"result":"'; yes "" | tr '\n' x`, "more than 64 MiB", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := start(t, tt.script)
			if _, err := connect(t, s); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("connect: %v, want %s", err, tt.want)
			}
			s.End(0)
			if got := s.LastLine(); got != tt.last {
				t.Errorf("last line %q, want %q", got, tt.last)
			}
		})
	}
}

func TestUnansweredProbe(t *testing.T) {
	s, _ := start(t, `read discover; SERVE=1 exec "$SERVER"`) // it never sees the first request
	s.probe.delay = 10 * time.Millisecond
	if _, err := connect(t, s); err != nil {
		t.Error(err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _ := start(t, `sleep 60`) // it reads nothing
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c := sdk.NewClient(&sdk.Implementation{Name: "zeph-acp", Version: "1"}, nil)
	if _, err := c.Connect(ctx, s, nil); err == nil {
		t.Error("connected to a server that does not answer")
	}
}

// TestBlockedWrite writes to a server that reads nothing. Further writes end with their
// contexts, and the end of the server ends the first one.
func TestBlockedWrite(t *testing.T) {
	t.Parallel()
	s, _ := start(t, `sleep 60`)
	large := &jsonrpc.Request{Method: "x", Params: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}
	first := make(chan error, 1)
	go func() { first <- s.Write(context.Background(), large) }()
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := s.Write(ctx, large); err == nil {
			t.Error("written to a server that reads nothing")
		}
		cancel()
	}
	s.End(0)
	if err := <-first; err == nil {
		t.Error("the first write succeeded")
	}
}

// TestManyRequests has a server that sends more requests than may be unanswered. It is
// read on only after an answer.
func TestManyRequests(t *testing.T) {
	t.Parallel()
	s, _ := start(t, `i=0; while [ $i -lt 300 ]; do echo '{"jsonrpc":"2.0","id":'$i',"method":"ping"}'; i=$((i+1)); done; cat >/dev/null`)
	var requests []*jsonrpc.Request
	read := func(ctx context.Context) error {
		m, err := s.Read(ctx)
		if err == nil {
			requests = append(requests, m.(*jsonrpc.Request))
		}
		return err
	}
	for range maxOpenRequests {
		if err := read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := read(ctx); err == nil {
		t.Errorf("%d requests are unanswered", len(requests))
	}
	for n := 0; len(requests) < 300; n++ {
		if err := s.Write(t.Context(), &jsonrpc.Response{ID: requests[n].ID, Result: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if err := read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnreadableMessages(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for name, tt := range map[string]struct{ line, want string }{
		"a deep response":     {`{"jsonrpc":"2.0","id":7,"result":` + deep + `}`, "maximum nesting depth"},
		"a deep notification": {`{"jsonrpc":"2.0","method":"x","params":` + deep + `}`, ""},
		"no id":               {`{"jsonrpc":"2.0","result":` + deep + `}`, ""},
		"no message":          {deep, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, m := range decode([]byte(tt.line)) {
				got += m.(*jsonrpc.Response).Error.Error()
			}
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("y", 3*chunk)
	for name, tt := range map[string]struct {
		in    string
		limit lineLimit
		want  []string
		fails bool
	}{
		"none":              {"", lineLimit{bytes: 10}, nil, false},
		"without an end":    {"a\n\nb", lineLimit{bytes: 10}, []string{"a", "", "b"}, false},
		"as long as may be": {"12345\n", lineLimit{bytes: 5}, []string{"12345"}, false},
		"too long":          {"ok\n123456\n", lineLimit{bytes: 5}, []string{"ok"}, true},
		"cut":               {"1234567\nab\n", lineLimit{bytes: 5, cut: true}, []string{"12345", "ab"}, false},
		"in pieces":         {long + "\nz\n", lineLimit{bytes: 4 * chunk}, []string{long, "z"}, false},
		"pieces, cut":       {long + "\nz\n", lineLimit{bytes: 2 * chunk, cut: true}, []string{long[:2*chunk], "z"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := lines(strings.NewReader(tt.in), tt.limit, func(line []byte) bool {
				got = append(got, string(line))
				return true
			})
			if !slices.Equal(got, tt.want) || (err != nil) != tt.fails {
				t.Errorf("%d lines, %v", len(got), err)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb", uint16(3), true)
	f.Add(`{"jsonrpc":"2.0","method":"x"}`+"\n", uint16(100), false)
	f.Fuzz(func(t *testing.T, in string, limit uint16, cut bool) {
		limit = min(limit, 1000)
		_ = lines(strings.NewReader(in), lineLimit{bytes: int(limit), cut: cut}, func(line []byte) bool {
			if len(line) > int(limit)+1 {
				t.Errorf("a line of %d bytes, limit %d", len(line), limit)
			}
			decode(line)
			return true
		})
	})
}

// TestLongMessages checks that a response that is too long fails its request, wherever
// its id stands.
func TestLongMessages(t *testing.T) {
	text := strings.Repeat("x", maxMessage)
	const refused = `,"error":{"code":-32603,"message":"the response has 8 MiB, more than 8 MiB"}}`
	for name, tt := range map[string]struct{ line, want string }{
		"id first": {`{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"` + text + `"}}`, `{"jsonrpc":"2.0","id":7` + refused},
		"id last":  {`{"jsonrpc":"2.0","result":{"id":8,"text":"` + text + `"},"id":"a"}`, `{"jsonrpc":"2.0","id":"a"` + refused},
		"no id":    {`{"jsonrpc":"2.0","method":"x","params":{"text":"` + text + `"},"id":7}`, `{"jsonrpc":"2.0","method":"x"`},
		"no JSON":  {text + "x", "xxx"},
	} {
		var got []string
		err := lines(strings.NewReader(tt.line+"\nnext\n"), lineLimit{bytes: maxFrame}, func(line []byte) bool {
			got = append(got, string(line))
			return true
		})
		if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], tt.want) || len(got[0]) > keptBytes || got[1] != "next" {
			t.Errorf("%s: %d lines, %.200q, %v", name, len(got), got, err)
		}
	}
}
