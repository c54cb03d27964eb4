package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// The parent-death signal belongs to the main thread. Only the goroutine that
// initialises packages is sure to run on it, once it is locked.
func init() { runtime.LockOSThread() }

// TestMain lets the test binary act as the helper and as the commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Arg:
			os.Exit(Main(os.Args[2:]))
		case BoxArg:
			os.Exit(BoxMain(os.Args[2:], nil))
		case "__pdeathsig":
			sig, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
			var death int32
			_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&death)), 0)
			fmt.Println(death, sig, err, errno)
			os.Exit(0)
		case "__dial":
			fmt.Println(dial(os.Args[2], os.Args[3]))
			os.Exit(0)
		case "__local":
			_, local := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			_, udp := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
			if local != nil || udp != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(machine.Tests{M: m}.Run())
}

// world is a home directory with zeph-acp's files, a workspace in it, and a
// directory outside.
type world struct {
	t                        testing.TB
	home, ws, own, elsewhere string
	cfg                      Config
	session                  Session
	box                      *Sandbox
}

func newWorld(t *testing.T, deny ...string) *world {
	t.Helper()
	if abi, reason := Available(); abi == 0 {
		t.Skip("no Landlock: ", reason)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: base + "/home", ws: base + "/home/ws", own: base + "/home/.config/zeph-acp", elsewhere: base + "/elsewhere"}
	if err := os.Mkdir(base+"/tmp", 0o777); err != nil {
		t.Fatal(err)
	}
	w.cfg = setting.Default[Config]()
	w.cfg.Enabled = true
	for path, text := range map[string]string{
		w.own + "/config.toml": "OWNSECRET", w.own + "/keys.toml": "OWNSECRET",
		w.ws + "/.env": "DENIED", w.ws + "/main.txt": "main", w.ws + "/sub/a.txt": "a", w.ws + "/sub/.env": "DENIED",
		w.ws + "/clean/b.txt": "b", w.ws + "/secret/deep/x": "DENIED",
		w.elsewhere + "/file": "elsewhere", w.home + "/.ssh/id_rsa": "DENIED", w.home + "/notes": "notes",
		w.home + "/.cache/x": "cached",
	} {
		write(t, path, text)
	}
	own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: w.own, Files: []string{"config.toml", "keys.toml"}}, {Dir: w.home + "/.local/state/zeph-acp"}}}
	roots, err := workspace.New(w.ws)
	if err != nil {
		t.Fatal(err)
	}
	w.session = Session{
		Roots: roots.Without(own), OwnFiles: own.Places, DenyPatterns: deny, Refuses: refuser(w.ws, w.home, deny),
		Network: true, Home: w.home, Getenv: func(string) string { return "" },
		Temp: []string{base + "/tmp"},
	}
	return w
}

