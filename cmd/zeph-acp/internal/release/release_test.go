package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var long = flag.Bool("long", false, "release for every target")

// needGit skips a test on a machine without git.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("a release reads its commit with git, and there is no git here")
	}
}

// TestRelease makes a release twice and uses its files as a user would.
func TestRelease(t *testing.T) {
	needGit(t)
	if testing.Short() {
		t.Skip("-short is for the race detector, and a release is built by other processes: run it without -short")
	}
	targets := runtime.GOOS + "/" + runtime.GOARCH
	if *long {
		targets = allTargets
	}
	first := makeRelease(t, targets)
	settings := filepath.Join(t.TempDir(), "env") // of a user who builds otherwise
	if err := os.WriteFile(settings, []byte("GOFLAGS=-buildvcs=false -tags=manual\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", settings)
	t.Setenv("GOFLAGS", "")
	second := makeRelease(t, targets)
	if diff := cmp.Diff(sumsOf(first), sumsOf(second)); diff != "" {
		t.Fatalf("the second run differs (-first +second):\n%s", diff)
	}
	sums := sumsOf(first)
	for line := range strings.Lines(string(first["SHA256SUMS"])) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sums[name] != sum {
			t.Errorf("SHA256SUMS has %s for %s, want %s", sum, name, sums[name])
		}
		for recipe, text := range first {
			if slices.Contains([]string{"zeph-acp.rb", "zeph-acp.json", "install.sh", "Containerfile"}, recipe) &&
				bytes.Contains(text, []byte(name)) && !bytes.Contains(text, []byte(sum)) {
				t.Errorf("%s names %s without its sum", recipe, name)
			}
		}
		if strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".tar.gz") && name != "flake.tar.gz" {
			use(t, name, first[name])
		}
	}
	for name := range first {
		if !strings.HasPrefix(name, "npm/") && name != sumsFile && !bytes.Contains(first[sumsFile], []byte("  "+name+"\n")) {
			t.Errorf("SHA256SUMS has no %s", name)
		}
	}
	usePackages(t, first)
}

// makeRelease makes a snapshot and returns its files.
func makeRelease(t *testing.T, targets string) map[string][]byte {
	t.Helper()
	r := release{out: filepath.Join(t.TempDir(), "dist"), snapshot: true}
	if err := r.run(t.Context(), io.Discard, strings.Split(targets, ",")); err != nil {
		t.Fatal(err)
	}
	return readFiles(t, r.out)
}

// readFiles returns the files below a directory, by their names with slashes.
func readFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sumsOf(files map[string][]byte) map[string]string {
	sums := map[string]string{}
	for name, content := range files {
		sum := sha256.Sum256(content)
		sums[name] = hex.EncodeToString(sum[:])
	}
	return sums
}

// use unpacks an archive, and runs the binary if it is for this machine.
func use(t *testing.T, name string, archive []byte) {
	files := unpack(t, name, archive)
	program := target{os: runtime.GOOS}.program()
	if strings.HasSuffix(name, ".zip") {
		program = "zeph-acp.exe"
	}
	for _, want := range []string{
		program, "README.md", "LICENSE", "CHANGELOG.md", "THIRD_PARTY_NOTICES.txt", "sbom.cdx.json", "docs/run.md", "man/man1/zeph-acp-run.1",
		"completions/zeph-acp.bash", "completions/_zeph-acp", "completions/zeph-acp.fish", "completions/zeph-acp.ps1",
	} {
		if len(files[want]) == 0 {
			t.Errorf("%s has no %s", name, want)
		}
	}
	var got struct {
		Metadata struct {
			Component struct {
				Hashes []struct{ Content string }
			}
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(files["sbom.cdx.json"], &got); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(files[program])
	if main := got.Metadata.Component; main.Hashes[0].Content != hex.EncodeToString(sum[:]) {
		t.Errorf("the bill of %s is of another binary", name)
	}
	for _, c := range got.Components {
		if c.Name != "std" && !bytes.Contains(files["THIRD_PARTY_NOTICES.txt"], []byte("== "+c.Name+" "+c.Version+": ")) {
			t.Errorf("%s has no terms of %s", name, c.Name)
		}
	}
	if !strings.Contains(name, runtime.GOOS+"_"+runtime.GOARCH) {
		return
	}
	binary := filepath.Join(t.TempDir(), program)
	if err := os.WriteFile(binary, files[program], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "zeph-acp ") {
		t.Errorf("version: %v\n%s", err, out)
	}
}

// unpack returns the files of an archive by their names below its directory.
func unpack(t *testing.T, name string, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	add := func(entry string, r io.Reader) {
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		dir, rest, _ := strings.Cut(entry, "/")
		if !strings.HasPrefix(name, dir) || rest != path.Clean(rest) {
			t.Errorf("%s has the entry %s, want a plain path below a directory of its name", name, entry)
		}
		files[rest] = content
	}
	if strings.HasSuffix(name, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			if f.FileInfo().IsDir() {
				continue
			}
			content, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, content)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if mode := header.FileInfo().Mode(); mode.IsDir() {
			if mode.Perm() != 0o755 {
				t.Errorf("%s has the directory %s with the mode %v, want 0755", name, header.Name, mode)
			}
			continue
		}
		add(header.Name, r)
	}
}

// TestRefusals checks that nothing is written over, and that only a commit that others can
// build again is released.
func TestRefusals(t *testing.T) {
	needGit(t)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "zeph-acp_0.0.1_linux_amd64.tar.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	repository := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if _, err := output(t.Context(), repository, nil, "git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	r := &release{root: repository, version: "1.2.3"}
	cases := []struct {
		name   string
		before func()
		do     func(context.Context) error
		want   string
	}{
		{"files of another release", func() {}, func(context.Context) error { return makeEmptyDir(full) }, "is not empty"},
		{"no tag", func() {}, r.check, "has no tag v1.2.3"},
		{"another tag", func() { git("tag", "v1.2.30") }, r.check, "has no tag v1.2.3"},
		{"the tag", func() { git("tag", "v1.2.3") }, r.check, ""},
		{"changes", func() {
			if err := os.WriteFile(filepath.Join(repository, "x"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, r.check, "has changes"},
		{"terms missing", func() {}, func(context.Context) error { return notice(new(bytes.Buffer), "m v1", full) }, "no file with its terms"},
	}
	for _, c := range cases {
		c.before()
		err := c.do(t.Context())
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestDate checks where the time of the files comes from.
func TestDate(t *testing.T) {
	needGit(t)
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	if got, err := date(t.Context(), "."); err != nil || got.Unix() != 86400 {
		t.Errorf("the date is %v, %v, want one day after the epoch", got, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := date(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "want seconds") {
		t.Errorf("a date that is no number: %v, want an error that asks for seconds", err)
	}
}
