package files

import (
	"context"
	"encoding/json"
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
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// buffers is a client with unsaved text. All other text is on disk. save, if
// set, changes each written text.
type buffers struct {
	Disk
	mu    sync.Mutex
	text  map[string]string
	save  func(string) string
	wrote bool
}

func (b *buffers) ReadsDisk() bool { return false }

func (b *buffers) ReadFile(ctx context.Context, path string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, ok := b.text[path]; ok {
		return text, nil
	}
	return b.Disk.ReadFile(ctx, path)
}

func (b *buffers) WriteFile(_ context.Context, path, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.save != nil {
		text = b.save(text)
	}
	b.text[path], b.wrote = text, true
	return nil
}

// bench is a session's tools in a new directory.
type bench struct {
	executors.Registry
	t   testing.TB
	dir string
	buf *buffers // nil: the tools work on disk
}

// newBench makes the files (name, content) below a new directory. A content
// that starts with "-> " makes a symlink, a name that ends in "/" a directory.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir = filepath.Join(dir, "w")
	must(t, os.Mkdir(dir, 0o755))
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			must(t, os.Symlink(target, path))
		} else if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
		} else {
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	b := &bench{t: t, dir: dir}
	return b.with(setting.Default[Config]())
}

func (b *bench) with(cfg Config) *bench {
	b.t.Helper()
	roots, err := workspace.New(b.dir)
	must(b.t, err)
	b.Registry = New(Disk{Roots: roots, MaxBytes: cfg.MaxFileBytes}, roots, cfg, nil)
	return b
}

// buffered replaces the disk by a client's buffers.
func (b *bench) buffered(text map[string]string) *bench {
	b.t.Helper()
	roots, err := workspace.New(b.dir)
	must(b.t, err)
	b.buf = &buffers{Disk: Disk{Roots: roots}, text: map[string]string{}}
	for name, content := range text {
		b.buf.text[filepath.Join(b.dir, name)] = content
	}
	b.Registry = New(b.buf, roots, setting.Default[Config](), nil)
	return b
}

// run prepares and executes a call as a client sees it.
func (b *bench) run(tool string, input any) executors.Result {
	b.t.Helper()
	call := b.call(tool, input)
	card, err := b.Prepare(b.t.Context(), call)
	call.Card = card
	res, execErr := b.Execute(b.t.Context(), call)
	if execErr != nil {
		b.t.Fatalf("%s %s: %v", tool, call.Input, execErr)
	}
	if err != nil && (!res.Failed || executors.FailWith(err).ForModel() != res.ForModel()) {
		b.t.Errorf("%s %s: Prepare says %v, Execute says %s", tool, call.Input, err, res.ForModel())
	}
	return res
}

func (b *bench) call(tool string, input any) *executors.Call {
	b.t.Helper()
	raw, err := json.Marshal(input)
	must(b.t, err)
	return &executors.Call{Tool: tool, Input: raw}
}

func (b *bench) content(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	must(b.t, err)
	return string(text)
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// swap exchanges a directory and a link, again and again, until stop is called.
func (b *bench) swap(dir, link string) (stop func()) {
	done := make(chan struct{})
	dir, link = b.path(dir), b.path(link)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(dir, dir+".tmp")
			_ = os.Rename(link, dir)
			_ = os.Rename(dir, link)
			_ = os.Rename(dir+".tmp", dir)
		}
	})
	return func() { close(done); wg.Wait() }
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantFailure checks category and parts of the text.
func wantFailure(t *testing.T, res executors.Result, category executors.Category, parts ...string) {
	t.Helper()
	if !res.Failed || res.Category() != category {
		t.Errorf("want a failure of category %s, got\n%s", category, res.ForModel())
	}
	for _, part := range parts {
		if !strings.Contains(res.ForModel(), part) {
			t.Errorf("no %q in\n%s", part, res.ForModel())
		}
	}
}

type in map[string]any

