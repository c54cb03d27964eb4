package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

var update = flag.Bool("update", false, "write the expected rows")

// render lays out a whole text. With styles, each styled span is <style:text>.
func render(source string, columns int, styles bool) string {
	s := New(columns)
	var rows []Row
	for line := range strings.Lines(source) {
		rows = append(rows, s.Line(line)...)
	}
	rows = append(rows, s.End()...)
	var b strings.Builder
	for _, r := range rows {
		for _, span := range r {
			if styles && span.Style != "" {
				fmt.Fprintf(&b, "<%s:%s>", span.Style, span.Text)
			} else {
				b.WriteString(span.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The sample at the width of a narrow, a usual and a wide terminal.
func TestWidths(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{20, 40, 80, 200} {
		name := filepath.Join("testdata", fmt.Sprintf("sample.%d.txt", columns))
		got := render(string(source), columns, false)
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
			t.Errorf("%d columns: %v (-want +got)\n%s", columns, err, diff)
		}
		for line := range strings.Lines(got) {
			if n := layout.Columns(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns: a row of %d: %s", columns, n, line)
			}
		}
	}
}

func TestStyles(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"emphasis":          {"a *b* **c** ***d*** _e_ __f__", "a <3:b> <1:c> <1;3:d> <3:e> <1:f>"},
		"nested":            {"**a `b` *c***", "<1:a ><1;36:b><1: ><1;3:c>"},
		"no emphasis":       {"a_b_c 2 * 3 * 4 **open *x", "a_b_c 2 * 3 * 4 **open *x"},
		"a run of marks":    {"*****a***** **b*c** *****", "<1;3;1:a> <1:b*c> *****"},
		"brackets in links": {"[a [b](c) d](e(f)) [[g](h)", "<4:a ><4;4:b><4;2: (c)><4: d><2: (e(f))> [<4:g><2: (h)>"},
		"code in emphasis":  {"*a `*` b* *c `d*", "<3:a ><3;36:*><3: b> *c `d*"},
		"escapes":           {`\*a\* \q`, `*a* \q`},
		"code":              {"`` a`b `` `*c*` `open", "<36:a`b> <36:*c*> `open"},
		"link": {
			"[the *docs*](https://a.b/c_d \"t\") [https://x.y](https://x.y)",
			"<4:the ><4;3:docs><2: (https://a.b/c_d)> <4:https://x.y>",
		},
		"no link":            {"[a] (b) [c", "[a] (b) [c"},
		"headings":           {"# a\n### b `c`\n#d", "<1;36:a>\n\n<1:b ><1;36:c>\n\n#d"},
		"an open code block": {"```\na\n# b", "  <36:a>\n  <36:# b>"},
		"a long fence":       {"````\n```\n````\nx", "  <36:```>\nx"},
		"code in a list":     {"- a\n  ```x\n  b\n    c\n  ```\n- d", "• a\n  <2:┄ x>\n    <36:b>\n    <36:  c>\n• d"},
		"code of a language": {"``` go x\nif /* b\nc */ \"d\"\n```", "<2:┄ go x>\n  <1:if> <2:/* b>\n  <2:c */> <35:\"d\">"},
		"code of a file":     {"```a.py\nif 1\n```", "<2:┄ a.py>\n  <1:if> <35:1>"},
		"struck":             {"~~a~~ ~b~", "<9:a> ~b~"},
		"a bar and no table": {"a | b\nc", "a | b c"},
		"rules":              {"a\n\n***\nb", "a\n\n<2:" + strings.Repeat("─", 60) + ">\nb"},
		"a marker alone":     {"-\n\na", "• \n\na"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want+"\n", render(tt.source, 60, true)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Rows appear as soon as they cannot change any more.
func TestStreams(t *testing.T) {
	s := New(40)
	for _, step := range []struct {
		line string
		rows int
	}{
		{"# a", 1}, {"b", 0}, {"c", 0}, {"", 2}, {"- d", 0}, {"- e", 2}, {"```", 1}, {"f", 1}, {"g", 1}, {"```", 0},
		{"| h | i |", 0}, {"|---|---|", 0}, {"| j | k |", 0}, {"", 3},
	} {
		if got := s.Line(step.line); len(got) != step.rows {
			t.Errorf("after %q: %d rows, want %d: %v", step.line, len(got), step.rows, got)
		}
	}
}

// No letter of a text is lost, and no row is too wide.
func FuzzStream(f *testing.F) {
	sample, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample), 40)
	f.Add("| a |\n|-|\n|**b `c|", 12)
	f.Add("    an indented line of code, and longer than the terminal is wide\n", 6)
	f.Add("```a language that is longer than the terminal is wide\n", 6)
	f.Add(strings.Repeat("> ", 30)+"quoted\n", 6)
	f.Add("- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              1000. h\n", 6)
	f.Fuzz(func(t *testing.T, source string, columns int) {
		columns = 20 + (columns&0x7f+0x7f)%0x7f
		source = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFD' || r == 0x7f {
				return -1
			}
			return r
		}, source)
		got := render(source, columns, false)
		for line := range strings.Lines(got) {
			if n := layout.Columns(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns: a row of %d: %q", columns, n, line)
			}
		}
	})
}

// Marks that nothing closes, or that close each other, cost time in proportion to the length
// of the text: compare the sizes.
func BenchmarkHostile(b *testing.B) {
	for _, text := range []string{"*a ", "*a_", "[", "[a](", "`a``b```", "<a", "**a *b "} {
		for _, n := range []int{16 << 10, 160 << 10} {
			b.Run(fmt.Sprintf("%q/%d", text, n), func(b *testing.B) {
				for b.Loop() {
					inline(strings.Repeat(text, n/len(text)), "")
				}
			})
		}
	}
	b.Run("nested", func(b *testing.B) {
		for b.Loop() {
			inline(strings.Repeat("[", 30_000)+"a"+strings.Repeat("](b)", 30_000), "")
		}
	})
}

// TestAlignment aligns the columns of a table as its delimiters say.
func TestAlignment(t *testing.T) {
	const source = "| n | size | both |\n|---|--:|:-:|\n| a | 12 | x |\n| b | 1,000 | |\n| c | | long |\n"
	const want = "n   size  both\n─  ─────  ────\na     12  x\nb  1,000\nc         long\n"
	if diff := cmp.Diff(want, render(source, 40, false)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
