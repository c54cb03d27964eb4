package shell_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// The middleware of the sandbox recognises its own failures by this.
var _ sandbox.Outcome = shell.Envelope{}

// reader is a runner whose read-only commands run in the box of a session in dir.
func reader(t testing.TB, dir string) shell.Local {
	t.Helper()
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox.NewBox(sandbox.Session{Roots: roots, Home: os.Getenv("HOME")})
	if box == nil {
		t.Skip("no box here")
	}
	if err := box.Ready(); err != nil {
		t.Fatal(err)
	}
	return shell.Local{Confine: box.Confined}
}

// A read-only command changes nothing, whatever it does, and leaves nothing.
func TestReadOnlyChangesNothing(t *testing.T) {
	temp := t.TempDir()
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
			l := reader(t, dir)
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
	dir := t.TempDir()
	l := reader(t, dir)
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
	repo := t.TempDir()
	l := reader(t, repo)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.20\n", "main.go": "package main\n\nfunc main() {}\n", "package.json": `{"name":"x","version":"1.0.0"}`,
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n",
		"src/main.rs": "fn main() {}\n",
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
		"git worktree list", "git tag", "git remote -v", "git rev-parse HEAD", "git cat-file -p HEAD", "git reflog", "git grep main", "git config --list",
		"git submodule status", "git help -a", "go vet .", "go doc -short fmt", "go env", "go list -deps .", "go list -m all", "go mod graph", "go mod why -m x",
		"rustc --version", "rustup show active-toolchain", "cargo --version", "cargo tree --offline", "pip list", "pip --version",
		"python3 -m json.tool package.json",
		"npm --version", "node -p 1+1", "pyenv versions", "uname -a", "free", "uptime", "whoami", "locale", "locale -a", "nproc", "lscpu", "lsblk",
		"tar --version", "tar cf - main.go | tar tf -", "gzip -c main.go | zcat", "xz --version", "awk 1 main.go", "sed -n 1p main.go", "tac main.go", "seq 3 | tac",
		"sort main.go", "diff main.go go.mod; true", "cmp main.go main.go", "sha256sum main.go", "base64 main.go", "xxd main.go", "od -c main.go", "nl main.go",
		"env", "printenv PATH", "cat /etc/os-release", "getent passwd root", "hostname", "dpkg -l bash", "dpkg -S /bin/ls", "apt list --installed",
		"apt-cache policy bash",
		"openssl version", "ssh -V", "curl --version", "make --version", "gcc --version", "gcc -v", "cmake --version", "perl -v", "sqlite3 --version", "strace -V",
		"nm /bin/ls; true", "readelf -h /bin/ls", "ldd /bin/ls", "which -a git", "type git", "file /bin/ls", "psql --version", "java -version", "ps aux",
		"top -bn1", "pgrep -l bash; true",
		"ls -l /usr/bin/env", "ls /usr/lib", "ls /etc", "cat /proc/meminfo", "cat /proc/self/status", "mount", "findmnt", "vmstat", "date +%Z",
		"TZ=Europe/Berlin date",
		"bash --version", "factor 12", "bc --version", "tput -T xterm cols", "infocmp xterm", "jq . package.json", "git diff --stat", "git log -p",
		"git log --format=%an", "bat --version", "fd main",
		"npm ls", "node --version", "cargo tree", "cargo metadata --no-deps --format-version 1", "python3 --version", "ps", "df .", "du -sh .", "date", "id",
		"stat main.go", "file main.go",
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
			run := func(readOnly bool) (shell.Output, bool) {
				out, err := l.Run(t.Context(), shell.Command{Line: line, Dir: repo, ReadOnly: readOnly})
				return out, err == nil && out.ExitCode != nil && *out.ExitCode == 0
			}
			if !slices.Contains([]string{"git", "go", "ls", "cargo", "rg", "find", "grep"}, program) {
				if out, works := run(true); !works {
					if plain, works := run(false); works {
						t.Errorf("in the box: %+v\nas ever: %+v", out, plain)
					}
				}
				return
			}
			plain, works := run(false) // first, since cargo then writes Cargo.lock
			if !works {
				t.Skipf("does not run here: %+v", plain)
			}
			out, works := run(true)
			if !works {
				t.Fatalf("Run: %+v", out)
			}
			varies := []string{"go env", "git config"} // they show the variables of a read-only command
			if !slices.ContainsFunc(varies, func(start string) bool { return strings.HasPrefix(cmd, start) }) && out.Text != plain.Text {
				t.Errorf("read-only:\n%s\nas ever:\n%s", out.Text, plain.Text)
			}
		})
	}
}

func BenchmarkReadOnly(b *testing.B) {
	l := reader(b, b.TempDir())
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
