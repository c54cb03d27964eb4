package shell_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// The middleware of the sandbox recognises its own failures by this.
var _ sandbox.Outcome = shell.Envelope{}

// reader is a runner whose read-only commands the kernel restricts.
func reader(t testing.TB) shell.Local {
	t.Helper()
	restrict := sandbox.ReadOnly()
	if restrict == nil {
		t.Skip("no Landlock here")
	}
	return shell.Local{Confine: func() (func(string) error, error) { return restrict, nil }}
}

// A read-only command changes nothing, whatever it does, and leaves nothing.
func TestReadOnlyChangesNothing(t *testing.T) {
	l, temp := reader(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	t.Setenv("PORT", port)
	t.Setenv("SOCKET", socket.Addr().String())
	for _, script := range []string{
		"echo x > new", "echo x >> old", ": > old", "rm old", "mv old new", "ln old new", "ln -s old new", "mkdir new", "mkfifo new",
		"touch old", "chmod 600 old", "chown 1:1 old", "truncate -s 0 old", "echo x > /dev/shm/zeph-acp-test",
		"echo x > fifo", "echo x > /dev/tty", "cp old /var/tmp/zeph-acp-test", "setfattr -n user.x -v y old",
		"exec 3<>/dev/tcp/127.0.0.1/$PORT", "exec 3<>/dev/udp/127.0.0.1/$PORT",
		`python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(os.environ["SOCKET"])'`,
		"kill -0 $PPID", "cat /proc/$PPID/environ", "readlink /proc/$PPID/fd/1", "echo x > /proc/$PPID/fd/1", "echo x > /proc/self/oom_score_adj",
	} {
		t.Run(script, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, "old")
			if err := os.WriteFile(old, []byte("old\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := exec.Command("mkfifo", filepath.Join(dir, "fifo")).Run(); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Stat(old)
			out, err := l.Run(t.Context(), shell.Command{Line: script, Dir: dir, ReadOnly: true})
			if err != nil || out.ExitCode == nil || *out.ExitCode == 0 || !out.ReadOnly {
				t.Errorf("Run: %+v, %v; want a failure of a read-only command", out, err)
			}
			after, err := os.Stat(old)
			if err != nil || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() || after.Size() != before.Size() {
				t.Errorf("the file changed: %v, %v", after, err)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 2 {
				t.Errorf("the directory changed: %v", entries)
			}
			if left, _ := filepath.Glob(filepath.Join(temp, "zeph-acp-*")); len(left) > 0 {
				t.Errorf("left in the temporary directory: %v", left)
			}
		})
	}
}

// Read-only commands work as usual, with their own temporary files. Programs
// that they start in the background are restricted too.
func TestReadOnlyReads(t *testing.T) {
	l := reader(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("b\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"sort a; echo x >/dev/null":                "a\nb\n",
		`cat a | while read x; do echo "$x"; done`: "b\na\n",
		`echo t > "$TMPDIR/f" && cat "$TMPDIR/f"`:  "t\n",
		"echo out; echo err >&2":                   "out\nerr\n",
		"cd / && pwd":                              "/\n",
		"cat <(sort a)":                            "a\nb\n",
		"cat <<<here":                              "here\n",
		"echo x >/dev/stderr":                      "x\n",
		"echo $-":                                  "hpBc\n",
		"cd sub 2>/dev/null || echo no":            "no\n",
	} {
		t.Run(script, func(t *testing.T) {
			t.Setenv("CDPATH", "/usr")
			out, err := l.Run(t.Context(), shell.Command{Line: script, Dir: dir, ReadOnly: true})
			if err != nil || out.ExitCode == nil || *out.ExitCode != 0 || out.Text != want {
				t.Errorf("Run(%q): %q, %v, %v; want %q", script, out.Text, out.ExitCode, err, want)
			}
		})
	}
	job, err := l.Background(t.Context(), shell.Command{Line: "echo x > new; echo $?", Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	<-job.Done()
	if out, err := job.ReadOutput(t.Context()); err != nil || !strings.HasSuffix(out.Text, "1\n") || !out.ReadOnly {
		t.Errorf("in the background: %+v, %v", out, err)
	}
}

// Programs that cache their input work without their caches.
func TestReadOnlyTools(t *testing.T) {
	l := reader(t)
	repo := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.20\n", "main.go": "package main\n\nfunc main() {}\n", "package.json": `{"name":"x","version":"1.0.0"}`,
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n", "src/main.rs": "fn main() {}\n",
	} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	if err := os.WriteFile(filepath.Join(repo, "main.go"), []byte("package main\n\nfunc main() { println() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []string{
		"git status", "git status --short", "git diff", "git diff HEAD", "git log --oneline", "git show", "git blame HEAD -- main.go", "git stash list",
		"git branch -a", "git ls-files | xargs wc -l", "git describe --always --dirty", "git shortlog HEAD",
		"go version", "go env GOROOT", "go list ./...", "go list -m", "go list -json .", "go doc fmt.Println", "gofmt -l .",
		"rg --sort path -n main", "find . -name '*.go' | sort", "grep -rn main --include=*.go .", "ls -la", "tree -L 2", "jq .name package.json",
		"npm ls", "node --version", "cargo tree", "cargo metadata --no-deps --format-version 1", "python3 --version", "ps", "df .", "du -sh .", "date", "id", "stat main.go", "file main.go",
	} {
		program, _, _ := strings.Cut(cmd, " ")
		t.Run(cmd, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(err)
			}
			line := cmd
			if program == "go" { // as its plain form begins: the index that list writes may be missing
				line = "GODEBUG=goindex=0 " + cmd
			}
			plain, err := l.Run(t.Context(), shell.Command{Line: line, Dir: repo})
			if err != nil || plain.ExitCode == nil || *plain.ExitCode != 0 {
				t.Skipf("does not run here: %+v, %v", plain, err)
			}
			out, err := l.Run(t.Context(), shell.Command{Line: line, Dir: repo, ReadOnly: true})
			if err != nil || out.ExitCode == nil || *out.ExitCode != 0 {
				t.Fatalf("Run: %+v, %v", out, err)
			}
			if program != "ps" && program != "df" && program != "date" && out.Text != plain.Text {
				t.Errorf("read-only:\n%s\nas ever:\n%s", out.Text, plain.Text)
			}
		})
	}
}

func BenchmarkReadOnly(b *testing.B) {
	l := reader(b)
	for _, readOnly := range []bool{false, true} {
		b.Run(fmt.Sprint(readOnly), func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Run(b.Context(), shell.Command{Line: ":", Dir: "/", ReadOnly: readOnly}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
