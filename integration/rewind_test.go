package integration

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// rewindAgent is an agent with the built-in model, in a workspace of many files.
type rewindAgent struct {
	editor
	session string
	point   string // the id of the prompt of the only turn
}

// newRewinder starts an agent that has changed every file in one turn. It returns the
// files before and after that turn.
func newRewinder(t *testing.T, root, caps string) (r *rewindAgent, before, after map[string]string) {
	t.Helper()
	r = &rewindAgent{}
	r.start(t, start{root: root})
	r.initialize(caps)
	for i := range 60 {
		r.file(fmt.Sprintf("d%d/f%d.txt", i%6, i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 20))
	}
	r.file("image.bin", "\x00\xff\x01")
	before = r.files()
	r.session = r.open()
	r.runTurn(r.session, "/bash for f in d?/*; do echo more >> $f; done; rm -r d5 image.bin; mkdir new; echo x > new/file; ln -s d1 link")
	r.point = r.points("2")[0]
	return r, before, r.files()
}

// files returns the files and links of the workspace.
func (r *rewindAgent) files() map[string]string {
	r.t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			found[path] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			found[path], err = os.Readlink(filepath.Join(r.dir, path))
		default:
			found[path] = r.content(path)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// points returns the ids of the turns to go back to.
func (r *rewindAgent) points(id string) (ids []string) {
	r.t.Helper()
	r.request(id, "_session/rewind_points", fmt.Sprintf(`{"sessionId":%q}`, r.session))
	f := r.answer(id)
	var result struct{ Points []struct{ MessageID string } }
	if err := json.Unmarshal(f.Result, &result); err != nil {
		r.t.Fatalf("%s: %v", f.line, err)
	}
	for _, p := range result.Points {
		ids = append(ids, p.MessageID)
	}
	return ids
}

func (r *rewindAgent) rewind(id, mode string) {
	r.t.Helper()
	r.request(id, "_session/rewind", fmt.Sprintf(`{"sessionId":%q,"messageId":%q,"mode":%q}`, r.session, r.point, mode))
}

// after kills the agent, starts the next one, and loads the session there. It returns
// the text of the first turn.
func (r *rewindAgent) after(t *testing.T, caps string) (next *rewindAgent, said string) {
	t.Helper()
	r.exitChecked = true
	r.killed.Store(true)
	fakeide.KillGroup(r.cmd)
	r.waitExit(patience)
	next = &rewindAgent{session: r.session, point: r.point}
	next.start(t, start{root: r.root})
	next.initialize(caps)
	next.mustLoad(r.session)
	next.runTurn(r.session, "/status")
	for _, f := range next.agentFrames() {
		if u, ok := f.update(); ok && u.Kind != "tool_call_update" {
			said += string(u.Content)
		}
	}
	return next, said
}

// TestKilledRewind kills agents at random moments of a rewind. The next one has the
// files and the conversation of before the rewind or of after it, and says which if
// it had to do something.
func TestKilledRewind(t *testing.T) {
	rng := newRand(t)
	took := 40 * time.Millisecond
	for n := range extent(4, 60) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { took = killedRewind(t, rng, took, n == 0) })
	}
}

// killedRewind kills an agent during a part of the time that the rewind takes, and
// returns that time.
func killedRewind(t *testing.T, rng *rand.Rand, took time.Duration, whole bool) time.Duration {
	r, before, after := newRewinder(t, home(t), "{}")
	began := time.Now()
	r.rewind("3", "both")
	if whole {
		r.answer("3")
		took = time.Since(began)
	} else {
		time.Sleep(time.Duration(rng.Int64N(int64(took)))) // a random moment
	}
	next, said := r.after(t, "{}")
	now, points := next.files(), next.points("11")
	switch {
	case maps.Equal(now, before):
		if len(points) != 0 {
			t.Errorf("the files are rewound, and the conversation is not; it said %s", said)
		}
	case maps.Equal(now, after):
		if len(points) != 1 {
			t.Errorf("the conversation is rewound, and the files are not; it said %s", said)
		}
		next.rewind("12", "both")
		if f := next.answer("12"); f.Error != nil || !maps.Equal(next.files(), before) {
			t.Errorf("rewind again: %s", f.line)
		}
	default:
		t.Errorf("the files are in neither state (-after it +got)\n%s; it said %s", cmp.Diff(after, now), said)
	}
	return took
}

// TestKilledRewindInTheEditor kills an agent while the editor is to restore a buffer,
// after files on the disk were restored.
func TestKilledRewindInTheEditor(t *testing.T) {
	caps := `{"fs":{"readTextFile":true,"writeTextFile":true}}`
	r, _, after := newRewinder(t, home(t), caps)
	r.mute("fs/write_text_file")
	r.rewind("3", "files")
	r.await("the restoration of a buffer", func(f frame) bool { return f.Method == "fs/write_text_file" })
	if maps.Equal(r.files(), after) {
		t.Error("no file was changed yet, so the test shows nothing")
	}
	next, said := r.after(t, caps)
	if !maps.Equal(next.files(), after) {
		t.Errorf("the files are not as they were before the rewind (-want +got)\n%s; it said %s", cmp.Diff(after, next.files()), said)
	}
	if !strings.Contains(said, "A rewind was interrupted. The files are as they were before it.") {
		t.Errorf("it said %s", said)
	}
}

// TestRewindDocumented runs the example of docs/undo.md, and compares what it prints.
func TestRewindDocumented(t *testing.T) {
	page := readText(t, "docs/undo.md")
	_, example, ok := strings.Cut(page, "```\n$ zeph-acp run --resume ID --yes '/rewind 2 files'\n")
	if !ok {
		t.Fatal("the page has no example")
	}
	want, _, _ := strings.Cut(example, "```")
	a := launch(t, start{})
	run := func(args ...string) string {
		t.Helper()
		cmd := commandIn(a, args...)
		cmd.Dir = a.dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("run", "--yes", `/write {"path":"a.txt","content":"one"}`)
	id, _, _ := strings.Cut(run("sessions", "list"), "\t")
	run("run", "--yes", "--resume", id, "/bash echo two > a.txt; echo new > b.txt")
	if got := run("run", "--yes", "--resume", id, "/rewind 2 files"); got != want {
		t.Errorf("got\n%s\nthe page has\n%s", got, want)
	}
	if got := a.content("a.txt"); got != "one" {
		t.Errorf("a.txt holds %q", got)
	}
}

// TestRewindTheModelsHistory checks the requests that the model gets after a rewind of
// the conversation, in this process and in the next, and after a redo.
func TestRewindTheModelsHistory(t *testing.T) {
	root := home(t)
	v := newKilledAgent(t, root)
	session := v.open()
	for _, text := range []string{"say alpha", "say beta", "/rewind 2 conversation", "say gamma", "/rewind 3", "/rewind redo", "say delta"} {
		v.must(session, text)
	}
	v.quit()
	next := newKilledAgent(t, root)
	next.mustLoad(session)
	next.must(session, "say epsilon")
	for _, all := range [][]string{v.model.Requests(), next.model.Requests()} {
		last := all[len(all)-1]
		for _, want := range []string{"say alpha", "say gamma"} {
			if !strings.Contains(last, want) {
				t.Errorf("the model does not get %q: %.3000s", want, last)
			}
		}
		if strings.Contains(last, "say beta") {
			t.Errorf("the model gets a turn that was rewound: %.3000s", last)
		}
	}
}
