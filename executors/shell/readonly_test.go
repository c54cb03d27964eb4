package shell

import (
	"slices"
	"testing"
)

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
