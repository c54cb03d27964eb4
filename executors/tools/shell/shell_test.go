package shell

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// answer is a Runner that returns a fixed output.
type answer struct {
	out Output
	err error
	got *Command
}

func (a answer) Run(_ context.Context, c Command) (Output, error) {
	if a.got != nil {
		*a.got = c
	}
	return a.out, a.err
}

func (a answer) Background(context.Context, Command) (Job, error) { return nil, a.err }

func bashCall(command string) *executors.Call {
	in, _ := json.Marshal(map[string]string{"command": command})
	return &executors.Call{Tool: Tool, Input: in, Session: "s1"}
}

func TestResult(t *testing.T) {
	for name, tt := range map[string]struct {
		out  Output
		err  error
		want executors.Result
	}{
		"output": {
			out:  Output{Text: "hi\n", Stdout: "hi\n", ExitCode: new(0)},
			want: executors.Result{Text: "hi\n", Raw: Envelope{Stdout: "hi\n", ExitCode: new(0)}},
		},
		"no output": {
			out:  Output{ExitCode: new(0)},
			want: executors.Result{Text: "(no output)", Raw: Envelope{ExitCode: new(0)}},
		},
		"exit code": {
			out:  Output{Text: "bad", Stderr: "bad", ExitCode: new(3)},
			want: executors.Result{Text: "bad", Notes: []string{"[exit 3]"}, Failed: true, Raw: Envelope{Stderr: "bad", ExitCode: new(3)}},
		},
		"exit code without output": {
			out:  Output{ExitCode: new(1)},
			want: executors.Result{Notes: []string{"[exit 1]"}, Failed: true, Raw: Envelope{ExitCode: new(1)}},
		},
		"words of an error are not an error": {
			out: Output{Text: "grep: No such file or directory\npermission denied\n", ExitCode: new(0)},
			want: executors.Result{
				Text: "grep: No such file or directory\npermission denied\n", Raw: Envelope{ExitCode: new(0)},
			},
		},
		"signal": {
			out:  Output{Text: "a\n", Signal: "SIGSEGV"},
			want: executors.Result{Text: "a\n", Notes: []string{"[killed by SIGSEGV]"}, Failed: true, Raw: Envelope{}},
		},
		"exit code and signal": {
			out:  Output{Text: "a\n", ExitCode: new(1), Signal: "Killed"},
			want: executors.Result{Text: "a\n", Notes: []string{"[exit 1; signal: Killed]"}, Failed: true, Raw: Envelope{ExitCode: new(1)}},
		},
		"nobody knows": {
			out:  Output{Text: "a\n"},
			want: executors.Result{Text: "a\n", Notes: []string{"[ended; exit code unknown]"}, Failed: true, Raw: Envelope{}},
		},
		"terminal": {
			out: Output{Text: "x", Stdout: "x", ExitCode: new(0), Terminal: "t1"},
			want: executors.Result{
				Text: "x", Raw: Envelope{Stdout: "x", ExitCode: new(0)},
				Content: []executors.Content{{Terminal: "t1"}},
			},
		},
		"start failure of a category": {
			err: executors.Failuref(executors.NetworkError, "gone").Hint("Wait."),
			want: executors.Result{
				Failed: true, Raw: Envelope{},
				Failure: executors.Failuref(executors.NetworkError, "gone").Hint("Wait."),
			},
		},
		"start failure": {
			err: errors.New("boom"),
			want: executors.Result{
				Failed: true, Raw: Envelope{},
				Failure: executors.Failuref(executors.PermanentFailure, "run the command: boom").Outside().Result().Failure,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(answer{out: tt.out, err: tt.err}, "/", setting.Default[Config]())
			got, err := e.Execute(t.Context(), bashCall("x"))
			if (got.Output != nil) != (tt.out.Text != "") {
				t.Errorf("output is %+v, of %q", got.Output, tt.out.Text)
			}
			got.Output = nil
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestClassifiedExitCodesKeepTheOutput(t *testing.T) {
	for code, want := range map[int]executors.Category{126: executors.PolicyBlocked, 127: executors.PermanentFailure} {
		e := New(answer{out: Output{Text: "so far\n", ExitCode: new(code)}}, "/", setting.Default[Config]())
		got, err := e.Execute(t.Context(), bashCall("x"))
		if err != nil || got.Category() != want || !got.Failed {
			t.Errorf("%d: %+v, %v", code, got, err)
		}
		if !strings.HasPrefix(got.ForModel(), "[tool_error]\ncategory: "+string(want)) || !strings.HasSuffix(got.ForModel(), "\nso far\n") {
			t.Errorf("%d: text %q", code, got.ForModel())
		}
		if raw := got.Raw.(Envelope); *raw.ExitCode != code {
			t.Errorf("got the raw output %+v, want code %d", raw, code)
		}
	}
}

func TestEnvelopeNames(t *testing.T) {
	got, err := json.Marshal(Envelope{Stdout: "a", Stderr: "b"})
	if want := `{"stdout":"a","stderr":"b","exit_code":null,"truncated":false}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("0123456789\n", 10_000)
	for name, out := range map[string]Output{
		"lines":         {Text: long, Stdout: long, ExitCode: new(1)},
		"one line":      {Text: strings.Repeat("é", 90_000), ExitCode: new(0)},
		"both streams":  {Text: long + long, Stdout: long, Stderr: long, ExitCode: new(0)},
		"cut before":    {Text: long, Stdout: long, ExitCode: new(127), Truncated: true},
		"by a hair":     {Text: strings.Repeat("x", 50_001), ExitCode: new(0)},
		"exit line":     {Text: strings.Repeat("x", 50_000), ExitCode: new(1)},
		"short, missed": {Text: "x", ExitCode: new(0), Truncated: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := New(answer{out: out}, "/", setting.Default[Config]()).Execute(t.Context(), bashCall("x"))
			got.Bound(50_000)
			raw := got.Raw.(Envelope)
			if n := utf8.RuneCountInString(got.ForModel()); err != nil || n > 50_000 || !utf8.ValidString(got.ForModel()) {
				t.Errorf("%d runes, %v", n, err)
			}
			if n := utf8.RuneCountInString(raw.Stdout + raw.Stderr); n > 50_000 || !raw.Truncated {
				t.Errorf("raw: %d runes, truncated %t", n, raw.Truncated)
			}
			if cut := strings.Contains(got.ForModel(), " characters cut …]"); cut != (len(out.Text) > 50) {
				t.Errorf("says that it was cut: %t", cut)
			}
			if (got.Full != nil) != (len(out.Text) > 50) {
				t.Errorf("full %v", got.Full)
			} else if got.Full != nil {
				full := got.Full.Window(0, got.Full.Size())
				if got.Full.Close(); full != out.Text {
					t.Errorf("full has %d bytes, want %d", len(full), len(out.Text))
				}
			}
			if out.ExitCode != nil && *out.ExitCode == 1 && !strings.HasSuffix(got.ForModel(), "\n[exit 1]") {
				t.Errorf("ends with %q", got.ForModel()[len(got.ForModel())-20:])
			}
		})
	}
}

func TestInput(t *testing.T) {
	e := New(answer{}, "/", setting.Default[Config]())
	for in, want := range map[string]executors.Category{
		`{}`:                    executors.InvalidParameters,
		`{"command":" \n"}`:     executors.InvalidParameters,
		`{"command":"a\u0000"}`: executors.InvalidParameters,
		`{"command":["ls"]}`:    executors.TypeMismatch,
		`[]`:                    executors.TypeMismatch,
		`{`:                     executors.InvalidParameters,
	} {
		call := &executors.Call{Tool: Tool, Input: json.RawMessage(in)}
		got, err := e.Execute(t.Context(), call)
		if err != nil || got.Category() != want {
			t.Errorf("Execute(%s) = %+v, %v, want %s", in, got, err, want)
		}
		if _, err := e.Prepare(t.Context(), call); err == nil || executors.FailWith(err).ForModel() != got.ForModel() {
			t.Errorf("Prepare(%s): %v, Execute says %s", in, err, got.ForModel())
		}
	}
}

func TestCard(t *testing.T) {
	e := New(answer{}, "/w", setting.Default[Config]())
	for script, title := range map[string]string{
		"go test ./...":              "go test ./...",
		"cd a\r\n\tls\n":             "cd a ⏎  ls",
		"echo ok\rrm -rf x":          "echo ok<U+000D>rm -rf x",
		"echo \x1b[8m; rm\u202egpj.": "echo <U+001B>[8m; rm<U+202E>gpj.",
		strings.Repeat("é", 5000):    strings.Repeat("é", 5000),
	} {
		got, err := e.Prepare(t.Context(), bashCall(script))
		want := executors.Card{Title: "`" + title + "`", Kind: executors.KindExecute, Script: command.Parse(script, command.Shell{Dir: "/w"})}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Prepare(%q): %v, (-want +got)\n%s", script, err, diff)
		}
	}
}

func TestCommandForTheRunner(t *testing.T) {
	var got Command
	e := New(answer{got: &got}, "/", Config{Timeout: 7, MaxOutputBytes: 5000})
	if _, err := e.Execute(t.Context(), bashCall("ls")); err != nil {
		t.Fatal(err)
	}
	if got.Line != "ls" || got.Dir != "/" || got.Limit != 5000 || got.Session != "s1" || e.Timeout != 7*time.Second {
		t.Errorf("got %+v, timeout %s", got, e.Timeout)
	}
	for input, ran := range map[string]bool{`{"command":"a"}`: true, `{"command":"a","background":true}`: false} {
		got = Command{}
		c := bashCall("")
		c.Input, c.Env = json.RawMessage(input), []string{"TOKEN=x"}
		if _, err := e.Prepare(t.Context(), c); (err == nil) != ran {
			t.Errorf("%s with a secret: %v", input, err)
		}
		if res, err := e.Execute(t.Context(), c); err != nil || (len(got.Secrets) == 1) != ran || (res.Category() == executors.PolicyBlocked) == ran {
			t.Errorf("%s with a secret: got %+v, %s, %v", input, got, res.ForModel(), err)
		}
	}
	c := bashCall("echo $TOKEN | rev")
	c.Env, c.Plain = []string{"TOKEN=x"}, &executors.Plain{Script: "echo $TOKEN | rev", ReadOnly: true}
	if _, err := e.Execute(t.Context(), c); err != nil || got.Secrets != nil || !got.ReadOnly {
		t.Errorf("a command that runs unasked: got %+v, %v", got, err)
	}
}

// Also after a cancel the terminal stays until the final update was sent.
func TestDoneReleasesTheTerminal(t *testing.T) {
	stop := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	for want, ctx := range map[error]context.Context{nil: t.Context(), stop: ctx} {
		released := 0
		out := Output{Terminal: "t1", Release: func() { released++ }}
		got, err := New(answer{out: out, err: want}, "/", setting.Default[Config]()).Execute(ctx, bashCall("x"))
		if err != want || got.Done == nil || released != 0 {
			t.Fatalf("got %+v, %v, released %d times", got, err, released)
		}
		if got.Done(); released != 1 {
			t.Error("Done does not release")
		}
	}
}

func TestTools(t *testing.T) {
	tools, size := New(nil, "/", setting.Default[Config]()).Tools(), 0
	required := map[string][]string{Tool: {"command"}, toolOutput: {"id"}, toolStop: {"id"}}
	for _, tool := range tools {
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
		var schema struct{ Required []string }
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || !cmp.Equal(schema.Required, required[tool.Name]) {
			t.Errorf("schema %s: %v", tool.Schema, err)
		}
		if tool.Effect.ReadOnly() || tool.Effect.Has(executors.Idempotent) || tool.Effect.InternalOnly() != (tool.Name != Tool) {
			t.Errorf("%s has effect %b", tool.Name, tool.Effect)
		}
	}
	if len(tools) != 3 || size > 1400 { // of the 6 KiB of all tools
		t.Errorf("got %d tools of %d bytes, want 3 of 1400 at most", len(tools), size)
	}
}

func TestPlain(t *testing.T) {
	for name, tt := range map[string]struct {
		plain *executors.Plain
		want  Command
	}{
		"as written": {nil, Command{Line: "ls *.go"}},
		"plain":      {&executors.Plain{Script: "ls './'*.go", ReadOnly: true}, Command{Line: "exec 0</dev/null; ls './'*.go", ReadOnly: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Command
			e := New(answer{got: &got}, t.TempDir(), setting.Default[Config]())
			e.Root, _ = filepath.EvalSymlinks(e.Root)
			call := bashCall("ls *.go")
			call.Plain = tt.plain
			card, err := e.Prepare(t.Context(), call)
			if err != nil || card.Command() != "ls *.go" || card.FullAccess {
				t.Errorf("Prepare: %+v, %v", card, err)
			}
			if _, err := e.Execute(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			if got.Line != tt.want.Line || got.ReadOnly != tt.want.ReadOnly {
				t.Errorf("ran %q, read-only %t; want %q, %t", got.Line, got.ReadOnly, tt.want.Line, tt.want.ReadOnly)
			}
		})
	}
}

// A command that needed more than reading is asked about when it is called again.
func TestLimited(t *testing.T) {
	for name, tt := range map[string]struct {
		out  Output
		want bool
	}{
		"a write":         {Output{Text: "touch: cannot touch 'a': Permission denied\n", ExitCode: new(1)}, true},
		"a full disk":     {Output{Text: "touch: cannot touch 'a': Read-only file system\n", ExitCode: new(1)}, false},
		"the network":     {Output{Text: "dial tcp: lookup proxy: socket: Operation not permitted\n", ExitCode: new(1)}, true},
		"another failure": {Output{Text: "no such file\n", ExitCode: new(1)}, false},
		"a download":      {Output{Text: "go: a@v1: module lookup disabled by GOPROXY=off\n", ExitCode: new(1)}, true},
		"no failure":      {Output{Text: "grep found: Permission denied\n", ExitCode: new(0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.out.ReadOnly = true
			e := New(answer{out: tt.out}, t.TempDir(), setting.Default[Config]())
			e.Root, _ = filepath.EvalSymlinks(e.Root)
			call := bashCall("go list ./...")
			call.Plain = &executors.Plain{Script: "go list ./...", ReadOnly: true}
			res, err := e.Execute(t.Context(), call)
			if err != nil || strings.Contains(res.ForModel(), "[read-only:") != tt.want {
				t.Errorf("Execute: %q, %v; want a note: %t", res.ForModel(), err, tt.want)
			}
			again, err := e.Prepare(t.Context(), bashCall("go list ./..."))
			if err != nil || again.FullAccess != tt.want {
				t.Errorf("Prepare again: full access %t, %v; want %t", again.FullAccess, err, tt.want)
			}
			other, err := e.Prepare(t.Context(), bashCall("go list"))
			if err != nil || other.FullAccess {
				t.Errorf("Prepare of another command: full access %t, %v", other.FullAccess, err)
			}
		})
	}
}
