package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/search"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestFind(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.go": "", "src/b.go": "", "src/deep/c.go": "", "src/deep/c_test.go": "", "src-x/d.go": "", ".github/ci.yml": "", "README.md": "",
		".git/config": "", "src/.git/x.go": "", ".gitignore": "build/\n*.log\n!keep.log\n", "build/out.go": "", "x.log": "", "keep.log": "",
		"in": "-> src", "outlink.go": "-> ../secret.go", "gone.go": "-> nowhere", "we[ird].go": "", "sp ace/ü.go": "",
	})
	for _, tt := range []struct {
		input in
		want  string // separated by spaces, "," for a space in a name
	}{
		{in{"pattern": "*.go"}, "a.go gone.go sp,ace/ü.go src-x/d.go src/b.go src/deep/c.go src/deep/c_test.go we[ird].go"},
		{in{"pattern": "**/*.go", "path": "src"}, "src/b.go src/deep/c.go src/deep/c_test.go"},
		{in{"pattern": "src/*.go"}, "src/b.go"},
		{in{"pattern": "./*.go"}, "a.go gone.go we[ird].go"},
		{in{"pattern": "src/**/*_test.go"}, "src/deep/c_test.go"},
		{in{"pattern": "*.{md,yml}"}, ".github/ci.yml README.md"},
		{in{"pattern": "we\\[*"}, "we[ird].go"},
		{in{"pattern": "deep"}, "src/deep/"},
		{in{"pattern": "src/*/"}, "src/deep/"},
		{in{"pattern": "src/deep/c.go"}, "src/deep/c.go"},
		{in{"pattern": "*.log"}, "keep.log"},
		{in{"pattern": "build/*"}, "build/out.go"}, // asked for by name
		{in{"pattern": "*.go", "path": "build"}, "build/out.go"},
		{in{"pattern": "in/*.go"}, "src/b.go"},
		{in{"pattern": b.dir + "/src/*.go"}, "src/b.go"},
		{in{"pattern": "*.go", "path": b.dir + "/src/deep"}, "src/deep/c.go src/deep/c_test.go"},
		{in{"pattern": "ü.*"}, "sp,ace/ü.go"},
	} {
		res := b.run("find_path", tt.input)
		got := strings.ReplaceAll(strings.ReplaceAll(res.ForModel(), " ", ","), "\n", " ")
		if got != tt.want || res.Failed {
			t.Errorf("find_path %v:\n got %s\nwant %s", tt.input, got, tt.want)
		}
	}
	for _, pattern := range []string{"*.rs", "nowhere/*.go", "a.go/*"} {
		if res := b.run("find_path", in{"pattern": pattern}); res.ForModel() != "No files matching: "+pattern || res.Failed {
			t.Errorf(`b.run("find_path", in{"pattern": pattern}): got %s, want success`, res.ForModel())
		}
	}
	wantFailure(t, b.run("find_path", in{"pattern": "../*.go"}), executors.InvalidParameters, "..", "Set path")
	wantFailure(t, b.run("find_path", in{"pattern": "src/[a"}), executors.InvalidParameters, "not a valid glob")
	wantFailure(t, b.run("find_path", in{"pattern": ""}), executors.InvalidParameters, "empty")
	wantFailure(t, b.run("find_path", in{"pattern": "*", "path": "scr"}), executors.PermanentFailure, "did you mean src?")
	wantFailure(t, b.run("find_path", in{"pattern": "*", "path": "a.go"}), executors.PermanentFailure, "not a directory")
	cfg := setting.Default[Config]()
	cfg.MaxResults = 2
	if res := b.with(cfg).run("find_path", in{"pattern": "*.go"}); res.ForModel() != "a.go\ngone.go\n[the first 2 of 8 matches; narrow the pattern or set path]" {
		t.Errorf(`b.with(cfg).run("find_path", in{"pattern": "*.go"}): got %q, want %q`, res.ForModel(),
			"a.go\ngone.go\n[the first 2 of 8 matches; narrow the pattern or set path]")
	}
}

