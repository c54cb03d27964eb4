//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// makeTree makes files: a name that ends in "/" is a directory, a content that
// begins with "->" a link.
func makeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch target, link := strings.CutPrefix(content, "->"); {
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		case link:
			err = errors.Join(err, os.Symlink(target, path))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readTree returns the contents of a directory with their modes.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			text = string(b)
		}
		all[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%s %s", info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func transactional(t *testing.T, change func(*Config)) (*Executor, string) {
	t.Helper()
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cfg := setting.Default[Config]()
	cfg.Transactional, cfg.AutoRollback = true, true
	if change != nil {
		change(&cfg)
	}
	e := New(Local{}, roots.Cwd(), cfg)
	e.Roots, e.UndoLimits = roots, setting.Default[undo.Limits]()
	t.Cleanup(func() { e.Close() })
	return e, roots.Cwd()
}

func bash(script string) *executors.Call {
	in, _ := json.Marshal(map[string]string{"command": script})
	return call(Tool, string(in))
}

var project = map[string]string{
	"a.txt": "one\n", "b.txt": "two\n", "empty": "", "bin/tool": "#!/bin/sh\n", "link": "->a.txt", "away": "->/etc/hostname",
	"dirlink": "->sub", "sub/deep/x": "x", "sub/y": "y", "old/": "", ".git/config": "[core]\n", ".git/HEAD": "ref",
}

