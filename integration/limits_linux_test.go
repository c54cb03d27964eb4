package integration

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// limitProcess sets a limit of a running process.
func limitProcess(t testing.TB, pid, resource int, n uint64) {
	t.Helper()
	var limit unix.Rlimit
	err := unix.Prlimit(pid, resource, nil, &limit)
	if err == nil {
		limit.Cur = min(n, limit.Max)
		err = unix.Prlimit(pid, resource, &limit, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// workTurn runs a turn in which the model reads, writes and runs commands, also in the
// background and with a long output.
func workTurn(e *editor, p *fakemodel.Anthropic, session, id string) frame {
	e.t.Helper()
	run := func(n int, command string, more ...any) fakemodel.Block {
		input := map[string]any{"command": command}
		if len(more) > 0 {
			input["background"] = true
		}
		return fakemodel.Call(fmt.Sprint("c", n), "bash", input)
	}
	p.Then(fakemodel.Answer(
		readsFile,
		fakemodel.Call("c2", "grep", map[string]any{"pattern": "line"}),
		fakemodel.Call("c3", "find_path", map[string]any{"pattern": "**/*.txt"}),
		fakemodel.Call("c4", "write", map[string]any{"path": "new.txt", "content": "new\n"}),
		run(5, "cat long.txt long.txt long.txt"), run(6, "echo one | cat | cat"), run(7, "sleep 0.01; echo end", true),
	), fakemodel.Answer(fakemodel.Say("Done.")))
	e.request(id, "session/prompt", promptParams(session, "work"))
	return e.answer(id)
}

// TestFewDescriptors works with 64 descriptors, in ten sessions at once. With too few
// for a command, the call fails with the reason.
func TestFewDescriptors(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		if len(r.Messages) > 1 && r.Messages[len(r.Messages)-1].Content[0].Type == "tool_result" {
			return fakemodel.Answer(fakemodel.Say("Done."))
		}
		return fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "echo one | cat | cat"}), readsFile)
	}
	e := (&editor{}).start(t, start{env: p.Env()})
	e.file("a.txt", "a\n")
	limitProcess(t, e.cmd.Process.Pid, unix.RLIMIT_NOFILE, 64)
	e.initialize()
	var sessions []string
	for range 10 {
		sessions = append(sessions, e.open())
	}
	for n, s := range sessions {
		e.request(fmt.Sprint(n), "session/prompt", promptParams(s, "work"))
	}
	for n := range sessions {
		if f := e.answer(fmt.Sprint(n)); f.Error != nil && !strings.Contains(f.Error.Message, "too many open files") {
			t.Errorf("session %d: %s", n, f.line)
		}
	}
	e.request(`"after"`, "session/prompt", promptParams(sessions[0], "work"))
	e.ends(`"after"`)
}

// TestFileSizeLimit runs turns while no file may grow beyond a size. The user reads of
// a write that fails. If none does, the long output is whole. Every prompt is answered,
// and the next one is stored.
func TestFileSizeLimit(t *testing.T) {
	for n := range extent(6, 60) {
		most := uint64(n*n) << 10
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t)
			e := (&editor{}).start(t, start{env: p.Env()})
			e.file("a.txt", "a\n")
			e.file("long.txt", strings.Repeat("a line of a long output\n", 20_000))
			e.initialize()
			s := e.open()
			workTurn(e, p, s, `1`)
			before := len(e.agentFrames())
			limitProcess(t, e.cmd.Process.Pid, unix.RLIMIT_FSIZE, most)
			workTurn(e, p, s, `2`)
			told := joinLines(e.agentFrames()[before:])
			named := strings.Contains(told, "file too large") || strings.Contains(told, "is not being saved")
			limitProcess(t, e.cmd.Process.Pid, unix.RLIMIT_FSIZE, unix.RLIM_INFINITY)
			workTurn(e, p, s, `3`)
			e.quit()
			b := connect(t, start{root: e.root})
			if got, ok := b.load(s); !ok || len(got.prompts) != 3 {
				t.Errorf("loaded %+v", got)
			}
			if named {
				return
			}
			last := b.turnOf(s, `/read_overflow {"id":"`+overflowID.FindString(told)+`","offset":59999}`)
			if !strings.Contains(last, `60000\ta line of a long output`) {
				t.Errorf("the user reads no cause, and the long output is not whole: %.2000s\n%.4000s", last, told)
			}
		})
	}
}

