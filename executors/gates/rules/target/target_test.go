package target

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string][]string{
		"curl HTTPS://Example.COM.:443/a#b":               {"https://example.com/a"},
		"curl example.com/a -o x":                         {"http://example.com/a"},
		"curl --url=http://u:p@example.com:8080":          {"http://example.com:8080/"},
		"git clone git@example.com:a/b.git":               {"ssh://example.com/a/b.git"},
		"git push ssh://git@example.com:22/a":             {"ssh://example.com/a"},
		"wget [::1]":                                      nil,
		"curl http://[::1]:80/":                           {"http://[::1]/"},
		"cat </dev/tcp/Example.com/25":                    {"tcp://example.com:25/"},
		"echo a:b http:/x file:///etc/passwd 'a b://c d'": nil,
	} {
		call := &executors.Call{Card: executors.Card{Script: command.Parse(text, command.Shell{Dir: "/w"})}}
		var got []string
		for _, p := range Of(call, Session{Cwd: "/w"}).Parts {
			for _, u := range p.URLs {
				got = append(got, u.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Every string of an input counts, even if a member occurs twice.
func TestInput(t *testing.T) {
	got := inputValues(json.RawMessage(`{"path":"a","x":[{"PATH":"b"},"/c",1,null,{"y":"d"}],"path":"e","to":["f"]}`))
	want := values{texts: []string{"a", "b", "/c", "d", "e", "f"}, named: []string{"a", "b", "e", "f"}, pathLike: []string{"/c"}, duplicate: "path"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(values{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzOf checks that no call crashes, and that places are absolute.
func FuzzOf(f *testing.F) {
	f.Add(`{"path":"~/x","uri":"file:///%2e%2e/a","a":{"roots":["../b"]}}`, "cd x && cat <y | ssh a.b")
	f.Add(`[1]`, "curl a.b:1 $(x) 'u")
	f.Fuzz(func(t *testing.T, input, script string) {
		for _, call := range []*executors.Call{
			{Input: json.RawMessage(input), Spec: executors.Tool{Server: "s"}},
			{Input: json.RawMessage(`{}`), Card: executors.Card{Script: command.Parse(script, command.Shell{Dir: "/w"})}},
		} {
			for _, p := range Of(call, Session{Cwd: "/w", Home: "/home/u"}).Parts {
				for _, file := range p.Files {
					for _, path := range slices.Concat(file.Names, file.Places) {
						if !filepath.IsAbs(path) && path != "\x00" {
							t.Errorf("%q is not absolute", path)
						}
					}
				}
			}
		}
	})
}
