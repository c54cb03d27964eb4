package executors

import "testing"

func TestTitles(t *testing.T) {
	for in, want := range map[string]struct{ quoted, titled string }{
		"main.go":      {"`main.go`", "main.go"},
		"**/*.go":      {"`**/*.go`", "**/*.go"},
		"a: b":         {"`a: b`", "`a: b`"},
		"echo `date`":  {"`` echo `date` ``", "`` echo `date` ``"},
		"`a`":          {"`` `a` ``", "`` `a` ``"},
		"echo ``x`` y": {"```echo ``x`` y```", "```echo ``x`` y```"},
	} {
		if got := Quoted(in); got != want.quoted {
			t.Errorf("Quoted(%q) = %q, want %q", in, got, want.quoted)
		}
		if got := Titled(in); got != want.titled {
			t.Errorf("Titled(%q) = %q, want %q", in, got, want.titled)
		}
	}
}
