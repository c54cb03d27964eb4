//go:build unix

package rewind_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/executors/undo/rollback"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// world is a workspace with the tools that change it, as one session has them.
type world struct {
	t      testing.TB
	dir    string // the workspace
	data   string
	cfg    rewind.Config
	limits undo.Limits
	read   workspace.ReadRules
	fs     rewind.FS // the editor; nil means the disk
	kept   *rewind.Session
	chain  executors.Executor
	turns  int
	now    func() time.Time

	session string
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, dir: t.TempDir(), data: t.TempDir(), now: time.Now, session: "s", cfg: setting.Default[rewind.Config](),
		limits: setting.Default[undo.Limits]()}
	w.cfg.MaxTurns = 1000
	w.dir, _ = filepath.EvalSymlinks(w.dir)
	w.start()
	return w
}

// start starts the session in a new process.
func (w *world) start() {
	w.t.Helper()
	roots, err := workspace.New(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	reading, err := roots.Reading(w.read)
	if err != nil {
		w.t.Fatal(err)
	}
	w.kept = rewind.New(rewind.Options{
		Config: w.cfg, Limits: w.limits, Data: w.data, Session: w.session, Roots: reading, Dirs: roots.Dirs(), Now: w.now, Log: slog.New(slog.DiscardHandler),
		Writes: rollback.Writes,
	})
	var fsys rewind.FS = files.Disk{Roots: reading}
	if w.fs != nil {
		fsys = w.fs
	}
	bash := shell.New(shell.Local{}, w.dir, setting.Default[shell.Config]())
	w.t.Cleanup(func() { bash.Close() })
	tools := executors.NewDynExecutor(bash, files.New(w.kept.Editor(fsys, w.fs != nil, w.fs != nil), reading, setting.Default[files.Config](), nil))
	w.chain = executors.Chain(tools, w.kept.Middleware)
}

// begin begins a turn.
func (w *world) begin() int {
	w.turns++
	w.kept.Begin(w.turns, fmt.Sprint("m", w.turns))
	return w.turns
}

func (w *world) end() { w.kept.End(context.Background()) }

// call runs a tool. A failure of the tool is no failure of the test.
func (w *world) call(tool string, input any) executors.Result {
	w.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		w.t.Fatal(err)
	}
	call := &executors.Call{Tool: tool, Input: raw, Record: &executors.Record{}, Notify: func(executors.Event) {}, Attempt: 1}
	call.Card, err = w.chain.Prepare(context.Background(), call)
	if err != nil {
		return executors.FailWith(err)
	}
	res, err := w.chain.Execute(context.Background(), call)
	if err != nil {
		w.t.Fatalf("%s %s: %v", tool, raw, err)
	}
	if res.Done != nil {
		res.Done()
	}
	return res
}

func (w *world) bash(script string) executors.Result {
	return w.call("bash", map[string]string{"command": script})
}

func (w *world) write(name, text string) executors.Result {
	return w.call("write", map[string]string{"path": name, "content": text})
}

// turn runs one turn.
func (w *world) turn(do func()) int {
	n := w.begin()
	do()
	w.end()
	return n
}

