package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// boxed is a session in the project proj of a home directory with secrets, next to another
// project.
type boxed struct {
	home, proj string
	env        []string
	session    Session
}

// newBoxed makes a session. deny are the patterns of deny_read.
func newBoxed(t testing.TB, deny ...string) *boxed {
	t.Helper()
	if problem := boxMissing(); problem != "" {
		t.Skip("no box: ", problem)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &boxed{home: base + "/home", proj: base + "/home/proj"}
	for path, text := range map[string]string{
		b.home + "/.zeph/keys.toml": "SECRET", b.home + "/.ssh/id_ed25519": "SECRET", b.home + "/.netrc": "SECRET", b.home + "/notes": "SECRET",
		b.home + "/.aws/credentials": "SECRET", b.home + "/other/main.go": "SECRET", b.home + "/.config/app.conf": "SECRET",
		b.home + "/.gitconfig":           "[user]\n\tname = N\n[core]\n\texcludesFile = ~/.ignored\n[include]\n\tpath = extra\n",
		b.home + "/.ignored":             "*.ignored\n",
		b.home + "/extra":                "[user]\n\temail = e@x\n",
		b.home + "/bin/tool":             "#!/bin/sh\necho tool\n",
		b.home + "/bin/.npmrc":           "SECRET",
		b.home + "/bin/credentials":      "SECRET",
		b.home + "/.npmrc":               "//registry/:_authToken=SECRET\n",
		b.home + "/.config/pip/pip.conf": "SECRET", b.home + "/.pypirc": "SECRET", b.home + "/.curlrc": "SECRET", b.home + "/.inputrc": "SECRET",
		b.home + "/.jq": "SECRET", b.home + "/.vimrc": "SECRET", b.home + "/.bashrc": "SECRET", b.home + "/.config/go/env": "GOPROXY=https://u:SECRET@x\n",
		b.proj + "/a.txt": "a\n", b.proj + "/sub/b.txt": "b\n", b.proj + "/.env": "DENIED", b.proj + "/sub/c.pem": "DENIED",
		b.proj + "/run": "#!/bin/sh\necho SECRET\n",
	} {
		writeFile(t, path, text)
	}
	for _, path := range []string{b.proj + "/run", b.home + "/bin/tool", b.home + "/bin/credentials"} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": b.home + "/notes", "keys": b.home + "/.zeph", "root": "/proc/self/root" + b.home} {
		if err := os.Symlink(target, filepath.Join(b.proj, name)); err != nil {
			t.Fatal(err)
		}
	}
	own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: b.home + "/.zeph"}}}
	roots, err := workspace.New(b.proj)
	if err != nil {
		t.Fatal(err)
	}
	b.env = append(os.Environ(), "HOME="+b.home, "PROJ="+b.proj, "CARGO_HOME="+b.home+"/.cargo", "PATH="+b.home+"/bin:"+os.Getenv("PATH"),
		fmt.Sprint("AGENT=", os.Getpid()))
	b.session = Session{
		Roots: roots.Without(own), OwnFiles: own.Places, DenyPatterns: deny, Refuses: refuser(b.proj, b.home, deny), Home: b.home, State: base + "/state",
		Getenv: b.getenv,
	}
	return b
}

