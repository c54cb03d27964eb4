package permission_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

var boxScripts = flag.Int("boxscripts", 300, "how many generated scripts TestBoxDifferential judges")

// This binary is also the launcher of the box.
func init() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.BoxArg {
		reaper := &process.Reaper{Command: func() *exec.Cmd { return exec.Command("/proc/self/exe", reaperArg) }}
		os.Exit(sandbox.BoxMain(os.Args[2:], reaper))
	}
	if len(os.Args) > 1 && os.Args[1] == reaperArg {
		process.Reap(os.Stdin)
		os.Exit(0)
	}
}

const reaperArg = "__reap"

// TestBoxDifferential runs generated scripts in the box under strace, and again without a box. Inside,
// nothing but what the box grants is opened, run or written, as the kernel saw it. A script that the
// box refuses nothing prints the same on both sides.
func TestBoxDifferential(t *testing.T) {
	t.Parallel()
	needBox(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	d := &boxDifferential{T: t, strace: strace, pool: newPool(t)}
	gen := newGenerator(t, *scriptSeed)
	scripts := commands.Scale(*boxScripts)
	if *longRun {
		scripts = 100_000
	}
	td := take(t, d.pool, "plain")
	var batch []allowedScript
	for n := range scripts {
		script := gen.script()
		if printed, ok, _ := decideScript(t, td, "ask", script); ok && !waits.MatchString(printed) {
			batch = append(batch, allowedScript{script, printed})
		}
		if len(batch) == 200 || n == scripts-1 {
			d.compare(td, batch)
			if changed := giveBack(t, td); len(changed) > 0 {
				t.Errorf("one of these scripts changed %q outside of the box: %q", changed, batch)
			}
			td, batch = take(t, d.pool, "plain"), nil
		}
	}
	t.Logf("%d of %d scripts ran in the box, %d of them outside as well: %d were refused something, %d print something else each time, %d did not end",
		d.ran, scripts, d.outside, d.refused, d.varied, d.endless)
	if d.ran < scripts/60 || d.outside < d.ran/2 || d.refused > d.outside/4 {
		t.Error("too few scripts prove anything")
	}
}

// waits matches scripts that take long.
var waits = regexp.MustCompile(`\bsleep\b|\btail\b.*-[a-zA-Z0-9]*[fF]|\bgo (list|doc|mod)\b|/dev/(u?random|zero|full)`)

// throughLink matches a name that a pattern finds outside of the session's directory.
var throughLink = regexp.MustCompile(`linkdir/\w|/out/\w`)

// refusal matches the messages of programs about a refused call.
var refusal = regexp.MustCompile(`(?i)permission denied|not permitted|not implemented|cannot open|can't open|unable to|could not|failed`)

type boxDifferential struct {
	*testing.T
	strace                                 string
	pool                                   *commands.Pool
	ran, outside, refused, varied, endless int
}

// result is what a script did.
type result struct {
	out, status string
	calls       []string // the lines of strace
}

func (r result) same(o result) bool { return r.status == o.status && sameLines(r.out, o.out) }

// compare runs scripts on both sides.
func (d *boxDifferential) compare(td *commands.TestDir, batch []allowedScript) {
	d.Helper()
	inside := d.run(td, batch, true)
	var harmless []int
	for i, s := range batch {
		if inside[i] == nil {
			d.endless++
			continue
		}
		d.ran++
		for _, call := range inside[i].calls {
			if why := d.breaks(td, call); why != "" {
				d.Errorf("%q runs in the box as %q and %s: %s", s.written, s.printed, why, call)
			}
		}
		if strings.Contains(inside[i].out, commands.Secret) && !strings.Contains(s.printed, commands.Secret) { // a script may print its own words
			d.Errorf("%q runs in the box as %q and shows a secret: %q", s.written, s.printed, inside[i].out)
		}
	}
	for i, ran := range record(d.T, td, batch) {
		if inside[i] != nil && !slices.ContainsFunc(ran, func(r recorded) bool { return harm(td, r.dir, r.words) != "" }) {
			harmless = append(harmless, i)
		}
	}
	var list []allowedScript
	for _, i := range harmless {
		list = append(list, batch[i])
	}
	for n, outside := range d.run(td, list, false) {
		if outside == nil {
			d.endless++
			continue
		}
		d.outside++
		in, one := *inside[harmless[n]], list[n:n+1]
		if in.same(*outside) {
			continue
		}
		if refusal.MatchString(in.out) && !refusal.MatchString(outside.out) || throughLink.MatchString(outside.out) {
			d.refused++
			continue
		}
		again, inAgain := d.run(td, one, false)[0], d.run(td, one, true)[0]
		if again == nil || inAgain == nil || !again.same(*outside) || !inAgain.same(in) || inAgain.same(*again) {
			d.varied++
			continue
		}
		d.Errorf("%q runs as %q and prints in the box (%s)\n%.800s\nand outside (%s)\n%.800s",
			one[0].written, one[0].printed, in.status, in.out, outside.status, outside.out)
	}
}

// driver runs the scripts of the directory $1, whose names are the numbers up to $2, from $3 on. It ends
// what each prints with a line.
const driver = `
for ((n = $3; n < $2; n++)); do
	IFS= builtin read -r -d '' script < "$1/$n"
	( builtin eval "$script" ) </dev/null 2>&1
	builtin printf '\n%s %d\n' "$4" $?
done
builtin : < "$1/end"`

func shellPath(t testing.TB) string {
	t.Helper()
	path, err := shell.FindShell()
	if err != nil {
		t.Skip(err)
	}
	return path
}

const separator = "\n=end-of-script-5c1d"

// run returns the result of each script, nil if it did not end.
func (d *boxDifferential) run(td *commands.TestDir, batch []allowedScript, inside bool) []*result {
	d.Helper()
	dir := d.TempDir()
	for i, s := range batch {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(s.printed), 0o600); err != nil {
			d.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		d.Fatal(err)
	}
	var all []*result
	for len(all) < len(batch) {
		more, whole := d.runFrom(td, dir, len(all), len(batch), inside)
		all = append(all, more...)
		if !whole && len(all) < len(batch) {
			all = append(all, nil)
		}
	}
	return all
}

func (d *boxDifferential) runFrom(td *commands.TestDir, dir string, from, to int, inside bool) (all []*result, whole bool) {
	d.Helper()
	line := "set -- " + dir + " " + strconv.Itoa(to) + " " + strconv.Itoa(from) + " " + separator[1:] + driver
	c := shell.Command{Line: line, Dir: td.Dir, ReadOnly: true}
	env := slices.DeleteFunc(td.Env(), func(v string) bool { return strings.HasPrefix(v, "SECRET_TOKEN=") })
	block, extra := c.Env(nil, slices.Concat(command.GitSafeEnv(), env))
	env = slices.DeleteFunc(shell.Environ(block, extra), func(v string) bool { return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, "OLDPWD=") })
	ctx, stop := context.WithTimeout(d.Context(), 60*time.Second)
	defer stop()
	argv, trace := append([]string{shellPath(d)}, c.Args()...), filepath.Join(d.TempDir(), "trace")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if inside {
		roots, err := workspace.New(td.Dir)
		if err != nil {
			d.Fatal(err)
		}
		box := sandbox.NewBox(sandbox.Session{Roots: roots, Home: td.Home, Objects: dir, State: d.TempDir()})
		path, args, err := box.Launcher(argv, env)
		if err != nil {
			d.Fatal(err)
		}
		cmd = exec.CommandContext(ctx, d.strace, slices.Concat([]string{
			"-f", "-z", "--seccomp-bpf", "-qqq", "-y", "-s", "4096", "-e", "signal=none", "-o", trace, "-e",
			"trace=clone,fork,vfork,execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat," +
				"link,linkat,symlink,symlinkat,mknod,mknodat,truncate,chmod,fchmod,fchmodat,chown," +
				"fchown,lchown,fchownat,utimensat,setxattr,lsetxattr,fsetxattr,socket,connect,bind,sendto,sendmsg,kill,tgkill", path,
		}, args)...)
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = td.Dir, env, 5*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // it exits with the last script's status
	parts := strings.Split(strings.ToValidUTF8(out.String(), "\uFFFD"), separator)
	for i, part := range parts[1:] {
		status, _, _ := strings.Cut(part, "\n")
		text := parts[i]
		if i > 0 {
			_, text, _ = strings.Cut(text, "\n")
		}
		all = append(all, &result{out: text, status: status})
	}
	if inside && len(all) > 0 {
		d.readTrace(trace, dir, from, all)
	}
	return all, len(all) == to-from
}

// readTrace adds to each result what its script did. The shell opens the file of a script right
// before it runs it.
func (d *boxDifferential) readTrace(file, dir string, from int, all []*result) {
	d.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		d.Fatal(err)
	}
	lines := traced.FindAllStringSubmatch(string(text), -1)
	own := map[string]bool{} // the scripts' processes, without the launcher's
	for _, m := range lines {
		if s := scriptStart.FindStringSubmatch(m[2]); s != nil && s[1] == dir {
			own[m[1]] = true
			break
		}
	}
	for before := 0; before < len(own); { // a child may come before its parent's line
		before = len(own)
		for _, m := range lines {
			if child := started.FindStringSubmatch(m[2]); child != nil && own[m[1]] {
				own[child[1]] = true
			}
		}
	}
	starts, at := 0, -1
	for _, m := range lines {
		switch s := scriptStart.FindStringSubmatch(m[2]); {
		case s != nil && s[1] == dir && s[2] != "end":
			n, _ := strconv.Atoi(s[2])
			at = n - from
			starts++
		case s != nil && s[1] == dir, started.MatchString(m[2]):
		case at >= 0 && at < len(all) && own[m[1]] && !d.toItself(own, m[2]):
			all[at].calls = append(all[at].calls, m[2])
		}
	}
	if starts < len(all) {
		d.Fatalf("strace saw %d of %d scripts", starts, len(all))
	}
}

