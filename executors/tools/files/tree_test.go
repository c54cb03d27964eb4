package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// shape lists the contents of a directory: names, link targets, contents.
func shape(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			rel += "/"
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			rel += "->" + to
		case d.Type().IsRegular():
			text, _ := os.ReadFile(path)
			rel += "=" + string(text)
		}
		lines = append(lines, rel)
		return nil
	}))
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

func project(t testing.TB) *bench {
	return newBench(t, map[string]string{
		"a": "A", "d/x": "X", "d/e/y": "Y", "in": "-> d/x", "out": "-> ../outside", "d/up": "-> ../a", "d/esc": "-> ../../outside/s", "dangling": "-> nowhere",
		"empty/in/": "", ".git/HEAD": "ref", "sub/.git/HEAD": "ref", "sub/f": "F", "../outside/s": "S",
	})
}

func TestTreeTools(t *testing.T) {
	for _, tt := range []struct {
		tool  string
		input in
		text  string // of the result; "!CATEGORY part" is a failure
		is    string // the contents afterwards; empty means no change
	}{
		{"create_directory", in{"path": "n/e/w"}, "Created directory: n/e/w", "+n/ +n/e/ +n/e/w/"},
		{"create_directory", in{"path": "d/"}, "Directory already exists: d", ""},
		{"create_directory", in{"path": "a"}, "!permanent_failure a already exists: it is a regular file", ""},
		{"create_directory", in{"path": "a/b"}, "!permanent_failure not a directory", ""},
		{"create_directory", in{"path": "out/n"}, "!policy_blocked outside", ""},
		{"create_directory", in{"path": "dangling"}, "Created directory: nowhere", "+nowhere/"},

		{"delete_path", in{"path": "a"}, "Deleted: a (1 file, 1 byte)", "-a=A"},
		{"delete_path", in{"path": "d"}, "Deleted: d (4 files, ", "-d/ -d/e/ -d/e/y=Y -d/esc->../../outside/s -d/up->../a -d/x=X"},
		{"delete_path", in{"path": "empty"}, "Deleted: empty (0 files, 2 directories, 0 bytes)", "-empty/ -empty/in/"},
		{"delete_path", in{"path": "out"}, "Deleted: out (1 file,", "-out->../outside"},
		{"delete_path", in{"path": "in"}, "Deleted: in (1 file,", "-in->d/x"},
		{"delete_path", in{"path": "out/"}, "!invalid_parameters symbolic link", ""},
		{"delete_path", in{"path": "out/s"}, "!policy_blocked outside", ""},
		{"delete_path", in{"path": "."}, "!policy_blocked directory of the session", ""},
		{"delete_path", in{"path": "d/.."}, "!policy_blocked directory of the session", ""},
		{"delete_path", in{"path": ".."}, "!policy_blocked outside", ""},
		{"delete_path", in{"path": "/"}, "!policy_blocked outside", ""},
		{"delete_path", in{"path": ".git"}, "!policy_blocked belongs to git", ""},
		{"delete_path", in{"path": ".git/HEAD"}, "!policy_blocked belongs to git", ""},
		{"delete_path", in{"path": "sub/.git/HEAD"}, "!policy_blocked belongs to git", ""},
		{"delete_path", in{"path": "sub/.GIT. "}, "!policy_blocked belongs to git", ""},
		{"delete_path", in{"path": "sub"}, "Deleted: sub (2 files, ", "-sub/ -sub/.git/ -sub/.git/HEAD=ref -sub/f=F"},
		{"delete_path", in{"path": "nope"}, "!permanent_failure no such file: nope", ""},
		{"delete_path", in{"path": ""}, "!invalid_parameters empty", ""},

		{"move_path", in{"source": "a", "destination": "b"}, "Moved: a -> b", "+b=A -a=A"},
		{"move_path", in{"source": "d", "destination": "p/q"}, "Moved: d -> p/q",
			"+p/ +p/q/ +p/q/e/ +p/q/e/y=Y +p/q/esc->../../outside/s +p/q/up->../a +p/q/x=X -d/ -d/e/ -d/e/y=Y -d/esc->../../outside/s -d/up->../a -d/x=X"},
		{"move_path", in{"source": "out", "destination": "o2"}, "Moved: out -> o2", "+o2->../outside -out->../outside"},
		{"move_path", in{"source": "a", "destination": "d"}, "!permanent_failure use the full new path: d/a.", ""},
		{"move_path", in{"source": "a", "destination": "d/x"}, "!permanent_failure d/x already exists", ""},
		{"move_path", in{"source": "a", "destination": "dangling"}, "!permanent_failure dangling already exists: it is a symbolic link", ""},
		{"move_path", in{"source": "a", "destination": "new/"}, "!invalid_parameters Use the full", ""},
		{"move_path", in{"source": "a", "destination": "./a"}, "!invalid_parameters the same", ""},
		{"move_path", in{"source": "a", "destination": "in/b"}, "!permanent_failure", ""},
		{"move_path", in{"source": "d", "destination": "d/e/d"}, "!invalid_parameters inside d", ""},
		{"move_path", in{"source": ".", "destination": "d/all"}, "!policy_blocked directory of the session", ""},
		{"move_path", in{"source": ".git", "destination": "git"}, "!policy_blocked git", ""},
		{"move_path", in{"source": "a", "destination": "sub/.git/a"}, "!policy_blocked git", ""},
		{"move_path", in{"source": "d", "destination": "d2/.git"}, "!policy_blocked git", ""},
		{"move_path", in{"source": "a", "destination": "../b"}, "!policy_blocked outside", ""},
		{"move_path", in{"source": "out/s", "destination": "b"}, "!policy_blocked outside", ""},
		{"move_path", in{"source": "nope", "destination": "b"}, "!permanent_failure no such file", ""},

		{"copy_path", in{"source": "a", "destination": "p/b"}, "Copied: a -> p/b (1 file, 1 byte)", "+p/ +p/b=A"},
		{"copy_path", in{"source": "d", "destination": "d2"}, "Copied: d -> d2 (3 files, 2 bytes)\n[left out: esc, symlinks that lead outside]",
			"+d2/ +d2/e/ +d2/e/y=Y +d2/up->../a +d2/x=X"},
		{"copy_path", in{"source": "d", "destination": "p/d2"}, "Copied: d -> p/d2 (3 files, 2 bytes)\n[left out: esc, symlinks that lead outside]",
			"+p/ +p/d2/ +p/d2/e/ +p/d2/e/y=Y +p/d2/up->../a +p/d2/x=X"},
		{"copy_path", in{"source": "d", "destination": "d/e/d"}, "!invalid_parameters inside d", ""},
		{"copy_path", in{"source": "in", "destination": "in2"}, "Copied: in -> in2 (1 file, 0 bytes)", "+in2->d/x"},
		{"copy_path", in{"source": "out", "destination": "out2"}, "!policy_blocked no part of out can be copied: [left out: out, symlinks that lead outside]", ""},
		{"copy_path", in{"source": "a", "destination": "a"}, "!invalid_parameters the same", ""},
		{"copy_path", in{"source": "a", "destination": "sub/f"}, "!permanent_failure already exists", ""},
		{"copy_path", in{"source": "a", "destination": "../outside/b"}, "!policy_blocked outside", ""},
		{"copy_path", in{"source": "sub/f", "destination": ".git/hooks/f"}, "!policy_blocked git", ""},
		{"copy_path", in{"source": "a", "destination": "d/x/b"}, "!permanent_failure", ""},
	} {
		t.Run(fmt.Sprint(tt.tool, tt.input), func(t *testing.T) {
			b := project(t)
			before := strings.Fields(shape(t, b.dir))
			res := b.run(tt.tool, tt.input)
			if want, failed := strings.CutPrefix(tt.text, "!"); failed {
				category, part, _ := strings.Cut(want, " ")
				wantFailure(t, res, executors.Category(category), part)
			} else if res.Failed || !strings.HasPrefix(res.ForModel(), tt.text) {
				t.Errorf("got %s, want %q at its beginning", res.ForModel(), tt.text)
			}
			after := strings.Fields(shape(t, b.dir))
			var changes []string
			for _, a := range after {
				if !slices.Contains(before, a) {
					changes = append(changes, "+"+a)
				}
			}
			for _, a := range before {
				if !slices.Contains(after, a) {
					changes = append(changes, "-"+a)
				}
			}
			slices.Sort(changes)
			if got := strings.Join(changes, " "); got != tt.is {
				t.Errorf("changed\n%s, want\n%s", got, tt.is)
			}
			if b.content("../outside/s") != "S" {
				t.Error("something was changed outside")
			}
		})
	}
}

