package bundle

import (
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	for text, want := range map[string]Source{
		"https://github.com/obra/superpowers":               {URL: "https://github.com/obra/superpowers", Sub: "."},
		"https://github.com/a/b.git#v1.2":                   {URL: "https://github.com/a/b.git", Ref: "v1.2", Sub: "."},
		"https://github.com/a/b#main:plugins/x":             {URL: "https://github.com/a/b", Ref: "main", Sub: "plugins/x"},
		"https://github.com/a/b#:plugins/x":                 {URL: "https://github.com/a/b", Sub: "plugins/x"},
		"git@github.com:a/b.git#main":                       {URL: "git@github.com:a/b.git", Ref: "main", Sub: "."},
		"ssh://git@example.com:2222/a/b":                    {URL: "ssh://git@example.com:2222/a/b", Sub: "."},
		"http://127.0.0.1:8000/a":                           {URL: "http://127.0.0.1:8000/a", Sub: "."},
		"https://github.com/a/b#feature/x":                  {URL: "https://github.com/a/b", Ref: "feature/x", Sub: "."},
		"https://github.com/a/b#6dcd4ce23d88e2ee9568ba5464": {URL: "https://github.com/a/b", Ref: "6dcd4ce23d88e2ee9568ba5464", Sub: "."},
	} {
		got, err := ParseSource(text)
		if got != want || err != nil || got.String() != text {
			t.Errorf("%s: %+v, %v, %s", text, got, err, got)
		}
	}
	for text, want := range map[string]string{
		"":                                      "neither a directory",
		"--upload-pack=touch x":                 "begins with a dash",
		"-oProxyCommand=x":                      "begins with a dash",
		"ext::sh -c 'touch x'":                  "names a program",
		"fd::17":                                "names a program",
		"https::x":                              "names a program",
		"file:///etc":                           "name the directory itself",
		"http://example.com/a":                  "not encrypted",
		"git://example.com/a":                   "only https:// and ssh://",
		"ftp://example.com/a":                   "only https:// and ssh://",
		"ssh://-oProxyCommand=x/a":              "is not an address",
		"ssh://-x@example.com/a":                "is not an address",
		"ssh://example.com/-x":                  "is not an address",
		"git@-oProxyCommand=x:a":                "there is no directory",
		"-oProxyCommand=x@example.com:a":        "begins with a dash",
		"https://a:secret@example.com/x":        "contains a password",
		"https://github.com/a/b#--upload-pack":  "is not a branch",
		"https://github.com/a/b#a..b":           "is not a branch",
		"https://github.com/a/b#HEAD@{1}":       "is not a branch",
		"https://github.com/a/b#+x:y":           "is not a branch",
		"https://github.com/a/b#main:../x":      "leads out of the plug-in",
		"https://github.com/a/b#main:/etc":      "not a path inside",
		"https://github.com/a/b\x1b[31m":        "neither a directory",
		"https://":                              "is not an address",
		"obra/superpowers":                      "https://github.com/obra/superpowers",
		"./gone":                                "there is no directory",
		"source_test.go":                        "is not a directory",
		"https://github.com/a/b#x\nprotocol":    "neither a directory",
		"https://github.com/a/b#refs/heads/*:x": "is not a branch",
	} {
		if got, err := ParseSource(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %+v, %v, want %q", text, got, err, want)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	f.Add("https://github.com/a/b#main:plugins/x")
	f.Add("git@github.com:a/b.git")
	f.Add("ext::sh -c x")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text)
		if err != nil || s.Dir != "" {
			return
		}
		if strings.HasPrefix(s.URL, "-") || strings.HasPrefix(s.Ref, "-") || strings.Contains(s.URL, "::") || strings.HasPrefix(s.Sub, "..") {
			t.Errorf("%q is accepted: %+v", text, s)
		}
		if again, err := ParseSource(s.String()); err != nil || again != s {
			t.Errorf("%q: %+v becomes %+v, %v", text, s, again, err)
		}
	})
}
