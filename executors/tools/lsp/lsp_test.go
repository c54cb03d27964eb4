package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/integration/fakelsp"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain lets the test binary be a language server.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakelsp.Argument {
		fakelsp.Serve(os.Args[2:])
		return
	}
	os.Exit(machine.Tests{M: m}.Run())
}

// world is a session with file tools and a fake server for files "*.fake".
type world struct {
	t     *testing.T
	dir   string
	s     *Session
	tools executors.Executor

	mu     sync.Mutex
	asked  []string
	warned []string
	calls  []*executors.Call // of the check
}

func newWorld(t *testing.T, habit string, change func(o *Options)) *world {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	note := func(list *[]string) func(string) {
		return func(text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			*list = append(*list, text)
		}
	}
	o := Options{
		Config: Config{Enabled: true, WaitMS: 10000, MaxLines: 20},
		Entries: Entries{{Name: "fake", Command: "fake", Args: []string{fakelsp.Argument, habit, filepath.Join(dir, "methods")}, Extensions: []string{".fake"},
			Enabled: true}},
		Session: "s", Roots: roots, Read: files.Disk{Roots: roots}.ReadFile,
		Desk: &approval.Desk{Ask: func(_ context.Context, q approval.Question) approval.Answer {
			note(&w.asked)(q.Title)
			return approval.Once
		}},
		Find: func(name string) (string, error) {
			if name == "fake" {
				return self, nil
			}
			return "", fs.ErrNotExist
		},
		Hash:     func(string) (string, error) { return "", errors.New("no file") },
		Env:      os.Environ,
		Timeouts: client.Timeouts{Start: time.Minute, Load: time.Minute, Silent: time.Minute, Quiet: 5 * time.Millisecond},
		Mask:     func(text string) string { return strings.ReplaceAll(text, "hunter2hunter2", "***") },
		Warn:     note(&w.warned), Log: slog.New(slog.DiscardHandler), NewID: func() string { return "id" },
	}
	if change != nil {
		change(&o)
	}
	w.s = New(o)
	t.Cleanup(w.s.Close)
	if w.s != nil {
		w.s.Check = executors.Chain(w.s.Tools(), w.noting)
	}
	w.tools = executors.Chain(files.New(files.Disk{Roots: roots}, roots, setting.Default[files.Config](), nil), w.s.Around, w.s.Within)
	return w
}

// noting keeps the calls that pass.
func (w *world) noting(next executors.Executor) executors.Executor { return noting{next, w} }

type noting struct {
	executors.Executor
	w *world
}

func (n noting) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	n.w.mu.Lock()
	n.w.calls = append(n.w.calls, call)
	n.w.mu.Unlock()
	return n.Executor.Execute(ctx, call)
}

// call makes a call and returns the notes below its result.
func (w *world) call(tool string, input map[string]any) string {
	w.t.Helper()
	return strings.Join(w.result(w.t.Context(), tool, input).Notes, "\n")
}

func (w *world) result(ctx context.Context, tool string, input map[string]any) executors.Result {
	w.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		w.t.Fatal(err)
	}
	call := &executors.Call{ID: "c", Tool: tool, Input: raw, Session: "s", Caller: "s/sub", Record: &executors.Record{}, Notify: func(executors.Event) {}}
	if call.Card, call.PrepareErr = w.tools.Prepare(ctx, call); call.PrepareErr != nil {
		w.t.Fatal(call.PrepareErr)
	}
	res, err := w.tools.Execute(ctx, call)
	if err != nil || res.Failed {
		w.t.Fatalf("%s: %v %s", tool, err, res.ForModel())
	}
	return res
}

func (w *world) write(name, text string) string {
	w.t.Helper()
	return w.call("write", map[string]any{"path": name, "content": text})
}

func (w *world) put(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// methods returns the notifications that the server received.
func (w *world) methods() string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "methods"))
	return string(text)
}

func TestEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", nil)
	w.put("a.fake", "error: old\nx\n")
	w.put("b.fake", "")
	for _, step := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"edit", map[string]any{"path": "a.fake", "old_string": "x", "new_string": "warning: w\nerror: e\nbreaks b.fake: gone"},
			"[new diagnostics of fake: 2 errors, 1 warning]\na.fake:3:1: error: e [E1]\na.fake:2:1: warning: w [E1]\nb.fake:1:1: error: gone [E1]"},
		{"edit", map[string]any{"path": "a.fake", "old_string": "error: e\n", "new_string": ""}, ""},
		{"write", map[string]any{"path": "new.fake", "content": "error: one\nerror: two\n"},
			"[new diagnostics of fake: 2 errors]\nnew.fake:1:1: error: one [E1]\nnew.fake:2:1: error: two [E1]"},
		{"write", map[string]any{"path": "other.txt", "content": "error: one\n"}, ""},
		{"move_path", map[string]any{"source": "new.fake", "destination": "moved.fake"}, ""},
		{"delete_path", map[string]any{"path": "moved.fake"}, ""},
		{"create_directory", map[string]any{"path": "d.fake"}, ""},
	} {
		if diff := cmp.Diff(step.want, w.call(step.tool, step.input)); diff != "" {
			t.Errorf("%s %s: (-want +got)\n%s", step.tool, step.input, diff)
		}
	}
	if diff := cmp.Diff([]string{"Run the language server fake in this project?"}, w.asked); diff != "" {
		t.Error(diff)
	}
	check := w.calls[0]
	if check.Tool != "diagnostics" || check.Phase != executors.PhaseVerifier || check.Origin != executors.Agent || check.Caller != "s/sub" ||
		check.Record.ClaimSource != "diagnostics" {
		t.Errorf("the check is %+v", check)
	}
	if diff := cmp.Diff([]string{filepath.Join(w.dir, "a.fake")}, check.Card.Paths); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Language servers: fake runs"}, w.s.Status()); diff != "" {
		t.Error(diff)
	}
	for deadline := time.Now().Add(30 * time.Second); strings.Count(w.methods(), "workspace/didChangeWatchedFiles") < 4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(w.methods())
		}
	}
	w.s.Close()
	if got := w.methods(); strings.Count(got, "textDocument/didOpen") != 2 {
		t.Errorf("got the methods %s, want textDocument/didOpen twice", got)
	}
}

// The lines of one edit are limited.
func TestManyLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", func(o *Options) { o.MaxLines = 6 })
	w.put("b", "")
	got := strings.Split(w.write("a.fake", strings.Repeat("warning: w\n", 30)+"error: e\n"+strings.Repeat("breaks b: x\n", 30)), "\n")
	want := []string{"[new diagnostics of fake: 2 errors, 30 warnings]", "a.fake:31:1: error: e [E1]", "a.fake:1:1: warning: w [E1]",
		"a.fake:2:1: warning: w [E1]",
		"a.fake:3:1: warning: w [E1]", "[28 more left out]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Files that are no source are not sent to a server.
func TestNoSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", nil)
	for name, text := range map[string]string{"long": strings.Repeat("x", maxText) + "\nerror: x\n", "nul": "error: x\x00\n"} {
		if got := w.write(name+".fake", text); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A change by someone else is not the edit's.
func TestForeignChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", nil)
	w.write("a.fake", "x\n")
	w.put("a.fake", "error: foreign\ny\n")
	if got := w.call("edit", map[string]any{"path": "a.fake", "old_string": "y", "new_string": "error: own"}); !strings.Contains(got,
		"own") || strings.Contains(got, "foreign") {
		t.Errorf("got %v, want %q in it and no %q in it", got, "own", "foreign")
	}
}

// Commands can change files of the project, and open documents.
func TestCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", nil)
	w.s.initOnce.Do(w.s.initialize)
	w.s.entries[0].needsWatch = true
	command := executors.Chain(executors.Registry{executors.Bind(executors.Tool{Name: "run", Effect: executors.Mutates},
		func(context.Context, *executors.Call, *struct{}) (executors.Card, error) {
			return executors.Card{Script: command.Parse("make", command.Shell{})}, nil
		},
		func(context.Context, *executors.Call, *struct{}) (executors.Result, error) {
			w.put("made.fake", "")
			w.put("a.fake", "error: by a command\n")
			return executors.Result{}, os.Remove(filepath.Join(w.dir, "b.fake"))
		})}, w.s.Around, w.s.Within)
	w.write("a.fake", "x\n")
	w.write("b.fake", "x\n")
	call := &executors.Call{Tool: "run", Input: json.RawMessage("{}"), Record: &executors.Record{}, Notify: func(executors.Event) {}}
	call.Card, _ = command.Prepare(t.Context(), call)
	if res, err := command.Execute(t.Context(), call); err != nil || res.Failed {
		t.Fatalf("command.Execute(t.Context(), call): got %v, %v, want success", err, res.Failure)
	}
	if got := w.write("c.fake", "error: own\n"); strings.Contains(got, "by a command") || !strings.Contains(got, "own") {
		t.Errorf("got %v, want no %q in it and %q in it", got, "by a command", "own")
	}
	w.s.Close()
	text, _ := os.ReadFile(filepath.Join(w.dir, "methods"))
	for name, kind := range map[string]int{"a.fake": client.Changed, "made.fake": client.Created, "b.fake": client.Deleted} {
		if want := fmt.Sprintf(`{"uri":%q,"type":%d}`, pathname.URI(filepath.Join(w.dir, name)), kind); !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// A server that is not used for a while ends, and starts again without a question.
func TestIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", func(o *Options) { o.Idle = 200 * time.Millisecond })
	for range maxStarts + 2 {
		if got := w.write("a.fake", "error: x\n"); !strings.Contains(got, "error: x") {
			t.Errorf("got %v, want %q in it", got, "error: x")
		}
		if running := w.s.all()[0].client(); running != nil {
			<-running.Ended()
		}
		w.put("a.fake", "y\n")
	}
	if len(w.asked) != 1 || len(w.warned) > 0 {
		t.Errorf("asked %q, warned %q, want one question and no warning", w.asked, w.warned)
	}
}

// Files outside of the roots, and text with control characters, do not reach the model.
func TestHostileText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "push", nil)
	got := w.write("a.fake", "error: a\x1b[31mb\u202ec "+strings.Repeat("long ", 1000)+"\nbreaks ../../../etc/passwd: leak\n")
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "leak") || len(got) > 1000 {
		t.Errorf("got %q, want a short text without control characters and files outside", got)
	}
}

