package pick

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	for name, tt := range map[string]struct {
		query            string
		candidates, want []string
	}{
		"empty query":             {"", []string{"b", "a"}, []string{"b", "a"}},
		"nothing":                 {"x", []string{"a"}, nil},
		"exact, prefix, inside":   {"go", []string{"cargo", "gopher", "go"}, []string{"go", "gopher", "cargo"}},
		"base name of a path":     {"main", []string{"domain/a.go", "cmd/re.go", "cmd/x/main.go"}, []string{"cmd/x/main.go", "domain/a.go"}},
		"directory":               {"ed", []string{"a/red/", "chat/editor/"}, []string{"chat/editor/", "a/red/"}},
		"word before inside":      {"test", []string{"a/latest", "a/b-test"}, []string{"a/b-test", "a/latest"}},
		"beginnings of words":     {"cze", []string{"cozzze", "cmd/zeph-acp/editor"}, []string{"cmd/zeph-acp/editor", "cozzze"}},
		"parts of words":          {"chated", []string{"c-h-a-t-xedx", "chat/editor"}, []string{"chat/editor", "c-h-a-t-xedx"}},
		"camel case":              {"rh", []string{"rich", "readHistory"}, []string{"readHistory", "rich"}},
		"case":                    {"READ", []string{"ReadMe"}, []string{"ReadMe"}},
		"compact before spread":   {"abc", []string{"xaxxbxxc", "xaxbxc"}, []string{"xaxbxc", "xaxxbxxc"}},
		"short before long":       {"a", []string{"abc", "ab"}, []string{"ab", "abc"}},
		"stable":                  {"a", []string{"ab", "ac", "aa"}, []string{"ab", "ac", "aa"}},
		"order of the characters": {"ba", []string{"ab"}, nil},
		"other letters":           {"ÄÖ", []string{"xäxö", "ae"}, []string{"xäxö"}},
		"half of a character":     {"é", []string{"ã©"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, i := range Match(tt.query, tt.candidates) {
				got = append(got, tt.candidates[i])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Match(%q, %q): (-want +got)\n%s", tt.query, tt.candidates, diff)
			}
		})
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("ab", "a/b", "xaB")
	f.Add("İ", "i", "ıİ")
	f.Fuzz(func(t *testing.T, query, one, two string) {
		got := Match(query, []string{one, two})
		if slices.Contains(got, 0) != slices.Contains(Match(query, []string{one}), 0) {
			t.Errorf("Match(%q, %q, %q) depends on the other candidate: %v", query, one, two, got)
		}
		if utf8.ValidString(one) && strings.HasPrefix(one, query) && !slices.Contains(got, 0) {
			t.Errorf("Match(%q, %q) misses a prefix", query, one)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf("executors/tools/files/walk/Package%d/some_file_%d_test.go", i%100, i))
	}
	for _, query := range []string{"e", "walk", "wpt", "zzz"} {
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Match(query, names)
			}
		})
	}
}