func TestTreeCards(t *testing.T) {
	b := project(t)
	for _, tt := range []struct {
		tool  string
		input in
		title string
		kind  executors.Kind
		paths string
		op    string
	}{
		{"create_directory", in{"path": "n"}, "new directory n", executors.KindEdit, "n", "add directory n"},
		{"create_directory", in{"path": "d"}, "new directory d", executors.KindEdit, "d", ""},
		{"delete_path", in{"path": "d"}, "d and everything in it (4 files, 21 bytes)", executors.KindDelete, "d", "delete directory d"},
		{"delete_path", in{"path": "out"}, "out (a symlink)", executors.KindDelete, "out", "delete symlink out"},
		{"move_path", in{"source": "in", "destination": "p/q"}, "in → p/q", executors.KindMove, "in p/q", "move symlink in p/q"},
		{"move_path", in{"source": "in", "destination": "d"}, "in → d", executors.KindMove, "in d", ""}, // with an error
		{"copy_path", in{"source": "a", "destination": "b"}, "copy a → b", executors.KindEdit, "a b", "copy a b"},
	} {
		card, _ := b.Prepare(t.Context(), b.call(tt.tool, tt.input))
		var paths []string
		for _, p := range card.Paths {
			rel, _ := filepath.Rel(b.dir, p)
			paths = append(paths, rel)
		}
		op := ""
		for _, c := range card.Changes {
			op += strings.Join(strings.Fields(strings.ReplaceAll(c.Op+" "+c.Type+" "+c.OldPath+" "+c.Path, b.dir+string(filepath.Separator), "")), " ")
		}
		if card.Title != tt.title || card.Kind != tt.kind || strings.Join(paths, " ") != tt.paths || op != tt.op {
			t.Errorf("%s %v: %q %+v", tt.tool, tt.input, op, card)
		}
	}
}

