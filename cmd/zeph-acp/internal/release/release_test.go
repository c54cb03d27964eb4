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
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
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
	targets := runtime.GOOS + "/" + runtime.GOARCH
	if *long {
		targets = allTargets
	}
	first, second := makeRelease(t, targets), makeRelease(t, targets)
	if diff := cmp.Diff(sumsOf(first), sumsOf(second)); diff != "" {
		t.Fatalf("the second run differs (-first +second):\n%s", diff)
	}
	sums := sumsOf(first)
	for line := range strings.Lines(string(first["SHA256SUMS"])) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sums[name] != sum {
			t.Errorf("SHA256SUMS has %s for %s, want %s", sum, name, sums[name])
		}
		for _, manifest := range []string{"zeph-acp.rb", "zeph-acp.json"} {
			if text := string(first[manifest]); text != "" && strings.Contains(text, name) && !strings.Contains(text, sum) {
				t.Errorf("%s names %s without its sum", manifest, name)
			}
		}
		use(t, name, first[name])
	}
}

// makeRelease makes a snapshot and returns its files.
func makeRelease(t *testing.T, targets string) map[string][]byte {
	t.Helper()
	r := release{out: filepath.Join(t.TempDir(), "dist"), snapshot: true}
	if err := r.run(t.Context(), io.Discard, strings.Split(targets, ",")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(r.out, entry.Name())); err != nil {
			t.Fatal(err)
		}
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
	var got bill
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
		add(header.Name, r)
	}
}

// TestPackages checks the files for package managers, with every target.
func TestPackages(t *testing.T) {
	var all []builtTarget
	for name := range strings.SplitSeq(allTargets, ",") {
		system, arch, _ := strings.Cut(name, "/")
		b := builtTarget{target: target{system, arch}, sum: strings.Repeat("0", 60) + system[:2] + arch[:2]}
		b.archive = "zeph-acp_1.2.3_" + system + "_" + arch + archiveSuffix(b.target)
		all = append(all, b)
	}
	brew := formula("1.2.3", "https://example.com/v1.2.3", all)
	scoop, err := scoopManifest("1.2.3", "https://example.com/v1.2.3", all)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		text := brew
		if b.os == "windows" {
			text = scoop
		}
		url := "https://example.com/v1.2.3/" + b.archive
		if at := strings.Index(text, url); at < 0 || !strings.Contains(text[at:min(len(text), at+200)], b.sum) {
			t.Errorf("%s: no %s followed by its sum in\n%s", b.target, url, text)
		}
	}
	entry, err := registryEntry("1.2.3", "https://example.com/v1.2.3", all)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if at := strings.Index(entry, "https://example.com/v1.2.3/"+b.archive); at < 0 || !strings.Contains(entry[at:min(len(entry), at+200)], b.sum) {
			t.Errorf("%s: not in\n%s", b.target, entry)
		}
	}
	begins := strings.Count(brew, " do\n") + strings.Count(brew, "def ") + strings.Count(brew, "class ")
	if ends := strings.Count(brew, "end\n"); begins != ends {
		t.Errorf("%d blocks, but %d ends:\n%s", begins, ends, brew)
	}
	if !json.Valid([]byte(scoop)) {
		t.Errorf("not JSON: %s", scoop)
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
	s := source{root: repository, version: "1.2.3"}
	cases := []struct {
		name   string
		before func()
		do     func(context.Context) error
		want   string
	}{
		{"files of another release", func() {}, func(context.Context) error { return makeEmptyDir(full) }, "is not empty"},
		{"no tag", func() {}, s.check, "has no tag v1.2.3"},
		{"another tag", func() { git("tag", "v1.2.30") }, s.check, "has no tag v1.2.3"},
		{"the tag", func() { git("tag", "v1.2.3") }, s.check, ""},
		{"changes", func() {
			if err := os.WriteFile(filepath.Join(repository, "x"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, s.check, "has changes"},
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
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	var s source
	if got, err := s.date(t.Context()); err != nil || got.Unix() != 86400 {
		t.Errorf("the date is %v, %v, want one day after the epoch", got, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := s.date(t.Context()); err == nil || !strings.Contains(err.Error(), "want seconds") {
		t.Errorf("a date that is no number: %v, want an error that asks for seconds", err)
	}
}
