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

var update = flag.Bool("update", false, "write the pages of settings and examples.toml anew")

// fromDocs returns the examples of the documentation as comments, the provider that most people
// set first. Tables that occur once in the file are left out.
func fromDocs(t *testing.T) string {
	defaults, examples := samples(t)
	provider := slices.IndexFunc(examples, func(sample string) bool { return strings.HasPrefix(sample, "[[llm.providers]]") })
	all := []string{commented(examples[provider])}
	tables := strings.Join(defaults, "")
	for i, sample := range examples {
		if header, _, _ := strings.Cut(sample, "\n"); i != provider && !strings.Contains(tables, header+"\n") {
			all = append(all, commented(sample))
		}
	}
	return strings.Join(all, "\n")
}

// The file of "config init" changes nothing and agrees with the documentation.
// Run with -update to write its examples again.
func TestInitial(t *testing.T) {
	if want := fromDocs(t); *update {
		if err := os.WriteFile("examples.toml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		examples = want
	} else if diff := cmp.Diff(want, examples); diff != "" {
		t.Errorf("examples.toml differs from the pages; write it with go test ./cmd/zeph-acp/config -run 'TestTables|TestInitial' -update (-docs +file)\n%s", diff)
	}
	want := initialConfig()
	all, _ := strings.CutPrefix(want, "# The configuration")
	_, all, _ = strings.Cut(all, "\n\n")
	all = regexp.MustCompile(`(?m)^# `).ReplaceAllString(all, "")
	if _, err := load(t, all); err != nil {
		t.Errorf("with all keys and examples taken in: %s", mistakesOf(t, err))
	}
	for name, text := range map[string]string{
		"as written":             want,
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