// The question about a deletion lists the first entries in order, and counts all.
func TestDeletionLists(t *testing.T) {
	content := map[string]string{"one": "1"}
	for i := range maxListed + 2 {
		content[fmt.Sprintf("d/f%02d", i)] = "x"
	}
	b := newBench(t, content)
	for path, want := range map[string]string{
		"one": "This deletes 1 file, 1 byte:\n\n- `one`",
		"d":   "This deletes 22 files, 22 bytes:\n\n- `d/`\n- `d/f00`\n- `d/f01`\n",
	} {
		card, err := b.Prepare(t.Context(), b.call("delete_path", in{"path": path}))
		if err != nil || !strings.HasPrefix(card.Asked, want) || path == "d" && !strings.HasSuffix(card.Asked, "`d/f18`\n- and 3 more entries") {
			t.Errorf("%s: %q, %v", path, card.Asked, err)
		}
	}
}

// A result names the operation. A deletion has the text of a small text file.
func TestChangesMade(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\r\ny", "binary": "\x00", "large": strings.Repeat("x", maxDiff+1), "d/f": "1"})
	for _, tt := range []struct {
		tool  string
		input in
		want  filechange.Change
	}{
		{"create_directory", in{"path": "n"}, filechange.Change{Op: filechange.Add, Path: "n", Type: filechange.Directory}},
		{"copy_path", in{"source": "a", "destination": "b"}, filechange.Change{Op: filechange.Copy, Path: "b", OldPath: "a"}},
		{"move_path", in{"source": "b", "destination": "c"}, filechange.Change{Op: filechange.Move, Path: "c", OldPath: "b"}},
		{"delete_path", in{"path": "c"}, filechange.Change{Op: filechange.Delete, Path: "c", Old: new("x\r\ny")}},
		{"delete_path", in{"path": "binary"}, filechange.Change{Op: filechange.Delete, Path: "binary", Type: filechange.Binary}},
		{"delete_path", in{"path": "large"}, filechange.Change{Op: filechange.Delete, Path: "large"}},
		{"delete_path", in{"path": "d"}, filechange.Change{Op: filechange.Delete, Path: "d", Type: filechange.Directory}},
		{"write", in{"path": "w", "content": "\x00"}, filechange.Change{Op: filechange.Add, Path: "w", Type: filechange.Binary, New: new("\x00")}},
		{"edit", in{"path": "a", "old_string": "x", "new_string": "z"},
			filechange.Change{Op: filechange.Modify, Path: "a", Old: new("x\r\ny"), New: new("z\r\ny")}},
	} {
		tt.want.Path = b.path(tt.want.Path)
		if tt.want.OldPath != "" {
			tt.want.OldPath = b.path(tt.want.OldPath)
		}
		want := []executors.Content{{Change: &tt.want}}
		if res := b.run(tt.tool, tt.input); res.Failed || !reflect.DeepEqual(res.Content, want) {
			t.Errorf("%s %v: %s, got %+v, want %+v", tt.tool, tt.input, res.ForModel(), res.Content[0].Change, tt.want)
		}
	}
}

