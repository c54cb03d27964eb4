package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

func TestFiltersFile(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"HOME": "/home/u"}[name] }
	for path, want := range map[string]string{
		"":               "/home/u/.config/zeph-acp/filters.toml",
		"my.toml":        "/etc/zeph/my.toml",
		"../my.toml":     "/etc/my.toml",
		"~/my.toml":      "/home/u/my.toml",
		"/a/../my.toml":  "/my.toml",
		"~other/my.toml": "/etc/zeph/~other/my.toml",
	} {
		l := &config.Loaded{Config: setting.Default[config.Config](), Paths: config.Paths{Config: "/home/u/.config/zeph-acp"}, File: "/etc/zeph/config.toml",
			Getenv: getenv}
		l.Config.Tools.Filters.FiltersPath = path
		if got := l.FiltersFile(); got != filepath.FromSlash(want) {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if got := (&config.Loaded{Config: setting.Default[config.Config]()}).FiltersFile(); got != "" {
		t.Errorf("without a directory: %q, want no file", got)
	}
}

// A provider's key is redacted wherever it appears and whatever its form, also
// by filters that are older than the key.
func TestKeysAreMasked(t *testing.T) {
	l, err := config.Load(config.Options{Environ: []string{"HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	f := newFilters(l)
	keys := keys.NewKeys(t.TempDir(), []provider.Key{{Provider: "a", Env: "KEY_A"}, {Provider: "b", Env: "KEY_B"}}, func(name string) string {
		return map[string]string{"KEY_B": "from-the-environment"}[name]
	})
	getenv := f.learningGetenv(keys)
	cfg := setting.Default[filter.Config]()
	mask := f.mask(cfg.Security)
	own := cfg
	own.Security.ExtraPatterns = []string{"corp-[0-9]{8}"}
	before := f.filterFor(own, f.scanner(own.Security))
	if got := mask("plain saved-words"); got != "plain saved-words" {
		t.Errorf("before the key is known, the text became %q", got)
	}
	if err := keys.Save("KEY_A", "saved-words"); err != nil {
		t.Fatal(err)
	}
	getenv("KEY_A")
	getenv("KEY_B")
	getenv("HOME")
	for _, text := range []string{"plain saved-words", "a\nfrom-the-environment\n"} {
		if got := mask(text); strings.Contains(got, "saved") || strings.Contains(got, "environment") {
			t.Errorf("masked %q is %q", text, got)
		}
		if got, _ := before.Scanner().Mask(text + " corp-12345678"); strings.Contains(got, "saved") || strings.Contains(got,
			"environment") || strings.Contains(got, "corp-") {
			t.Errorf("masked by the filter before, %q is %q", text, got)
		}
	}
	off := filter.Security{}
	if got := f.mask(off)("saved-words"); got != "saved-words" {
		t.Errorf("with masking off, the text became %q", got)
	}
}