// toItself reports whether a call only concerns the processes of scripts.
func (d *boxDifferential) toItself(own map[string]bool, call string) bool {
	m := processes.FindStringSubmatch(call)
	return m != nil && (m[1] == "0" || own[m[1]+m[2]])
}

var (
	traced      = regexp.MustCompile(`(?m)^(\d+) +(\w+\(.*)$`)
	scriptStart = regexp.MustCompile(`= \d+<(/.*)/(\d+|end)>$`)
	started     = regexp.MustCompile(`^(?:clone|v?fork)\(.* = (\d+)$`)
	processes   = regexp.MustCompile(`^t?g?kill\(-?(\d+)|= \d+</proc/(\d+)/environ>$`)
	opened      = regexp.MustCompile(`^(?:open|openat|openat2|creat)\(.*= \d+<(.*)>(?:\(deleted\))?$`)
	executed    = regexp.MustCompile(`^execve(?:at)?\((?:[^"]*, )?"([^"]*)"`)
	quotedName  = regexp.MustCompile(`"[^"]*"`)
	written     = regexp.MustCompile(`\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)\b|creat\(`)
	temporary   = regexp.MustCompile(`"` + regexp.QuoteMeta(os.TempDir()) + `/zeph-acp-\d+/[^"]*"|^` + regexp.QuoteMeta(os.TempDir()) + `/zeph-acp-\d+(/|$)`)
)