// A root, the directories above it, and links to roots cannot be moved, even
// inside another root.
func TestRootsStay(t *testing.T) {
	b := newBench(t, map[string]string{"p/nested/f": "x", "real/f": "y", "p/alias": "-> ../real"})
	roots, err := workspace.New(b.dir, b.path("p/nested"), b.path("p/alias"))
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)
	for _, path := range []string{"p", "p/nested", "p/alias", "real", b.dir} {
		wantFailure(t, b.run("delete_path", in{"path": path}), executors.PolicyBlocked, "directory of the session")
		wantFailure(t, b.run("move_path", in{"source": path, "destination": "elsewhere"}), executors.PolicyBlocked, "directory of the session")
	}
	if res := b.run("delete_path", in{"path": "p/nested/f"}); res.Failed {
		t.Errorf(`b.run("delete_path", in{"path": "p/nested/f"}): got %s, want success`, res.ForModel())
	}
}

// Own files, and directories that contain some, are not touched.
func TestTreeToolsPrivate(t *testing.T) {
	b := atHome(t)
	before := shape(t, b.dir)
	for _, path := range []string{".config", ".config/zeph-acp", ".config/zeph-acp/keys.toml", "project/hard", "project"} {
		wantFailure(t, b.run("delete_path", in{"path": path}), executors.PolicyBlocked, "zeph-acp's own files")
		if path != "project" { // which is moved with the hard link unopened
			wantFailure(t, b.run("move_path", in{"source": path, "destination": "stolen"}), executors.PolicyBlocked, "zeph-acp's own files")
		}
	}
	wantFailure(t, b.run("copy_path", in{"source": ".config/zeph-acp/keys.toml", "destination": "k"}), executors.PolicyBlocked)
	wantFailure(t, b.run("copy_path", in{"source": "project/a", "destination": ".config/zeph-acp/a"}), executors.PolicyBlocked)
	wantFailure(t, b.run("create_directory", in{"path": ".config/zeph-acp/new"}), executors.PolicyBlocked)
	if after := shape(t, b.dir); after != before {
		t.Errorf("there is now\n%s, was\n%s", after, before)
	}
	if res := b.run("copy_path", in{"source": ".config", "destination": "c"}); res.Failed || !strings.HasSuffix(res.ForModel(), walk.HiddenNote) || shape(t,
		b.path("c")) != "other/ other/a=a" {
		t.Errorf("%s: %s", res.ForModel(), shape(t, b.path("c")))
	}
	if res := b.run("copy_path", in{"source": "project", "destination": "p"}); res.Failed || strings.Contains(shape(t, b.path("p")),
		secret) || strings.Contains(shape(t, b.path("p")), "->") {
		t.Errorf("%s: %s", res.ForModel(), shape(t, b.path("p")))
	}
}

