package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes directories (names ending in "/"), files and symlinks ("a -> b")
// below a new directory without symlinks in its path.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, link)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case isLink:
			must(t, os.Symlink(strings.ReplaceAll(target, "$DIR", dir), path))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		default:
			must(t, os.WriteFile(path, []byte(name), 0o644))
		}
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNew(t *testing.T) {
	dir := tree(t, "file", "real/", "link -> real")
	for name, tt := range map[string]struct {
		dirs []string
		err  string // part of the message; empty means none
	}{
		"none":          {nil, "no directory"},
		"relative":      {[]string{"a"}, "not an absolute path"},
		"missing":       {[]string{filepath.Join(dir, "nope")}, "nope"},
		"file":          {[]string{filepath.Join(dir, "file")}, "not a directory"},
		"second broken": {[]string{dir, "b"}, "not an absolute path"},
		"link":          {[]string{filepath.Join(dir, "link")}, ""},
		"root":          {[]string{"/"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(tt.dirs...)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("New(%q) = %v, %v; want an error with %q", tt.dirs, r, err, tt.err)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	dir := tree(t,
		"cwd/a.txt", "cwd/sub/b.txt", "more/m.txt", "out/secret", "cwdx/near.txt",
		"cwd/rel -> ../out/secret",
		"cwd/abs -> $DIR/out/secret",
		"cwd/dir -> ../out",
		"cwd/chain1 -> chain2", "cwd/chain2 -> sub/chain3", "cwd/sub/chain3 -> ../../out",
		"cwd/dangling -> ../out/new", "cwd/dangling2 -> missing/../../out/new",
		"cwd/inner -> sub", "cwd/innernew -> sub/new.txt",
		"cwd/other -> $DIR/more",
		"cwd/loop -> loop",
		"cwd/..dots", "cwd/~x",
		"alias -> cwd",
	)
	home := tree(t)
	t.Setenv("HOME", filepath.Join(dir, "cwd"))
	r, err := New(filepath.Join(dir, "alias"), filepath.Join(dir, "more"))
	must(t, err)
	in := func(p string) string { return filepath.Join(dir, p) }
	for path, want := range map[string]string{ // "" means outside, "!" another error
		"a.txt": in("cwd/a.txt"), "./sub/../a.txt": in("cwd/a.txt"), ".": in("cwd"), "sub/": in("cwd/sub"),
		"new/deep/file": in("cwd/new/deep/file"), "..dots": in("cwd/..dots"), "~x": in("cwd/~x"),
		"~": in("cwd"), "~/a.txt": in("cwd/a.txt"), "a.txt/below": in("cwd/a.txt/below"),
		in("alias/a.txt"): in("cwd/a.txt"), in("cwd/a.txt"): in("cwd/a.txt"), in("more/m.txt"): in("more/m.txt"),
		"../more/m.txt": in("more/m.txt"), "other/m.txt": in("more/m.txt"), "other/new": in("more/new"),
		"inner/b.txt": in("cwd/sub/b.txt"), "innernew": in("cwd/sub/new.txt"),
		"inner/../a.txt": in("cwd/a.txt"),
		"..":             "", "../out/secret": "", "/": "", "/etc/passwd": "", in("cwdx/near.txt"): "", "../cwdx": "",
		"rel": "", "abs": "", "dir/secret": "", "dir/new/file": "", "chain1/secret": "", "chain1": "",
		"dangling": "", "dangling2": "", "dangling/x": "", home: "",
		"": "!", "a\x00b": "!", "loop": "!", "loop/x": "!",
	} {
		got, err := r.Resolve(path)
		_, outside := errors.AsType[*OutsideError](err)
		switch want {
		case "":
			if !outside {
				t.Errorf("Resolve(%q) = %q, %v; want an OutsideError", path, got, err)
			}
		case "!":
			if err == nil || outside {
				t.Errorf("Resolve(%q) = %q, %v; want an error", path, got, err)
			}
		default:
			if got != want || err != nil {
				t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, want)
			}
		}
	}
}

func TestOutsideError(t *testing.T) {
	dir := tree(t, "cwd/", "out/", "cwd/link -> ../out")
	r, err := New(filepath.Join(dir, "cwd"))
	must(t, err)
	_, err = r.Resolve("link/x")
	for _, part := range []string{"link/x", filepath.Join(dir, "out/x"), filepath.Join(dir, "cwd")} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %q", err, part)
		}
	}
}

func TestDisplay(t *testing.T) {
	dir := tree(t, "real/sub/", "more/", "link -> real")
	r, err := New(filepath.Join(dir, "link"), filepath.Join(dir, "more"), filepath.Join(dir, "real/sub"))
	must(t, err)
	in := func(p string) string { return filepath.Join(dir, p) }
	for _, tt := range []struct{ abs, rel, given string }{
		{in("real"), ".", in("link")},
		{in("real/a"), "a", in("link/a")},
		{in("real/sub/a"), "sub/a", in("real/sub/a")}, // the client opened this directory separately
		{in("more/a"), in("more/a"), in("more/a")},
		{in("realx"), in("realx"), in("realx")},
	} {
		if got := r.Rel(tt.abs); got != filepath.FromSlash(tt.rel) {
			t.Errorf("Rel(%q) = %q, want %q", tt.abs, got, tt.rel)
		}
		if got := r.AsGiven(tt.abs); got != tt.given {
			t.Errorf("AsGiven(%q) = %q, want %q", tt.abs, got, tt.given)
		}
	}
	everything, err := New("/")
	must(t, err)
	if !everything.Contains("/etc") || everything.Rel("/etc/x") != "etc/x" {
		t.Error("the root directory does not contain what is below it")
	}
}

func FuzzResolve(f *testing.F) {
	dir := tree(f, "cwd/a", "cwd/sub/b", "out/s", "cwd/l1 -> ../out", "cwd/l2 -> l1/..", "cwd/l3 -> missing/../../out", "cwd/sub/up -> ..", "cwd/self -> .")
	cwd := filepath.Join(dir, "cwd")
	f.Setenv("HOME", dir)
	r, err := New(cwd)
	must(f, err)
	for _, s := range []string{"a", "l1/s", "l2/x", "l3", "sub/up/../../out", "~", "~/out", cwd + "/../out", "self/self/l1/", "/", "..//.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		abs, err := r.Resolve(path)
		if err != nil {
			return
		}
		if abs != cwd && !strings.HasPrefix(abs, cwd+"/") || abs != filepath.Clean(abs) {
			t.Fatalf("Resolve(%q) = %q, want a clean path below %s", path, abs, cwd)
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			t.Fatalf("Resolve(%q) = %q, which leads to %q", path, abs, real)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	dir := tree(b, "a/b/c/d.txt")
	r, err := New(dir)
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Resolve("a/b/c/d.txt"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		dir, path string
		want      bool
	}{
		{"/w", "/w", true},
		{"/w", "/w/a", true},
		{"/w/", "/w/a", true},
		{"/w/x/..", "/w/a", true},
		{"/", "/w", true},
		{"/w", "/", false},
		{"/w", "/wa", false},
		{"/w", "/w/../a", false},
		{"/w", "w/a", false},
		{"", "/w", false},
		{"/w", "", false},
	} {
		if got := Within(filepath.FromSlash(tt.dir), filepath.FromSlash(tt.path)); got != tt.want {
			t.Errorf("Within(%q, %q) = %v", tt.dir, tt.path, got)
		}
	}
}