// refuser applies the patterns of these tests as workspace.ReadRules do.
func refuser(ws, home string, deny []string) func(string) bool {
	return func(abs string) bool {
		for at := abs; at != "/"; at = filepath.Dir(at) {
			for _, pattern := range deny {
				if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
					pattern = home + "/" + rest
				} else if !strings.Contains(pattern, "/") {
					pattern = "/**/" + pattern
				} else if strings.HasPrefix(pattern, "**/") {
					pattern = "/" + pattern
				} else if pattern[0] != '/' {
					pattern = ws + "/" + pattern
				}
				if ok, _ := doublestar.Match(trimPattern(pattern), at); ok {
					return true
				}
			}
		}
		return false
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// cmd returns a command in the sandbox, not started.
func (w *world) cmd(name string, args ...string) *exec.Cmd {
	w.t.Helper()
	if w.box == nil {
		w.box = New(w.cfg, w.session)
	}
	env := append(os.Environ(), "TMPDIR="+w.session.Temp[0], "WS="+w.ws, "HOME="+w.home, "OWN="+w.own, "ELSEWHERE="+w.elsewhere, "SELF="+os.Args[0],
		fmt.Sprint("AGENT=", os.Getpid()))
	path, args, env, err := w.box.Wrap(name, args, env)
	if err != nil {
		w.t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Dir, c.Env = w.ws, env
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

// sh runs a script and returns both streams and the exit code.
func (w *world) sh(script string) (string, int) {
	w.t.Helper()
	c := w.cmd("bash", "-c", script)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); c.ProcessState == nil {
		w.t.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// want runs each script, which must succeed and write the expected output, or
// any output for "*".
func (w *world) want(scripts map[string]string) {
	w.t.Helper()
	for script, want := range scripts {
		if out, code := w.sh(script); code != 0 || want != "*" && strings.TrimSpace(out) != want {
			w.t.Errorf("%s\nexit %d: %s", script, code, out)
		}
	}
}

// refused runs each script, which must fail without showing a secret.
func (w *world) refused(scripts ...string) {
	w.t.Helper()
	for _, script := range scripts {
		out, code := w.sh(script)
		if code == 0 || strings.Contains(out, "DENIED") || strings.Contains(out, "OWNSECRET") {
			w.t.Errorf("%s\nexit %d: %s", script, code, out)
		}
	}
}

// sequential skips a test whose commands run one after the other, in the run for the race
// detector: TestConcurrent runs the same code at once.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one command after the other: for the race detector, TestConcurrent has all of it")
	}
}

func TestWrites(t *testing.T) {
	sequential(t)
	w := newWorld(t)
	w.want(map[string]string{
		"echo hi > new && cat new && rm new":                                "hi",
		"mkdir -p d/e && mv d/e f && rmdir d f":                             "",
		"ln -s a link && ln main.txt hard && rm link hard":                  "",
		"mkfifo p && rm p":                                                  "",
		"mv clean/b.txt sub/b.txt && mv sub/b.txt clean/":                   "",
		"t=$(mktemp) && echo x > $t && cat $t && rm $t":                     "x",
		"echo x > /dev/null; echo err > /dev/stderr; echo out >/dev/stdout": "err\nout",
		"cat <(echo sub) ; cat <<< here":                                    "sub\nhere",
		"echo c > ~/.cache/y && cat ~/.cache/y":                             "c",
		": > /dev/shm/zeph-$$ && rm /dev/shm/zeph-$$":                       "",
		"bash -c 'bash -c \"echo nested > n; cat n; rm n\"'":                "nested",
		"cat $ELSEWHERE/file ~/notes":                                       "elsewherenotes",
	})
	w.refused(
		"echo x > $ELSEWHERE/new", "echo x >> $ELSEWHERE/file", "rm $ELSEWHERE/file", "mv $ELSEWHERE/file .",
		"mkdir $ELSEWHERE/d", "ln -s x $ELSEWHERE/l", "ln main.txt $ELSEWHERE/hard", "ln $ELSEWHERE/file here",
		": > $ELSEWHERE/file", "truncate -s 0 $ELSEWHERE/file", "cp main.txt $ELSEWHERE/", "echo x > ../x",
		"ln -s $ELSEWHERE l; echo x > l/new", "echo x > /proc/self/root$ELSEWHERE/new", "cd $ELSEWHERE && echo x > new",
		"echo x > ~/new", "mv $WS ${WS}2", "mv $ELSEWHERE ${ELSEWHERE}2", "echo x > ~/.bashrc",
		"echo 1 > /proc/sys/kernel/panic", "mount -t tmpfs none sub",
		"mknod dev c 1 3", "bash -c 'echo x > $ELSEWHERE/new'", "nohup setsid -w bash -c 'echo x > $ELSEWHERE/new'",
	)
	if got, err := os.ReadFile(w.elsewhere + "/file"); string(got) != "elsewhere" || err != nil {
		t.Errorf("the file elsewhere is %q, %v", got, err)
	}
}

func TestOwnFiles(t *testing.T) {
	sequential(t)
	w := newWorld(t)
	w.refused(
		"cat $OWN/config.toml", "cat ~/.config/zeph-acp/keys.toml", "cat /proc/self/root$OWN/config.toml",
		"ln -s $OWN/config.toml l; cat l", "ln -s $OWN d; cat d/config.toml", "cd ~/.config/zeph-acp && cat config.toml",
		"ln $OWN/config.toml h && cat h", "mv $OWN/config.toml m", "cp -r ~/.config .", "mv ~/.config c; cat c/zeph-acp/*",
		"echo x > $OWN/config.toml", "echo x > $OWN/new", "rm -r $OWN", "grep -r OWNSECRET ~/.config",
		"cat /proc/$AGENT/environ", "cat /proc/$AGENT/root$OWN/config.toml", "ls /proc/$AGENT/fd/ && cat /proc/$AGENT/fd/*",
		"mkdir -p ~/.local/state/zeph-acp",
		"kill -9 $AGENT",
	)
	w.want(map[string]string{"ls -a ~ ~/.config $OWN": "*", "stat $OWN/config.toml": "*"})
}

// A file of zeph-acp's with a hard link in a session's directory is refused
// there too.
func TestOwnLinked(t *testing.T) {
	sequential(t)
	w := newWorld(t)
	for _, name := range []string{"link", "clean/deep/link"} {
		write(t, w.ws+"/clean/deep/x", "x")
		if err := os.Link(w.own+"/config.toml", w.ws+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	w.refused("cat link", "echo x >> link", "cat clean/deep/link", "truncate -s 0 clean/deep/link", "rm clean/deep/link", "mv clean/deep d && cat d/link")
	w.want(map[string]string{"cat main.txt sub/a.txt clean/deep/x": "*", "echo y > sub/new && cat sub/new": "y"})
	if got, err := os.ReadFile(w.own + "/config.toml"); string(got) != "OWNSECRET" || err != nil {
		t.Errorf("zeph-acp's file is %q, %v", got, err)
	}
}

// TestOwnInside has zeph-acp's files in a directory of the session.
func TestOwnInside(t *testing.T) {
	sequential(t)
	for name, tt := range map[string]struct {
		root  func(*world) string
		mixed bool
		write string
	}{
		"home":      {func(w *world) string { return w.home }, false, "echo x > $WS/new && cat $WS/new && echo y > ~/notes && cat ~/notes"},
		"ZEPH_HOME": {func(w *world) string { return w.own }, true, "cd $OWN/src && echo x > new && cat new"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			write(t, w.own+"/src/a", "a")
			roots, err := workspace.New(tt.root(w))
			if err != nil {
				t.Fatal(err)
			}
			own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: w.own, Files: []string{"config.toml", "keys.toml", "permissions.toml"}, Mixed: tt.mixed}}}
			w.session.Roots, w.session.OwnFiles = roots.Without(own), own.Places
			w.want(map[string]string{tt.write: "*"})
			w.refused("cat $OWN/config.toml", "echo x > $OWN/config.toml", "echo x > $OWN/permissions.toml", "rm $OWN/keys.toml",
				"mv $OWN/keys.toml $WS/k", "mv ~/.config ~/c", "ln $OWN/keys.toml $WS/k", "mv $OWN ${OWN}2")
		})
	}
}