func (b *boxed) getenv(name string) (value string) {
	for _, v := range b.env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// run runs a script in the box as a command without a question runs.
func (b *boxed) run(t testing.TB, box *Box, script string) (text string, code int) {
	t.Helper()
	prog, err := box.Confined(process.Program{Path: "/bin/bash", Args: []string{"-p", "-c", script}, Dir: b.proj, Env: b.env,
		MaxTime: cmp.Or(b.session.Limit, time.Minute), Head: 1 << 16, Tail: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	exit, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = p.Output()
	return text, process.Status(exit)
}

// launch runs a script through the launcher, whose process has another environment.
func (b *boxed) launch(t testing.TB, box *Box, script string) (text string, code int) {
	t.Helper()
	path, args, err := box.Launcher([]string{"bash", "-p", "-c", script}, b.env)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = b.proj, []string{"HOME=/nowhere", "BASH_ENV=" + b.proj + "/run"}
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(b.session.State + "/*"); len(files) > 0 {
		t.Errorf("the launcher left %v", files)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// What a command in the box must not do fails, here and through the launcher.
func TestBoxHolds(t *testing.T) {
	b := newBoxed(t, ".env", "*.pem")
	t.Setenv("TMPDIR", t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	b.env = append(b.env, "PORT="+port)
	if err := exec.Command("mkfifo", b.proj+"/fifo").Run(); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("sleep", "100") // a process of the same user outside
	other.Env = []string{"KEY=SECRET"}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	b.env = append(b.env, fmt.Sprint("OTHER=", other.Process.Pid))
	box := NewBox(b.session)
	for _, script := range []string{
		"cat ~/.zeph/keys.toml", "cat ~/.ssh/id_ed25519", "cat ~/.netrc", "cat ~/notes", "cat ~/other/main.go", "cat ~/.config/app.conf",
		"cat ~/bin/.npmrc", "cat ~/bin/credentials", "ls ~", "ls ~/other", "ls /", "ls ~/.ssh", "ls /root/", "find ~ -name x*",
		"cat out", "cat keys/keys.toml", "cat root/notes", "cat /proc/self/root$HOME/notes", "cat /proc/self/cwd/../notes", "cat ../notes",
		"cat .env", "cat sub/c.pem", "cat /proc/self/cwd/.env", "cat <.env",
		"cat /etc/shadow", "cat /etc/gshadow", "cat /etc/sudoers", "ls /tmp", "ls /var/tmp", "ls /home /srv", "cat /dev/sda /dev/vda /dev/mem /dev/kmsg",
		"./run", "bash -c ./run", "exec ./run", `cp run "$TMPDIR/r" && "$TMPDIR/r"`, "~/bin/credentials",
		"echo x >new", "echo x >>a.txt", ": >a.txt", "rm a.txt", "mv a.txt b", "ln a.txt b", "ln -s a.txt b", "mkdir b", "mkfifo b", "touch a.txt",
		"chmod 600 a.txt", "truncate -s 0 a.txt", "echo x >/dev/shm/zeph-acp-test", "echo x >/var/tmp/zeph-acp-test", "echo x >~/new", "echo x >/dev/tty",
		`ln ~/notes "$TMPDIR/n" && cat "$TMPDIR/n"`, `ln -s ~/notes "$TMPDIR/n" && cat "$TMPDIR/n"`, `cp /proc/$OTHER/environ "$TMPDIR/e"`,
		"kill -0 $AGENT", "kill -0 $OTHER", "kill -9 $OTHER", "kill -9 -1; kill -0 $OTHER", "cat /proc/$OTHER/environ", "readlink /proc/$OTHER/fd/0",
		"cat /proc/$OTHER/fdinfo/0", "cat /proc/$OTHER/fd/0", "readlink /proc/$OTHER/cwd",
		"cat /proc/$OTHER/root/etc/passwd", "cat /proc/$OTHER/cwd/a.txt", "cat /proc/$OTHER/mem", "cat /proc/$OTHER/maps", "cat /proc/1/environ",
		"readlink /proc/$AGENT/fd/1",
		"echo x >/proc/$AGENT/fd/1", "echo x >/proc/self/oom_score_adj", "echo x >/proc/sys/kernel/hostname", "echo x >/sys/kernel/mm/ksm/run",
		"exec 3<>/dev/tcp/127.0.0.1/$PORT", "exec 3<>/dev/udp/127.0.0.1/$PORT",
		"renice -n 5 -p $OTHER", "prlimit --pid $OTHER --nofile=1", "taskset -p 1 $OTHER", "unshare -U true", "unshare -r true", "chroot / true",
		"mount -t tmpfs x /mnt", "ipcmk -M 10", "strace -p $OTHER", "strace true", "gdb -p $OTHER -batch -ex quit 2>&1 | grep -q 'process $OTHER'",
		"nsenter -t $OTHER -m true",
		"perl -e 'socket(S,1,1,0) or exit 1'", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'", "python3 -c 'import os; os.memfd_create(\"x\")'",
		"python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)'", "python3 -c 'import socket; socket.socket(socket.AF_VSOCK)'",
		"python3 -c 'import fcntl; fcntl.ioctl(1, 0x5412, b\"x\")'",
		"dd if=/dev/zero of=\"$TMPDIR/big\" bs=1M seek=1100 count=1",
	} {
		program, _, _ := strings.Cut(script, " ")
		if _, err := exec.LookPath(program); err != nil && !slices.Contains([]string{"./run", "exec", "~/bin/credentials", ":"}, program) {
			continue
		}
		for how, run := range map[string]func(testing.TB, *Box, string) (string, int){"here": b.run, "launcher": b.launch} {
			if text, code := run(t, box, "ulimit -f 1048576; "+script); code == 0 || strings.Contains(text, "SECRET") || strings.Contains(text, "DENIED") {
				t.Errorf("%s, %s: exit %d, %q; want a failure", how, script, code, text)
			}
		}
	}
	for _, path := range []string{b.proj + "/new", b.proj + "/b", b.home + "/new", "/dev/shm/zeph-acp-test", "/var/tmp/zeph-acp-test"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/zeph-acp-*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process ended: %v", err)
	}
}

// What daily commands need works, here and through the launcher.
func TestBoxAllows(t *testing.T) {
	b := newBoxed(t, ".env", "*.pem")
	box := NewBox(b.session)
	if err := exec.Command("git", "init", "-q", b.proj).Run(); err != nil {
		t.Skip(err)
	}
	for script, want := range map[string]string{
		"cat a.txt sub/b.txt":                    "a\nb\n",
		"ls -A sub":                              "b.txt\nc.pem\n",
		"tool":                                   "tool\n",
		"ls ~/bin":                               "credentials\ntool\n",
		`echo t >"$TMPDIR/f" && cat "$TMPDIR/f"`: "t\n",
		"head -1":                                "",
		"tty; true":                              "not a tty\n",
		"git config user.name; git config user.email":    "N\ne@x\n",
		"git check-ignore x.ignored":                     "x.ignored\n",
		"cat <<<here; cat <(echo x)":                     "here\nx\n",
		"kill -0 $$ && echo ok":                          "ok\n",
		"sleep 9 & kill $!; wait $! 2>/dev/null; echo x": "x\n",
		"timeout 5 echo x":                               "x\n",
		"ls -ld / | awk '{print $3}'":                    "root\n",
		"echo $HOME":                                     b.home + "\n",
		"! command -v npm >/dev/null || npm --version >/dev/null && echo ok":                         "ok\n",
		"! command -v pip >/dev/null || pip --version >/dev/null && echo ok":                         "ok\n",
		"! command -v jq >/dev/null || jq -n 1 >/dev/null && echo ok":                                "ok\n",
		"! command -v go >/dev/null || go version >/dev/null && go env GOROOT >/dev/null && echo ok": "ok\n",
		"cat /proc/$$/comm; true": "bash\n",
	} {
		for how, run := range map[string]func(testing.TB, *Box, string) (string, int){"here": b.run, "launcher": b.launch} {
			if text, code := run(t, box, script); code != 0 || text != want {
				t.Errorf("%s, %s: exit %d, %q; want %q", how, script, code, text, want)
			}
		}
	}
}

// Directories that the user lets commands read are read, without secrets and without running their
// programs, even if they contain the session's directory and its home.
func TestBoxAllowedPaths(t *testing.T) {
	b := newBoxed(t, ".env", "*.pem")
	lib := filepath.Dir(b.home) + "/lib"
	for path, text := range map[string]string{
		lib + "/sub/a.txt": "a\n", lib + "/sub/.npmrc": "SECRET", lib + "/x.pem": "DENIED", lib + "/home/.ssh/id": "SECRET", lib + "/home/a.txt": "a\n",
		lib + "/home/proj/a.txt": "a\n", lib + "/run": "#!/bin/sh\necho SECRET\n",
	} {
		writeFile(t, path, text)
	}
	if err := os.Chmod(lib+"/run", 0o755); err != nil {
		t.Fatal(err)
	}
	read := "cat " + lib + "/sub/a.txt"
	if text, code := b.run(t, NewBox(b.session), read); code == 0 {
		t.Errorf("before: exit %d, %q", code, text)
	}
	b.session.Read = []string{lib, b.home + "/other", b.home, filepath.Dir(b.home)}
	box := NewBox(b.session)
	for how, run := range map[string]func(testing.TB, *Box, string) (string, int){"here": b.run, "launcher": b.launch} {
		if text, code := run(t, box, read+" "+lib+"/home/proj/a.txt a.txt"); code != 0 || text != "a\na\na\n" {
			t.Errorf("%s: exit %d, %q", how, code, text)
		}
		for _, script := range []string{
			"cat " + lib + "/sub/.npmrc", "cat " + lib + "/x.pem", "cat " + lib + "/home/.ssh/id", lib + "/run", "echo x >" + lib + "/new",
			"cat ~/.zeph/keys.toml", "cat ~/.ssh/id_ed25519", "cat ~/notes", "cat .env",
		} {
			if text, code := run(t, box, script); code == 0 || strings.Contains(text, "SECRET") || strings.Contains(text, "DENIED") {
				t.Errorf("%s, %s: exit %d, %q", how, script, code, text)
			}
		}
	}
	if state := box.State(); !strings.Contains(state, lib) || !strings.Contains(state, "~/other") {
		t.Errorf("the state lacks the directories: %s", state)
	}
}

// Files that appear later follow the same rules.
func TestBoxFollowsChanges(t *testing.T) {
	b := newBoxed(t, ".env")
	box := NewBox(b.session)
	if text, code := b.run(t, box, "cat a.txt"); code != 0 {
		t.Fatalf("exit %d, %q", code, text)
	}
	writeFile(t, b.proj+"/new/.env", "DENIED")
	writeFile(t, b.proj+"/sub/.env", "DENIED")
	writeFile(t, b.proj+"/new.txt", "new\n")
	if err := os.Rename(b.proj+"/.env", b.proj+"/renamed"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(b.home+"/gc", []byte("[user]\n\tname = M\n"), 0o644), os.Rename(b.home+"/gc", b.home+"/.gitconfig")); err != nil {
		t.Fatal(err)
	}
	text, _ := b.run(t, box, "cat new.txt; cat new/.env sub/.env renamed 2>/dev/null; git config user.name")
	if text != "new\nM\n" {
		t.Errorf("got %q", text)
	}
}

// A root that is too large to search for refused files makes commands ask; so does one with the
// programs of the system.
func TestBoxReady(t *testing.T) {
	b := newBoxed(t)
	for _, dir := range []string{"/", "/usr", "/usr/bin"} {
		roots, err := workspace.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		b.session.Roots = roots
		if err := NewBox(b.session).Ready(); err == nil || !strings.Contains(err.Error(), "programs of the system") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	var none *Box
	if err := none.Ready(); err == nil {
		t.Error("no box is ready")
	}
	if _, err := none.Confined(process.Program{}); err == nil {
		t.Error("no box confines")
	}
	b = newBoxed(t, "*.x")
	for i := range maxBoxGrants + 1 {
		writeFile(t, fmt.Sprintf("%s/many/%d", b.proj, i), "")
	}
	writeFile(t, b.proj+"/many/1.x", "")
	if err := NewBox(b.session).Ready(); err == nil || !strings.Contains(err.Error(), "too many files") {
		t.Errorf("many files: %v", err)
	}
}

// An old kernel has no box.
func TestBoxNeeds(t *testing.T) {
	b := newBoxed(t)
	for abi, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, 4: true, 6: true} {
		b.session.Probe = func() (int, string) { return abi, "none" }
		if got := NewBox(b.session) != nil; got != want {
			t.Errorf("ABI %d: a box: %t, want %t", abi, got, want)
		}
	}
	b.session.Probe = func() (int, string) { return 3, "" }
	text, _ := b.run(t, NewBox(b.session), "cat a.txt; kill -0 1 $AGENT; cat ~/notes; sleep 9 & kill $!")
	if !strings.HasPrefix(text, "a\n") || strings.Count(text, "ermission denied") != 4 {
		t.Errorf("with ABI 3: %q", text)
	}
}

// A session in the home directory reads its files, but no keys, and runs nothing in it.
func TestBoxHomeAsRoot(t *testing.T) {
	b := newBoxed(t)
	roots, err := workspace.New(b.home)
	if err != nil {
		t.Fatal(err)
	}
	b.session.Roots = roots.Without(&workspace.AgentFiles{Places: b.session.OwnFiles})
	box := NewBox(b.session)
	for _, script := range []string{
		"cat ~/.ssh/id_ed25519", "cat ~/.zeph/keys.toml", "cat ~/.netrc", "cat ~/.aws/credentials", "tool", "~/proj/run", "cat proj/keys/keys.toml", "echo x >~/new",
	} {
		if text, code := b.run(t, box, script); code == 0 || strings.Contains(text, "SECRET") {
			t.Errorf("%s: exit %d, %q; want a failure", script, code, text)
		}
	}
	if text, code := b.run(t, box, "cat ~/proj/a.txt ~/.ignored; ls ~/other"); code != 0 || text != "a\n*.ignored\nmain.go\n" {
		t.Errorf("exit %d, %q", code, text)
	}
}

// A variable that leads to the home directory or above it grants nothing.
func TestBoxWideVariables(t *testing.T) {
	for _, variable := range []string{"PATH", "GOROOT", "GOMODCACHE", "GOCACHE", "CARGO_HOME", "PYENV_ROOT", "JAVA_HOME", "VIRTUAL_ENV", "GOPATH"} {
		b := newBoxed(t)
		for _, dir := range []string{b.home, filepath.Dir(b.home), "/", b.home + "/../home", b.proj, b.home + "/.zeph", b.home + "/.ssh"} {
			b.env = append(b.env, variable+"="+dir)
			if variable == "PATH" {
				b.env = append(b.env, "PATH="+dir+":/usr/bin:/bin")
			}
			box := NewBox(b.session)
			text, _ := b.run(t, box, "cd /; cat ~/notes ~/other/* ~/.zeph/* ~/.ssh/* ~/.netrc; ls ~; $PROJ/run; ls -a /")
			if strings.Contains(text, "SECRET") || strings.Contains(text, "notes\n") || strings.Contains(text, "etc") {
				t.Errorf("%s=%s: %s", variable, dir, text)
			}
		}
	}
}

// Only the repository that names the session's directory as its worktree is granted.
func TestBoxWorktree(t *testing.T) {
	b := newBoxed(t)
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	main, linked := b.home+"/main", b.home+"/linked"
	writeFile(t, main+"/f", "x\n")
	writeFile(t, main+"/sub/g", "x\n")
	git(main, "init", "-q")
	git(main, "add", ".")
	git(main, "commit", "-qm", "first")
	git(main, "worktree", "add", "-q", linked)
	forged := b.home + "/forged" // names the repository of another project, which does not name it
	dotGit, _ := os.ReadFile(linked + "/.git")
	writeFile(t, forged+"/.git", string(dotGit))
	within := b.home + "/within" // its own directory names that repository
	writeFile(t, within+"/.git", "gitdir: g/worktrees/w\n")
	writeFile(t, within+"/g/worktrees/w/gitdir", within+"/.git\n")
	writeFile(t, within+"/g/worktrees/w/commondir", main+"/.git\n")
	writeFile(t, within+"/g/worktrees/w/HEAD", "ref: refs/heads/master\n")
	for dir, want := range map[string]bool{main: true, main + "/sub": true, linked: true, forged: false, within: false} {
		roots, err := workspace.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := *b
		c.session.Roots, c.proj = roots, dir
		text, code := c.run(t, NewBox(c.session), "git log --oneline && git status --short >/dev/null 2>&1")
		if got := code == 0; got != want {
			t.Errorf("%s: exit %d, %q", dir, code, text)
		}
	}
}

// The temporary files of a command are bounded, removed ones included, and so is its time.
func TestBoxBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 1 GiB")
	}
	b := newBoxed(t)
	box := NewBox(b.session)
	for script, want := range map[string]string{
		`exec 3>"$TMPDIR/a" 4>"$TMPDIR/b"; rm "$TMPDIR"/*; fallocate -l 700M /proc/self/fd/3; fallocate -l 700M /proc/self/fd/4; sleep 99`: process.TempExceeded,
	} {
		if text, code := b.run(t, box, script); code == 0 || !strings.Contains(text, want) {
			t.Errorf("%s: exit %d, %q, want %q", script, code, text, want)
		}
	}
	b.session.Limit = time.Second
	began := time.Now()
	if text, code := b.launch(t, NewBox(b.session),
		"sleep 60 & sleep 60"); code != 143 && code != 137 || time.Since(began) > 20*time.Second || !strings.Contains(text, process.TimeExceeded) {
		t.Errorf("time limit: exit %d after %s, %q", code, time.Since(began), text)
	}
}

// A launcher's file serves once, and only the user can read it.
func TestLauncherFile(t *testing.T) {
	b := newBoxed(t)
	path, args, err := NewBox(b.session).Launcher([]string{"bash", "-c", "echo x"}, []string{"A=b"})
	if err != nil || len(args) != 6 || args[0] != BoxArg || args[2] != "--" || args[3] != "bash" {
		t.Fatalf("Launcher: %q, %q, %v", path, args, err)
	}
	info, err := os.Stat(args[1])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for i, want := range []string{"x\n", "there are no rules"} {
		cmd := exec.Command(path, args...)
		cmd.Dir = b.proj
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("start %d: %q, want %q", i+1, out, want)
		}
	}
	text, _ := json.Marshal(launch{Version: launchVersion + 1, Path: "/bin/true", Limit: 1})
	writeFile(t, args[1], string(text))
	if out, _ := exec.Command(path, args...).CombinedOutput(); !bytes.Contains(out, []byte("another version")) {
		t.Errorf("another version: %q", out)
	}
}

// The state names what is granted.
func TestBoxState(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin") // the state names a few directories of PATH
	b := newBoxed(t)
	writeFile(t, b.home+"/.cargo/config.toml", "[registry]\ntoken = \"x\"\n")
	state := NewBox(b.session).State()
	for _, want := range []string{"~/bin", "~/.gitconfig", "~/.ignored", "they do not read ~/.cargo/config.toml"} {
		if !strings.Contains(state, want) {
			t.Errorf("%s\nlacks %s", state, want)
		}
	}
	var none *Box
	if !strings.Contains(none.State(), "none here") {
		t.Errorf("no box: %s", none.State())
	}
}

// A program that leaves the session ends with the command, or at its time limit. Other processes
// of the user do not.
func TestBoxEndsAll(t *testing.T) {
	b := newBoxed(t)
	if abi, _ := Available(); abi < abiScope {
		t.Skip("this kernel does not scope signals")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	other := exec.Command("sleep", "100")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	for how, run := range map[string]func(testing.TB, *Box, string) (string, int){"here": b.run, "launcher": b.launch} {
		for name, tt := range map[string]struct {
			script string
			limit  time.Duration
		}{
			"ends":       {`setsid -f env -i sleep 60 >/dev/null 2>&1; setsid -f sh -c 'echo $$; exec setsid -f sleep 61 >/dev/null 2>&1'`, time.Minute},
			"time limit": {`setsid -f sleep 60; sleep 62`, time.Second},
		} {
			b.session.Limit = tt.limit
			began := time.Now()
			if text, _ := run(t, NewBox(b.session), tt.script); time.Since(began) > 30*time.Second {
				t.Errorf("%s, %s: took %s, %q", how, name, time.Since(began), text)
			}
			for _, seconds := range []string{"60", "61"} {
				ended := func() bool { return !running("sleep\x00" + seconds + "\x00") }
				for began := time.Now(); !ended() && time.Since(began) < 5*time.Second; { // a killed process ends a little later
					time.Sleep(time.Millisecond)
				}
				if !ended() {
					t.Errorf("%s, %s: sleep %s still runs", how, name, seconds)
				}
			}
		}
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil || !running("sleep\x00100\x00") {
		t.Errorf("the other process ended: %v", err)
	}
}

// running reports whether a process with this command line is still there.
func running(cmdline string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(files, func(file string) bool {
		text, _ := os.ReadFile(file)
		return string(text) == cmdline
	})
}

// The limits hold for a program that no shell runs too, here and through the launcher.
func TestBoxLimits(t *testing.T) {
	b := newBoxed(t)
	box := NewBox(b.session)
	argv := []string{"grep", "-E", "^Max (cpu|file size|data|core)", "/proc/self/limits"}
	prog, err := box.Confined(process.Program{Path: argv[0], Args: argv[1:], Dir: b.proj, Env: b.env, MaxTime: time.Minute, Tail: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	here, _, _ := p.Output()
	path, args, err := box.Launcher(argv, b.env)
	if err != nil {
		t.Fatal(err)
	}
	launched, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, launched)
	}
	for how, text := range map[string]string{"here": here, "launcher": string(launched)} {
		var got []string
		for line := range strings.Lines(text) {
			fields := strings.Fields(strings.TrimPrefix(line, "Max "))
			got = append(got, fields[0]+" "+fields[len(fields)-2])
		}
		if want := []string{"cpu 3600", "file 1073741824", "data 4294967296", "core 0"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
}

// BenchmarkBox runs a command without and with the box by turns, since the load of the machine
// changes. It reports the difference of the medians.
func BenchmarkBox(b *testing.B) {
	w := newBoxed(b, ".env", "*.pem")
	w.session.Home, w.session.Getenv = os.Getenv("HOME"), os.Getenv
	box := NewBox(w.session)
	var times [2][]time.Duration // without and with the box
	for b.Loop() {
		for i := range times {
			began := time.Now()
			prog := process.Program{Path: "/bin/bash", Args: []string{"-p", "-c", ":"}, Dir: "/", Env: w.env}
			if i == 1 {
				var err error
				if prog, err = box.Confined(prog); err != nil {
					b.Fatal(err)
				}
			}
			p, err := process.Start(prog)
			if err != nil {
				b.Fatal(err)
			}
			p.Wait(b.Context())
			p.Release()
			times[i] = append(times[i], time.Since(began))
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	middle := len(times[0]) / 2
	b.ReportMetric(float64(times[0][middle].Microseconds()), "µs-without")
	b.ReportMetric(float64((times[1][middle] - times[0][middle]).Microseconds()), "µs-more")
}
