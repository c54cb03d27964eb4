package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// record makes calls with the given ids.
func record(t testing.TB, l *Log, ids ...string) {
	t.Helper()
	for _, id := range ids {
		call := newCall(`{"command":"x"}`)
		call.ID = id
		if res, err := chain(l, ok).Execute(t.Context(), call); err != nil || res.Failed {
			t.Fatalf("chain(l, ok).Execute(t.Context(), call): got %s, %v, want success", res.ForModel(), err)
		}
	}
}

func ids(t testing.TB, l *Log) string {
	t.Helper()
	var all []string
	for _, e := range entries(t, l) {
		all = append(all, e.ID)
	}
	return strings.Join(all, " ")
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes on Windows")
	}
	l := newLog(t)
	record(t, l, "a")
	if err := os.Chmod(l.file, 0o644); err != nil {
		t.Fatal(err)
	}
	record(t, l, "b")
	for name, want := range map[string]os.FileMode{filepath.Dir(l.file): 0o700, l.file: 0o600, l.running.file.Name(): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// The log continues whatever another program does with its file.
func TestMovedAway(t *testing.T) {
	l := newLog(t)
	record(t, l, "a")
	if err := os.Rename(l.file, l.file+".mine"); err != nil {
		t.Fatal(err)
	}
	record(t, l, "b")
	if got := ids(t, l); got != "b" {
		t.Errorf("after a rename the log has the calls %q, want b", got)
	}
	if err := os.RemoveAll(filepath.Dir(l.file)); err != nil {
		t.Fatal(err)
	}
	record(t, l, "c")
	if got := ids(t, l); got != "c" {
		t.Errorf("after its directory was removed the log has the calls %q, want c", got)
	}
}

func TestRotation(t *testing.T) {
	l := newLog(t)
	l.maxBytes = 3000
	for i := range 40 {
		record(t, l, fmt.Sprint(i))
		r, err := l.Verify()
		if err != nil || len(r.Torn) > 0 {
			t.Fatalf("after %d: %+v, %v", i, r, err)
		}
		for _, name := range []string{l.file, l.older()} {
			if info, err := os.Stat(name); err == nil && info.Size() > l.maxBytes+500 {
				t.Errorf("%s: %d bytes", name, info.Size())
			}
		}
		all := strings.Fields(ids(t, l))
		for j, id := range all {
			if want := fmt.Sprint(i - len(all) + 1 + j); id != want {
				t.Fatalf("after %d: the log has the calls %v, want the last ones without a gap", i, all)
			}
		}
		if want := min(i+1, 4); len(all) < want {
			t.Errorf("after %d: %d calls are left, want %d or more", i, len(all), want)
		}
	}
	if r, err := l.Verify(); err != nil || !r.Continues {
		t.Errorf("after 40 calls: %+v, %v; want a log that continues an earlier one", r, err)
	}
	if err := os.Remove(l.older()); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Verify(); err != nil || !r.Continues {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(l.file); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Verify(); err != nil || r.Lines != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The first line of a new log follows the previous log also after a torn line.
func TestTornAfterRotation(t *testing.T) {
	l := newLog(t)
	record(t, l, "a", "b")
	if err := os.Rename(l.file, l.older()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.file, []byte(`{"timestamp":"20`), 0o600); err != nil {
		t.Fatal(err)
	}
	record(t, l, "c")
	if r, err := l.Verify(); err != nil || r.Lines != 3 || !slices.Equal(r.Torn, []string{"audit.jsonl:1"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A call that cannot be recorded is not run.
func TestNotRecorded(t *testing.T) {
	for name, spoil := range map[string]func(l *Log) error{
		"a directory":      func(l *Log) error { return os.MkdirAll(l.file, 0o700) },
		"directory a file": func(l *Log) error { return os.WriteFile(filepath.Dir(l.file), nil, 0o600) },
		"a link": func(l *Log) error {
			return errors.Join(os.MkdirAll(filepath.Dir(l.file), 0o700), os.Symlink(filepath.Join(filepath.Dir(l.file), "x"), l.file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			if err := spoil(l); err != nil {
				t.Skip("the log cannot be spoilt this way here:", err)
			}
			res, err := chain(l, func(context.Context, *executors.Call) (executors.Result, error) {
				t.Error("a call that cannot be recorded ran")
				return executors.Result{}, nil
			}).Execute(t.Context(), newCall(`{"command":"x"}`))
			if err != nil || res.Category() != executors.PermanentFailure || !strings.Contains(res.ForModel(), "was not run") {
				t.Errorf("%+v, %v", res, err)
			}
			if name == "directory a file" {
				return
			}
			if left, err := l.otherRunFiles(); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
}

// A line that could not be written is written before the next call runs.
func TestUnwrittenLineComesFirst(t *testing.T) {
	l := newLog(t)
	record(t, l, "a")
	away := l.file + ".away"
	call := newCall(`{"command":"x"}`)
	call.ID = "b"
	res, err := chain(l, func(context.Context, *executors.Call) (executors.Result, error) {
		return executors.Result{Text: "done"}, errors.Join(os.Rename(l.file, away), os.Mkdir(l.file, 0o700))
	}).Execute(t.Context(), call)
	if _, ok := errors.AsType[*WriteError](err); !ok || res.ForModel() != "done" {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err := chain(l, ok).Execute(t.Context(), newCall(`{"command":"x"}`)); err != nil || !res.Failed {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := errors.Join(os.Remove(l.file), os.Rename(away, l.file)); err != nil {
		t.Fatal(err)
	}
	record(t, l, "c", "d")
	if got := ids(t, l); got != "a b c d" {
		t.Errorf("the log has the calls %q, want each once", got)
	}
	if r, err := l.Verify(); err != nil || r.Lines != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A call without an end is recorded as soon as the log is read.
func TestRecover(t *testing.T) {
	dead, l := newLog(t), newLog(t)
	l.file = dead.file
	record(t, dead, "a")
	for _, id := range []string{"b", "c", "d"} {
		call := newCall(`{"command":"x"}`)
		call.ID = id
		e := dead.newEntry(call, dead.now())
		slot, err := dead.begin(e)
		if err != nil {
			t.Fatal(err)
		}
		if id == "c" { // killed after its line was written
			dead.addOutcome(t.Context(), e, call, executors.Result{}, nil)
			body, err := e.body()
			if err := errors.Join(err, dead.append(body)); err != nil || slot != 1 {
				t.Fatalf("got %v, %v, want %v", slot, err, 1)
			}
		}
	}
	if err := l.Recover(); err != nil { // its process still runs
		t.Fatal(err)
	}
	if got := ids(t, l); got != "a c" {
		t.Fatalf("while the process lives the log has the calls %q, want a c", got)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	record(t, l, "e")
	if got := ids(t, l); got != "a c b d e" {
		t.Errorf("the log has the calls %q, want a c b d e", got)
	}
	for _, e := range entries(t, l) {
		if want := strings.Contains("bd", e.ID); (e.Result == Interrupted) != want || e.Command != "echo ***" {
			t.Errorf("%+v", e)
		}
		if want := "the agent ended while the call ran"; (e.Error == want) != (e.Result == Interrupted) {
			t.Errorf("call %s, %s: the error is %q", e.ID, e.Result, e.Error)
		}
	}
	if err := l.Recover(); err != nil || ids(t, l) != "a c b d e" {
		t.Error(err)
	}
	if left, err := l.otherRunFiles(); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// The end of one call does not forget those that still run.
func TestRecoverBesideEndedCalls(t *testing.T) {
	dead, l := newLog(t), newLog(t)
	l.file = dead.file
	call := newCall(`{"command":"x"}`)
	call.ID = "a"
	if _, err := dead.begin(dead.newEntry(call, dead.now())); err != nil {
		t.Fatal(err)
	}
	record(t, dead, "b", "c")
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	record(t, l, "d")
	if got := ids(t, l); got != "b c a d" {
		t.Errorf("the log has the calls %q, want b c a d", got)
	}
}

// A process that ends in order leaves only its log.
func TestCloseLeavesNoRunFile(t *testing.T) {
	l := newLog(t)
	record(t, l, "a")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := l.otherRunFiles(); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Read returns the lines that the log had when it began.
func TestReadDuringCalls(t *testing.T) {
	l := newLog(t)
	record(t, l, "a", "b")
	var read []string
	if err := l.Read(func(line Line) error {
		if read = append(read, line.Entry.ID); len(read) == 1 {
			record(t, l, "c")
		}
		return nil
	}); err != nil || !slices.Equal(read, []string{"a", "b"}) {
		t.Errorf("read the calls %v, %v; want a and b", read, err)
	}
}

// A line that is not an entry has no entry, also where a part of it could be decoded.
func TestReadNoEntry(t *testing.T) {
	if err := readLines(strings.NewReader(`{"tool":"bash","attempt":"x"}`), FileName, func(line Line) error {
		if line.Err == nil || line.Entry.Tool != "" {
			t.Errorf("%s has the entry %+v and the error %v", line.Text, line.Entry, line.Err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A call whose line is torn is recorded as interrupted.
func TestRecoverTornLine(t *testing.T) {
	dead, l := newLog(t), newLog(t)
	l.file = dead.file
	call := newCall(`{"command":"x"}`)
	call.ID = "a"
	e := dead.newEntry(call, dead.now())
	if _, err := dead.begin(e); err != nil {
		t.Fatal(err)
	}
	dead.addOutcome(t.Context(), e, call, executors.Result{}, nil)
	body, err := e.body()
	if err := errors.Join(err, dead.append(body)); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(l.file)
	if err := errors.Join(err, os.WriteFile(l.file, log[:len(log)-100], 0o600), dead.Close()); err != nil {
		t.Fatal(err)
	}
	record(t, l, "b")
	var got []string
	if err := l.Read(func(line Line) error {
		if line.Err == nil {
			got = append(got, line.Entry.ID+" "+string(line.Entry.Result))
		}
		return nil
	}); err != nil || !slices.Equal(got, []string{"a interrupted", "b success"}) {
		t.Errorf("the log has %q, %v; want a interrupted, b success", got, err)
	}
}

func TestTorn(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(log []byte) []byte
		ids   string
		torn  []string
	}{
		"half a line": {func(b []byte) []byte { return b[:len(b)-100] }, "a c", []string{"audit.jsonl:2"}},
		"no newline":  {func(b []byte) []byte { return b[:len(b)-1] }, "a b c", nil},
		"zeros":       {func(b []byte) []byte { return append(b, 0, 0, 0) }, "a b c", []string{"audit.jsonl:3"}},
		"very long": {
			func(b []byte) []byte { return append(append(b, lineBegin...), bytes.Repeat([]byte("x"), 3*maxLine)...) },
			"a b c",
			[]string{"audit.jsonl:3"},
		},
		"only half": {func(b []byte) []byte { return b[:20] }, "c", []string{"audit.jsonl:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			record(t, l, "a", "b")
			log, err := os.ReadFile(l.file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.file, tt.spoil(log), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"before", "after"} {
				if r, err := l.Verify(); err != nil || !slices.Equal(r.Torn, tt.torn) {
					t.Errorf("%s: %+v, %v", when, r, err)
				}
				if when == "before" {
					record(t, l, "c")
				}
			}
			var got []string
			if err := l.Read(func(line Line) error {
				if line.Err == nil {
					got = append(got, line.Entry.ID)
				}
				return nil
			}); err != nil || strings.Join(got, " ") != tt.ids {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	lines := func(change func(lines []string) []string) func(string) string {
		return func(log string) string { return strings.Join(change(strings.SplitAfter(log, "\n")), "") }
	}
	for name, tt := range map[string]struct {
		spoil func(log string) string
		pos   string // of the break; "" if there is no break
	}{
		"untouched":    {func(s string) string { return s }, ""},
		"empty":        {func(string) string { return "" }, ""},
		"changed":      {func(s string) string { return strings.Replace(s, `"tool_call_id":"2"`, `"tool_call_id":"9"`, 1) }, "audit.jsonl:2"},
		"hash changed": {lines(func(l []string) []string { l[1] = strings.Replace(l[1], `"hash":"`, `"hash":"0`, 1); return l }), "audit.jsonl:2"},
		"other hash": {lines(func(l []string) []string {
			l[1] = l[1][:len(l[1])-3-hashLen] + strings.Repeat("0", hashLen) + "\"}\n"
			return l
		}), "audit.jsonl:2"},
		"removed":         {lines(func(l []string) []string { return slices.Delete(l, 1, 2) }), "audit.jsonl:2"},
		"first removed":   {lines(func(l []string) []string { return l[1:] }), ""}, // like a log that was moved: Continues
		"doubled":         {lines(func(l []string) []string { return slices.Insert(l, 1, l[0]) }), "audit.jsonl:2"},
		"swapped":         {lines(func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }), "audit.jsonl:2"},
		"forged":          {lines(func(l []string) []string { return slices.Insert(l, 1, `{"tool":"bash"}`+"\n") }), "audit.jsonl:2"},
		"forged, sealed":  {lines(func(l []string) []string { return slices.Insert(l, 1, string(seal([]byte(`{"a":1}`), ""))) }), "audit.jsonl:2"},
		"made unreadable": {lines(func(l []string) []string { l[1] = "x" + l[1][:40] + "\n"; return l }), "audit.jsonl:2"},
		"garbage, and a later line removed": {lines(func(l []string) []string {
			return slices.Insert(slices.Delete(l, 2, 3), 1, "x\n")
		}), "audit.jsonl:2"},
		"added garbage":            {lines(func(l []string) []string { return slices.Insert(l, 1, "x\n") }), "audit.jsonl:2"},
		"only garbage":             {func(string) string { return "MZ\n\x00\x01\n" }, "audit.jsonl:1"},
		"a later line is appended": {func(log string) string { return log + "\x00 done\n" }, "audit.jsonl:5"},
		"zeros":                    {lines(func(l []string) []string { return slices.Insert(l, 1, "\x00\x00\n") }), ""},              // Torn
		"part of a line":           {lines(func(l []string) []string { return slices.Insert(l, 1, l[1][:40]+"\n", "{\"ti\n") }), ""}, // Torn
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			record(t, l, "1", "2", "3", "4")
			log, err := os.ReadFile(l.file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.file, []byte(tt.spoil(string(log))), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := l.Verify()
			broken, _ := errors.AsType[*BrokenError](err)
			if err != nil && broken == nil || (broken == nil) != (tt.pos == "") || broken != nil && broken.Pos != tt.pos {
				t.Errorf("%+v, %v", r, err)
			}
			if diff := cmp.Diff(name == "first removed", r.Continues); diff != "" {
				t.Errorf("Continues: -want +got\n%s", diff)
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	l := newLog(t)
	l.maxBytes = 1 << 20
	c := chain(l, ok)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				if res, err := c.Execute(t.Context(), newCall(`{"command":"x"}`)); err != nil || res.Failed {
					t.Errorf("got %s, %v, want success", res.ForModel(), err)
				}
			}
		})
	}
	group.Wait()
	if r, err := l.Verify(); err != nil || r.Lines != 200 || len(r.Torn) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if info, err := l.running.file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// Every accepted line is one that the log wrote.
func FuzzLines(f *testing.F) {
	good := seal([]byte(`{"tool":"bash","a":"\u001b"}`), "")
	f.Add([]byte("\n"), []byte(`{}`))
	f.Add(good, good[:len(good)-9])
	f.Add(append(bytes.Clone(good), good...), []byte(`,"prev":"","hash":"`))
	file := filepath.Join(f.TempDir(), FileName)
	f.Fuzz(func(t *testing.T, before, after []byte) {
		data := slices.Concat(before, []byte("\n"), good, after)
		found := false
		var r Report
		err := readLines(bytes.NewReader(data), FileName, func(line Line) error {
			found = found || bytes.Equal(line.Text, bytes.TrimSuffix(good, []byte("\n")))
			if prev, hash, intact, ok := unseal(line.Text); ok && intact {
				body := bytes.TrimSuffix(line.Text[:len(line.Text)-tailLen], []byte(prevMember+prev))
				if again := seal(append(bytes.Clone(body), '}'), prev); string(again) != string(line.Text)+"\n" || !isHash(hash) {
					t.Errorf("%q became %q", line.Text, again)
				}
			}
			return r.add(line)
		})
		if err == nil && !found {
			t.Errorf("%q is not among the lines of %q", good, data)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := &Log{file: file}
		if err := l.append([]byte(`{"tool":"new"}`)); err != nil {
			t.Fatal(err)
		}
		if _, next := l.Verify(); err == nil && next != nil {
			t.Errorf("%v after %q", next, data)
		}
	})
}