// Whatever a server does, the edit is done.
func TestServersThatFail(t *testing.T) {
	t.Parallel()
	for habit, want := range map[string]string{
		"exits":    "The language server fake is not used in this session: it ended: no license.",
		"dies":     "",
		"nonsense": "The language server fake is not used in this session: it sent a line that is not of the protocol.",
		"hangs":    "", "silent": "", "deaf": "", "flood": "The language server fake is not used in this session: it sent more than 32 MiB unasked.",
	} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, habit, func(o *Options) { o.WaitMS = 100 })
			for range 4 {
				w.put("a.fake", "y\n")
				if got := w.write("a.fake", "error: x\n"); got != "" {
					t.Errorf("got %q, want %q", got, "")
				}
				srv := w.s.all()[0]
				if strings.Contains(want, "ended") || strings.Contains(want, "sent") || habit == "dies" {
					<-srv.running.Ended()
				}
			}
			got := strings.Join(w.warned, "\n")
			if habit == "dies" {
				want = "The language server fake is not used in this session: it ended: panic: out of ideas, password=***."
			}
			if got != want {
				t.Errorf("warned %q, want %q", got, want)
			}
		})
	}
}

// A server starts only with the user's approval, which is asked for once.
func TestApproval(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ask        func(context.Context, approval.Question) approval.Answer
		warned, at string
	}{
		"refused": {func(context.Context, approval.Question) approval.Answer { return approval.No }, "", "is off: you did not allow it"},
		"no user": {nil, "The language server fake was not started, since no user could be asked whether it may run in this project; docs/code.md describes " +
			"the approval.",
			"is off: no user could be asked whether it may run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "push", func(o *Options) { o.Desk = &approval.Desk{Ask: tt.ask} })
			for range 2 {
				if got := w.write("a.fake", "error: x\n"); got != "" {
					t.Errorf("got %q, want %q", got, "")
				}
			}
			if got := strings.Join(w.warned, "\n"); got != tt.warned {
				t.Errorf("warned %q", got)
			}
			if got := w.s.Status(); len(got) != 1 || got[0] != "Language servers: fake "+tt.at || w.methods() != "" {
				t.Errorf("%q, %q", got, w.methods())
			}
		})
	}
}