func TestGrep(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.go": "package a\n\nfunc Foo() {}\nfunc bar() {}\n", "dir/b.go": "// foo\r\nfoo\r\n", "dir/c.txt": "foo\nx\ny\nfoo\nz\nfoo",
		"bin": "foo\x00", ".gitignore": "ignored\n", "ignored": "foo", "latin": "foo caf\xe9\n", "bom": "\uFEFFbegin\n", "link.go": "-> a.go",
		"long": strings.Repeat("ä", 500) + "needle" + strings.Repeat("ö", 500) + "\n",
	})
	for _, tt := range []struct {
		input in
		want  string
	}{
		{in{"pattern": "foo"}, "dir/b.go:1: // foo\ndir/b.go:2: foo\ndir/c.txt:1: foo\ndir/c.txt:4: foo\ndir/c.txt:6: foo\nlatin:1: foo caf\uFFFD"},
		{in{"pattern": "foo", "include": "*.go"}, "dir/b.go:1: // foo\ndir/b.go:2: foo"},
		{in{"pattern": "foo", "include": "dir/*.{go,rs}"}, "dir/b.go:1: // foo\ndir/b.go:2: foo"},
		{in{"pattern": "FOO", "case_sensitive": false, "include": "*.go"}, "a.go:3: func Foo() {}\ndir/b.go:1: // foo\ndir/b.go:2: foo"},
		{in{"pattern": "^foo$", "path": "dir"}, "dir/b.go:2: foo\ndir/c.txt:1: foo\ndir/c.txt:4: foo\ndir/c.txt:6: foo"},
		{in{"pattern": `\Afoo\z`, "path": "dir/b.go"}, "dir/b.go:2: foo"},
		{in{"pattern": "^begin"}, "bom:1: begin"},
		{in{"pattern": "foo", "path": "dir/c.txt", "context": 1},
			"dir/c.txt:1: foo\ndir/c.txt-2- x\ndir/c.txt-3- y\ndir/c.txt:4: foo\ndir/c.txt-5- z\ndir/c.txt:6: foo"},
		{in{"pattern": "Foo|^x", "context": 1, "include": "*.{go,txt}"},
			"a.go-2- \na.go:3: func Foo() {}\na.go-4- func bar() {}\n--\ndir/c.txt-1- foo\ndir/c.txt:2: x\ndir/c.txt-3- y"},
		{in{"pattern": `[^a]foo`, "path": "dir/b.go"}, "dir/b.go:1: // foo"}, // not over the end of a line
		{in{"pattern": `^$`, "path": "a.go"}, "a.go:2: "},
		{in{"pattern": "foo", "path": "ignored"}, "ignored:1: foo"},
		{in{"pattern": "absent"}, "No matches for: absent"},
		{in{"pattern": `a\nb`}, "No matches for: a\\nb\n[a match never spans several lines]"},
	} {
		if res := b.run("grep", tt.input); res.ForModel() != tt.want || res.Failed {
			t.Errorf("grep %v:\n got %q\nwant %q", tt.input, res.ForModel(), tt.want)
		}
	}
	res := b.run("grep", in{"pattern": "needle"})
	if len(res.ForModel()) > search.MaxLine+50 || !strings.Contains(res.ForModel(), "ääneedleöö") || strings.Contains(res.ForModel(), "\uFFFD") {
		t.Errorf("long line: %q", res.ForModel())
	}
	wantFailure(t, b.run("grep", in{"pattern": "(?=a)"}), executors.InvalidParameters, "not a valid regex", "lookaround")
	wantFailure(t, b.run("grep", in{"pattern": ""}), executors.InvalidParameters, "empty")
	wantFailure(t, b.run("grep", in{"pattern": "x", "include": "[a"}), executors.InvalidParameters, "include")
	wantFailure(t, b.run("grep", in{"pattern": "x", "path": "dri"}), executors.PermanentFailure, "did you mean dir?")
	wantFailure(t, b.run("grep", in{"pattern": "x", "path": "bin"}), executors.PermanentFailure, "binary")
}