// granted are directories that the box may read, besides the session's.
var granted = regexp.MustCompile(`^/(usr|bin|sbin|lib\w*|opt|etc|nix|proc|sys|run/utmp|var/lib/(dpkg|apt|rpm)|var/cache/apt)(/|$)` +
	`|^/dev/(null|zero|full|u?random)$|^(pipe|anon_inode):`)

// breaks returns what a call that succeeded in the box should not have done, "" if it may.
func (d *boxDifferential) breaks(td *commands.TestDir, call string) string {
	if m := executed.FindStringSubmatch(call); m != nil {
		path := m[1]
		if !filepath.IsAbs(path) {
			return "runs a program by a relative path"
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = filepath.Clean(path)
		}
		if strings.HasPrefix(real, td.Root+"/") {
			return "runs a program of the repository"
		}
		return ""
	}
	m := opened.FindStringSubmatch(call)
	if m == nil {
		if names := quotedName.FindAllString(call, -1); len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !temporary.MatchString(n) }) {
			return ""
		}
		return "does what it must not"
	}
	path := m[1]
	switch {
	case written.MatchString(call) && path != "/dev/null" && !temporary.MatchString(path):
		return "writes " + path
	case path == td.Dir, strings.HasPrefix(path, td.Dir+"/"), temporary.MatchString(path), strings.Contains(call, "O_PATH"):
		return ""
	case strings.HasPrefix(path, "/proc/") && (strings.HasSuffix(path, "/environ") || strings.HasSuffix(path, "/mem")):
		return "reads the memory of a process"
	case granted.MatchString(path), path == "/", d.toolchain(td, path):
		return ""
	}
	return "reads " + path
}

