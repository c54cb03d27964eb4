package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain lets the test binary be a server: SERVE names the behaviour.
func TestMain(m *testing.M) {
	mode := os.Getenv("SERVE")
	if mode == "" {
		os.Exit(machine.Tests{M: m}.Run())
	}
	if mode == "exit" {
		fmt.Fprintln(os.Stderr, "no such module: left-pad")
		os.Exit(3)
	}
	if mode == "hostile" {
		serveHostile(os.Getenv("MODE"))
		return
	}
	_ = newTestServer().Run(context.Background(), &sdk.StdioTransport{})
}

// text is a result of one text.
func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

var anything = json.RawMessage(`{"type":"object"}`)

// cancelled counts the calls of hang that ended, in the servers of this process.
var cancelled atomic.Int32

// newTestServer returns a server with tools that behave in all the ways that a call
// can end.
func newTestServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, do func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: anything}, do)
	}
	add("echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("pid", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(fmt.Sprint(os.Getpid())), nil
	})
	add("env", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(os.Getenv("GIVEN") + " " + os.Getenv("SHELL_TOKEN") + " " + strings.Join(os.Args[1:], ",")), nil
	})
	add("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := text("no such repository")
		r.IsError = true
		return r, nil
	})
	add("broken", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("index out of range")
	})
	add("exit", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "panic: oh")
		os.Exit(2)
		return nil, nil
	})
	add("hang", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Message: "waiting"})
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		cancelled.Add(1)
		return nil, ctx.Err()
	})
	add("slow", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 8 {
			time.Sleep(200 * time.Millisecond)
			_ = r.Session.NotifyProgress(ctx,
				&sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 8, Message: "step"})
		}
		return text("done"), nil
	})
	add("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add("another", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("new"), nil })
		return text("grown"), nil
	})
	s.AddTool(&sdk.Tool{Name: "look", InputSchema: &jsonschema.Schema{Type: "object"},
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, Title: "Look around"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("seen"), nil })
	return s
}

// program returns an entry of this binary as a server.
func program(t *testing.T, name, mode string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := NewServer()
	e.Name, e.Command, e.Env = name, self, map[string]string{"SERVE": mode}
	return e
}

// warnings collects what the user is told.
type warnings struct {
	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *warnings) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.all...)
}

// fixture is a process with its servers.
type fixture struct {
	*Servers
	t    *testing.T
	dir  string
	warn *warnings
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, dir: t.TempDir(), warn: &warnings{more: make(chan struct{}, 1)}, Servers: &Servers{
		Version: "1", Env: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "GIVEN=no"} }, Getenv: func(name string) string {
			return map[string]string{"SHELL_TOKEN": "t0k3n"}[name]
		},
		Log: slog.New(slog.DiscardHandler),
	}}
	t.Cleanup(f.Close)
	return f
}

// open opens a session and waits for its servers.
func (f *fixture) open(servers ...Server) *Session {
	s := f.Session(Options{Dir: f.dir, Servers: servers, Wait: time.Minute, Warn: f.warn.add})
	f.t.Cleanup(s.Close)
	s.Ready(f.t.Context())
	return s
}

// called is the outcome of a call.
type called struct {
	executors.Result
	record   executors.Record
	progress []string
}

func (f *fixture) call(s *Session, tool, input string) called {
	f.t.Helper()
	var out called
	call := &executors.Call{Tool: tool, Input: json.RawMessage(input), Record: &out.record, Notify: func(e executors.Event) {
		out.progress = append(out.progress, e.Progress)
	}}
	var err error
	if out.Result, err = s.Execute(f.t.Context(), call); err != nil {
		f.t.Errorf("%s: %v", tool, err)
	}
	return out
}

// until calls is until it reports true.
func (f *fixture) until(what string, is func() bool) {
	f.t.Helper()
	for !is() {
		select {
		case <-f.t.Context().Done():
			f.t.Fatal("waited in vain for " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func names(tools []executors.Tool) string {
	var out []string
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}
