package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// home makes a home directory with our files and others. AgentFiles is as the app
// makes it.
func home(t testing.TB, names ...string) (dir string, own *AgentFiles) {
	t.Helper()
	dir = tree(t, append([]string{"home/.config/zeph-acp/keys.toml", "home/.config/zeph-acp/skills/x", "home/.config/other/keys.toml",
		"home/share/zeph-acp/zeph.db", "home/w/a"}, names...)...)
	return dir, &AgentFiles{Places: []Place{
		{Dir: filepath.Join(dir, "home/.config/zeph-acp"), Files: []string{"keys.toml", "config.toml", "config.toml.bak*"}},
		{Dir: filepath.Join(dir, "home/share/zeph-acp"), Files: []string{"zeph.db", "zeph.db-wal", "zeph.db*"}},
		{Dir: filepath.Join(dir, "home/state/zeph-acp"), Files: []string{"audit.jsonl*"}}, // missing
	}}
}

func isAgentFile(err error) bool {
	_, ok := errors.AsType[*AgentFileError](err)
	return ok
}

func TestPrivate(t *testing.T) {
	dir, own := home(t, "home/w/link -> ../.config/zeph-acp", "home/w/file -> ../.config/zeph-acp/keys.toml",
		"home/w/dangling -> ../state/zeph-acp/audit.jsonl", "home/w/up -> ..", "out/x")
	hard := filepath.Join(dir, "home/w/hard")
	must(t, os.Link(filepath.Join(dir, "home/share/zeph-acp/zeph.db"), hard))
	r, err := New(filepath.Join(dir, "home"), filepath.Join(dir, "home/.config/zeph-acp"), filepath.Join(dir, "home/w"))
	must(t, err)
	r = r.Without(own)
	for path, want := range map[string]bool{
		".config/zeph-acp": true, ".config/zeph-acp/": true, ".config/zeph-acp/keys.toml": true, ".config/zeph-acp/new/file": true, ".config/zeph-acp/skills/x": true,
		"w/../.config/zeph-acp/keys.toml": true, "w/link": true, "w/link/keys.toml": true, "w/file": true, "w/hard": true, "w/dangling": true,
		"w/up/.config/zeph-acp": true, "share/zeph-acp/zeph.db-wal": true,
		"state/zeph-acp": true, "state/zeph-acp/audit.jsonl": true, "state/Zeph-ACP/x": true, // the file system that will hold it is unknown
		dir + "/home/.config/zeph-acp/keys.toml": true,
		"w/a":                                    false, ".config": false, ".config/other/keys.toml": false, "share/zeph-acp-2/x": false, "keys.toml": false,
		"state": false, "state/x": false, ".": false,
	} {
		abs, err := r.Resolve(path)
		if isAgentFile(err) != want || !want && err != nil {
			t.Errorf("Resolve(%s): %v", path, err)
		}
		if want != (abs == "") {
			t.Errorf("Resolve(%s) = %q, want it refused %t", path, abs, want)
		}
	}
	// As if Resolve had been skipped.
	for _, path := range []string{".config/zeph-acp/keys.toml", ".config/zeph-acp/skills/x", "w/hard", "share/zeph-acp/zeph.db"} {
		abs := filepath.Join(dir, "home", path)
		if f, _, err := r.Open(abs); !isAgentFile(err) {
			t.Errorf("Open(%s): %v, %v", path, f, err)
		}
		if _, err := r.Lstat(abs); !isAgentFile(err) {
			t.Errorf("Lstat(%s): %v", path, err)
		}
	}
	for _, path := range []string{".config/zeph-acp", ".config/zeph-acp/skills", "share/zeph-acp", "state/zeph-acp/sub"} {
		if d, err := r.MakeDir(filepath.Join(dir, "home", path)); !isAgentFile(err) {
			t.Errorf("MakeDir(%s): %v, %v", path, d, err)
		}
	}
	d, err := r.Dir(filepath.Join(dir, "home/w"))
	must(t, err)
	defer d.Close()
	if err := d.Replace("hard", "a"); !isAgentFile(err) {
		t.Error(err)
	}
	if err := d.Remove("hard"); !isAgentFile(err) {
		t.Error(err)
	}
	up, err := r.Dir(filepath.Join(dir, "home/.config"))
	must(t, err)
	defer up.Close()
	if entries, hidden, err := up.ReadDir(-1); err != nil || !hidden || len(entries) != 1 || entries[0].Name() != "other" {
		t.Errorf("%v, %v, %v", entries, hidden, err)
	}
}

// A file of ours outside the roots is refused as ours, without the advice to
// open the directory.
func TestPrivateOutside(t *testing.T) {
	dir, own := home(t)
	r, err := New(filepath.Join(dir, "home/w"))
	must(t, err)
	if _, err := r.Without(own).Resolve("../.config/zeph-acp/keys.toml"); !isAgentFile(err) {
		t.Error(err)
	}
	if _, err := r.Resolve("../.config/zeph-acp/keys.toml"); isAgentFile(err) {
		t.Error("the roots that Without was asked of have changed")
	}
}

