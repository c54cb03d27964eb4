package permission

import "testing"

func TestClaimSource(t *testing.T) {
	for script, want := range map[string]string{
		"cat src/main.rs": "file_system", "cat ./a ../w/b": "file_system", "head -5 " + root + "/a | sort": "file_system", "cat < a": "file_system",
		"cd sub && wc -l x.go": "file_system",
		"ls":                   "", "echo a/b": "", "cat https://example.com/a": "", "make": "", "cat a && make": "", "cat $f": "", "cat $(make)": "",
		"git status":                 "",
		"curl https://example.com/a": "",
	} {
		s := newSetup().build()
		call := bash(script)
		s.do(t, call)
		if got := call.Record.ClaimSource; got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}