func TestDenyRead(t *testing.T) {
	sequential(t)
	for _, deny := range [][]string{
		{"**/.env", "secret/**", "~/.ssh/**"},
		{".env", "secret", "~/.ssh/id_*"},
		{"/**/.env", "**/secret/**", "**/.ssh/*"},
		{".e?v", "{secret,other}/**", "~/.s*/id_rsa"},
	} {
		t.Run(deny[0], func(t *testing.T) {
			w := newWorld(t, deny...)
			w.want(map[string]string{
				"cat main.txt sub/a.txt clean/b.txt":                                            "mainab",
				"echo x > clean/n && cat clean/n && rm clean/n":                                 "x",
				"echo x > new && echo done":                                                     "done",
				"printf '#!/bin/sh\necho ran\n' > clean/run && chmod +x clean/run && clean/run": "ran",
				"cat ~/notes": "notes",
				"t=$(mktemp -d) && echo x > $t/y && cat $t/y":         "x",
				"mv main.txt moved && mv moved main.txt && stat .env": "*",
			})
			w.want(map[string]string{"cat new && rm new": "x"}) // made by a command before
			w.refused(
				"cat .env", "cat sub/.env", "cat ./sub/../.env", "cat $WS/.env", "cat secret/deep/x", "cat ~/.ssh/id_rsa",
				"cat /proc/self/root$WS/.env", "cat /proc/self/cwd/.env", "ln -s .env l; cat l", "ln -s $WS/secret s; cat s/deep/x",
				"cd secret/deep && cat x", "cp .env clean/", "mv .env clean/x", "mv secret clean/ && cat clean/secret/deep/x",
				"ln .env clean/x; cat clean/x", "grep -r DENIED .", "tar c . | grep -a DENIED", "bash .env", ". ./.env", "exec < .env && cat",
				"mv sub/.env sub/env; cat sub/env", "mkdir n; mv sub/.env sub/env n; cat n/*",
			)
		})
	}
}