// A program of the project is approved with its content.
func TestProgramOfTheProject(t *testing.T) {
	content := "one"
	w := newWorld(t, "push", func(o *Options) { o.Hash = func(string) (string, error) { return content, nil } })
	covers := func(program string) []string {
		return w.s.subject(&server{entry: Entry{Name: "x"}, program: program}).Covers
	}
	inside := filepath.Join(w.dir, "bin", "x")
	if got := covers(inside); !slices.Equal(got, []string{"one"}) {
		t.Errorf("covers(%s): got %q, want one", inside, got)
	}
	if content = "two"; !slices.Equal(covers(inside), []string{"two"}) || covers(filepath.Dir(w.dir)+"/x") != nil {
		t.Errorf("got %q inside and %q outside, want two and none", covers(inside), covers(filepath.Dir(w.dir)+"/x"))
	}
}

// Without a server, or with the servers off, a call is as it was.
func TestOff(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"off":           func(o *Options) { o.Enabled = false },
		"no finder":     func(o *Options) { o.Find = nil },
		"not installed": func(o *Options) { o.Find = func(string) (string, error) { return "", fs.ErrNotExist } },
		"relative":      func(o *Options) { o.Find = func(string) (string, error) { return "fake", nil } },
		"disabled":      func(o *Options) { o.Entries[0].Enabled = false },
		"no marker":     func(o *Options) { o.Entries[0].Markers = []string{"fake.toml"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "push", change)
			if got := w.write("a.fake", "error: x\n"); got != "" || len(w.asked)+len(w.warned)+len(w.calls)+len(w.s.Status()) > 0 {
				t.Errorf("%q, asked %q, warned %q", got, w.asked, w.warned)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	w := newWorld(t, "push", nil)
	for _, name := range []string{"one/go.mod", "one/two/go.mod", "one/two/three/x", "plain/x"} {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := Entry{Markers: []string{"go.mod"}}
	for file, want := range map[string]string{"one/two/three/a.go": "one/two", "one/a.go": "one", "plain/a.go": "", "a.go": ""} {
		got := w.s.projectFolder(e, filepath.Join(w.dir, file))
		if want != "" {
			want = filepath.Join(w.dir, want)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
	if got := w.s.projectFolder(Entry{}, filepath.Join(w.dir, "one/two/a")); got != w.dir {
		t.Errorf("without markers: %q", got)
	}
	w.put("go.mod", "")
	if got := w.s.projectFolder(e, filepath.Join(w.dir, "one/two/a.go")); got != w.dir {
		t.Errorf("with a marker in the root: %q", got)
	}
}

// A cancelled turn ends the wait, and the edit stays.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "silent", nil)
	ctx, cancel := context.WithCancel(t.Context())
	w.s.Check = executors.Chain(w.s.Tools(), func(next executors.Executor) executors.Executor { return cancelling{next, cancel} })
	if res := w.result(ctx, "write", map[string]any{"path": "a.fake", "content": "error: x\n"}); len(res.Notes) > 0 {
		t.Errorf("got %v, want none", res.Notes)
	}
}

// cancelling cancels the turn of each call.
type cancelling struct {
	executors.Executor
	cancel func()
}

func (c cancelling) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	c.cancel()
	return c.Executor.Execute(ctx, call)
}

// BenchmarkEdit measures an edit with the servers off, and with none for the file.
func BenchmarkEdit(b *testing.B) {
	for name, enabled := range map[string]bool{"off": false, "no-server": true} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			roots, err := workspace.New(dir)
			if err != nil {
				b.Fatal(err)
			}
			s := New(Options{Config: Config{Enabled: enabled, WaitMS: 2000, MaxLines: 20}, Roots: roots, Find: func(string) (string, error) {
				return "", fs.ErrNotExist
			}})
			tools := executors.Chain(files.New(files.Disk{Roots: roots}, roots, setting.Default[files.Config](), nil), s.Around, s.Within)
			input := json.RawMessage(`{"path":"a.go","content":"package a\n"}`)
			b.ReportAllocs()
			for b.Loop() {
				call := &executors.Call{Tool: "write", Input: input, Record: &executors.Record{}, Notify: func(executors.Event) {}}
				if call.Card, call.PrepareErr = tools.Prepare(b.Context(), call); call.PrepareErr != nil {
					b.Fatal(call.PrepareErr)
				}
				if res, err := tools.Execute(b.Context(), call); err != nil || res.Failed {
					b.Fatal(err, res.Failure)
				}
			}
		})
	}
}
