package ideproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// editor answers our calls. A result is JSON, an error object if it begins with
// "!", or "" for no answer at all.
type editor struct {
	answer   func(method string, params json.RawMessage) string
	parallel bool // answers do not wait for each other
	info     acp.Implementation

	mu    sync.Mutex
	calls []string // methods, as they came
	seen  chan string
}

func (e *editor) methods() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// catcher passes the connection's client to the test.
type catcher struct {
	acp.Sessions
	got chan *acp.Client
}

func (c catcher) New(_ context.Context, client *acp.Client, _ acp.NewSessionRequest) (acp.Session, error) {
	c.got <- client
	return opened{}, nil
}

// opened is a session without turns.
type opened struct{ acp.Session }

func (opened) ID() string              { return "s1" }
func (opened) State() acp.SessionState { return acp.SessionState{} }
func (opened) Opened()                 {}

// connect serves an editor and returns our side of the connection.
func connect(t *testing.T, e *editor) *acp.Client {
	t.Helper()
	e.seen = make(chan string, 100)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	got := catcher{got: make(chan *acp.Client, 1)}
	s := &acp.Server{Config: setting.Default[acp.Config](), Sessions: got, Ready: func() error { return nil }, Log: slog.New(slog.DiscardHandler)}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(context.Background(), inR, outW); outW.Close() }()
	go func() {
		lines := bufio.NewReader(outR)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
			}
			if json.Unmarshal(line, &m) != nil || m.Method == "" {
				continue
			}
			e.mu.Lock()
			e.calls = append(e.calls, m.Method)
			e.mu.Unlock()
			e.seen <- m.Method
			if m.ID == nil {
				continue
			}
			reply := func() {
				switch a := e.answer(m.Method, m.Params); {
				case a == "":
				case a[0] == '!':
					fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.ID, a[1:])
				default:
					fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, a)
				}
			}
			if e.parallel {
				go reply()
			} else {
				reply()
			}
		}
	}()
	t.Cleanup(func() { inW.Close(); <-done })
	fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":%q,"version":%q}}}`+"\n", e.info.Name,
		e.info.Version)
	fmt.Fprintln(inW, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}`)
	return <-got.got
}

const (
	unknownMethod = `!{"code":-32601,"message":"no such method"}`
	notFound      = `!{"code":-32002,"message":"not in this project"}`
	refused       = `!{"code":-32603,"message":"disk full"}`
)

func setup(t *testing.T, answer func(method string, params json.RawMessage) string, read, write bool) (*FS, string) {
	t.Helper()
	dir := t.TempDir()
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, &editor{answer: answer})
	return &FS{Client: client, Session: "s1", Roots: roots, Disk: files.Disk{Roots: roots}, Read: read, Write: write}, roots.Cwd()
}

func always(answer string) func(string, json.RawMessage) string {
	return func(string, json.RawMessage) string { return answer }
}

func TestReadFile(t *testing.T) {
	for name, tt := range map[string]struct {
		read   bool
		answer string
		file   string
		want   string
		err    string
	}{
		"the buffer":                {true, `{"content":"unsaved"}`, "a", "unsaved", ""},
		"cannot read":               {false, refused, "a", "on disk", ""},
		"knows no such method":      {true, unknownMethod, "a", "on disk", ""},
		"does not have the file":    {true, notFound, "a", "on disk", ""},
		"refuses":                   {true, refused, "a", "", "disk full"},
		"malformed answer":          {true, `{"content":5}`, "a", "", "malformed"},
		"no content":                {true, `{}`, "a", "", "no content"},
		"empty for a missing file":  {true, `{"content":""}`, "gone", "", fs.ErrNotExist.Error()},
		"empty for an empty buffer": {true, `{"content":""}`, "a", "", ""},
		"a buffer without a file":   {true, `{"content":"new"}`, "gone", "new", ""},
		"refuses a missing file":    {true, refused, "gone", "", fs.ErrNotExist.Error()},
		"malformed, missing file":   {true, `{}`, "gone", "", fs.ErrNotExist.Error()},
		"not found, missing file":   {true, notFound, "gone", "", fs.ErrNotExist.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := setup(t, always(tt.answer), tt.read, true)
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("on disk"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := f.ReadFile(t.Context(), filepath.Join(dir, tt.file))
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestWriteFile(t *testing.T) {
	for name, tt := range map[string]struct {
		read, write bool
		answer      map[string]string
		disk        string // the file's content afterwards
		err         string
	}{
		"through the editor":      {true, true, map[string]string{"fs/write_text_file": `null`}, "on disk", ""},
		"answers with a message":  {true, true, map[string]string{"fs/write_text_file": `"no such directory"`}, "on disk", "no such directory"},
		"answers with a list":     {true, true, map[string]string{"fs/write_text_file": `[]`}, "on disk", ""},
		"knows no such method":    {true, true, map[string]string{"fs/write_text_file": unknownMethod}, "new", ""},
		"not its file":            {true, true, map[string]string{"fs/write_text_file": notFound}, "new", ""},
		"refuses":                 {true, true, map[string]string{"fs/write_text_file": refused}, "on disk", "disk full"},
		"reads only, saved":       {true, false, map[string]string{"fs/read_text_file": `{"content":"on disk"}`}, "new", ""},
		"reads only, other ends":  {true, false, map[string]string{"fs/read_text_file": `{"content":"on disk\n"}`}, "new", ""},
		"reads only, unsaved":     {true, false, map[string]string{"fs/read_text_file": `{"content":"typed"}`}, "on disk", "unsaved changes"},
		"reads only, not its own": {true, false, map[string]string{"fs/read_text_file": notFound}, "new", ""},
		"writes only":             {false, true, map[string]string{"fs/write_text_file": `{}`}, "on disk", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := setup(t, func(m string, _ json.RawMessage) string { return tt.answer[m] }, tt.read, tt.write)
			path := filepath.Join(dir, "a")
			if err := os.WriteFile(path, []byte("on disk"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := f.WriteFile(t.Context(), path, "new")
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Error(err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.disk {
				t.Errorf("the disk holds %q, want %q", got, tt.disk)
			}
		})
	}
	f, dir := setup(t, always(`{}`), true, true)
	if err := f.WriteFile(t.Context(), filepath.Join(dir, "new", "sub", "a"), "x"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new", "sub")); err != nil {
		t.Error("the parents of a new file are missing:", err)
	}
}

// A request that the editor never answers fails, and the failure names the file.
func TestSilentEditor(t *testing.T) {
	f, dir := setup(t, always(""), true, true)
	f.Timeout = time.Millisecond
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("on disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "the editor did not answer within 1ms when it was asked to "
	if text, err := f.ReadFile(t.Context(), path); err == nil || err.Error() != want+"read a" {
		t.Errorf("%q, %v", text, err)
	}
	if err := f.WriteFile(t.Context(), path, "new"); err == nil || err.Error() != want+"write a" {
		t.Error(err)
	}
}

// A client that cannot write and does not notice a write on the disk keeps
// showing its old text. Once it shows another text, that one counts.
func TestBufferBehindTheDisk(t *testing.T) {
	buffer := "v1"
	f, dir := setup(t, func(string, json.RawMessage) string { return fmt.Sprintf(`{"content":%q}`, buffer) }, true, false)
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("v1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"v2", "v3"} {
		if err := f.WriteFile(t.Context(), path, text); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ReadFile(t.Context(), path); got != text || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	buffer = "typed"
	if got, err := f.ReadFile(t.Context(), path); got != "typed" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// local records that a command ran here.
type local struct{ lines []string }

func (l *local) Run(_ context.Context, c shell.Command) (shell.Output, error) {
	l.lines = append(l.lines, c.Line)
	zero := 0
	return shell.Output{Text: "here", ExitCode: &zero}, nil
}

func (l *local) Background(_ context.Context, c shell.Command) (shell.Job, error) {
	l.lines = append(l.lines, c.Line)
	return nil, errors.New("here")
}

// A command with the secrets of a skill runs on this machine: the client would see them.
func TestTerminalGetsNoSecrets(t *testing.T) {
	e, here := &editor{answer: always(`{"terminalId":"t1"}`)}, &local{}
	term := &Terminal{Client: connect(t, e), Local: here}
	if out, err := term.Run(t.Context(),
		shell.Command{Line: "x", Dir: "/w", Secrets: []string{"TOKEN=x"}}); err != nil || out.Text != "here" || len(e.methods()) > 0 {
		t.Errorf("%+v, %v, calls %q", out, err, e.methods())
	}
}

// In zeph-acp run there is no editor that could refuse something.
func TestRefusalNamesTheClient(t *testing.T) {
	for client, want := range map[string]string{"zed": "the editor", "zeph-acp-run": "zeph-acp"} {
		c := connect(t, &editor{info: acp.Implementation{Name: client}, answer: always(refused)})
		_, err := (&Terminal{Client: c}).Run(t.Context(), shell.Command{Line: "x", Dir: "/w"})
		if wantErr := want + " did not start the command: disk full"; err == nil || err.Error() != wantErr {
			t.Errorf("Run: %v, want %s", err, wantErr)
		}
		err = (&FS{Client: c}).refusal(&acp.ClientError{Code: -32603, Message: "disk full"}, "write", "/w/a")
		if wantErr := want + " refused to write /w/a: disk full"; err.Error() != wantErr {
			t.Errorf("refusal: %v, want %s", err, wantErr)
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Setenv("MY_API_KEY", "secret")
	const created, done = `{"terminalId":"t1"}`, `{"exitCode":3,"signal":null}`
	for name, tt := range map[string]struct {
		answers map[string]string
		want    shell.Output
		local   bool
		err     string
		calls   string
	}{
		"exit code": {map[string]string{"terminal/create": created, "terminal/wait_for_exit": done, "terminal/output": `{"output":"hi\n","truncated":true}`},
			shell.Output{Text: headCut + "hi\n", Stdout: headCut + "hi\n", Truncated: true, Terminal: "t1", ExitCode: new(3)}, false, "",
			"terminal/create terminal/wait_for_exit terminal/output"},
		"signal": {map[string]string{"terminal/create": created, "terminal/wait_for_exit": `{"exitCode":null,"signal":"SIGKILL"}`,
			"terminal/output": `{"output":"","truncated":false}`},
			shell.Output{Terminal: "t1", Signal: "SIGKILL"}, false, "", "terminal/create terminal/wait_for_exit terminal/output"},
		"the output knows how it ended": {map[string]string{"terminal/create": created, "terminal/wait_for_exit": refused,
			"terminal/output": `{"output":"x","truncated":false,"exitStatus":{"exitCode":0}}`},
			shell.Output{Text: "x", Stdout: "x", Terminal: "t1", ExitCode: new(0)}, false, "", "terminal/create terminal/wait_for_exit terminal/output"},
		"unknown exit status": {map[string]string{"terminal/create": created, "terminal/wait_for_exit": refused,
			"terminal/output": `{"output":"x","truncated":false}`},
			shell.Output{Text: "x", Stdout: "x", Terminal: "t1"}, false, "did not report", "terminal/create terminal/wait_for_exit terminal/output"},
		"cannot wait": {map[string]string{"terminal/create": created, "terminal/wait_for_exit": unknownMethod,
			"terminal/output": `{"output":"","truncated":false}`, "terminal/output, later": `{"output":"x","truncated":false,"exitStatus":{"exitCode":2.0}}`},
			shell.Output{Text: "x", Stdout: "x", Terminal: "t1", ExitCode: new(2)}, false, "",
			"terminal/create terminal/wait_for_exit terminal/output terminal/output terminal/output"},
		"no terminals after all": {map[string]string{"terminal/create": unknownMethod}, shell.Output{Text: "here", ExitCode: new(0)}, true, "", "terminal/create"},
		"refuses":                {map[string]string{"terminal/create": refused}, shell.Output{}, false, "disk full", "terminal/create"},
		"no id":                  {map[string]string{"terminal/create": `{}`}, shell.Output{}, false, "did not start", "terminal/create"},
	} {
		t.Run(name, func(t *testing.T) {
			var params json.RawMessage
			e := &editor{answer: func(m string, p json.RawMessage) string {
				if m == "terminal/create" {
					params = p
				}
				answer := tt.answers[m]
				if later := tt.answers[m+", later"]; later != "" {
					tt.answers[m] = later
				}
				return answer
			}}
			here := &local{}
			term := &Terminal{Client: connect(t, e), Local: here, Extra: []string{"A=b=c"}}
			var shown []string
			var exit *executors.Exit
			out, err := term.Run(t.Context(), shell.Command{Line: "-x", Dir: "/w", Limit: 9, Session: "s1", Notify: func(ev executors.Event) {
				if ev.Terminal != "" {
					shown = append(shown, ev.Terminal)
				}
				exit = ev.Exit
			}})
			out.Release = nil
			got, want := fmt.Sprintf("%+v", plain(out)), fmt.Sprintf("%+v", plain(tt.want))
			if got != want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %s, %v\nwant %s", got, err, want)
			}
			if calls := strings.Join(e.methods(), " "); calls != tt.calls || (len(here.lines) > 0) != tt.local {
				t.Errorf("calls %s, local %q", calls, here.lines)
			}
			if tt.want.Terminal != "" && !slices.Equal(shown, []string{"t1"}) {
				t.Errorf("shown %q", shown)
			}
			if known := tt.want.Terminal != "" && (tt.want.ExitCode != nil || tt.want.Signal != ""); known != (exit != nil) ||
				known && (exit.Signal != tt.want.Signal || !reflect.DeepEqual(exit.Code, tt.want.ExitCode)) {
				t.Errorf("the exit was told as %+v", exit)
			}
			for _, want := range []string{`"args":["-c"," -x"]`, `"cwd":"/w"`, `"outputByteLimit":9`, `{"name":"MY_API_KEY","value":""}`, `{"name":"A","value":"b=c"}`} {
				if !strings.Contains(string(params), want) {
					t.Errorf("%s lacks %s", params, want)
				}
			}
		})
	}
}

// A terminal that keeps the beginning of a long output is asked for all of it.
func TestTerminalThatDropsTheEnd(t *testing.T) {
	var limit string
	e := &editor{info: acp.Implementation{Name: "zed", Version: "1.20.3"}, answer: func(m string, p json.RawMessage) string {
		if m == "terminal/create" {
			_, limit, _ = strings.Cut(string(p), `"outputByteLimit":`)
		}
		return map[string]string{
			"terminal/create": `{"terminalId":"t1"}`, "terminal/wait_for_exit": `{"exitCode":1}`, "terminal/output": `{"output":"first","truncated":true}`,
		}[m]
	}}
	out, err := (&Terminal{Client: connect(t, e)}).Run(t.Context(), shell.Command{Line: "x", Dir: "/w", Limit: 9, Session: "s1"})
	if err != nil || out.Text != "first"+endCut || !out.Truncated || limit != "8388608}" {
		t.Errorf("%+v, %v, limit %q", out, err, limit)
	}
}

// plain makes outputs comparable in print.
func plain(o shell.Output) any {
	code := "none"
	if o.ExitCode != nil {
		code = fmt.Sprint(*o.ExitCode)
	}
	o.ExitCode = nil
	return []any{o, code}
}

// A command that exceeds its time is killed, and its output is kept. If the
// turn is cancelled, Run returns at once, and Release ends the command.
func TestTerminalStops(t *testing.T) {
	waits := func(m string, _ json.RawMessage) string {
		return map[string]string{"terminal/create": `{"terminalId":"t1"}`, "terminal/kill": `{}`, "terminal/output": `{"output":"so far","truncated":false}`}[m]
	}
	e := &editor{answer: waits}
	term := &Terminal{Client: connect(t, e)}
	// run ends the command with a cause once it is waited for.
	run := func(cause error) (shell.Output, error) {
		ctx, end := context.WithCancelCause(t.Context())
		go func() {
			for m := range e.seen {
				if m == "terminal/wait_for_exit" {
					end(cause)
					return
				}
			}
		}()
		return term.Run(ctx, shell.Command{Line: "x", Dir: "/w", Session: "s1"})
	}
	out, err := run(context.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) || out.Text != "so far" || !slices.Contains(e.methods(), "terminal/kill") {
		t.Errorf("%+v, %v, %q", out, err, e.methods())
	}

	e = &editor{answer: waits}
	term = &Terminal{Client: connect(t, e)}
	stop := errors.New("the user stopped it")
	out, err = run(stop)
	if !errors.Is(err, stop) || out.Release == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	out.Release()
	for m := range e.seen {
		if m == "terminal/release" {
			break
		}
	}
}

// A terminal that the client creates after the turn was cancelled is released.
func TestLateTerminal(t *testing.T) {
	hold := make(chan struct{})
	e := &editor{answer: func(m string, _ json.RawMessage) string {
		if m == "terminal/create" {
			<-hold
			return `{"terminalId":"t1"}`
		}
		return `{}`
	}}
	term := &Terminal{Client: connect(t, e)}
	stop := errors.New("the user stopped it")
	ctx, end := context.WithCancelCause(t.Context())
	go func() { <-e.seen; end(stop) }()
	if _, err := term.Run(ctx, shell.Command{Line: "x", Dir: "/w", Session: "s1"}); !errors.Is(err, stop) {
		t.Error(err)
	}
	close(hold)
	if m := <-e.seen; m != "terminal/release" {
		t.Errorf("got %q, want %q", m, "terminal/release")
	}
}

// A client may answer "cancelled" just before it cancels the turn. That is a
// cancel, not a call without permission.
func TestCancelledAndThenCancel(t *testing.T) {
	stop := errors.New("the user stopped it")
	ctx, end := context.WithCancelCause(t.Context())
	a := &Approver{Session: "s1", Client: connect(t, &editor{answer: func(string, json.RawMessage) string {
		time.AfterFunc(cancelDelay/200, func() { end(stop) })
		return `{"outcome":{"outcome":"cancelled"}}`
	}})}
	if _, err := a.Approve(ctx, &executors.Call{ID: "c1", Tool: "bash"}, nil); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestApprove(t *testing.T) {
	for answer, want := range map[string]string{
		`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`: "allow_once",
		`{"outcome":{"outcome":"cancelled"}}`:                        "",
		`{"outcome":{"outcome":"odd","optionId":"allow_once"}}`:      "",
		`{"outcome":"selected"}`:                                     "",
		`{}`:                                                         "",
		unknownMethod:                                                "",
		`!{"code":-32800,"message":"cancelled"}`:                     "",
	} {
		var asked string
		record := &executors.Record{}
		record.Add(executors.Verdict{Gate: executors.GuardGate, Decision: executors.Ask, Reason: "it is Monday"})
		a := &Approver{Session: "s1", Client: connect(t, &editor{answer: func(_ string, p json.RawMessage) string { asked = string(p); return answer }})}
		call := &executors.Call{ID: "c1", Tool: "bash", Input: json.RawMessage(`{"command":"make"}`), Record: record,
			Card: executors.Card{Title: "`make`", Kind: executors.KindExecute, Script: command.Parse("make", command.Shell{})}}
		got, err := a.Approve(t.Context(), call, []permission.Option{{ID: "allow_once", Kind: "allow_once", Name: "Allow once"}})
		if dismissed := strings.Contains(answer, `"cancelled"}}`); got != want || (err == nil) != (want != "" || dismissed) {
			t.Errorf("%s: %q, %v", answer, got, err)
		}
		for _, part := range []string{`"toolCallId":"c1"`, `"kind":"execute"`, `"rawInput":{"command":"make"}`, "it is Monday"} {
			if !strings.Contains(asked, part) {
				t.Errorf("%s lacks %s", asked, part)
			}
		}
	}
}

// The content of a question has the facts that its title and command do not
// have.
func TestQuestion(t *testing.T) {
	const why, unasked = "Why: it is Monday.", "To be asked less: wait."
	record := &executors.Record{}
	record.Add(executors.Verdict{Gate: executors.PermissionGate, Decision: executors.Ask, Rule: "it is Monday", Change: "wait"})
	for name, tt := range map[string]struct {
		input, command string
		want           []string
	}{
		"one line":    {`{"command":"make"}`, "make", []string{why, unasked}},
		"description": {`{"command":"make","description":" Build it "}`, "make", []string{why, "The agent says: Build it", unasked}},
		"other type":  {`{"command":"make","description":7}`, "make", []string{why, unasked}},
		"script":      {`{"command":"a\nb\n"}`, "a\nb\n", []string{why, "```sh\na\nb\n```", unasked}},
	} {
		q := question(&executors.Call{Input: json.RawMessage(tt.input), Record: record, Card: executors.Card{Script: command.Parse(tt.command, command.Shell{})}})
		var got []string
		for _, c := range q.Content {
			got = append(got, *c.Content.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestTooLongToAsk(t *testing.T) {
	e := &editor{answer: always(`{"outcome":{"outcome":"selected","optionId":"allow_once"}}`)}
	a := &Approver{Session: "s1", Client: connect(t, e)}
	call := &executors.Call{ID: "c1", Tool: "bash", Card: executors.Card{Script: command.Parse("true "+strings.Repeat("x", 1<<20), command.Shell{})}}
	if got, err := a.Approve(t.Context(), call, nil); err == nil || len(e.methods()) > 0 {
		t.Errorf("%q, %v, and the client was called: %q", got, err, e.methods())
	}
}