func TestCopyKeepsModes(t *testing.T) {
	b := newBench(t, map[string]string{"d/run": "x", "d/ro/f": "y"})
	must(t, os.Chmod(b.path("d/run"), 0o751))
	must(t, os.Chmod(b.path("d/ro/f"), 0o440))
	must(t, os.Chmod(b.path("d/ro"), 0o555))
	t.Cleanup(func() { os.Chmod(b.path("d/ro"), 0o755); os.Chmod(b.path("e/ro"), 0o755) })
	if res := b.run("copy_path", in{"source": "d", "destination": "e"}); res.Failed {
		t.Fatalf(`b.run("copy_path", in{"source": "d", "destination": "e"}): got %s, want success`, res.ForModel())
	}
	for name, want := range map[string]fs.FileMode{"e/run": 0o751, "e/ro": fs.ModeDir | 0o555, "e/ro/f": 0o440} {
		if info, err := os.Lstat(b.path(name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestCopyLimits(t *testing.T) {
	for name, cfg := range map[string]func(*Config){
		"max_copy_entries": func(c *Config) { c.MaxCopyEntries = 3 },
		"max_copy_bytes":   func(c *Config) { c.MaxCopyBytes = 1 },
	} {
		b := project(t)
		c := setting.Default[Config]()
		cfg(&c)
		before := shape(t, b.with(c).dir)
		wantFailure(t, b.run("copy_path", in{"source": "d", "destination": "p/q/d2"}), executors.PermanentFailure, name)
		if after := shape(t, b.dir); after != before {
			t.Errorf("%s: left %s", name, after)
		}
	}
}

// stops is a context that ends after n checks.
type stops struct {
	context.Context
	mu sync.Mutex
	n  int
}

func (s *stops) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n--; s.n < 0 {
		return context.Canceled
	}
	return nil
}

// A copy that is cancelled at any moment leaves no file.
func TestCopyCancelled(t *testing.T) {
	b := project(t)
	before := shape(t, b.dir)
	for n := 0; ; n++ {
		res, err := b.Execute(&stops{Context: t.Context(), n: n}, b.call("copy_path", in{"source": "d", "destination": "p/q/d2"}))
		if err == nil && !res.Failed {
			if n < 5 {
				t.Errorf("done after %d looks", n)
			}
			return
		}
		if after := shape(t, b.dir); after != before {
			t.Fatalf("after %d looks (%s, %v): %s", n, res.ForModel(), err, after)
		}
	}
}

func TestTreeToolsCancelled(t *testing.T) {
	b := project(t)
	before := shape(t, b.dir)
	cause := errors.New("the user stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for tool, input := range map[string]in{
		"create_directory": {"path": "n"}, "delete_path": {"path": "d"}, "move_path": {"source": "d", "destination": "e"},
		"copy_path": {"source": "d", "destination": "e"},
	} {
		if res, err := b.Execute(ctx, b.call(tool, input)); !errors.Is(err, cause) {
			t.Errorf("%s: %+v, %v", tool, res, err)
		}
	}
	if after := shape(t, b.dir); after != before {
		t.Error("a cancelled call changed", after)
	}
}

// Hard links whose names differ only in case are two files on this system.
func TestMoveOntoHardLink(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x"})
	if err := os.Link(b.path("a"), b.path("A")); err != nil {
		t.Skip("names that differ in letter case alone are one name here:", err)
	}
	wantFailure(t, b.run("move_path", in{"source": "a", "destination": "A"}), executors.PermanentFailure, "already exists")
	if shape(t, b.dir) != "A=x a=x" {
		t.Errorf("got %q, want %q", shape(t, b.dir), "A=x a=x")
	}
}

// A directory that is replaced by a symlink during a call leads to no read and
// no change outside.
func TestEveryToolRace(t *testing.T) {
	for tool, input := range map[string]in{
		"read": {"path": "d/s"}, "write": {"path": "d/w", "content": "W"}, "edit": {"path": "d/s", "old_string": "S", "new_string": "W"},
		"find_path": {"pattern": "*", "path": "d"}, "list_directory": {"path": "d"}, "grep": {"path": "d", "pattern": "."},
		"create_directory": {"path": "d/n"}, "delete_path": {"path": "d/s"}, "move_path": {"source": "d/s", "destination": "m"},
		"copy_path":    {"source": "d", "destination": "c"},
		"move_path to": {"source": "a", "destination": "d/t"}, "copy_path to": {"source": "a", "destination": "d/t"}, "delete_path of d": {"path": "d"},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"d/s": "inside", "a": "A", "link": "-> ../outside", "../outside/s": "STOLEN", "../outside/keep/k": "K"})
			before := shape(t, b.path("../outside"))
			stop := b.swap("d", "link")
			tool, _, _ := strings.Cut(tool, " ")
			for range 60 {
				call := b.call(tool, input)
				call.Card, _ = b.Prepare(t.Context(), call)
				res, err := b.Execute(t.Context(), call)
				if err != nil || strings.Contains(res.ForModel(), "STOLEN") || strings.Contains(res.ForModel(), "keep") {
					t.Errorf("%s, %v", res.ForModel(), err)
				}
				for _, name := range []string{"m", "c/s"} {
					if text, err := os.ReadFile(b.path(name)); err == nil && string(text) == "STOLEN" {
						if info, _ := os.Lstat(b.path(name)); info.Mode().IsRegular() {
							t.Errorf("%s holds what is outside", name)
						}
					}
				}
				_ = os.RemoveAll(b.path("c"))
				_ = os.Remove(b.path("m"))
				_ = os.WriteFile(b.path("a"), []byte("A"), 0o644)
			}
			stop()
			if after := shape(t, b.path("../outside")); after != before {
				t.Errorf("outside is now %s", after)
			}
		})
	}
}

