package config

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

var update = flag.Bool("update", false, "write init.toml anew from the documentation")

// fromDocs returns the file that "config init" writes, made from the samples of the
// documentation: the provider that most people set, all keys with their defaults, then the
// other examples. Table headers of the defaults stay; keys and examples become comments.
func fromDocs(t *testing.T) string {
	defaults, examples := samples(t)
	var b strings.Builder
	b.WriteString("# The configuration of zeph-acp. Each key has its default here, or is an example: remove the\n" +
		"# \"# \" before a key to change it. \"zeph-acp config check\" names mistakes.\n")
	writeExample := func(sample string) {
		b.WriteByte('\n')
		for line := range strings.Lines(sample) {
			if line != "\n" {
				b.WriteString("# ")
			}
			b.WriteString(line)
		}
	}
	provider := slices.IndexFunc(examples, func(sample string) bool { return strings.HasPrefix(sample, "[[llm.providers]]") })
	writeExample(examples[provider])
	for _, sample := range defaults {
		b.WriteByte('\n')
		for line := range strings.Lines(sample) {
			if isKey.MatchString(line) {
				b.WriteString("# ")
			}
			b.WriteString(line)
		}
	}
	tables := strings.Join(defaults, "")
	for i, sample := range examples {
		header, _, _ := strings.Cut(sample, "\n")
		if i != provider && !strings.Contains(tables, header+"\n") { // a table may occur once
			writeExample(sample)
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
	all, _ := strings.CutPrefix(want, "# The configuration")
	_, all, _ = strings.Cut(all, "\n\n")
	all = regexp.MustCompile(`(?m)^# `).ReplaceAllString(all, "")
	if _, err := load(t, all); err != nil {
		t.Errorf("with all keys and examples taken in: %s", mistakesOf(t, err))
	}
	for name, text := range map[string]string{
		"as written":             string(initialConfig),
		"with all keys taken in": regexp.MustCompile(`(?m)^# ([a-z_]+ *=)`).ReplaceAllString(withoutExamples(want), "$1"),
	} {
		l, err := load(t, text)
		if err != nil {
			t.Errorf("%s: %s", name, mistakesOf(t, err))
			continue
		}
		if diff := cmp.Diff(setting.Default[Config](), l.Config, equalConfigs...); diff != "" {
			t.Errorf("%s: (-defaults +file)\n%s", name, diff)
		}
	}
}

// withoutExamples returns the part with the defaults.
func withoutExamples(text string) string {
	text = text[strings.Index(text, "\n[agent]\n"):]
	text, _, _ = strings.Cut(text, "\n# [[")
	return text
}
