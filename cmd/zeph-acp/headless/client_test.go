package headless

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// agent has one session, whose turn calls a function.
type agent struct {
	acp.Sessions
	turn func(ctx context.Context, c *acp.Client) (acp.StopReason, error)

	client *acp.Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	mode   string
}

func (a *agent) New(_ context.Context, c *acp.Client, _ acp.NewSessionRequest) (acp.Session, error) {
	a.client = c
	return session{agent: a}, nil
}
func (a *agent) Find(string) (acp.Session, error) { return session{agent: a}, nil }

// session is the agent's only session.
type session struct {
	acp.Session
	*agent
}

func (session) ID() string { return "s" }
func (session) State() acp.SessionState {
	return acp.SessionState{Modes: acp.SessionModeState{
		CurrentModeID: "code", AvailableModes: []acp.SessionMode{{ID: "ask"}, {ID: "code"}},
	}}
}
func (session) Opened()              {}
func (session) Sync(context.Context) {}
func (session) Close() func(context.Context) error {
	return func(context.Context) error { return nil }
}
func (s session) CancelChild(string)                               {}
func (s session) Cancel()                                          { s.cancel(acp.ErrTurnCancelled) }
func (s session) SetMode(id string) error                          { s.mode = id; return nil }
func (s session) Begin(ctx context.Context, _ acp.Prompt) acp.Turn { return s.agent.Begin(ctx) }
func (a *agent) Begin(ctx context.Context) acp.Turn {
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	return a
}
func (a *agent) End() {}
func (a *agent) Run(acp.Prompt) (acp.StopReason, error) {
	return a.turn(a.ctx, a.client)
}

// approve is an Approver that calls a function.
type approve func(ctx context.Context) (Choice, error)

func (f approve) Approve(ctx context.Context, _ acp.RequestPermissionRequest) (Choice, error) {
	return f(ctx)
}

// turnOf returns a Turn with an agent whose turn is f.
func turnOf(t *testing.T, f func(ctx context.Context, c *acp.Client) (acp.StopReason, error)) (*Turn, *agent) {
	a := &agent{turn: f}
	return &Turn{
		Server: &acp.Server{
			Config: setting.Default[acp.Config](), Sessions: a, Ready: func() error { return nil }, Log: slog.New(slog.DiscardHandler),
		},
		Dir: t.TempDir(), Prompt: []acp.ContentBlock{acp.TextBlock("hi")}, View: &JSON{W: &strings.Builder{}},
		Approver: approve(func(context.Context) (Choice, error) { return Choice{}, errNoUser }),
	}, a
}

func TestRun(t *testing.T) {
	turn, a := turnOf(t, func(context.Context, *acp.Client) (acp.StopReason, error) { return acp.StopRefusal, nil })
	turn.Mode = "ask"
	if stop, err := turn.Run(t.Context()); stop != acp.StopRefusal || err != nil || a.mode != "ask" {
		t.Errorf("Run: %s, %v, mode %q, want refusal in the mode ask", stop, err, a.mode)
	}

	turn, _ = turnOf(t, nil)
	turn.Mode = "fast"
	_, err := turn.Run(t.Context())
	if mode, ok := errors.AsType[*ModeError](err); !ok || mode.Error() != `unknown mode "fast": want ask, code` {
		t.Errorf("Run in an unknown mode: %v, want an error that names the modes", err)
	}

	turn, _ = turnOf(t, func(context.Context, *acp.Client) (acp.StopReason, error) { return "", errors.New("no model") })
	_, err = turn.Run(t.Context())
	if refused, ok := errors.AsType[*jsonrpc2.Error](err); !ok || refused.Message != "no model" {
		t.Errorf("Run: %v, want the agent's error", err)
	}

	turn, _ = turnOf(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := turn.Run(ctx); err != gone {
		t.Errorf("Run after a cancel: %v, want its cause", err)
	}
}

// A question that is open when the turn is cancelled is answered "cancelled",
// after the agent knows of the cancel.
func TestCancelWhileAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turn, _ := turnOf(t, func(ctx context.Context, c *acp.Client) (acp.StopReason, error) {
		outcome, err := c.RequestPermission(context.WithoutCancel(ctx), acp.RequestPermissionRequest{SessionID: "s"})
		if err != nil || outcome.Outcome != "cancelled" || !errors.Is(context.Cause(ctx), acp.ErrTurnCancelled) {
			t.Errorf("outcome %+v, %v; turn %v", outcome, err, context.Cause(ctx))
		}
		return "", context.Cause(ctx)
	})
	turn.Approver = approve(func(ctx context.Context) (Choice, error) {
		cancel()
		<-ctx.Done()
		return Choice{}, ctx.Err()
	})
	if stop, err := turn.Run(ctx); stop != acp.StopCancelled || err != nil {
		t.Errorf("Run: %s, %v, want cancelled", stop, err)
	}
}