func TestGrepLimits(t *testing.T) {
	b := newBench(t, map[string]string{"a": strings.Repeat("hit\n", 100), "big": strings.Repeat("x", 300)})
	if res := b.run("grep", in{"pattern": "hit"}); strings.Count(res.ForModel(), "\n") != 99 || strings.Contains(res.ForModel(), "[") {
		t.Errorf("exactly as many as are shown: %q", res.ForModel()[len(res.ForModel())-90:])
	}
	cfg := setting.Default[Config]()
	cfg.MaxMatches, cfg.MaxFileBytes = 3, 1000
	b.with(cfg)
	if res := b.run("grep", in{"pattern": "hit"}); res.ForModel() !=
		"a:1: hit\na:2: hit\na:3: hit\n[the first 3 matches; there are more: narrow the pattern, or set path or include]" {
		t.Errorf(`b.run("grep", in{"pattern": "hit"}): got %q, want %q`, res.ForModel(),
			"a:1: hit\na:2: hit\na:3: hit\n[the first 3 matches; there are more: narrow the pattern, or set path or include]")
	}
	cfg.MaxFileBytes = 200
	if res := b.with(cfg).run("grep",
		in{"pattern": "nothing"}); res.ForModel() != "No matches for: nothing\n[2 files larger than 200 bytes not searched; use bash for those]" {
		t.Errorf(`b.with(cfg).run("grep", in{"pattern": "nothing"}): got %q, want %q`, res.ForModel(),
			"No matches for: nothing\n[2 files larger than 200 bytes not searched; use bash for those]")
	}
	wantFailure(t, b.run("grep", in{"pattern": "x", "path": "big"}), executors.PermanentFailure, "larger than the limit")
}

func TestWalkBudget(t *testing.T) {
	b := newBench(t, nil)
	for i := range 10 {
		must(t, os.WriteFile(b.path(fmt.Sprintf("f%d", i)), nil, 0o644))
	}
	disk := newTools(b)
	disk.budget = 5
	res, err := disk.find(t.Context(), nil, &findInput{Pattern: "f*"})
	if err != nil || !strings.HasPrefix(res.ForModel(), "f0\nf1\nf2\nf3\nf4\n[stopped after very many files") {
		t.Errorf("%s, %v", res.ForModel(), err)
	}
}

func TestNestedIgnore(t *testing.T) {
	b := newBench(t, map[string]string{
		".gitignore": "*.tmp\nsub/x\n", "a.tmp": "", "sub/.gitignore": "!b.tmp\n/only\n", "sub/b.tmp": "", "sub/c.tmp": "", "sub/x": "", "sub/only": "",
		"sub/d/only": "",
	})
	want := "sub/\nsub/.gitignore\nsub/b.tmp\nsub/d/\nsub/d/only"
	if res := b.run("find_path", in{"pattern": "sub/**"}); "sub/\n"+res.ForModel() != want {
		t.Errorf("got %q", res.ForModel())
	}
	if res := b.run("find_path", in{"pattern": "*"}); res.ForModel() != ".gitignore\n"+want {
		t.Errorf("got %q", res.ForModel())
	}
}

func newTools(b *bench) *tools {
	b.t.Helper()
	disk := rootsOf(b)
	return &tools{fs: disk, roots: disk.Roots, cfg: setting.Default[Config](), budget: walk.MaxEntries}
}

func TestGrepPatternTooLarge(t *testing.T) {
	res := newBench(t, nil).run("grep", in{"pattern": strings.Repeat(`\w{1000}`, 64)})
	if res.Category() != executors.InvalidParameters || !strings.Contains(res.ForModel(), "too large") {
		t.Errorf("got %s, want the category %s and %q in it", res.ForModel(), executors.InvalidParameters, "too large")
	}
}

// A regex that takes minutes on a long line stops soon after the cancel, also
// in a file of the directory where the walk starts. The test waits for the call
// to end, whatever the load of the machine. Without the cancel it would take a
// minute of processor time, and exceed the test's deadline.
func TestGrepEndsWithItsContext(t *testing.T) {
	b := newBench(t, map[string]string{"big.txt": strings.Repeat("x", 50_000_000)})
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 64 << 20
	ctx, cancel := context.WithCancelCause(t.Context())
	raw, err := json.Marshal(in{"pattern": `(?s)` + strings.Repeat(".*", 300) + "[YZ]"})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("cancelled")
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	if _, err := b.with(cfg).Execute(ctx, &executors.Call{Tool: "grep", Input: raw}); !errors.Is(err, cause) {
		t.Error(err)
	}
}