// TestLittleMemory works within 100 MiB, which the kernel enforces where a cgroup can
// be made.
func TestLittleMemory(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	e := (&editor{}).start(t, start{env: append(p.Env(), "GOMEMLIMIT=100MiB")})
	limitMemory(t, e.cmd.Process.Pid, 100<<20)
	e.file("a.txt", "a\n")
	e.file("long.txt", strings.Repeat("a line of a long output\n", 1_000_000))
	e.initialize()
	s := e.open()
	for n := range extent(3, 30) {
		if f := workTurn(e, p, s, fmt.Sprint(n)); !strings.Contains(string(f.Result), "end_turn") {
			t.Fatalf("turn %d: %s", n, f.line)
		}
	}
	t.Logf("at most %d MiB resident", statusKiB(t, e.cmd.Process.Pid, "VmHWM")>>10)
}

// limitMemory moves a process to a cgroup with that many bytes, or logs why not.
func limitMemory(t testing.TB, pid int, most int64) {
	for _, dir := range []struct{ parent, limit string }{{"/sys/fs/cgroup", "memory.max"}, {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}} {
		group := filepath.Join(dir.parent, fmt.Sprint("zeph-test-", pid))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) }) // the processes are gone
		err := os.WriteFile(filepath.Join(group, dir.limit), fmt.Append(nil, most), 0)
		if err == nil {
			err = os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, pid), 0)
		}
		if err == nil {
			t.Log("limited by", group)
			return
		}
	}
	t.Log("no cgroup can limit the memory here")
}

// TestStopAndContinue stops an agent in a turn for longer than its lease, which another
// process takes over. The first agent says so when it continues.
func TestStopAndContinue(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("One.")))
	root := home(t)
	a, b := launch(t, start{env: p.Env(), root: root}), launch(t, start{env: p.Env(), root: root})
	a.initialize()
	b.initialize()
	s := a.open()
	a.runTurn(s, "one")
	began := make(chan struct{})
	p.Then(fakemodel.Hang(began, fakemodel.Say("I think")))
	a.request(`2`, "session/prompt", promptParams(s, "two"))
	within(t, patience, "the model", began)
	db := openDatabase(t, root)
	secondPrompt(t, db)
	goOn := stopForLong(t, a.cmd.Process, db)
	b.mustLoad(s)
	p.Then(fakemodel.Answer(fakemodel.Say("Three.")))
	b.runTurn(s, "three")
	goOn()
	a.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
	a.cancelledWithin(t, `2`)
	p.Then(fakemodel.Answer(fakemodel.Say("Four.")))
	a.runTurn(s, "four")
	if !strings.Contains(a.lines(), "Another process has taken over this session") {
		t.Errorf("the user does not read that the session was taken over:\n%s", a.tail())
	}
	got, ok := b.load(s)
	if want := []string{"one", "two", "three", "four"}; !ok || !slices.Equal(got.prompts, want) {
		t.Errorf("loaded %+v", got)
	}
}

// stopForLong stops the process of an agent and sets the last heartbeat of its lease to a
// minute ago, as if the process had been stopped for that long. It stops no process in a
// transaction, which would lock the database for everyone. The returned function continues
// the process; the end of the test does so too.
func stopForLong(t testing.TB, process *os.Process, db *sql.DB) (goOn func()) {
	t.Helper()
	signal := func(s os.Signal) {
		t.Helper()
		if err := process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = process.Signal(syscall.SIGCONT) }) // unless it has ended
	if _, err := db.Exec("PRAGMA busy_timeout=100"); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "a stop outside a transaction", func() bool {
		signal(syscall.SIGSTOP)
		if err := unix.Waitid(unix.P_PID, process.Pid, nil, unix.WSTOPPED, nil); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		aged, err := db.Exec("UPDATE leases SET beat = beat - 60000000")
		if err == nil {
			if n, _ := aged.RowsAffected(); n != 1 {
				t.Fatalf("%d leases", n)
			}
			return true
		}
		if !strings.Contains(err.Error(), "SQLITE_BUSY") {
			t.Fatal(err)
		}
		signal(syscall.SIGCONT)
		return false
	})
	return func() { signal(syscall.SIGCONT) }
}