// toolchain reports whether a path is of a program that PATH names, or of its settings.
func (d *boxDifferential) toolchain(td *commands.TestDir, path string) bool {
	for _, name := range []string{".gitconfig", ".config/git", ".config/go/env", ".cache/go-build"} {
		if path == filepath.Join(td.Home, name) {
			return true
		}
	}
	for _, name := range []string{"GOENV", "GOCACHE", "GOMODCACHE", "RUSTUP_HOME", "CARGO_HOME"} {
		if dir := os.Getenv(name); dir != "" && (path == dir || strings.HasPrefix(path, dir+"/")) {
			return true
		}
	}
	return !strings.HasPrefix(path, td.Root) && slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		top := filepath.Dir(dir)
		return path == dir || strings.HasPrefix(path, dir+"/") || filepath.Base(dir) == "bin" && top != "/" && strings.HasPrefix(path, top+"/")
	})
}

// The test sees what a script must not do.
func TestBoxDifferentialSees(t *testing.T) {
	td := &commands.TestDir{Root: "/r", Dir: "/r/w", Home: "/r/home"}
	d := &boxDifferential{T: t}
	for call, bad := range map[string]bool{
		`openat(AT_FDCWD</r/w>, "link", O_RDONLY) = 3</r/out/secret.txt>`:                         true,
		`openat(AT_FDCWD</r/w>, "../home/.netrc", O_RDONLY) = 3</r/home/.netrc>`:                  true,
		`openat(AT_FDCWD</r/w>, "PWN", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</r/w/PWN>`:             true,
		`openat(AT_FDCWD</r/w>, "/proc/1/environ", O_RDONLY) = 3</proc/1/environ>`:                true,
		`execve("./evil", ["./evil"], 0x1 /* 3 vars */) = 0`:                                      true,
		`execve("/r/w/../w/evil", ["evil"], 0x1 /* 3 vars */) = 0`:                                true,
		`unlinkat(AT_FDCWD</r/w>, "a.txt", 0) = 0`:                                                true,
		`socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3<socket:[1]>`:                               true,
		`fchmodat(AT_FDCWD</r/w>, "a.txt", 0777) = 0`:                                             true,
		`openat(AT_FDCWD</r/w>, "a.txt", O_RDONLY) = 3</r/w/a.txt>`:                               false,
		`openat(AT_FDCWD</r/w>, "/dev/null", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</dev/null>`:      false,
		`openat(AT_FDCWD</r/w>, "/usr/lib/x.so", O_RDONLY|O_CLOEXEC) = 3</usr/lib/x.so>`:          false,
		`execve("/usr/bin/cat", ["cat", "a.txt"], 0x1 /* 3 vars */) = 0`:                          false,
		`unlinkat(AT_FDCWD</r/w>, "` + os.TempDir() + `/zeph-acp-12/x", 0) = 0`:                   false,
		`openat(3</r>, "out", O_RDONLY|O_NOFOLLOW|O_CLOEXEC|O_PATH|O_DIRECTORY) = 4</r/out>`:      false,
		`openat(3</r>, "out", O_RDONLY|O_NOCTTY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 4</r/out>`:    true,
		`rename("` + os.TempDir() + `/zeph-acp-12/x", "/r/w/a.txt") = 0`:                          true,
		`linkat(AT_FDCWD</r/w>, "a.txt", AT_FDCWD</r/w>, "` + os.TempDir() + `/zeph-acp-1/a", 0)`: true,
	} {
		if why := d.breaks(td, call); (why != "") != bad {
			t.Errorf("%s: %q", call, why)
		}
	}
}