// TestRename moves refused files with one command and reads them with the next.
func TestRename(t *testing.T) {
	sequential(t)
	for _, script := range []string{
		"mv .env public", "mv sub public", "mv secret public", "mv secret/deep public", "mv secret/deep/x public",
		"ln .env public; rm .env", "mkdir public; mv .env public/x", "mv sub public; mv public/.env public/open",
		"ln .env public",
	} {
		t.Run(script, func(t *testing.T) {
			w := newWorld(t, "**/.env", "secret/**")
			if out, code := w.sh(script); code != 0 {
				t.Fatalf("exit %d: %s", code, out)
			}
			w.refused("find . -type f -exec cat {} + | grep DENIED")
			w.want(map[string]string{"cat clean/b.txt main.txt": "bmain"})
		})
	}
	t.Run("a new file with the number of a refused one", func(t *testing.T) {
		w := newWorld(t, "**/.env")
		w.sh("true")
		w.want(map[string]string{"rm .env sub/.env; for i in 1 2 3 4 5; do echo $i > clean/n$i; echo $i > n$i; done": ""})
		w.want(map[string]string{"cat clean/n* n*": "1\n2\n3\n4\n5\n1\n2\n3\n4\n5"})
	})
	t.Run("a hard link from before", func(t *testing.T) {
		w := newWorld(t, "secret/**")
		if err := os.Link(w.ws+"/secret/deep/x", w.ws+"/clean/alias"); err != nil {
			t.Fatal(err)
		}
		w.refused("cat clean/alias")
	})
}

