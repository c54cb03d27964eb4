package gitpatch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

func TestMain(m *testing.M) { os.Exit(machine.Tests{M: m}.Run()) }

func TestPatch(t *testing.T) {
	whole := func(before, after string) []Part { return []Part{{Old: before, New: after}} }
	for name, tt := range map[string]struct {
		file File
		want string
	}{
		"modify": {File{Op: filechange.Modify, Path: "/w/a.go", Parts: whole("old\n", "new\n")},
			"diff --git /w/a.go /w/a.go\n--- /w/a.go\n+++ /w/a.go\n@@ -1 +1 @@\n-old\n+new\n"},
		"nothing": {File{Op: filechange.Modify, Path: "/w/a.go", Parts: whole("a", "a")}, ""},
		"add": {File{Op: filechange.Add, Path: "/w/a", Parts: whole("", "x\ny")},
			"diff --git /w/a /w/a\nnew file mode 100644\n--- /dev/null\n+++ /w/a\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"},
		"add, empty": {File{Op: filechange.Add, Path: "/w/a", Parts: whole("", "")}, "diff --git /w/a /w/a\nnew file mode 100644\n"},
		"delete": {File{Op: filechange.Delete, Path: "/w/a", Parts: whole("\ufeffx\r\n", "")},
			"diff --git /w/a /w/a\ndeleted file mode 100644\n--- /w/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-\ufeffx\r\n"},
		"move": {File{Op: filechange.Move, OldPath: "/w/a b", Path: "/w/ü"},
			"diff --git /w/a b \"/w/\\303\\274\"\nsimilarity index 100%\nrename from /w/a b\nrename to \"/w/\\303\\274\"\n"},
		"copy": {File{Op: filechange.Copy, OldPath: "/w/a b", Path: "/w/c", Parts: whole("1\n2\n3\n4\n", "1\n2\n3\nx\n")},
			"diff --git /w/a b /w/c\nsimilarity index 75%\ncopy from /w/a b\ncopy to /w/c\n--- /w/a b\t\n+++ /w/c\n" +
				"@@ -1,4 +1,4 @@\n 1\n 2\n 3\n-4\n+x\n"},
		"parts": {File{Op: filechange.Modify, Path: "/w/a", Parts: []Part{{"a\nb\n", "a\n", 10, 10}, {"c\n", "d\n", 90, 89}}},
			"diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -10,2 +10 @@\n a\n-b\n@@ -90 +89 @@\n-c\n+d\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.file.Patch(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			again := tt.file
			again.Parts = Hunks(tt.want)
			if got := again.Patch(); got != tt.want {
				t.Errorf("of its hunks\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// The hunks of a patch make the same changes as the patch.
func TestHunks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			fmt.Fprintf(&b, "%s%d\n", []string{"", "-", "+", "@@ -1 +1 @@", "\\"}[r.IntN(5)], r.IntN(4))
		}
		return strings.TrimSuffix(b.String(), []string{"", "\n"}[r.IntN(2)])
	}
	for range 2000 {
		before, after := text(), text()
		rest, got := before, ""
		line := 1
		for _, h := range Hunks(File{Path: "/a", Parts: []Part{{Old: before, New: after}}}.Patch()) {
			for ; line < h.OldLine; line++ {
				next := strings.IndexByte(rest, '\n') + 1
				got, rest = got+rest[:next], rest[next:]
			}
			after, ok := strings.CutPrefix(rest, h.Old)
			if !ok {
				t.Fatalf("a hunk begins with\n%s\nat\n%s", h.Old, rest)
			}
			got, rest, line = got+h.New, after, line+strings.Count(h.Old, "\n")
		}
		if got += rest; got != after {
			t.Fatalf("got\n%q\nwant\n%q\nfrom\n%q", got, after, before)
		}
	}
}

// git writes the same headers, and makes the same changes of random files from our patches, in both directions.
func TestAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("git is not installed here, or this is Windows, which forbids the quotes and tabs in the names of the test files")
	}
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	git := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s\n%s", args, err, out, in)
		}
		return string(out)
	}
	git("", "init", "-q")
	git("", "config", "core.autocrlf", "false")
	for i := range 40 {
		files, before, after := randomChanges(r, i)
		writeTree(t, dir, before)
		git("", "add", "-A")
		git("", "commit", "-q", "--allow-empty", "-m", "before")
		patch := ""
		for _, f := range files {
			patch += f.Patch()
		}
		git(patch, "apply", "-p0", "--whitespace=nowarn")
		sameTree(t, dir, after, patch)
		git("", "add", "-A")
		theirs := git("", "diff", "--cached", "--no-prefix", "-M1%", "-C1%", "--find-copies-harder", "--no-color")
		for _, line := range headers(patch) {
			if !strings.Contains("\n"+theirs, "\n"+line+"\n") {
				t.Errorf("git does not write %q:\n%s", line, theirs)
			}
		}
		if !strings.Contains(patch, "\ncopy from") { // whose reverse git does not know
			git(patch, "apply", "-R", "-p0", "--whitespace=nowarn")
			sameTree(t, dir, before, patch)
		}
	}
}

