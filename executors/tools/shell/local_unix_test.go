//go:build unix

package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

const helperVar = "SHELL_TEST_SCRIPT"

// TestMain lets the test binary play the agent that is killed.
func TestMain(m *testing.M) {
	if script := os.Getenv(helperVar); script != "" {
		Local{}.Run(context.Background(), Command{Line: script, Dir: "/"})
		return
	}
	os.Exit(machine.Tests{M: m}.Run())
}

func TestLocal(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600)
	for name, tt := range map[string]struct {
		script string
		want   Output
	}{
		"stdout":         {"echo hi", Output{Text: "hi\n", Stdout: "hi\n", ExitCode: new(0)}},
		"stderr":         {"echo hi >&2", Output{Text: "hi\n", Stderr: "hi\n", ExitCode: new(0)}},
		"both":           {"echo a; echo b >&2", Output{Text: "a\nb\n", Stdout: "a\n", Stderr: "b\n", ExitCode: new(0)}},
		"other way":      {"echo a >&2; echo b", Output{Text: "a\nb\n", Stdout: "b\n", Stderr: "a\n", ExitCode: new(0)}},
		"exit code":      {"exit 42", Output{ExitCode: new(42)}},
		"signal":         {"kill -SEGV $$", Output{Signal: "SIGSEGV"}},
		"stdin is empty": {"cat; read x || echo none", Output{Text: "none\n", Stdout: "none\n", ExitCode: new(0)}},
		"no terminal":    {"(: < /dev/tty) 2> /dev/null || echo none", Output{Text: "none\n", Stdout: "none\n", ExitCode: new(0)}},
		"directory":      {"pwd", Output{Text: dir + "\n", Stdout: dir + "\n", ExitCode: new(0)}},
		"not UTF-8":      {`printf 'a\377\376b\303'`, Output{Text: "a\uFFFDb\uFFFD", Stdout: "a\uFFFDb\uFFFD", ExitCode: new(0)}},
		"like an option": {"-x 2> /dev/null; true", Output{ExitCode: new(0)}},
		"not found":      {"no-such-program 2> /dev/null", Output{ExitCode: new(127)}},
		"not executable": {"./plain 2> /dev/null", Output{ExitCode: new(126)}},
		"quotes":         {"cat <<'E'\n$HOME \"x\" 'y'\nE", Output{Text: "$HOME \"x\" 'y'\n", Stdout: "$HOME \"x\" 'y'\n", ExitCode: new(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Local{}.Run(t.Context(), Command{Line: tt.script, Dir: dir})
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestLocalDoesNotStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	for name, tt := range map[string]struct {
		cmd  Command
		want executors.Category
		says string
	}{
		"no directory": {Command{Line: "true", Dir: "/no/such"}, executors.PermanentFailure, "/no/such"},
		"a file":       {Command{Line: "true", Dir: file}, executors.PermanentFailure, file},
		"too long":     {Command{Line: strings.Repeat("x", 4<<20), Dir: "/"}, executors.InvalidParameters, "4,194,304"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Local{}.Run(t.Context(), tt.cmd)
			f, ok := errors.AsType[*executors.Failure](err)
			if !ok || f.Category != tt.want || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("no shell", func(t *testing.T) {
		t.Setenv("PATH", "/no/such")
		_, err := Local{}.Run(t.Context(), Command{Line: "true", Dir: "/"})
		if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category != executors.PermanentFailure {
			t.Errorf("got %v", err)
		}
	})
}

func TestLocalEnvironment(t *testing.T) {
	for name, value := range map[string]string{"MY_TOKEN": "1", "ZEPH_HOME": "2", "CORP_X": "3", "HARMLESS": "4", "PAGER": "less"} {
		t.Setenv(name, value)
	}
	l := Local{Block: []string{"corp_"}, Extra: []string{"EXTRA=5"}}
	got, err := l.Run(t.Context(), Command{Line: `echo "$MY_TOKEN$ZEPH_HOME$CORP_X$HARMLESS$EXTRA $PAGER $TERM $PWD"`, Dir: "/"})
	if want := "45 cat dumb /\n"; err != nil || got.Text != want {
		t.Errorf("got %q, %v, want %q", got.Text, err, want)
	}
	// The secrets of a skill are set for its commands alone.
	for _, c := range []Command{{Secrets: []string{"MY_TOKEN=of the skill"}}, {}} {
		c.Line, c.Dir = `echo "$MY_TOKEN"`, "/"
		want := "\n"
		if len(c.Secrets) > 0 {
			want = "of the skill\n"
		}
		if got, err := l.Run(t.Context(), c); err != nil || got.Text != want {
			t.Errorf("%+v: got %q, %v, want %q", c, got.Text, err, want)
		}
	}
}

func TestLocalWrap(t *testing.T) {
	l := Local{Extra: []string{"A=1"}, Wrap: func(p process.Program) (process.Program, error) {
		if p.Dir == "/no" {
			return p, executors.Failuref(executors.PolicyBlocked, "not there")
		}
		p.Args = append([]string{"A=2", p.Path}, p.Args...)
		p.Path = "env"
		return p, nil
	}}
	got, err := l.Run(t.Context(), Command{Line: "echo $A", Dir: "/"})
	if err != nil || got.Text != "2\n" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = l.Run(t.Context(), Command{Line: "true", Dir: "/no"})
	if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category != executors.PolicyBlocked {
		t.Errorf("got %v", err)
	}
}

func TestHugeOutputStaysFlat(t *testing.T) {
	e := New(Local{}, "/", setting.Default[Config]())
	call := bashCall("echo first; head -c 115343360 /dev/zero | tr '\\0' x; echo; echo last; exit 3") // 10 MiB more than are kept
	heard := 0
	call.Notify = func(e executors.Event) { heard += len(e.Output) }
	call.Record = &executors.Record{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := e.Execute(t.Context(), call)
	got.Bound(50_000)
	runtime.ReadMemStats(&after)
	if err != nil || got.Full == nil {
		t.Fatalf("%v, full %v", err, got.Full)
	}
	defer got.Full.Close()
	if !strings.HasPrefix(got.ForModel(), "first\nxxx") || !strings.HasSuffix(got.ForModel(), "x\nlast\n[exit 3]\n"+lostNote) || !strings.Contains(got.ForModel(),
		" […]\n[… more than 2 lines, 104,") {
		t.Errorf("text %.20q … %q", got.ForModel(), got.ForModel()[len(got.ForModel())-20:])
	}
	size, missing := got.Full.Size(), int64(115343360+len("first\n\nlast\n")-100<<20)
	const kept = 1 << 20 // bytes of the end, and of the live output
	tail := got.Full.Window(size-kept-100, kept+100)
	if size < 100<<20 || size > 100<<20+100 || !strings.HasSuffix(tail, "x\nlast\n") || !strings.Contains(tail,
		"x\n[… "+quantity.Grouped(missing)+" bytes cut …]\nx") {
		t.Errorf("full has %d bytes, %.150q", size, tail)
	}
	if heard > kept+100 || len(got.Raw.(Envelope).Stdout) > 50_000 {
		t.Errorf("got %d live bytes, want %d at most", heard, kept+100)
	}
	if rec := call.Record; !rec.Truncated || *rec.ExitCode != 3 || rec.OutputBytes < 110<<20 {
		t.Errorf("recorded %+v, want it truncated, code 3 and the size of the whole output", rec)
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 32<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

func TestNotify(t *testing.T) {
	var text strings.Builder
	var exits []executors.Exit
	events := 0
	out, err := Local{}.Run(t.Context(), Command{
		Line: `for i in $(seq 500); do printf 'é'; done; echo e >&2; exit 3`, Dir: "/",
		Notify: func(e executors.Event) {
			events++
			if e.Exit != nil {
				exits = append(exits, *e.Exit)
				return
			}
			if len(exits) > 0 || !utf8.Valid(e.Output) {
				t.Errorf("after the exit, or not whole runes: %q", e.Output)
			}
			text.Write(e.Output)
		},
	})
	if err != nil || text.String() != out.Text || len(exits) != 1 || *exits[0].Code != 3 {
		t.Errorf("%v, live %q, text %q, exits %v", err, text.String(), out.Text, exits)
	}
	if events > 250 {
		t.Errorf("%d events: one for each write", events)
	}
}

// late runs commands that time out only after they wrote something, however busy
// the machine is.
type late struct{ Local }

func (l late) Run(ctx context.Context, c Command) (Output, error) {
	wrote := make(chan struct{})
	tell := sync.OnceFunc(func() { close(wrote) })
	c.Notify = func(executors.Event) { tell() }
	patient, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		<-wrote
		<-ctx.Done()
		cancel(context.Cause(ctx))
	}()
	return l.Local.Run(patient, c)
}

func TestTimeoutKeepsTheOutput(t *testing.T) {
	cfg := setting.Default[Config]()
	cfg.OnTimeout = killLate
	e := New(late{}, "/", cfg)
	e.Timeout = time.Millisecond
	got, err := e.Execute(t.Context(), bashCall("echo a; sleep 99; echo b"))
	if err != nil || got.Category() != executors.Timeout || !strings.Contains(got.ForModel(), "stopped after 1ms") || !strings.HasSuffix(got.ForModel(), "\na\n") {
		t.Errorf("got %+v, %v", got, err)
	}
	if raw := got.Raw.(Envelope); raw.Stdout != "a\n" || raw.ExitCode != nil {
		t.Errorf("got the raw output %+v, want a line and no exit code", raw)
	}
}

// fifo creates a named pipe, which ends when no process has it open.
func fifo(t *testing.T) (path string, open func() *os.File) {
	path = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, func() *os.File {
		f, err := os.Open(path) // waits for a writer
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
}

func waitFor(t *testing.T, f *os.File, want string) {
	t.Helper()
	buf := make([]byte, len(want))
	if _, err := io.ReadFull(f, buf); err != nil || string(buf) != want {
		t.Fatalf("read %q, %v", buf, err)
	}
}

func waitEnd(t *testing.T, f *os.File) {
	t.Helper()
	if rest, err := io.ReadAll(f); err != nil {
		t.Fatalf("read %q, %v", rest, err)
	}
}

func TestCancelEndsTheWholeTree(t *testing.T) {
	trees := map[string]string{
		"one":          `echo ok >&3; sleep 999`,
		"tree":         `(sleep 999 | (sleep 998 & echo ok >&3; sleep 997)); :`,
		"deaf":         `trap '' TERM HUP INT; (trap '' TERM; echo ok >&3; while :; do sleep 1; done) & while :; do sleep 1; done`,
		"stopped":      `kill -STOP $BASHPID & bash -c 'echo ok >&3; kill -STOP $$; :'; sleep 999`,
		"nohup":        `nohup bash -c 'echo ok >&3; sleep 999; :' & wait`,
		"busy forking": `trap '' TERM; echo ok >&3; while :; do (trap '' TERM; sleep 0.1 & ); done`,
	}
	if runtime.GOOS == "linux" {
		trees["own group"] = `timeout 999 bash -c "trap '' TERM; echo ok >&3; while :; do sleep 1; done"; :`
		trees["job control"] = `set -m; (echo ok >&3; sleep 999; :) & wait; :`
	}
	for name, script := range trees {
		t.Run(name, func(t *testing.T) {
			path, open := fifo(t)
			stop := errors.New("stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				_, err := New(Local{}, "/", setting.Default[Config]()).Execute(ctx, bashCall("exec 3> "+path+"; "+script))
				if err != stop {
					t.Errorf("got %v", err)
				}
			})
			f := open()
			waitFor(t, f, "ok\n")
			cancel(stop)
			waitEnd(t, f)
		})
	}
}

func TestBackgroundJobsEndWithTheScript(t *testing.T) {
	jobs := map[string]string{
		"holds the output": `sleep 999 &`,
		"deaf":             `(trap '' TERM; echo ok >&4; while :; do sleep 1; done) & read x <&4`,
		"nohup":            `nohup sleep 999 > /dev/null 2>&1 &`,
	}
	if runtime.GOOS == "linux" {
		jobs["own group"] = `timeout 999 sleep 999 > /dev/null 2>&1 &`
	}
	for name, job := range jobs {
		t.Run(name, func(t *testing.T) {
			path, open := fifo(t)
			sync := filepath.Join(t.TempDir(), "sync")
			syscall.Mkfifo(sync, 0o600)
			ended := make(chan *os.File)
			go func() {
				f := open()
				ended <- f
			}()
			got, err := Local{}.Run(t.Context(), Command{Line: "exec 3> " + path + " 4<> " + sync + "\n" + job + "\necho done", Dir: "/"})
			if err != nil || got.Stdout != "done\n" || *got.ExitCode != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
			waitEnd(t, <-ended)
		})
	}
}

func TestDaemonIsLeftAndDoesNotHang(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid(1)")
	}
	path, open := fifo(t)
	stop := filepath.Join(t.TempDir(), "stop")
	syscall.Mkfifo(stop, 0o600)
	ended := make(chan *os.File)
	go func() { ended <- open() }()
	up := filepath.Join(t.TempDir(), "up")
	syscall.Mkfifo(up, 0o600)
	script := "setsid bash -c 'exec 3> " + path + "; echo > " + up + "; read x < " + stop + "; echo alive >&3' & read x < " + up + "; echo done"
	got, err := Local{}.Run(t.Context(), Command{Line: script, Dir: "/"})
	if err != nil || got.Text != "done\n" {
		t.Errorf("got %+v, %v", got, err)
	}
	f := <-ended
	w, err := os.OpenFile(stop, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	waitFor(t, f, "alive\n")
}

func TestNoCommandOutlivesAKilledAgent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends children with their parent (Pdeathsig)")
	}
	path, open := fifo(t)
	agent := exec.Command(os.Args[0])
	agent.Env = append(os.Environ(), helperVar+"=exec 3> "+path+"; echo ok >&3; exec sleep 999")
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	f := open()
	waitFor(t, f, "ok\n")
	agent.Process.Kill()
	agent.Wait()
	waitEnd(t, f)
}

func TestNoFileIsLeftOpen(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(names)
	}
	run := func() {
		for _, c := range []Command{{Line: "echo a; echo b >&2", Dir: "/"}, {Line: "true", Dir: "/no/such"}} {
			Local{}.Run(t.Context(), c)
		}
	}
	run() // the runtime opens its own at the first time
	before := count()
	for range 20 {
		run()
	}
	if after := count(); after > before {
		t.Errorf("%d open files, before %d", after, before)
	}
}

func BenchmarkTrue(b *testing.B) {
	b.Run("local", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Local{}.Run(b.Context(), Command{Line: "true", Dir: "/"})
		}
	})
	b.Run("os/exec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			exec.Command("bash", "-c", "true").Output()
		}
	})
}

func Benchmark10MiB(b *testing.B) {
	const script = "head -c 10485760 /dev/zero"
	b.Run("local", func(b *testing.B) {
		b.SetBytes(10 << 20)
		b.ReportAllocs()
		for b.Loop() {
			Local{}.Run(b.Context(), Command{Line: script, Dir: "/"})
		}
	})
	b.Run("os/exec", func(b *testing.B) {
		b.SetBytes(10 << 20)
		b.ReportAllocs()
		for b.Loop() {
			exec.Command("bash", "-c", script).Output()
		}
	})
}

// The memory that the process took from the system is the peak.
func Benchmark100MiB(b *testing.B) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := New(Local{}, "/", setting.Default[Config]())
	b.SetBytes(100 << 20)
	b.ReportAllocs()
	for b.Loop() {
		got, err := e.Execute(b.Context(), bashCall("head -c 104857600 /dev/zero"))
		got.Bound(50_000)
		if err != nil || got.Full.Size() != 100<<20 {
			b.Fatalf("%v", err)
		}
		got.Full.Close()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Sys-before.Sys)/(1<<20), "MiB-grown")
}