// A ZEPH_HOME that is a project hides only files with known names. If it is
// opened in addition to the project, all of it is hidden.
func TestPrivateMixed(t *testing.T) {
	dir := tree(t, "p/zeph.db", "p/config.toml", "p/sub/config.toml", "p/a.go", "other/x")
	own := &AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "p"), Files: []string{"config.toml", "keys.toml", "keys.toml.lock", ".*.tmp-*",
		"zeph.db", "zeph.db*"},
		Mixed: true}}}
	for _, tt := range []struct {
		roots  string
		hidden string
		shown  string
	}{
		{"p", "zeph.db config.toml keys.toml KEYS.toml zeph.db-wal .keys.toml.tmp-12 zeph.db/x keys.toml::$DATA",
			"a.go sub/config.toml sub/keys.toml keys.tom new/zeph.db ."},
		{"p/sub other", "", "config.toml"},
		{"other p/sub", "", "../p/sub/config.toml"},
		{"other p", "../p/a.go ../p/sub/config.toml ../p", "x"},
	} {
		var dirs []string
		for d := range strings.FieldsSeq(tt.roots) {
			dirs = append(dirs, filepath.Join(dir, d))
		}
		r, err := New(dirs...)
		must(t, err)
		r = r.Without(own)
		for path := range strings.FieldsSeq(tt.hidden) {
			if _, err := r.Resolve(path); !isAgentFile(err) {
				t.Errorf("%s: %s: %v", tt.roots, path, err)
			}
		}
		for path := range strings.FieldsSeq(tt.shown) {
			if _, err := r.Resolve(path); err != nil {
				t.Errorf("%s: %s: %v", tt.roots, path, err)
			}
		}
	}
}

// Directories that are open are not hidden, with everything in them. Their names do not open others.
func TestPrivateOpen(t *testing.T) {
	dir := tree(t, "h/zeph.db", "h/plugins/p/run.sh", "h/plugins.json", "h/skills/plugins/x", "w/a.go")
	for _, mixed := range []bool{false, true} {
		own := &AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "h"), Files: []string{"zeph.db", "plugins.json"}, Open: []string{"plugins"}, Mixed: mixed}}}
		r, err := New(filepath.Join(dir, "w"))
		must(t, err)
		hidden := r.Without(own).Hidden()
		for name, want := range map[string]bool{"h": true, "h/zeph.db": true, "h/plugins.json": true, "h/skills/plugins/x": true, "h/new": true,
			"h/plugins": false, "h/plugins/p/run.sh": false, "h/plugins/new": false, "w/a.go": false} {
			if got := hidden.Hides(filepath.Join(r.Cwd(), "..", filepath.FromSlash(name))); got != want {
				t.Errorf("mixed %v: %s is hidden: %v, want %v", mixed, name, got, want)
			}
		}
	}
}

