package headless

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

var update = flag.Bool("update", false, "write the expected screens")

// turnSteps is a turn with all that is hard to lay out: wide characters, escape
// sequences, tabs, CR LF, long lines and long results.
func turnSteps() []string {
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	old := "func open(name string) (*File, error) {\n\treturn os.Open(name)\n}\nnothing alike\n"
	now := "func open(path string) (*File, error) {\n\treturn os.Open(path) // 開く\n}\n完全に別の行\n"
	diff, _ := json.Marshal([]acp.ToolContent{{Type: "diff", Path: "/w/file.go", OldText: &old, NewText: &now}})
	return []string{
		said("1", acp.TextBlock("please look at the file and then write what you found in it\n\nthanks")),
		thought("2", "The user wants a look at the file, "), thought("2", "so I read it before anything else.\n\nThen I answer."),
		`{"sessionUpdate":"plan","entries":[{"content":"Read the file and the tests that belong to it","status":"completed"},{"content":"Change the 名前 of the parameter","status":"in_progress"},{"content":"Run the tests","status":"pending"}]}`,
		text("3", "I **found** th"),
		text("3", "ree things in `internal/server/handler.go`:\n\n1. The first is at the beginning of the"),
		text("3", " file.\n2. 二番目は長い文章で、端末の幅を超えるので折り返されます。\n"),
		text("3", "\n| a | b |\n|---|---|\n| 1 | two |\n\n```go\nx := 1\n```\n"),
		call("a", "go test ./... -run 'TestOpen|TestClose|TestReadAll' -count=1"), embed("a", "term-1"),
		"term-1:\x1b[32mok\x1b[0m\tpackage/one\t0.1s\r\n10%\r50%\r100%\r\n" + strings.Repeat("word ", 40) + "\n", "term-1:" + numbers(300),
		ended("a", "failed", numbers(300)+"[exit 1]"),
		strings.Replace(call("b", "Read data.json"), "execute", "read", 1),
		ended("b", "completed", numbers(30)+strings.Repeat("x", 5000)+"\n[lines 1-31; continue with offset 32]"),
		strings.Replace(call("c", "Edit file.go"), "execute", "edit", 1),
		patch("c", `"status":"completed","content":`+string(diff)),
		text("4", "Done: see [the docs](https://example.com/docs)."),
		"=end_turn",
	}
}

// render plays steps on a terminal of so many columns.
func render(columns int, styled bool, steps []string) string {
	var b strings.Builder
	s := NewScreen(&b, styled)
	s.Columns = func() int { return columns }
	for _, step := range steps {
		play(s, step)
	}
	return b.String()
}

// Without colours a terminal shows the same layout, with bold and dim text.
func TestColourless(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b, true)
	s.Colourless, s.Columns = true, func() int { return 80 }
	for _, step := range turnSteps() {
		play(s, step)
	}
	golden(t, "screen.80.colourless.txt", strings.ReplaceAll(b.String(), "\x1b", "␛"))
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A turn in a narrow, a usual and a wide terminal, with and without styles.
func TestWidths(t *testing.T) {
	for _, columns := range []int{40, 80, 200} {
		for _, styled := range []bool{false, true} {
			name := fmt.Sprintf("screen.%d.txt", columns)
			if styled {
				name = fmt.Sprintf("screen.%d.styled.txt", columns)
			}
			got := render(columns, styled, turnSteps())
			for line := range strings.Lines(sgr.ReplaceAllString(got, "")) {
				if n := layout.Columns(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("%s: a row of %d columns: %s", name, n, line)
				}
				if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\r\t") {
					t.Errorf("%s: a control character in %q", name, line)
				}
			}
			golden(t, name, strings.ReplaceAll(got, "\x1b", "␛"))
		}
	}
}

// A line that never ends is shown nevertheless.
func TestEndlessLine(t *testing.T) {
	var steps []string
	for range 3 * maxPartial / 1000 {
		steps = append(steps, text("1", strings.Repeat("x", 1000)))
	}
	if got := render(80, true, steps); len(got) < 2*maxPartial {
		t.Errorf("%d bytes are shown, want at least %d", len(got), 2*maxPartial)
	}
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
	}
}