func TestRollback(t *testing.T) {
	for name, tt := range map[string]struct {
		script            string
		restored, deleted int
	}{
		"changed in place":     {"echo more >> a.txt; exit 1", 1, 0},
		"same size, same time": {"sed s/one/eno/ a.txt > t && touch -r a.txt t && cat t > a.txt && rm t; touch -d @1 a.txt; exit 1", 1, 0},
		"replaced":             {"make 2>/dev/null; mv b.txt a.txt; exit 2", 2, 0},
		"removed":              {"rm a.txt bin/tool; exit 1", 2, 0},
		"directory removed":    {"rm -rf sub; exit 1", 2, 0},
		"empty directory":      {"rmdir old; exit 1", 0, 0},
		"new files":            {"mkdir -p n/e/w && echo x > n/e/w/f && echo y > z; exit 1", 0, 2},
		"new, target known":    {"echo y > z; exit 1", 0, 1},
		"new directories":      {"mkdir -p n/e/w; exit 1", 0, 0},
		"new link":             {"ln -s /etc/passwd new; exit 1", 0, 1},
		"link removed":         {"rm link; exit 1", 1, 0},
		"link turned":          {"ln -sfn b.txt link; exit 1", 1, 0},
		"written through":      {"echo x > link; exit 1", 1, 0},
		"written through dir":  {"echo x > dirlink/y; exit 1", 1, 0},
		"mode":                 {"chmod 600 a.txt; chmod 755 b.txt; chmod 700 sub; exit 1", 2, 0},
		"mode alone":           {"chmod 711 sub; exit 1", 0, 0},
		"file to directory":    {"rm a.txt; mkdir a.txt; echo x > a.txt/y; exit 1", 1, 1},
		"directory to file":    {"rm -rf sub; echo x > sub; exit 1", 2, 0},
		"directory to link":    {"rm -rf sub; ln -s / sub; exit 1", 2, 0},
		"file to link":         {"rm a.txt; ln -s /etc/hostname a.txt; exit 1", 1, 0},
		"link to file":         {"rm away; echo x > away; exit 1", 1, 0},
		"file to pipe":         {"rm a.txt; mkfifo a.txt; mkfifo p; exit 1", 1, 1},
		"locked directory":     {"echo x > sub/y; chmod 000 sub; exit 1", 1, 0},
		"read-only directory":  {"chmod 555 sub/deep sub; rm a.txt; exit 1", 1, 0},
		"odd names":            {"touch -- '-x' $'a\\nb' 'ü ' $'\\xff'; exit 1", 0, 4},
		"cp into a directory":  {"cp a.txt b.txt sub; exit 1; make", 0, 2},
		"moved directory":      {"mv sub moved; exit 1", 2, 2},
		"cd first":             {"cd sub && echo z > y; exit 1", 1, 0},
		"git is left alone":    {"echo z > b.txt; exit 1", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e, dir := transactional(t, nil)
			makeTree(t, dir, project)
			before := readTree(t, dir)
			c := bash(tt.script)
			got := run(t, e, c)
			if diff := cmp.Diff(before, readTree(t, dir)); diff != "" {
				t.Errorf("%s\n(-before +after)\n%s", got.ForModel(), diff)
			}
			want := executors.Rollback{Restored: tt.restored, Deleted: tt.deleted}
			if rec := c.Record.Rollback; want == (executors.Rollback{}) && rec != nil || want != (executors.Rollback{}) && (rec == nil || *rec != want) {
				t.Errorf("record %+v, want %+v", rec, want)
			}
			if !strings.Contains(got.ForModel(), "[rolled back: ") || !strings.Contains(got.ForModel(), "\n[exit ") || !got.Failed || got.Category() != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRollbackSays(t *testing.T) {
	e, dir := transactional(t, nil)
	makeTree(t, dir, project)
	for script, want := range map[string]string{
		"echo out; rm a.txt b.txt; touch new; exit 1": "out\n[rolled back: 2 files restored, 1 new file removed]\n[exit 1]",
		"touch one two; false":                        "[rolled back: 0 files restored, 2 new files removed]\n[exit 1]",
		"touch a.txt; exit 2":                         "[rolled back: no file had changed]\n[exit 2]",
		"ls nothing 2> /dev/null":                     "[rolled back: no file had changed]\n[exit 2]",
		"cat nothing > /dev/null 2>&1":                "[rolled back: no file had changed]\n[exit 1]",
		"grep -q nothing a.txt":                       "[exit 1]", // only reads: no snapshot
	} {
		if got := run(t, e, bash(script)); got.ForModel() != want {
			t.Errorf("%s: %q, want %q", script, got.ForModel(), want)
		}
	}
}

// Changes stay if the exit code is not a configured failure, or if the user
// made the call.
func TestNoRollback(t *testing.T) {
	user := bash("echo x > new; exit 1")
	user.Origin = executors.User
	for name, tt := range map[string]struct {
		change func(*Config)
		call   *executors.Call
	}{
		"success":           {nil, bash("echo x > new")},
		"another code":      {nil, bash("echo x > new; exit 3")},
		"signal":            {nil, bash("echo x > new; kill -KILL $$")},
		"the user's":        {nil, user},
		"not transactional": {func(c *Config) { c.Transactional = false }, bash("echo x > new; exit 1")},
		"not automatic":     {func(c *Config) { c.AutoRollback = false }, bash("echo x > new; exit 1")},
		"out of scope":      {func(c *Config) { c.TransactionScope = []string{"src/**", "*.txt"} }, bash("make; echo x > new; exit 1")},
	} {
		t.Run(name, func(t *testing.T) {
			e, dir := transactional(t, tt.change)
			got := run(t, e, tt.call)
			if b, err := os.ReadFile(filepath.Join(dir, "new")); string(b) != "x\n" || tt.call.Record.Rollback != nil {
				t.Errorf("%q, %v; %s", b, err, got.ForModel())
			}
		})
	}
	t.Run("timeout", func(t *testing.T) {
		for codes, stays := range map[[2]int]bool{{1, 2}: true, {1, timeoutExitCode}: false} {
			e, dir := transactional(t, func(c *Config) { c.AutoRollbackExitCodes = codes[:] })
			e.Runner, e.Timeout = late{}, time.Millisecond
			got := run(t, e, bash("echo x > new; echo made; sleep 99"))
			_, err := os.Stat(filepath.Join(dir, "new"))
			if (err == nil) != stays || got.Category() != executors.Timeout || strings.Contains(got.ForModel(),
				"[rolled back: 0 files restored, 1 new file removed]") == stays {
				t.Errorf("%v: %v, %s", codes, err, got.ForModel())
			}
		}
	})
}

func TestScope(t *testing.T) {
	e, dir := transactional(t, func(c *Config) { c.TransactionScope = []string{"src/**", "*.txt"} })
	makeTree(t, dir, map[string]string{"src/a": "a", "a.txt": "a", "big.bin": "a", "sub/a.txt": "a"})
	want := readTree(t, dir)
	run(t, e, bash("for f in src/a a.txt big.bin sub/a.txt; do echo b > $f; done; touch src/new new.txt new.bin; mkdir src/d e; exit 1"))
	want["/big.bin"], want["/sub/a.txt"], want["/new.bin"] = "-rw-r--r-- b\n", "-rw-r--r-- b\n", "-rw-r--r-- "
	want["/e"] = want["/sub"]
	if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNoSnapshot(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config)
		prep   func(t *testing.T, e *Executor, dir string)
		call   *executors.Call
		why    string
	}{
		"too large": {nil, func(_ *testing.T, e *Executor, _ string) { e.UndoLimits.MaxBytes = 10 }, bash("echo x > new; ./x 2> /dev/null; exit 1"),
			"more than 10 bytes"},
		"background runs": {nil, func(t *testing.T, e *Executor, _ string) {
			run(t, e, call(Tool, `{"command":"sleep 999","background":true}`))
		}, bash("echo x > new; exit 1"), "runs in the background"},
		"in the background": {nil, nil, call(Tool, `{"command":"echo x > new; exit 1","background":true}`), "run in the background"},
	} {
		for _, required := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, required), func(t *testing.T) {
				e, dir := transactional(t, tt.change)
				makeTree(t, dir, map[string]string{"a": strings.Repeat("x", 11)})
				if tt.prep != nil {
					tt.prep(t, e, dir)
				}
				e.cfg.SnapshotRequired = required
				got := run(t, e, tt.call)
				_, err := os.Stat(filepath.Join(dir, "new"))
				if ran := err == nil; ran == required || !strings.Contains(got.ForModel(), tt.why) || tt.call.Record.Rollback != nil {
					t.Errorf("ran %t: %s", ran, got.ForModel())
				}
				if required && got.Category() != executors.PermanentFailure || !required && !strings.Contains(got.ForModel(), "[no snapshot: ") {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

// The result names files that existed before and could not be restored.
func TestPartialRollback(t *testing.T) {
	e, dir := transactional(t, nil)
	makeTree(t, dir, project)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := bash("rm pipe a.txt; exit 1")
	got := run(t, e, c)
	if got.Category() != executors.PermanentFailure || !strings.Contains(got.ForModel(), "pipe (it was a FIFO") || !strings.Contains(got.ForModel(),
		"1 file restored") {
		t.Errorf("got %+v", got)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "one\n" || c.Record.Rollback == nil {
		t.Errorf("a.txt holds %q", b)
	}
}

// No file outside the workspace is read, written or removed, wherever links
// lead.
func TestRollbackStaysInside(t *testing.T) {
	e, dir := transactional(t, nil)
	outside := t.TempDir()
	makeTree(t, outside, map[string]string{"keep": "keep", "sub/keep": "keep"})
	makeTree(t, dir, map[string]string{"sub/a": "a", "out": "->" + outside})
	before := readTree(t, outside)
	for _, script := range []string{
		"rm -rf sub; ln -s " + outside + " sub; exit 1",
		"rm -rf sub; ln -s " + outside + "/sub sub; exit 1; make",
		"ln -s " + outside + " new; mkdir d; ln -s ../../ d/up; exit 1",
	} {
		got := run(t, e, bash(script))
		if diff := cmp.Diff(before, readTree(t, outside)); diff != "" || got.Category() != "" {
			t.Errorf("%s: %s\n%s", script, got.ForModel(), diff)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "sub", "a")); string(b) != "a" {
			t.Errorf("%s: sub/a holds %q", script, b)
		}
	}
	run(t, e, bash("echo x > out/made; exit 1")) // not undone: the file is outside the workspace
	if _, err := os.Stat(filepath.Join(outside, "made")); err != nil {
		t.Error(err)
	}
}

func TestSnapshotIsCancelled(t *testing.T) {
	e, dir := transactional(t, nil)
	makeTree(t, dir, project)
	stop := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := e.Execute(ctx, bash("make; touch new")); err != stop {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("it ran")
	}
}

func TestDirectoryIsGone(t *testing.T) {
	e, dir := transactional(t, nil)
	elsewhere := t.TempDir()
	for why, change := range map[string]func() error{
		"no such file or directory": func() error { return os.RemoveAll(dir) },
		"took its place":            func() error { return errors.Join(os.RemoveAll(dir), os.Symlink(elsewhere, dir)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got := run(t, e, bash("touch new"))
		if got.Category() != executors.PermanentFailure || !strings.Contains(got.ForModel(), why) {
			t.Errorf("got %+v", got)
		}
	}
	if names, _ := os.ReadDir(elsewhere); len(names) > 0 {
		t.Errorf("it ran elsewhere: %v", names)
	}
}

// TestRollbackOfAllowed checks that a command which a rule or an "always" allows is undone too,
// and that it does not run without a required snapshot.
func TestRollbackOfAllowed(t *testing.T) {
	for _, required := range []bool{false, true} {
		e, dir := transactional(t, func(c *Config) { c.SnapshotRequired = required })
		if required {
			e.UndoLimits.MaxBytes = 1
		}
		makeTree(t, dir, project)
		before := readTree(t, dir)
		c := bash("echo more >> a.txt; exit 1")
		c.Plain = &executors.Plain{Script: "echo more >> ./a.txt; exit 1"}
		res, err := e.Execute(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, readTree(t, dir)); diff != "" || (res.Category() != "") != required {
			t.Errorf("required %t: the result is %q, the files differ: %s", required, res.ForModel(), diff)
		}
	}
}