// If the configuration is a link, its target is hidden too.
func TestPrivateBehindLinks(t *testing.T) {
	dir := tree(t, "home/dot/zeph/keys.toml", "home/dot/db/z.sqlite", "home/dot/db/z.sqlite-wal", "home/dot/db/y", "home/.config/zeph-acp -> ../dot/zeph",
		"home/share/zeph-acp/zeph.db -> ../../dot/db/z.sqlite")
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(&AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "home/.config/zeph-acp")},
		{Dir: filepath.Join(dir, "home/share/zeph-acp"), Files: []string{"zeph.db"}}}})
	for path, want := range map[string]bool{"dot/zeph": true, "dot/zeph/keys.toml": true, "dot/db/z.sqlite": true, "dot/db/z.sqlite-wal": true,
		"dot/db/z.sqlite-shm": true, "dot/db/y": false, "dot": false} {
		if _, err := r.Resolve(path); isAgentFile(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if below := r.Hidden().Below(filepath.Join(dir, "home/dot")); strings.Join(below, " ") != "db/z.sqlite zeph" && strings.Join(below,
		" ") != "zeph db/z.sqlite" {
		t.Errorf("below dot are %q", below)
	}
}

func TestBelow(t *testing.T) {
	dir, own := home(t)
	r, err := New(dir)
	must(t, err)
	p := r.Without(own).Hidden()
	for path, want := range map[string]string{
		"": "home/.config/zeph-acp home/share/zeph-acp", "home/.config": "zeph-acp", "home/.config/zeph-acp": ".", "home/w": "", "home/state": "", "nowhere": "",
		"home/share/zeph-acp/zeph.db": "",
	} {
		if got := strings.Join(p.Below(filepath.Join(dir, path)), " "); got != want {
			t.Errorf("below %q are %q, want %q", path, got, want)
		}
	}
	var none *HiddenFiles
	if none.Below(dir) != nil || none.Hides(dir) || none.Dirs() != nil {
		t.Error("nobody's files")
	}
}

// A directory that is replaced by a link to ours between Resolve and its use
// allows neither reads nor writes there.
func TestPrivateRace(t *testing.T) {
	dir, own := home(t, "home/w/d/keys.toml", "home/w/link -> ../.config/zeph-acp", "home/w/deep -> ../.config")
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(own)
	secret := filepath.Join(dir, "home/.config/zeph-acp/keys.toml")
	stop := exchange(t, filepath.Join(dir, "home/w/d"), filepath.Join(dir, "home/w/link"))
	defer stop()
	for range 2000 {
		abs := filepath.Join(dir, "home/w/d/keys.toml") // as Resolve returned it a moment ago
		if f, _, err := r.Open(abs); err == nil {
			text := make([]byte, 100)
			n, _ := f.Read(text)
			f.Close()
			if !strings.HasPrefix(string(text[:n]), "home/w/d") {
				t.Fatalf("read %q, want a file below home/w/d", text[:n])
			}
		}
		d, err := r.MakeDir(filepath.Dir(abs))
		if err != nil {
			continue
		}
		if f, err := d.Create("new", 0o600); err == nil {
			f.Close()
			_ = d.Replace("keys2", "new")
		}
		d.Close()
	}
	if text, err := os.ReadFile(secret); err != nil || !strings.HasPrefix(string(text), "home/.config") {
		t.Errorf("%q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(secret)); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A known file that replaces another just before it is opened is not closed
// again: that would drop the locks on it.
func TestPrivateKept(t *testing.T) {
	dir, own := home(t)
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	d, err := r.Without(own).Dir(filepath.Join(dir, "home/w"))
	must(t, err)
	defer d.Close()
	before, err := d.Lstat("a")
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "home/w/a")))
	must(t, os.Link(filepath.Join(dir, "home/share/zeph-acp/zeph.db"), filepath.Join(dir, "home/w/a")))
	if _, _, err := d.open("a", os.O_RDONLY, before); !isAgentFile(err) || len(own.keptOpen) != 1 {
		t.Fatalf("%v, %d kept", err, len(own.keptOpen))
	}
	if _, err := own.keptOpen[0].Stat(); err != nil {
		t.Error(err)
	}
	must(t, own.keptOpen[0].Close())
	if _, err := r.Without(own).Hidden().Open(filepath.Join(dir, "home/w/a")); !isAgentFile(err) || len(own.keptOpen) != 1 {
		t.Errorf("%v, %d kept", err, len(own.keptOpen))
	}
	if _, err := r.Hidden().Open(filepath.Join(dir, "home/w/b")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func BenchmarkResolvePrivate(b *testing.B) {
	dir, own := home(b)
	r, err := New(filepath.Join(dir, "home"))
	must(b, err)
	for name, r := range map[string]*Roots{"none": r, "own": r.Without(own)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Resolve("w/a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A directory has a link for each subdirectory, through which no file can be reached.
func TestPrivateDirectory(t *testing.T) {
	dir, own := home(t)
	own.Places[0].Files = append(own.Places[0].Files, "kept")
	must(t, os.MkdirAll(filepath.Join(own.Places[0].Dir, "kept/contents"), 0o700))
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	if r.Without(own).Hidden().Linked() {
		t.Error("a directory counts as a file with hard links")
	}
}

// The list of our own files is used again only as long as no file has changed.
func TestPrivateLooksAgain(t *testing.T) {
	dir, own := home(t)
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(own)
	data := filepath.Join(dir, "home/share/zeph-acp")
	hidden := func() int { return len(r.Hidden().files) }
	aged := func() { // as if the lists had been made long after the last change
		for place, l := range own.lookups {
			l.at = l.at.Add(time.Hour)
			own.lookups[place] = l
		}
	}
	if got := hidden(); got != 2 {
		t.Fatalf("%d hidden files at first", got)
	}
	aged()
	must(t, os.WriteFile(filepath.Join(data, "zeph.db-wal"), nil, 0o600))
	if got := hidden(); got != 3 {
		t.Errorf("%d hidden files with a new one", got)
	}
	aged()
	must(t, os.Rename(filepath.Join(data, "zeph.db-wal"), filepath.Join(data, "zeph.db")))
	p := r.Hidden()
	info, err := os.Lstat(filepath.Join(data, "zeph.db"))
	must(t, err)
	if len(p.files) != 2 || !p.isHiddenFile(info) {
		t.Errorf("%d hidden files after one was replaced", len(p.files))
	}
	aged()
	r.Hidden()
	if p := r.Hidden(); p.Linked() {
		t.Error("linked without a link")
	}
	must(t, os.Link(filepath.Join(data, "zeph.db"), filepath.Join(dir, "home/w/hard")))
	if p := r.Hidden(); !p.Linked() {
		t.Error("a later link is not seen")
	}
}