// openDatabase opens the database of an agent for the test, with one connection.
func openDatabase(t testing.TB, root string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(root, "zeph", "zeph.db")+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// secondPrompt waits until a second prompt is in the log. It is written while the model is
// asked.
func secondPrompt(t testing.TB, db *sql.DB) {
	t.Helper()
	eventually(t, patience, "the second prompt in the log", func() bool {
		prompts := 0
		err := db.QueryRow("SELECT count(*) FROM events WHERE kind = 'prompt'").Scan(&prompts)
		return err == nil && prompts == 2
	})
}

// TestNewerDatabase starts an agent on the database of a newer version. It says so,
// works without it, and leaves it as it is.
func TestNewerDatabase(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("One.")), fakemodel.Answer(fakemodel.Say("Two.")))
	root := home(t)
	a := connect(t, start{env: p.Env(), root: root})
	s := a.open()
	a.runTurn(s, "one")
	db := openDatabase(t, root)
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	const want = "was written by a newer zeph-acp"
	a.request(`2`, "session/prompt", promptParams(s, "two")) // the file became newer while it was open
	if f := a.answer(`2`); !strings.Contains(string(f.Result), "end_turn") || !strings.Contains(a.lines(), want) {
		t.Errorf("%s", a.lines())
	}
	b := connect(t, start{env: p.Env(), root: root})
	b.request(`1`, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, s, b.dir))
	if f := b.answer(`1`); f.Error == nil || !strings.Contains(f.Error.Message, want) {
		t.Errorf("session/load: %s", f.line)
	}
	p.Then(fakemodel.Answer(fakemodel.Say("Three.")))
	b.request(`2`, "session/prompt", promptParams(b.open(), "three"))
	if f := b.answer(`2`); !strings.Contains(string(f.Result), "end_turn") || !strings.Contains(b.lines(), want) {
		t.Errorf("%s", b.lines())
	}
}

// TestNoProc works without /proc, where root can hide it.
func TestNoProc(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc").CombinedOutput(); err != nil {
		t.Skipf("/proc cannot be hidden here: %v %s", err, out)
	}
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(readsFile, printsLong), fakemodel.Answer(fakemodel.Say("Done.")))
	hide := []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"}
	told := oneTurn(t, p, start{env: p.Env(), wrapper: hide})
	if strings.Contains(told, `"failed"`) || strings.Contains(told, "Warning") {
		t.Errorf("%.6000s", told)
	}
}

// TestSlowSync delays every sync of a file by 300 ms. The turn waits for none of them
// for long, and the agent exits in time.
func TestSlowSync(t *testing.T) {
	const inject = "strace -f -qq -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_enter=300000"
	if out, err := exec.Command("sh", "-c", inject+" true").CombinedOutput(); err != nil {
		t.Skipf("strace cannot delay calls here: %v %s", err, out)
	}
	// The agent has stderr; what strace says about itself is dropped.
	slow := []string{"sh", "-c", "exec 3>&2; exec " + inject + ` sh -c 'exec "$@" 2>&3 3>&-' sh "$@" 2>/dev/null`, "sh"}
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(readsFile, printsLong), fakemodel.Answer(fakemodel.Say("Done.")))
	told := oneTurn(t, p, start{env: p.Env(), wrapper: slow})
	if strings.Contains(told, `"failed"`) || strings.Contains(told, "Warning") {
		t.Errorf("%.6000s", told)
	}
}

// TestClockJumps has a database whose times are a year ahead of the clock, or behind
// it, as after the clock was set. A lease in it binds no one, and the session goes on.
func TestClockJumps(t *testing.T) {
	const year = 365 * 24 * 3600 * 1_000_000
	for name, jump := range map[string]int{"set back": year, "set forward": -year} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("One.")))
			root := home(t)
			a := connect(t, start{env: p.Env(), root: root})
			s := a.open()
			a.runTurn(s, "one")
			began := make(chan struct{})
			p.Then(fakemodel.Hang(began, fakemodel.Say("I think")))
			a.request(`2`, "session/prompt", promptParams(s, "two"))
			within(t, patience, "the model", began)
			db := openDatabase(t, root)
			secondPrompt(t, db)
			a.kill()
			<-a.exited
			for _, set := range []string{"UPDATE leases SET beat = beat + ?", "UPDATE events SET time = time + ?",
				"UPDATE sessions SET created = created + ?1, updated = updated + ?1"} {
				if _, err := db.Exec(set, jump); err != nil {
					t.Fatal(err)
				}
			}
			db.Close()
			b := connect(t, start{env: p.Env(), root: root})
			if got, ok := b.load(s); !ok || !slices.Equal(got.prompts, []string{"one", "two"}) {
				t.Errorf("loaded %+v", got)
			}
			p.Then(fakemodel.Answer(fakemodel.Say("Three.")))
			b.runTurn(s, "three")
			b.request(`4`, "session/list", `{}`)
			if f := b.answer(`4`); !strings.Contains(f.line, s) {
				t.Errorf("session/list: %s", f.line)
			}
		})
	}
}
