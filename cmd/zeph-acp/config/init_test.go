package config

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write init.toml anew from the documentation")

// fromDocs returns the file that "config init" writes, made from the samples of
// the documentation: table headers stay, and keys and all lines of examples
// become comments.
func fromDocs(t *testing.T) string {
	defaults, examples := samples(t)
	var b strings.Builder
	b.WriteString("# The configuration of zeph-acp. Each key has its default here: remove the \"# \" before\n" +
		"# those that you want to change. \"zeph-acp config check\" names mistakes.\n")
	for i, sample := range slices.Concat(defaults, examples) {
		b.WriteByte('\n')
		for line := range strings.Lines(sample) {
			if i >= len(defaults) && line != "\n" || isKey.MatchString(line) {
				b.WriteString("# ")
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

var isKey = regexp.MustCompile(`^[a-z_]+ *=`)

// The file of "config init" changes nothing and agrees with the documentation.
// Run with -update to write it again.
func TestInitial(t *testing.T) {
	want := fromDocs(t)
	if *update {
		if err := os.WriteFile("init.toml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		initialConfig = []byte(want)
	}
	if diff := cmp.Diff(want, string(initialConfig)); diff != "" {
		t.Errorf("init.toml differs from the pages docs/settings*.md; write it with go test ./cmd/zeph-acp/config -run TestInitial -update (-docs +file)\n%s", diff)
	}
	for name, text := range map[string]string{
		"as written":             string(initialConfig),
		"with all keys taken in": regexp.MustCompile(`(?m)^# ([a-z_]+ *=)`).ReplaceAllString(firstTables(string(initialConfig)), "$1"),
	} {
		l, err := load(t, text)
		if err != nil {
			t.Errorf("%s: %s", name, mistakesOf(t, err))
			continue
		}
		if diff := cmp.Diff(Defaults(), l.Config, equalConfigs...); diff != "" {
			t.Errorf("%s: (-defaults +file)\n%s", name, diff)
		}
	}
}

// firstTables removes the examples.
func firstTables(text string) string {
	text, _, _ = strings.Cut(text, "\n# [[")
	return text
}