// headers returns the lines of a patch that name files. It leaves out moves and copies: git may pair other files.
func headers(patch string) (lines []string) {
	for section := range strings.SplitSeq(patch, "diff --git ") {
		if section == "" || strings.Contains(section, "\nsimilarity index") {
			continue
		}
		head, _, _ := strings.Cut("diff --git "+section, "\n@@")
		lines = append(lines, strings.Split(strings.TrimSuffix(head, "\n"), "\n")...)
	}
	return lines
}

// randomChanges returns changes of files, with the files before and after them. No two names and no two files are
// similar.
func randomChanges(r *rand.Rand, round int) (files []File, before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	ops := []string{filechange.Modify, filechange.Add, filechange.Delete, filechange.Move, filechange.Copy}
	names := []string{"plain", "a b", "tab\tx", "ü", `q"uote`, `back\slash`, "d/e/f.go", "-x", "line\nbreak", "sp ü"}
	for i, name := range names {
		path, old := fmt.Sprintf("%s%d", name, round), randomText(r, i)
		f := File{Op: ops[r.IntN(4+round%2)], Path: path, OldPath: path}
		switch f.Op {
		case filechange.Add:
			after[path] = old
			f.Parts = []Part{{New: old}}
		case filechange.Delete:
			before[path] = old
			f.Parts = []Part{{Old: old}}
		case filechange.Modify:
			before[path], after[path] = old, changed(r, old)
			f.Parts = []Part{{Old: old, New: after[path]}}
		case filechange.Move, filechange.Copy:
			f.Path = path + ".new"
			before[path], after[f.Path] = old, old
			if old != "" && r.IntN(2) == 0 {
				after[f.Path] = changed(r, old)
				f.Parts = []Part{{Old: old, New: after[f.Path]}}
			}
			if f.Op == filechange.Copy {
				after[path] = old
			}
		}
		files = append(files, f)
	}
	return files, before, after
}

// randomText returns a text whose lines contain seed. It may be empty, and may lack the last line feed.
func randomText(r *rand.Rand, seed int) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString("\ufeff")
	}
	ending := []string{"\n", "\r\n"}[r.IntN(2)]
	for range r.IntN(60) {
		fmt.Fprintf(&b, "%d %d%s", seed, r.IntN(20), ending)
	}
	text := b.String()
	if r.IntN(3) == 0 {
		text = strings.TrimSuffix(text, ending)
	}
	return text
}

// changed returns a text with other lines here and there.
func changed(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + r.IntN(4) {
		i := r.IntN(len(lines))
		switch r.IntN(3) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] = "new\n" + lines[i]
		default:
			lines[i] = strings.ToUpper("x" + lines[i])
		}
	}
	return strings.Join(lines, "")
}

// writeTree replaces the files of a directory.
func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sameTree compares the files of a directory with the expected ones.
func sameTree(t *testing.T, dir string, want map[string]string, patch string) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		if text, ok := want[name]; !ok || text != string(data) {
			t.Fatalf("%q has %q, want %q (%t):\n%s", name, data, text, ok, patch)
		}
		count++
		return err
	})
	if err != nil || count != len(want) {
		t.Fatalf("%d files, want %d: %v\n%s", count, len(want), err, patch)
	}
}
