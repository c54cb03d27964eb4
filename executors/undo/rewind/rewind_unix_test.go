//go:build unix

package rewind_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// names returns the files below a directory.
func names(t testing.TB, dir string) []string {
	var all []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// A turn that changes nothing leaves no trace, whatever it reads.
func TestNothingIsKeptOfReading(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "one")
	w.turn(func() {
		w.call("read", map[string]string{"path": "a.txt"})
		w.bash("ls -l; cat a.txt | grep o")
		w.call("grep", map[string]string{"pattern": "o"})
		w.write("a.txt", "one")
	})
	if got := names(t, w.data); len(got) > 0 {
		t.Errorf("it wrote %q", got)
	}
	w.turn(func() { w.bash("true && x=1") }) // may change anything, and changes nothing
	if changed, err := w.kept.Changed(); err != nil || len(changed) > 0 {
		t.Errorf("got %v, %v", changed, err)
	}
}

// What is kept can be read by the user alone.
func TestKeptFilesArePrivate(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "one")
	w.turn(func() { w.write("a.txt", "two"); w.bash("x=1; echo three > b.txt") })
	for _, name := range names(t, w.data) {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, dir := range []string{rewind.DirName} {
		if info, err := os.Stat(filepath.Join(w.data, dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

// A file that the user has changed is replaced only with force: after the turn,
// between two turns, and while the question is open.
func TestFilesOfTheUser(t *testing.T) {
	w := newWorld(t)
	w.put("after.txt", "1")
	w.put("between.txt", "1")
	w.put("during.txt", "1")
	w.put("agents.txt", "1")
	first := w.turn(func() {
		for _, name := range []string{"after.txt", "between.txt", "during.txt", "agents.txt"} {
			w.write(name, "2")
		}
	})
	w.put("between.txt", "user")
	w.turn(func() { w.write("between.txt", "3") })
	w.put("after.txt", "user")
	p, err := w.kept.PlanRewind(t.Context(), first, "r")
	if err != nil {
		t.Fatal(err)
	}
	var foreign []string
	for _, s := range p.Conflicts() {
		foreign = append(foreign, p.Rel(s)+": "+s.Conflict)
	}
	want := []string{"after.txt: it is not as the agent left it", "between.txt: it was changed between the turns"}
	if !slices.Equal(foreign, want) {
		t.Errorf("got %q, want %q", foreign, want)
	}
	w.put("during.txt", "user")
	out := w.apply(p, false)
	if len(out.Changed) != 1 || !slices.Equal(out.Kept, []string{"after.txt", "between.txt", "during.txt"}) {
		t.Errorf("got %+v", out)
	}
	for name, want := range map[string]string{"after.txt": "user", "between.txt": "3", "during.txt": "user", "agents.txt": "1"} {
		if got, _ := os.ReadFile(filepath.Join(w.dir, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

// While nothing can be stored, the changes of a turn stay in memory. A rewind names the
// files whose contents are lost, and the next turn stores the changes.
func TestNoRoomForATurn(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "one")
	w.turn(func() { w.write("b.txt", "one") })
	bases, err := filepath.Glob(filepath.Join(w.data, rewind.DirName, "*"))
	if err != nil || len(bases) != 1 {
		t.Fatalf("%q, %v", bases, err)
	}
	away := bases[0] + ".away"
	if err := errors.Join(os.Rename(bases[0], away), os.WriteFile(bases[0], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	turn := w.turn(func() { w.write("a.txt", "two"); w.write("c.txt", "two") })
	check := func() {
		t.Helper()
		if changed, err := w.kept.Changed(); err != nil || changed[turn] != 2 {
			t.Errorf("got %v, %v", changed, err)
		}
		p, err := w.kept.PlanRewind(t.Context(), turn, "r")
		if err != nil || len(p.Steps) != 2 {
			t.Fatalf("got %+v, %v", p, err)
		}
		if lost, removed := p.Steps[0].Unrestorable, p.Steps[1]; !strings.Contains(lost,
			"could not be kept") || removed.Verb() != "remove" || removed.Conflict != "" {
			t.Errorf("got %+v", p.Steps)
		}
	}
	check()
	if err := errors.Join(os.Remove(bases[0]), os.Rename(away, bases[0])); err != nil {
		t.Fatal(err)
	}
	w.turn(func() {})
	w.start()
	check()
}

// A directory that the agent made stays if the user has put a file into it.
func TestDirectoryOfTheUser(t *testing.T) {
	w := newWorld(t)
	turn := w.turn(func() { w.write("new/a.txt", "a") })
	w.put("new/mine.txt", "mine")
	w.back(turn, "r")
	if got := w.tree(); got["new/a.txt"] != "" || got["new/mine.txt"] == "" {
		t.Errorf("got %v", got)
	}
}

// A directory that the user made in the place of a file is not as the agent left it. A
// file that a rewind could not restore is restored by the next one.
func TestDirectoryInThePlaceOfAFile(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "1")
	w.put("b.txt", "1")
	turn := w.turn(func() { w.write("a.txt", "2"); w.write("b.txt", "2") })
	os.Remove(filepath.Join(w.dir, "a.txt"))
	w.put("a.txt/mine", "mine")
	p, err := w.kept.PlanRewind(t.Context(), turn, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if foreign := p.Conflicts(); len(foreign) != 1 || p.Rel(foreign[0]) != "a.txt" {
		t.Errorf("not as the agent left it: %+v", foreign)
	}
	if out := w.apply(p, true); len(out.Changed) != 1 || !slices.Equal(out.Failed, []string{"a.txt: the directory is not empty"}) {
		t.Errorf("got %+v", out)
	}
	os.RemoveAll(filepath.Join(w.dir, "a.txt"))
	w.put("b.txt", "mine")
	w.start()
	w.back(turn, "r2")
	for name, want := range map[string]string{"a.txt": "1", "b.txt": "mine"} {
		if got, _ := os.ReadFile(filepath.Join(w.dir, name)); string(got) != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	w.again("r2")
	w.again("r1")
	if got, _ := os.ReadFile(filepath.Join(w.dir, "b.txt")); string(got) != "2" {
		t.Errorf("after the redo b.txt holds %q", got)
	}
	w.back(turn, "r3")
}

// Files that may not be read, that are too large, or that an ignore file excludes are
// not copied.
func TestFilesThatAreNotKept(t *testing.T) {
	w := newWorld(t)
	w.read = workspace.ReadRules{Deny: []string{"*.key"}}
	w.limits.MaxFileBytes = 100
	w.start()
	w.put("a.key", "secret-1")
	w.put("large", strings.Repeat("secret-2", 50))
	w.put("ignored/x", "secret-3")
	w.put(".gitignore", "ignored\n")
	w.put(".git/config", "secret-4")
	w.put("b", "b")
	turn := w.turn(func() {
		w.bash("x=1; for f in a.key large ignored/x .git/config b; do echo new > $f; done")
		w.bash("echo newer > a.key")
		w.bash("echo newest > large; echo ignored > ignored/y")
	})
	for _, name := range names(t, w.data) {
		if data, _ := os.ReadFile(name); strings.Contains(string(data), "secret") {
			t.Errorf("%s: %s", name, data)
		}
	}
	p, err := w.kept.PlanRewind(t.Context(), turn, "r")
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	for _, s := range p.Unrestorable() {
		lost = append(lost, p.Rel(s)+": "+s.Unrestorable)
	}
	if want := []string{"a.key: it may not be read (deny_read)", "large: it is larger than 100 bytes (tools.undo.max_file_bytes)"}; !slices.Equal(lost, want) {
		t.Errorf("got %q, want %q", lost, want)
	}
	w.apply(p, true)
	if got, _ := os.ReadFile(filepath.Join(w.dir, "b")); string(got) != "b" {
		t.Errorf("b holds %q", got)
	}
	if got := w.tree()["ignored/y"]; got != "" {
		t.Errorf("ignored/y, which the command named, is still there: %s", got)
	}
}

// A workspace over a bound says so, and tools are covered all the same.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	w.limits.MaxFiles, w.cfg.MaxTurns = 3, 2
	w.start()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.put(name, "1")
	}
	turn := w.turn(func() { w.write("a", "2"); w.bash("x=1; echo 2 > b"); w.bash("echo 2 > c") })
	p, err := w.kept.PlanRewind(t.Context(), turn, "r")
	if err != nil || len(p.Gaps) != 1 || !strings.Contains(p.Gaps[0], "more than 3 files (tools.undo.max_files)") || len(p.Steps) != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	w.turn(func() { w.write("a", "3") })
	w.turn(func() { w.write("a", "4") })
	if _, err := w.kept.PlanRewind(t.Context(), turn, "r"); !errors.Is(err, rewind.ErrDropped) {
		t.Errorf("got %v", err)
	}
	if changed, _ := w.kept.Changed(); changed[turn] != -1 || changed[turn+1] != 1 {
		t.Errorf("got %v", changed)
	}
}

// keptBytes returns the size of the kept contents.
func (w *world) keptBytes() (size int64) {
	w.t.Helper()
	for _, name := range names(w.t, w.data) {
		if info, err := os.Stat(name); err != nil {
			w.t.Error(err)
		} else if strings.Contains(name, "contents") {
			size += info.Size()
		}
	}
	return size
}

// A call that changes only a directory itself keeps nothing of what is in it.
func TestNothingBelowIsKept(t *testing.T) {
	w := newWorld(t)
	w.put("d/a", "one")
	before := w.tree()
	turn := w.turn(func() {
		w.call("create_directory", map[string]string{"path": "d"})
		w.bash("mkdir -p d; touch d")
		w.call("create_directory", map[string]string{"path": "d/new/deep"})
	})
	if size := w.keptBytes(); size > 0 {
		t.Errorf("it keeps %d bytes", size)
	}
	w.back(turn, "r")
	w.wantTree("after the rewind", before)
}

// A directory with more bytes than are kept, perhaps in files with holes, is not copied,
// and does not push out the older turns.
func TestLargeTree(t *testing.T) {
	for name, change := range map[string]string{"rm": "rm -rf d", "mv": "mv d e", "chmod": "chmod -R go-r d", "cp": "cp -r d e"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.limits.MaxBytes = 1000
			w.start()
			w.put("a", "one")
			first := w.turn(func() { w.write("a", "two") })
			for _, name := range []string{"x", "y", "z"} {
				w.put("d/"+name, name+strings.Repeat("\x00", 500))
			}
			turn := w.turn(func() { w.bash(change); w.write("b", "three") })
			if size := w.keptBytes(); size > 1000 {
				t.Errorf("it keeps %d bytes", size)
			}
			p, err := w.kept.PlanRewind(t.Context(), turn, "r")
			if err != nil {
				t.Fatal(err)
			}
			lost := p.Unrestorable()
			if name != "cp" && (len(lost) != 3 || lost[0].Unrestorable != "the files have more than 1,000 bytes (tools.undo.max_bytes)") {
				t.Errorf("got %+v", lost)
			}
			w.apply(p, true)
			p, err = w.kept.PlanRewind(t.Context(), first, "s")
			if err != nil {
				t.Fatal(err)
			}
			w.apply(p, true)
			if got, _ := os.ReadFile(filepath.Join(w.dir, "a")); string(got) != "one" {
				t.Errorf("a holds %q", got)
			}
		})
	}
}

// A process that is killed in the midst of a rewind leaves the files of either state:
// until all are restored those before it, then those after it.
func TestKilledRewind(t *testing.T) {
	for _, done := range []bool{false, true} {
		w := newWorld(t)
		for _, name := range []string{"a", "b", "c", "d/e"} {
			w.put(name, "1")
		}
		before := w.tree()
		turn := w.turn(func() {
			w.bash("x=1; rm -rf d c; echo 2 > a; echo 2 > new; ln -s a b2")
			w.write("b", "2")
		})
		after := w.tree()
		p, err := w.kept.PlanRewind(t.Context(), turn, "r")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Apply(t.Context(), true, []byte(`{"mark":1}`)); err != nil {
			t.Fatal(err)
		}
		// The state of the disk in the midst of it: the journal has its first name, and
		// some files are as they were.
		if !done {
			dir := names(t, w.data)
			at := slices.IndexFunc(dir, func(name string) bool { return filepath.Base(name) == "done.json" })
			os.Rename(dir[at], filepath.Join(filepath.Dir(dir[at]), "running.json"))
			w.put("a", "2\n")
			os.Remove(filepath.Join(w.dir, "c"))
		}
		w.start()
		mark, message, err := w.kept.Recover(t.Context())
		if err != nil || message == "" || done != (string(mark) == `{"mark":1}`) {
			t.Errorf("got %s, %q, %v", mark, message, err)
		}
		if done {
			w.wantTree("complete", before)
			if err := w.kept.Complete(); err != nil {
				t.Error(err)
			}
			w.again("r")
			w.wantTree("redo", after)
		} else {
			w.wantTree("as before it", after)
			w.back(turn, "r2")
			w.wantTree("again", before)
		}
		if _, message, err := w.kept.Recover(t.Context()); message != "" || err != nil {
			t.Errorf("a second time: %q, %v", message, err)
		}
	}
}

// A turn that is killed can be rewound: what changed since its first command needs a
// yes.
func TestKilledTurn(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.put("b", "1")
	before := w.tree()
	turn := w.begin()
	w.write("a", "2")
	w.bash("x=1; echo 2 > b; echo 2 > c")
	w.start()
	if _, message, err := w.kept.Recover(t.Context()); message != "" || err != nil {
		t.Errorf("got %q, %v", message, err)
	}
	p, err := w.kept.PlanRewind(t.Context(), turn, "r")
	if err != nil || len(p.WithoutConflict()) != 1 || len(p.Conflicts()) != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	w.apply(p, true)
	w.wantTree("back", before)
}

// buffers is an editor with unsaved texts.
type buffers struct {
	disk  rewind.FS
	texts map[string]string
	wrote []string
}

func (b *buffers) ReadFile(ctx context.Context, path string) (string, error) {
	if text, ok := b.texts[path]; ok {
		return text, nil
	}
	return b.disk.ReadFile(ctx, path)
}

func (b *buffers) ReadsDisk() bool { return false }

func (b *buffers) WriteFile(ctx context.Context, path, text string) error {
	b.wrote = append(b.wrote, filepath.Base(path))
	delete(b.texts, path) // it saves
	return b.disk.WriteFile(ctx, path, text)
}

// The unsaved text of a buffer is what comes back, and texts are restored through the
// editor.
func TestUnsavedBuffers(t *testing.T) {
	w := newWorld(t)
	roots, err := workspace.New(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	editor := &buffers{disk: files.Disk{Roots: roots}, texts: map[string]string{}}
	w.fs = editor
	w.start()
	path := filepath.Join(w.dir, "a.txt")
	w.put("a.txt", "saved\r\n")
	w.put("b.bin", "\x00\xff")
	editor.texts[path] = "unsaved\r\n"
	turn := w.turn(func() {
		w.call("edit", map[string]string{"path": "a.txt", "old_string": "unsaved", "new_string": "edited"})
		w.bash("rm b.bin")
	})
	editor.texts[path] = "typed"
	p, err := w.kept.PlanRewind(t.Context(), turn, "r")
	if err != nil || len(p.Conflicts()) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
	delete(editor.texts, path)
	editor.wrote = nil
	if p := w.back(turn, "r"); len(p.Conflicts()) != 0 {
		t.Errorf("got %+v", p.Conflicts())
	}
	if got, _ := os.ReadFile(path); string(got) != "unsaved\r\n" || !slices.Equal(editor.wrote, []string{"a.txt"}) {
		t.Errorf("it holds %q, the editor wrote %q", got, editor.wrote)
	}
	if got, _ := os.ReadFile(filepath.Join(w.dir, "b.bin")); string(got) != "\x00\xff" {
		t.Errorf("b.bin holds %q", got)
	}
	w.again("r")
	if got, _ := os.ReadFile(path); string(got) != "edited\r\n" {
		t.Errorf("after the redo it holds %q", got)
	}
}

// Unreferenced contents are removed. If there are too many, the contents of the oldest
// points are removed as well.
func TestClean(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.now = func() time.Time { return now }
	w.limits.MaxBytes = 1000
	w.start()
	for i := range 5 {
		w.turn(func() { w.write("a", strings.Repeat(fmt.Sprint(i), 300)) })
		now = now.Add(2 * time.Hour)
	}
	total := 0
	for _, name := range names(t, w.data) {
		if strings.Contains(name, "contents") {
			total++
		}
	}
	if total != 3 {
		t.Errorf("%d contents are kept, want 3", total)
	}
	if _, err := w.kept.PlanRewind(t.Context(), 1, "r"); !errors.Is(err, rewind.ErrDropped) {
		t.Errorf("got %v", err)
	}
	w.back(5, "r")
	if got, _ := os.ReadFile(filepath.Join(w.dir, "a")); string(got) != strings.Repeat("3", 300) {
		t.Errorf("it holds %.10q", got)
	}
	if err := rewind.Forget(w.data, "s"); err != nil {
		t.Error(err)
	}
	if changed, err := w.kept.Changed(); err != nil || len(changed) > 0 {
		t.Errorf("got %v, %v", changed, err)
	}
}

func BenchmarkSurvey(b *testing.B) {
	w := newWorld(b)
	for i := range 2000 {
		w.put(fmt.Sprintf("d%d/%d.txt", i%50, i), strings.Repeat("x", 8<<10)+fmt.Sprint(i))
	}
	time.Sleep(2200 * time.Millisecond) // until the files no longer count as just changed
	for b.Loop() {
		w.turn(func() { w.bash("x=1; true") })
	}
}

func BenchmarkWithoutRewind(b *testing.B) {
	w := newWorld(b)
	w.cfg.Enabled = false
	w.start()
	for b.Loop() {
		w.turn(func() { w.bash("x=1; true") })
	}
}

// A session that another one left in the midst of a rewind gets its files back by the
// next session of the workspace, once no process can be at work on it.
func TestKilledRewindOfAnotherSession(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	turn := w.turn(func() { w.write("a", "2"); w.write("b", "2") })
	after := w.tree()
	p, err := w.kept.PlanRewind(t.Context(), turn, "r")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Apply(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, w.data) {
		if filepath.Base(name) == "done.json" {
			os.Rename(name, filepath.Join(filepath.Dir(name), "running.json"))
		}
	}
	now := time.Now()
	w.session, w.now = "other", func() time.Time { return now }
	w.start()
	if _, message, err := w.kept.Recover(t.Context()); message != "" || err != nil {
		t.Errorf("at once: %q, %v", message, err)
	}
	now = now.Add(time.Minute)
	if _, message, err := w.kept.Recover(t.Context()); message == "" || err != nil {
		t.Errorf("later: %q, %v", message, err)
	}
	w.wantTree("later", after)
}

// The outcome has each change with its operation, and the texts of small files.
func TestChangesOfARewind(t *testing.T) {
	w := newWorld(t)
	w.put("a.txt", "one\n")
	w.put("gone.txt", "x\n")
	w.put("binary", "\x00")
	n := w.turn(func() {
		w.write("a.txt", "two\n")
		w.write("new.txt", "n\n")
		w.write("binary", "text\n")
		w.call("delete_path", map[string]string{"path": "gone.txt"})
		w.call("create_directory", map[string]string{"path": "d"})
	})
	p, err := w.kept.PlanRewind(t.Context(), n, "r")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range w.apply(p, true).Changes {
		text := fmt.Sprintf("%s %s %s", c.Op, c.Type, filepath.Base(c.Path))
		for _, s := range []*string{c.Old, c.New} {
			if s != nil {
				text += fmt.Sprintf(" %q", *s)
			}
		}
		got = append(got, text)
	}
	want := []string{`modify  a.txt "two\n" "one\n"`, `modify binary binary "text\n"`, "delete directory d", `add  gone.txt "x\n"`, `delete  new.txt "n\n"`}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
