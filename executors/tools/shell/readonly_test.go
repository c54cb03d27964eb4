package shell

import (
	"slices"
	"strings"
	"testing"
)

// npm creates the directories that the project's .npmrc names, and writes logs and timings into
// them, also for "npm --version". Variables have priority.
func TestReadOnlyNPM(t *testing.T) {
	for _, name := range []string{"cache", "logs_dir", "logs_max", "timing"} {
		if !slices.ContainsFunc(readOnlyEnv(), func(v string) bool { return strings.HasPrefix(v, "npm_config_"+name+"=") }) {
			t.Errorf("a .npmrc may set %s", name)
		}
	}
}

// A read-only command runs in the user's locale only if its script then means the same.
func TestReadOnlyLocale(t *testing.T) {
	for _, tt := range []struct {
		all, ctype, lang string
		kept             bool
	}{
		{kept: true},
		{lang: "C", kept: true},
		{lang: "de_DE.UTF-8", kept: true},
		{lang: "ca_ES.utf8@valencia", kept: true},
		{lang: "zh_CN.GBK"},
		{lang: "zh_TW"},
		{lang: "zh_CN.GBK", ctype: "C.UTF-8", kept: true},
		{lang: "en_US.UTF-8", ctype: "zh_TW.Big5"},
		{lang: "zh_CN.GBK", all: "POSIX", kept: true},
		{lang: "en_US.UTF-8", all: "ja_JP.SJIS"},
	} {
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LC_CTYPE", tt.ctype)
		t.Setenv("LANG", tt.lang)
		if kept := !slices.Contains(readOnlyEnv(), "LC_ALL=C"); kept != tt.kept {
			t.Errorf("LC_ALL=%s LC_CTYPE=%s LANG=%s: the locale is kept: %t, want %t", tt.all, tt.ctype, tt.lang, kept, tt.kept)
		}
	}
}