// TestSwapped replaces files between the plan and the start.
func TestSwapped(t *testing.T) {
	w := newWorld(t, "**/.env")
	for name, swap := range map[string]func() error{
		"link":      func() error { return errors.Join(os.RemoveAll(w.ws+"/clean"), os.Symlink(w.own, w.ws+"/clean")) },
		"directory": func() error { return errors.Join(os.RemoveAll(w.ws+"/clean"), os.Rename(w.ws+"/sub", w.ws+"/clean")) },
	} {
		c := w.cmd("bash", "-c", "cat clean/.env clean/config.toml")
		if err := swap(); err != nil {
			t.Fatal(err)
		}
		if out, err := c.CombinedOutput(); err == nil || bytes.Contains(out, []byte("DENIED")) || bytes.Contains(out, []byte("OWNSECRET")) {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

func TestNetwork(t *testing.T) {
	sequential(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	for _, network := range []bool{true, false} {
		w := newWorld(t)
		if w.session.Network = network; w.session.lacksTCP() {
			t.Skip("this kernel's Landlock has no rules for TCP")
		}
		for _, mode := range []string{"connect", "bind", "listen", "fast open", "multipath"} {
			out, _ := w.sh("\"$SELF\" __dial '" + mode + "' " + l.Addr().String())
			if ok := strings.TrimSpace(out) == "<nil>"; ok != network {
				t.Errorf("%s with network %v: %s", mode, network, out)
			}
		}
		if out, code := w.sh("exec 3<>/dev/tcp/127.0.0.1/" + l.Addr().String()[len("127.0.0.1:"):]); (code == 0) != network {
			t.Errorf("bash with network %v: %s", network, out)
		}
		if err := w.cmd(os.Args[0], "__local").Run(); err != nil {
			t.Errorf("a local socket and one of UDP with network %v: %v", network, err)
		}
	}
}

func (s Session) lacksTCP() bool { abi, _ := Available(); return abi < abiTCP }

func dial(mode, addr string) error {
	proto := unix.IPPROTO_TCP
	if mode == "multipath" {
		proto = unix.IPPROTO_MPTCP
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return err
	}
	sa := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	sa.Port = a.Port
	switch mode {
	case "bind":
		return unix.Bind(fd, &unix.SockaddrInet4{Addr: sa.Addr})
	case "listen":
		return unix.Listen(fd, 1)
	case "fast open":
		_, err := unix.SendmsgN(fd, []byte("x"), nil, sa, unix.MSG_FASTOPEN)
		return err
	}
	return unix.Connect(fd, sa)
}

func TestKept(t *testing.T) {
	sequential(t)
	w := newWorld(t)
	c := w.cmd("bash", "-c", "read x; echo $x $ANSWER; pwd; echo $0; env | grep -c ZEPH_SANDBOX; exit 7")
	c.Env = append(c.Env, "ANSWER=42")
	c.Stdin = strings.NewReader("stdin\n")
	out, _ := c.Output()
	if want := "stdin 42\n" + w.ws + "\nbash\n0\n"; string(out) != want || c.ProcessState.ExitCode() != 7 {
		t.Errorf("exit %d, %q; want %q", c.ProcessState.ExitCode(), out, want)
	}

	c = w.cmd("bash", "-c", "kill -SEGV $$")
	c.Run()
	if ws := c.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGSEGV {
		t.Errorf("ended by %v", ws)
	}

	c = w.cmd("bash", "-c", "echo $$; sleep 100 & wait")
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Fscan(pipe, &pid)
	sid, err := unix.Getsid(pid)
	if pid != c.Process.Pid || sid != pid || err != nil {
		t.Errorf("pid %d, session %d, started as %d, %v", pid, sid, c.Process.Pid, err)
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	c.Wait()

	if out, err := w.cmd(os.Args[0], "__pdeathsig").CombinedOutput(); string(out) != "9 1 <nil> errno 0\n" {
		t.Errorf("signal for the parent's death, no_new_privs: %s, %v", out, err)
	}
}

func TestTools(t *testing.T) {
	sequential(t)
	w := newWorld(t)
	w.session.Home, w.session.Getenv = os.Getenv("HOME"), os.Getenv
	write(t, w.ws+"/p/go.mod", "module p\n")
	write(t, w.ws+"/p/main.go", "package main\n\nfunc main() { println(\"built\") }\n")
	w.want(map[string]string{"export HOME=" + w.session.Home + "; cd p && go version && go vet . && go build -o ../p.bin . && go run . && ../p.bin": "*"})
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: ", err)
	}
	w.want(map[string]string{
		"git init -q r && cd r && echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm x && git status --short && git log " +
			"--oneline | wc -l": "1",
	})
}

// TestBeside shows the limits of a command next to a refused file, and the ways
// around them.
func TestBeside(t *testing.T) {
	w := newWorld(t, ".env")
	out, code := w.sh("echo x > new; cat new")
	if hint := w.box.hint(out); code == 0 || !strings.Contains(hint, w.ws) {
		t.Errorf("exit %d: %s\n%s", code, out, hint)
	}
	w.want(map[string]string{"cat new; mkdir d": "x"})
	w.want(map[string]string{"echo y > d/new; cat d/new": "y"})
	if hint := w.box.hint("all is well"); hint != "" {
		t.Error(hint)
	}
	if hint := newWorld(t).box.hint("Permission denied"); hint != "" {
		t.Error(hint)
	}
}

func TestHelper(t *testing.T) {
	good, err := (&rules{FS: mayRead | mayWrite}).encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		env, args []string
		want      string
	}{
		"by hand":       {nil, nil, "itself starts this command"},
		"by hand, args": {nil, []string{"/bin/true", "true"}, "itself starts this command"},
		"damaged":       {[]string{rulesVariable + "0={\"fs\":1"}, []string{"/bin/true", "true"}, "damaged"},
		"unknown":       {[]string{rulesVariable + "0={\"fs\":1,\"x\":1}"}, []string{"/bin/true", "true"}, "damaged"},
		"empty":         {[]string{rulesVariable + "0={}"}, []string{"/bin/true", "true"}, "restrict nothing"},
		"unknown right": {[]string{rulesVariable + "0={\"fs\":9223372036854775808}"}, []string{"/bin/true", "true"}, "ruleset"},
		"no program":    {good, nil, "no program"},
		"not allowed":   {good, []string{"/bin/true", "true"}, "run /bin/true: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			if abi, reason := Available(); abi == 0 {
				t.Skip("no Landlock: ", reason)
			}
			c := exec.Command(os.Args[0], append([]string{Arg}, tt.args...)...)
			c.Env = tt.env
			var stderr bytes.Buffer
			c.Stderr = &stderr
			c.Run()
			code := c.ProcessState.ExitCode()
			reason, ok := setupFailure(&code, stderr.String())
			if code != exitCode || !ok || !strings.Contains(reason, tt.want) {
				t.Errorf("exit %d: %s", code, &stderr)
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	w := newWorld(t, "**/.env")
	w.cmd("true")
	done := make(chan string)
	for range 4 {
		go func() {
			out, _ := w.sh("cat main.txt; cat .env")
			done <- out
		}()
	}
	for range 4 {
		if out := <-done; strings.Contains(out, "DENIED") || !strings.HasPrefix(out, "main") {
			t.Errorf("got %q, want main without DENIED", out)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	abi, reason := Available()
	if abi == 0 {
		b.Skip("no Landlock: ", reason)
	}
	dir := b.TempDir()
	for i := range 200 {
		os.MkdirAll(fmt.Sprintf("%s/d%d", dir, i), 0o755)
		for j := range 50 {
			os.WriteFile(fmt.Sprintf("%s/d%d/f%d", dir, i, j), nil, 0o644)
		}
	}
	os.WriteFile(dir+"/.env", nil, 0o644)
	roots, err := workspace.New(dir)
	if err != nil {
		b.Fatal(err)
	}
	own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: os.Getenv("HOME") + "/.config/zeph-acp"}}}
	session := Session{Roots: roots.Without(own), OwnFiles: own.Places, Home: os.Getenv("HOME"), Temp: []string{b.TempDir()}}
	boxes := map[string]*Sandbox{"plain": nil, "sandbox": New(Config{Enabled: true, Caches: true}, session)}
	session.DenyPatterns, session.Refuses = []string{"**/.env"}, refuser(dir, session.Home, []string{"**/.env"})
	boxes["deny_read"] = New(Config{Enabled: true, Caches: true}, session)
	for _, name := range []string{"plain", "sandbox", "deny_read"} {
		b.Run(name, func(b *testing.B) {
			var wrapping time.Duration
			for b.Loop() {
				start := time.Now()
				path, args, env, err := boxes[name].Wrap("/bin/true", nil, os.Environ())
				wrapping += time.Since(start)
				if err != nil {
					b.Fatal(err)
				}
				c := exec.Command(path, args...)
				c.Env = env
				if err := c.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(wrapping.Microseconds())/float64(b.N), "wrap-µs/op")
		})
	}
}
