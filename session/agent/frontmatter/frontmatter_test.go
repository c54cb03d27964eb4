package frontmatter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	head, body, err := Split("---\r\nname: \"a\"\ndescription: >-\n  One\n  two.\n\n  Three.\ntools: Read, Bash(git log:*), 'x' # all\nflow: [a, \"b\"]\n" +
		"open: [a, b\nempty: []\nlist:\n  - c\n  - d # last\n---\nText\n---\n")
	if err != nil || body != "Text\n---\n" {
		t.Errorf("%q, %v", body, err)
	}
	for key, want := range map[string]string{"name": "a", "description": "One two. Three.", "gone": ""} {
		if got := head[key].Text(); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string][]string{"tools": {"Read", "Bash(git log:*)", "x"}, "flow": {"a", "b"}, "open": {"a", "b"}, "empty": nil,
		"list": {"c", "d"}, "gone": nil} {
		if diff := cmp.Diff(want, head[key].List()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", key, diff)
		}
	}
	if head, body, err := Split("# Bare"); head != nil || body != "# Bare" || err != nil {
		t.Error(head, body, err)
	}
	if _, _, err := Split("---\nname: endless\n"); err == nil {
		t.Error("front matter without an end was accepted")
	}
}

func TestList(t *testing.T) {
	for written, want := range map[string][]string{
		"":                                     nil,
		"Bash(git add:*) Bash(git log:*),Read": {"Bash(git add:*)", "Bash(git log:*)", "Read"},
		`["Bash(a, b)", 'Read', Grep] # all`:   {"Bash(a, b)", "Read", "Grep"},
		"\n- Read\n- \"Write\" # x\n-\n- a b":  {"Read", "Write", "a b"},
		"\nRead\nWrite":                        {"Read", "Write"},
		`"Read, Write"`:                        {"Read", "Write"},
		"Bash(":                                {"Bash("},
		"[":                                    nil,
	} {
		if diff := cmp.Diff(want, Value(written).List()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", written, diff)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("---\nname: a\ntools: [b, c]\n---\ntext")
	f.Add("---\nname: a\ndescription: |\n  b\n---\nbody")
	f.Add("---\na: \"\\x00\\n\"\nb: '\n---")
	f.Add("---\nallowed-tools:\n- Bash(a, b)\n-\n---\n")
	f.Add("\ufeff---\r\n: x\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		head, body, err := Split(text)
		if err != nil || head == nil {
			return
		}
		if !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), body) {
			t.Errorf("%q is not the end of %q", body, text)
		}
		for _, v := range head {
			if strings.ContainsAny(v.Text(), "\n\t") {
				t.Errorf("%q is more than one line", v.Text())
			}
			v.List()
		}
	})
}
