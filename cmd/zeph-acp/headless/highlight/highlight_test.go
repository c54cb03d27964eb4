package highlight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// marked returns lines with their classes, as «class:text».
func marked(lines [][]Piece) string {
	var b strings.Builder
	for _, line := range lines {
		for _, p := range line {
			if p.Class == Plain {
				b.WriteString(p.Text)
			} else {
				fmt.Fprintf(&b, "«%s:%s»", strings.TrimPrefix(p.Class.HTML(), "hl-"), p.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The samples in testdata, as a whole and line by line.
func TestSamples(t *testing.T) {
	names, err := filepath.Glob("testdata/sample.*")
	if err != nil || len(names) == 0 {
		t.Fatal("no samples", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		t.Run(filepath.Ext(name), func(t *testing.T) {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSuffix(string(source), "\n")
			got := marked(ForFile(name).Code(text))
			if expected := name + ".txt"; *update {
				if err := os.WriteFile(expected, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want, err := os.ReadFile(expected); err != nil || got != string(want) {
				t.Errorf("%v (-want +got)\n%s", err, cmp.Diff(string(want), got))
			}
			if diff := cmp.Diff(got, marked(lineByLine(ForFile(name), text))); diff != "" {
				t.Errorf("line by line (-whole +lines)\n%s", diff)
			}
		})
	}
}

func lineByLine(l Language, text string) (all [][]Piece) {
	lines := l.Lines()
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, lines.Line(line))
	}
	return all
}

func TestLanguages(t *testing.T) {
	for name, want := range map[string]string{
		"go": "Go", "Golang": "Go", "js": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript", "jsx": "react", "py": "Python", "sh": "Bash",
		"bash": "Bash", "zsh": "Bash", "shell": "Bash", "console": "Bash Session", "yml": "YAML", "c++": "C++", "cs": "C#", "rs": "Rust", "rb": "Ruby",
		"kt": "Kotlin", "docker": "Docker", "dockerfile": "Docker", "make": "Makefile", "md": "markdown", "ps1": "PowerShell", "proto": "Protocol Buffer",
		"diff": "Diff", "patch": "Diff", "jsonc": "JSON", "hcl": "HCL", "tf": "Terraform", "svelte": "HTML", "ini": "INI", "text": "", "": "", "klingon": "",
	} {
		if got := nameOf(Named(name)); got != want {
			t.Errorf("the language %q is %q, want %q", name, got, want)
		}
	}
	for path, want := range map[string]string{
		"/w/main.go": "Go", "a.tsx": "TypeScript", "a.jsx": "react", "Makefile": "Makefile", "Dockerfile": "Docker", "go.mod": "Go", "x.php": "PHTML",
		".bashrc": "Bash", "a.h": "C", "a.hpp": "C++", "pom.xml": "XML", "a.m": "Objective-C", "a.vue": "vue", "CMakeLists.txt": "CMake", "a.txt": "",
		"README.md": "markdown", "a.sql": "SQL", "a.py": "Python", "BUILD.bazel": "Python", "a.gradle": "Groovy", "package.json": "JSON", "": "",
		"a.svelte": "HTML", "a.tmpl": "Go Text Template", "a.v": "V", "a.ex": "Elixir", "nginx.conf": "Nginx configuration file", "a.service": "SYSTEMD",
	} {
		if got := nameOf(ForFile(path)); got != want {
			t.Errorf("the language of %q is %q, want %q", path, got, want)
		}
	}
}

func nameOf(l Language) string {
	if l.IsPlain() {
		return ""
	}
	return l.lexer.chroma.Config().Name
}

// Whatever the text, the pieces joined are the text.
func FuzzPieces(f *testing.F) {
	names, _ := filepath.Glob("testdata/sample.*")
	for i, name := range names {
		source, _ := os.ReadFile(name)
		f.Add(string(source), uint8(i))
	}
	f.Add(" a\n-b\xff\n+c\n */\n@@\n+\"\"\"\n x", uint8(2))
	f.Add("a\xff\r\n\x00`\u2028 /*", uint8(0))
	f.Fuzz(func(t *testing.T, text string, language uint8) {
		all := definitions().all
		l := Language{all[int(language)%len(all)]}
		for _, lines := range [][][]Piece{l.Code(text), lineByLine(l, text)} {
			var got []string
			for _, line := range lines {
				got = append(got, joined(line))
			}
			if joined := strings.Join(got, "\n"); joined != text {
				t.Errorf("%s: got %q, want %q", nameOf(l), joined, text)
			}
		}
		lines := strings.Split(text, "\n")
		for i, pieces := range l.Diff(lines) {
			want := ""
			if IsDiffCode(lines[i]) {
				want = lines[i][1:]
			}
			if got := joined(pieces); got != want {
				t.Errorf("%s: a line of a diff is %q, want %q", nameOf(l), got, want)
			}
		}
	})
}

func joined(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Text that takes the rules of a language much time is plain after a while: without the limit this test does not end.
func TestSlowText(t *testing.T) {
	text := strings.Repeat("(<a \"\\", 20_000)
	for _, l := range definitions().all {
		r := l.read(rootStack, text, 5*time.Millisecond)
		if got := joined(r.pieces); got != text {
			t.Errorf("%s changes the text", l.chroma.Config().Name)
		}
	}
}

func BenchmarkCode(b *testing.B) {
	source, err := os.ReadFile("highlight.go")
	if err != nil {
		b.Fatal(err)
	}
	l := ForFile("x.go")
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		l.Code(string(source))
	}
}