// back goes back to before a turn, with force, and returns the plan.
func (w *world) back(turn int, id string) *rewind.Plan {
	w.t.Helper()
	p, err := w.kept.PlanRewind(context.Background(), turn, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if out := w.apply(p, true); len(out.Failed)+len(out.Kept)+len(p.Gaps) > 0 {
		w.t.Errorf("back to before turn %d: %+v, left %q", turn, out, p.Gaps)
	}
	return p
}

func (w *world) apply(p *rewind.Plan, force bool) rewind.Outcome {
	w.t.Helper()
	out, err := p.Apply(context.Background(), force, []byte("{}"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.kept.Complete(); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) again(id string) {
	w.t.Helper()
	p, err := w.kept.PlanRedo(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(p, true)
}

// tree returns all entries of the workspace with mode and content.
func (w *world) tree() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		rel, _ := filepath.Rel(w.dir, path)
		mode := info.Mode()
		if mode&fs.ModeSymlink != 0 {
			mode = fs.ModeSymlink
		}
		found[rel] = fmt.Sprintf("%v %q", mode, content)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func (w *world) wantTree(what string, want map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.tree()); diff != "" {
		w.t.Fatalf("%s (-want +got)\n%s", what, diff)
	}
}

// put writes a file outside of any turn, as the user does.
func (w *world) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// gambler makes random changes of a world.
type gambler struct {
	*world
	*rand.Rand
}

// file returns a name, often of an existing entry.
func (g gambler) file() string {
	return fmt.Sprintf("d%d/%d.txt", g.IntN(10), g.IntN(24))
}

func (g gambler) dir() string {
	return fmt.Sprintf("d%d", g.IntN(12)) + []string{"", "/sub", "/sub/deep"}[g.IntN(3)]
}

func (g gambler) text() string {
	return []string{"", "plain\n", "crlf\r\nlines\r\n", "no end", "\ufeffbom\n", "\x00\xff\x01binary"}[g.IntN(6)] + fmt.Sprint(g.IntN(50))
}

// act runs one random call.
func (g gambler) act() {
	a, b := g.file(), g.file()
	switch g.IntN(17) {
	case 0, 1, 2:
		g.write(a, g.text())
	case 3:
		g.call("edit", map[string]any{"path": a, "old_string": "lines", "new_string": "rows"})
	case 4:
		g.call("delete_path", map[string]string{"path": []string{a, g.dir()}[g.IntN(2)]})
	case 5:
		g.call("move_path", map[string]string{"source": []string{a, g.dir()}[g.IntN(2)], "destination": g.dir() + "/moved"})
	case 6:
		g.call("copy_path", map[string]string{"source": []string{a, g.dir()}[g.IntN(2)], "destination": g.dir() + "/copied"})
	case 7:
		g.call("create_directory", map[string]string{"path": g.dir() + "/made"})
	case 8:
		g.bash("rm -rf " + a + " " + g.dir())
	case 9:
		g.bash("mkdir -p " + g.dir() + "; echo hi > " + a)
	case 10:
		g.bash("mv " + a + " " + b)
	case 11:
		g.bash("ln -sf ../" + b + " " + a)
	case 12:
		g.bash(fmt.Sprintf("for f in d%d/*; do printf '\\r\\n\\0x%d' >> $f; done", g.IntN(10), g.IntN(9)))
	case 13:
		g.bash(fmt.Sprintf("find d%d -name '*%d*' -delete; mkdir -p %s; date > %[3]s/new", g.IntN(10), g.IntN(9), g.dir()))
	case 14:
		g.bash("chmod " + []string{"600", "755", "444"}[g.IntN(3)] + " " + a)
	case 15:
		g.bash(fmt.Sprintf("cp -rp d%d %s 2>/dev/null; x=1; mv %s %s", g.IntN(10), g.dir(), g.dir(), g.dir()))
	case 16: // the same size and time, as by a tool that preserves times
		g.bash(fmt.Sprintf("x=%s; printf %d > y; touch -r $x y && mv y $x; rm -f y", a, g.IntN(10)))
	}
}

var long = flag.Bool("long", false, "play 500 random turns")

// Random turns are undone and redone over a tree of 200 files, across restarts.
func TestRandomTurns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text, ok := os.LookupEnv("REWIND_SEED"); ok {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("seed %d", seed)
	w := newWorld(t)
	g := gambler{w, rand.New(rand.NewPCG(seed, 1))}
	for i := range 200 {
		w.put(fmt.Sprintf("d%d/%d.txt", i%10, i/10), g.text())
	}
	turns := 150 // each run of the test plays others
	if testing.Short() {
		turns = 60
	}
	if *long {
		turns = 500
	}
	before := map[int]map[string]string{} // by turn, of those that stand
	var standing []int
	for range turns {
		n := w.turns + 1
		before[n] = w.tree()
		w.turn(func() {
			for range 1 + g.IntN(3) {
				g.act()
			}
		})
		standing = append(standing, n)
		if g.IntN(10) == 0 {
			w.start()
		}
		if g.IntN(8) > 0 {
			continue
		}
		at := len(standing) - 1 - g.IntN(min(15, len(standing)))
		to, end := standing[at], w.tree()
		id := fmt.Sprint("r", n)
		p := w.back(to, id)
		if f := p.Conflicts(); len(f) > 0 {
			t.Errorf("turn %d: only the agent changed %+v", to, f)
		}
		w.wantTree(fmt.Sprintf("turn %d: back to before turn %d", n, to), before[to])
		if g.IntN(10) == 0 {
			w.start()
		}
		if g.IntN(2) == 0 {
			w.again(id)
			w.wantTree(fmt.Sprintf("turn %d: redo of turn %d", n, to), end)
		} else {
			standing = standing[:at]
		}
	}
}
