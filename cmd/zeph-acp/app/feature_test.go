package app

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// TestDocumentedLinks compares the lists of links in the documentation with the features of a session
// in which all of them are on.
func TestDocumentedLinks(t *testing.T) {
	l, err := config.Load(config.Options{
		File:    write(t, t.TempDir(), "config.toml", allGates+"[tools.adversarial_policy]\nenabled = true\npolicies = [\"Be kind.\"]\n"),
		Environ: []string{"ZEPH_HOME=" + t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := New(l, slog.New(slog.DiscardHandler))
	a.Store = nil
	a.Watch = func(next executors.Executor) executors.Executor { return next }
	b, _, err := a.newSessionBuilder(session.Host{
		Client: &acp.Client{}, CWD: t.TempDir(), Warn: func(string) {},
		Model: func() llm.Model { return local.Direct{} }, Mode: func() string { return "code" },
	})
	if err != nil {
		t.Fatal(err)
	}
	var outer, links []string
	for _, f := range b.features(&ideproxy.Terminals{}).list {
		if f.Outer != nil {
			outer = append(outer, f.Name)
		}
		if f.Link != nil {
			links = append(links, f.Name)
		}
	}
	want := append(outer, links...)
	if i := slices.Index(want, "audit"); len(outer) != 4 || i < 4 {
		t.Errorf("outside of audit are %q of %q", outer, want)
	}
	for file, links := range map[string]*regexp.Regexp{
		"../../../docs/architecture.md": regexp.MustCompile(`(?s)\| link \| job \|\n\|---\|---\|\n(.*?)\n\| tools \|`),
		"../../../CONTRIBUTING.md":      regexp.MustCompile(`(?s)features\.go\n(.*?)→ DynExecutor`),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(links.FindStringSubmatch(string(text))[1]) {
			if row, isRow := strings.CutPrefix(line, "|"); isRow {
				line, _, _ = strings.Cut(row, "|")
			}
			got = append(got, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,→\n", r) })...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the links\n%q\nthe code has\n%q", file, got, want)
		}
	}
}