func TestCatalogue(t *testing.T) {
	total := 0
	for _, tool := range newBench(t, nil).Tools() {
		size := len(tool.Description) + len(tool.Schema)
		total += size
		if len(tool.Description) > 300 || !json.Valid(tool.Schema) {
			t.Errorf("%s: description of %d bytes, schema %s", tool.Name, len(tool.Description), tool.Schema)
		}
		reads := tool.Effect == executors.Reads|executors.Idempotent
		mutates := tool.Effect.Has(executors.Reads | executors.Mutates)
		if looks := slices.Contains([]string{"read", "find_path", "list_directory", "grep", "search_code"}, tool.Name); looks == mutates || looks != reads {
			t.Errorf("%s has the effect %b", tool.Name, tool.Effect)
		}
	}
	if total > 4400 { // of the 6 KiB of all tools
		t.Errorf("the file tools take %d bytes of the prompt", total)
	}
}

func TestCards(t *testing.T) {
	b := newBench(t, map[string]string{"src/a.go": "a\nb\n", "link": "-> src"})
	for _, tt := range []struct {
		tool  string
		input in
		want  executors.Card // without diffs
	}{
		{"read", in{"path": "src/a.go", "offset": 1}, executors.Card{Title: "src/a.go", Kind: executors.KindRead,
			Locations: []executors.Location{{Path: b.path("src/a.go"), Line: 2}}, Paths: []string{b.path("src/a.go")}}},
		{"read", in{"path": "link/a.go"}, executors.Card{Title: "src/a.go", Kind: executors.KindRead,
			Locations: []executors.Location{{Path: b.path("src/a.go"), Line: 1}}, Paths: []string{b.path("src/a.go")}}},
		{"read", in{"path": "src"}, executors.Card{Title: "src", Kind: executors.KindRead, Paths: []string{b.path("src")}}},
		{"write", in{"path": "new/b.go", "content": "x"}, executors.Card{Title: "new/b.go", Kind: executors.KindEdit,
			Paths: []string{b.path("new/b.go")}}},
		{"edit", in{"path": "src/a.go", "old_string": "b", "new_string": "c"}, executors.Card{Title: "src/a.go", Kind: executors.KindEdit,
			Locations: []executors.Location{{Path: b.path("src/a.go"), Line: 2}}, Paths: []string{b.path("src/a.go")}}},
		{"list_directory", in{}, executors.Card{Title: "./", Kind: executors.KindRead, Paths: []string{b.dir}}},
		{"find_path", in{"pattern": "src/*.go"}, executors.Card{Title: "src/*.go", Kind: executors.KindSearch, Paths: []string{b.path("src")}}},
		{"grep", in{"pattern": "x", "path": "src"}, executors.Card{Title: "x in src", Kind: executors.KindSearch, Paths: []string{b.path("src")}}},
	} {
		card, err := b.Prepare(t.Context(), b.call(tt.tool, tt.input))
		card.Changes = nil
		if got, want := fmt.Sprintf("%+v", card), fmt.Sprintf("%+v", tt.want); got != want || err != nil {
			t.Errorf("%s %v: %v\n got %s\nwant %s", tt.tool, tt.input, err, got, want)
		}
	}
}

// The card of a call that cannot run still names its path.
func TestCardBesideError(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x"})
	card, err := b.Prepare(t.Context(), b.call("edit", in{"path": "a", "old_string": "y", "new_string": "z"}))
	if err == nil || len(card.Paths) != 1 || card.Paths[0] != b.path("a") || card.Changes != nil {
		t.Errorf("card %+v, error %v", card, err)
	}
}

func TestOutside(t *testing.T) {
	b := newBench(t, map[string]string{"dir": "-> ..", "file": "-> ../secret", "dangling": "-> ../new"})
	must(t, os.WriteFile(filepath.Join(b.dir, "../secret"), []byte("secret"), 0o600))
	for _, path := range []string{"../secret", "/etc/passwd", "file", "dir/secret", "dangling", "~root/../../x", ".."} {
		for tool, input := range map[string]in{
			"read": {}, "write": {"content": "x"}, "edit": {"old_string": "secret", "new_string": "x"},
			"list_directory": {}, "find_path": {"pattern": "*"}, "grep": {"pattern": "secret"},
		} {
			if path == "~root/../../x" && tool != "read" {
				continue
			}
			input["path"] = path
			wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "outside the session's directories")
		}
	}
	if _, err := os.Lstat(filepath.Join(b.dir, "../new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written outside")
	}
	for _, pattern := range []string{"dir/*", "/etc/*", "~/*"} {
		wantFailure(t, b.run("find_path", in{"pattern": pattern}), executors.PolicyBlocked)
	}
}

