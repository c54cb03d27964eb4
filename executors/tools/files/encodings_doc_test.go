package files

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The sample of the page about encodings declares what its table says.
func TestEncodingsPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/files.md")
	must(t, err)
	sample := regexp.MustCompile("(?s)```ini\n(.*?)```").FindSubmatch(page)
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| ([\\w-]+) \\|$").FindAllSubmatch(page, -1)
	if sample == nil || len(rows) == 0 {
		t.Fatal("docs/files.md has no sample, or no table")
	}
	b := newBench(t, map[string]string{".editorconfig": string(sample[1])})
	for _, row := range rows {
		path, want := string(row[1]), string(row[2])
		res := b.run("write", in{"path": path, "content": "…\n"}) // a character that all of them have
		got := "UTF-8"
		if note := regexp.MustCompile(`\[(.*)\]$`).FindStringSubmatch(res.Text); note != nil {
			got = note[1]
		}
		if text := b.run("read", in{"path": path}).Text; res.Failed || !strings.HasPrefix(text, "…\n") && text != "…" {
			t.Errorf("%s is read as %q: %s", path, text, res.Text)
		}
		if got != want {
			t.Errorf("%s is %s, the page says %s", path, got, want)
		}
	}
}