// A count goes on after an entry that vanished or must not be read, and after no other error.
func TestCensusSkip(t *testing.T) {
	broken := errors.New("input/output error")
	for name, tt := range map[string]struct {
		err, want error
		counted   census
	}{
		"vanished":      {&fs.PathError{Op: "lstat", Path: "a", Err: fs.ErrNotExist}, nil, census{}},
		"private":       {&workspace.AgentFileError{}, nil, census{hidden: true}},
		"denied":        {&workspace.DeniedError{Path: "a"}, nil, census{denied: 1}},
		"another error": {broken, broken, census{}},
	} {
		var c census
		if got := c.skip(tt.err); got != tt.want || !reflect.DeepEqual(c, tt.counted) {
			t.Errorf("%s: skip returned %v and counted %+v, want %v and %+v", name, got, c, tt.want, tt.counted)
		}
	}
}

// A call whose path leads elsewhere since it was checked is blocked.
func TestSameAsCard(t *testing.T) {
	judged := func(paths ...string) *executors.Call { return &executors.Call{Card: executors.Card{Paths: paths}} }
	a, b := target{abs: "/w/a", display: "a"}, target{abs: "/w/b", display: "b"}
	for name, tt := range map[string]struct {
		call *executors.Call
		now  []target
		same bool
	}{
		"one path":           {judged("/w/a"), []target{a}, true},
		"both ends":          {judged("/w/a", "/w/b"), []target{a, b}, true},
		"more paths judged":  {judged("/w/a", "/w/b"), []target{a}, true},
		"another file":       {judged("/w/a"), []target{b}, false},
		"another target end": {judged("/w/a", "/w/c"), []target{a, b}, false},
	} {
		err := sameAsCard(tt.call, tt.now...)
		f, blocked := errors.AsType[*executors.Failure](err)
		if blocked == tt.same || blocked && f.Category != executors.PolicyBlocked || !blocked && err != nil {
			t.Errorf("%s: got %v, want an error: %t", name, err, !tt.same)
		}
	}
}