func TestCancelled(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x"})
	cause := errors.New("the user stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for tool, input := range map[string]in{
		"read": {"path": "a"}, "write": {"path": "a", "content": "y"}, "edit": {"path": "a", "old_string": "x", "new_string": "y"},
		"list_directory": {}, "find_path": {"pattern": "*"}, "grep": {"pattern": "x"},
	} {
		if res, err := b.Execute(ctx, b.call(tool, input)); !errors.Is(err, cause) {
			t.Errorf("%s: %+v, %v", tool, res, err)
		}
	}
	if b.content("a") != "x" {
		t.Error("a cancelled call wrote")
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) != 0 {
		t.Errorf("the defaults are wrong: %v", wrong)
	}
	if wrong := setting.Check(Config{OutputLimit: executors.OutputLimit{MaxOutputChars: 10}}); len(wrong) != 8 {
		t.Errorf("want every key wrong, got %v", wrong)
	}
	repo := Config{MaxReadLines: 10, MaxResults: 1000, MaxMatches: 0, MaxEntries: 5, AllowedPaths: []string{"/"}, AllowRead: []string{"/etc"},
		DenyRead: []string{"**/.env"}}
	got, ignored := setting.Tighten(setting.Default[Config](), repo, "max_read_lines", "max_results", "max_matches", "allowed_paths", "deny_read")
	want := setting.Default[Config]()
	want.MaxReadLines, want.DenyRead = 10, []string{"**/.env"}
	if !reflect.DeepEqual(got, want) || strings.Join(ignored, " ") != "allowed_paths max_matches max_results" {
		t.Errorf("Tighten = %+v, ignored %v", got, ignored)
	}
}

// rootsOf returns the disk of the bench.
func rootsOf(b *bench) Disk {
	b.t.Helper()
	roots, err := workspace.New(b.dir)
	must(b.t, err)
	return Disk{Roots: roots}
}

// A client that opened the project through a symlink identifies its files by
// that name. Rules match the real one.
func TestLinkedCwd(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x\n"})
	link := filepath.Join(b.dir, "../link")
	must(t, os.Symlink("w", link))
	roots, err := workspace.New(link)
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)
	for _, path := range []string{"a", filepath.Join(link, "a"), b.path("a")} {
		card, err := b.Prepare(t.Context(), b.call("edit", in{"path": path, "old_string": "x", "new_string": "y"}))
		want := filepath.Join(link, "a")
		if err != nil || card.Title != "a" || card.Paths[0] != b.path("a") || card.Locations[0].Path != want || card.Changes[0].Path != want {
			t.Errorf("%s: %+v, %v", path, card, err)
		}
	}
}

// The title of a refused call shows the requested path.
func TestTitlesOfRefusedCalls(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x"})
	for tool, input := range map[string]in{
		"read": {"path": "/etc/x"}, "write": {"path": "/etc/x", "content": ""}, "edit": {"path": "/etc/x", "old_string": "a", "new_string": "b"},
		"list_directory": {"path": "/etc/x"}, "grep": {"path": "/etc/x", "pattern": "a"}, "find_path": {"pattern": "/etc/x*"},
		"create_directory": {"path": "/etc/x"}, "delete_path": {"path": "/etc/x"},
		"copy_path": {"source": "a", "destination": "/etc/x"}, "move_path": {"source": "/etc/x", "destination": "a"},
	} {
		if card, err := b.Prepare(t.Context(), b.call(tool, input)); err == nil || !strings.Contains(card.Title, "/etc/x") {
			t.Errorf("%s: %q, %v", tool, card.Title, err)
		}
	}
}