// The agent gets the reason for an answer.
func TestReason(t *testing.T) {
	turn, _ := turnOf(t, func(ctx context.Context, c *acp.Client) (acp.StopReason, error) {
		got, err := c.RequestPermission(ctx, acp.RequestPermissionRequest{SessionID: "s"})
		want := acp.PermissionOutcome{Outcome: "selected", OptionID: "no", Reason: "use make"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		return acp.StopEndTurn, nil
	})
	turn.Approver = approve(func(context.Context) (Choice, error) { return Choice{"no", "use make"}, nil })
	if stop, err := turn.Run(t.Context()); stop != acp.StopEndTurn || err != nil {
		t.Errorf("Run: %s, %v, want end_turn", stop, err)
	}
}

// A question that the agent withdraws is closed.
func TestQuestionWithdrawn(t *testing.T) {
	asked := make(chan struct{})
	turn, _ := turnOf(t, func(ctx context.Context, c *acp.Client) (acp.StopReason, error) {
		ctx, cancel := context.WithCancel(ctx)
		go func() { <-asked; cancel() }()
		_, err := c.RequestPermission(ctx, acp.RequestPermissionRequest{SessionID: "s"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the withdrawn question returned %v, want %v", err, context.Canceled)
		}
		return acp.StopEndTurn, nil
	})
	turn.Approver = approve(func(ctx context.Context) (Choice, error) {
		close(asked)
		<-ctx.Done()
		return Choice{}, ctx.Err()
	})
	if stop, err := turn.Run(t.Context()); stop != acp.StopEndTurn || err != nil {
		t.Errorf("Run: %s, %v, want end_turn", stop, err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"text": "a\nb\r\nc", "binary": "a\xff"} {
		if err := os.WriteFile(path(name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("text", path("link")); err != nil {
		t.Fatal(err)
	}
	code := func(err error) int64 {
		if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok {
			return refused.Code
		}
		return 0
	}
	c := &client{}
	for name, tt := range map[string]struct {
		params string
		want   string
		code   int64
	}{
		"whole":      {`"path":"DIR/text"`, "a\nb\r\nc", 0},
		"symlink":    {`"path":"DIR/link","line":null,"limit":null`, "a\nb\r\nc", 0},
		"from line":  {`"path":"DIR/text","line":2`, "b\r\nc", 0},
		"some lines": {`"path":"DIR/text","line":2,"limit":1`, "b\r\n", 0},
		"no lines":   {`"path":"DIR/text","limit":0`, "", 0},
		"beyond":     {`"path":"DIR/text","line":9,"limit":9`, "", 0},
		"all lines":  {`"path":"DIR/text","line":0,"limit":9`, "a\nb\r\nc", 0},
		"missing":    {`"path":"DIR/none"`, "", codeNotFound},
		"in no dir":  {`"path":"DIR/none/none"`, "", codeNotFound},
		"directory":  {`"path":"DIR/."`, "", codeNotFound},
		"no text":    {`"path":"DIR/binary"`, "", codeNotFound},
		"wrong type": {`"path":1`, "", jsonrpc2.CodeInvalidParams},
		"relative":   {`"path":"text"`, "", jsonrpc2.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			params := strings.Replace("{"+tt.params+"}", "DIR", filepath.ToSlash(dir), 1)
			got, err := methods1["fs/read_text_file"](c, t.Context(), json.RawMessage(params))
			if tt.code != 0 {
				if code(err) != tt.code {
					t.Errorf("got %v, %v, want an error with the code %d", got, err, tt.code)
				}
				return
			}
			if diff := cmp.Diff(any(map[string]string{"content": tt.want}), got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}

	for name, want := range map[string]int64{"new": 0, "link": 0, "none/new": codeNotFound} {
		params, _ := json.Marshal(map[string]string{"path": path(name), "content": "new <\n"})
		if _, err := methods1["fs/write_text_file"](c, t.Context(), params); code(err) != want || (err == nil) != (want == 0) {
			t.Errorf("write %s: %v, want the code %d", name, err, want)
		}
	}
	info, err := os.Lstat(path("link"))
	text, _ := os.ReadFile(path("text"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 || string(text) != "new <\n" {
		t.Errorf("the link is now %v and its target has %q, want a link to the new text", info, text)
	}
}

// The requests about a terminal, over the wire.
func TestTerminals(t *testing.T) {
	turn, _ := turnOf(t, func(ctx context.Context, c *acp.Client) (acp.StopReason, error) {
		run := func(script string, limit int) *acp.Terminal {
			term, err := c.CreateTerminal(ctx, acp.CreateTerminalRequest{
				SessionID: "s", Command: "sh", Args: []string{"-c", script}, OutputByteLimit: limit,
				Env: []acp.EnvVariable{{Name: "GREETING", Value: "añ"}, {Name: "HOME"}},
			})
			if err != nil {
				t.Errorf("create a terminal for %q: %v", script, err)
				return &acp.Terminal{}
			}
			return term
		}
		term := run(`printf %s "$HOME$GREETING$GREETING"; exit 3`, 4)
		status, err := term.Wait(ctx)
		if err != nil || status.ExitCode == nil || *status.ExitCode != 3 {
			t.Errorf("Wait: %+v, %v, want the exit code 3", status, err)
		}
		out, err := term.Output(ctx)
		three := 3
		// The last four bytes begin inside of a rune.
		want := acp.TerminalOutput{Output: "añ", Truncated: true, ExitStatus: &acp.ExitStatus{ExitCode: &three}}
		if diff := cmp.Diff(want, out); err != nil || diff != "" {
			t.Errorf("Output: %v (-want +got)\n%s", err, diff)
		}

		// A long output is complete in parts, which end between runes.
		long := run(`i=0; while [ $i -lt 1100 ]; do printf '%1500s☃\n' $i; i=$((i+1)); done`, 50<<20)
		if _, err := long.Wait(ctx); err != nil {
			t.Errorf("Wait: %v", err)
		}
		var all strings.Builder
		parts := 0
		for from := int64(0); ; from = out.Meta.From {
			if out, err = long.OutputFrom(ctx, from); err != nil || out.Output == "" {
				break
			}
			parts++
			all.WriteString(out.Output)
		}
		if text := all.String(); err != nil || out.Truncated || parts < 2 || len(text) != 1100*1504 || strings.Count(text, "☃\n") != 1100 {
			t.Errorf("%d bytes in %d parts: %v, truncated %v", len(text), parts, err, out.Truncated)
		}

		term = run(`pwd; sleep 600`, 0)
		waitCtx, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := term.Wait(waitCtx); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Wait returned %v", err)
		}
		if err := term.Kill(ctx); err != nil {
			t.Errorf("Kill: %v", err)
		}
		status, err = term.Wait(ctx)
		if err != nil || status.Signal == nil {
			t.Errorf("Wait after Kill: %+v, %v, want a signal", status, err)
		}
		term.Release()
		for {
			if _, err := term.Output(ctx); err != nil {
				if refused, ok := errors.AsType[*acp.ClientError](err); !ok || !refused.NotFound() {
					t.Errorf("Output after Release: %v, want that there is no such terminal", err)
				}
				break
			}
		}

		if _, err := c.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionID: "s", Command: "no such program"}); err == nil {
			t.Error("a program that is not there was started")
		}
		if _, err := c.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionID: "s", Command: "sh", CWD: "x"}); err == nil {
			t.Error("a relative cwd was taken")
		}
		run("sleep 600", 0) // never released
		return acp.StopEndTurn, nil
	})
	if stop, err := turn.Run(t.Context()); stop != acp.StopEndTurn || err != nil {
		t.Errorf("Run: %s, %v, want end_turn", stop, err)
	}
	for id, p := range turn.terminals.open {
		if _, _, exit := p.Output(); exit == nil {
			t.Errorf("%s still runs", id)
		}
	}
	if _, err := turn.terminals.start(process.Program{Path: "sh"}, 0, nil, nil); err == nil {
		t.Error("a terminal was opened after the end")
	}
}