// The status shows what the turn waits for, and is erased before any output.
func TestStatus(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b, true)
	width := 40
	s.Columns = func() int { return width }
	shown := func() string {
		got := strings.NewReplacer("\r\x1b[K", "<erase>", "\x1b7\r", "<back>", "\x1b8", "<forth>").Replace(sgr.ReplaceAllString(b.String(), ""))
		b.Reset()
		return got
	}
	now := time.Now().Add(time.Hour)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.tick(now) }, "<erase>⠙  0 s waiting for the model "},
		{func() { s.tick(now.Add(2 * time.Second)) }, "<back>⠹  2 s waiting for the model<forth>"},
		{func() { play(s, call("a", "make")) }, "<erase>╭ execute  make\n"},
		{func() { s.tick(now.Add(3 * time.Second)) }, "<erase>⠸  0 s make "},
		{func() { play(s, embed("a", "term-1")); play(s, "term-1:"+strings.Repeat("x\n", 30)+"50%") }, "<erase>" + strings.Repeat("│ x\n", 10)},
		{func() { s.tick(s.status.wrote) }, ""}, // just written
		{func() { s.tick(now.Add(5 * time.Second)) }, "<erase>⠼  2 s make · 50% "},
		{func() { s.entered("hello\n") }, "\x1b[A\r\x1b[Jhello\n"}, // with the line that was typed after it
		{func() { s.tick(now.Add(6 * time.Second)) }, "<erase>⠴  3 s make · 50% "},
		{func() { width = 8; s.tick(now.Add(6 * time.Second)) }, "\x1b[2A\r\x1b[J<erase>⠦  3 … "}, // of three rows
		{func() { play(s, "^C") }, "<erase>"},
		{func() { s.tick(now.Add(7 * time.Second)) }, ""},
	} {
		step.do()
		if got := shown(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// The words that differ stand out, unless the lines have little in common.
func TestDiffSpans(t *testing.T) {
	for name, tt := range map[string]struct{ lines, want string }{
		"a word":      {"-a := old(x)|+a := new(x)", "<-a := [old](x)>|<+a := [new](x)>"},
		"two lines":   {"-a b c|-d e f|+a b x|+d y f", "<-a b [c]>|<-d [e] f>|<+a b [x]>|<+d [y] f>"},
		"more lines":  {"-a b c|+a b x|+a b y", "<-a b c>|<+a b x>|<+a b y>"},
		"not alike":   {"-one two|+three", "<-one two>|<+three>"},
		"only spaces": {"-\tab|+  ab", "<-[\t]ab>|<+[  ]ab>"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			var lines []diffLine
			for l := range strings.SplitSeq(tt.lines, "|") {
				lines = append(lines, diffLine{text: l, language: highlight.Language{}})
			}
			for _, line := range diffSpans(lines) {
				text := ""
				for _, s := range line {
					if strings.HasSuffix(s.Style, reversed) {
						text += "[" + s.Text + "]"
					} else {
						text += s.Text
					}
				}
				got = append(got, "<"+text+">")
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), tt.want)
			}
		})
	}
}

// Each side of a hunk is read in the language of its file. Other lines, and files whose language is
// unknown, have the colour of their sign.
func TestDiffCode(t *testing.T) {
	for name, tt := range map[string]struct{ file, lines, want string }{
		"a language": {
			"a.go", "@@ -1 +1 @@| /* a|-b */ if x|+b| c */|+if y",
			"<36:@@ -1 +1 @@>| <2:/* a>|<31:-><2:b */> <1:if> x|<32:+><2:b>| <2:c */>|<32:+><1:if> y",
		},
		"inside a string":  {"a.py", ` text| """|-if`, ` <35:text>| <35:""">|<31:-><1:if>`},
		"before a string":  {"a.py", ` def f():| """|-if`, ` <1:def> <36:f>():| <35:""">|<31:-><35:if>`},
		"inside a comment": {"a.go", " a| | b */ x|-if", " <2:a>| | <2:b */> x|<31:-><1:if>"},
		"a word":           {"a.go", `-return "a"|+return "b"`, `<31:-><1:return> <35:"><31;7:a><35:">|<32:+><1:return> <35:"><32;7:b><35:">`},
		"unknown":          {"a.x", "-if a|+b", "<31:-><31:if a>|<32:+><32:b>"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []diffLine
			for l := range strings.SplitSeq(tt.lines, "|") {
				lines = append(lines, diffLine{text: l, language: highlight.ForFile(tt.file)})
			}
			var got []string
			for _, line := range diffSpans(lines) {
				text := ""
				for _, s := range line {
					if s.Style == "" {
						text += s.Text
					} else {
						text += "<" + s.Style + ":" + s.Text + ">"
					}
				}
				got = append(got, text)
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), tt.want)
			}
		})
	}
}
