package permission

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
)

// An example of a rule is a command, an address, a path or an input, as the tool has it.
func TestMatches(t *testing.T) {
	subject := func(key string) executors.SubjectKind { return subjectOf(key, cataloguetest.Known()) }
	for _, tt := range []struct {
		tool, pattern, example string
		want                   bool
	}{
		{"bash", "make *", "make test", true}, {"bash", "make *", "timeout 5 make test", true}, {"bash", "make *", "cargo test", false},
		{"shell", "make *", "make test", true}, {"diagnostics", "go vet*", "go vet ./... ", true},
		{"fetch", "example.com/docs/*", "https://example.com/docs/a", true}, {"fetch", "example.com", "https://example.org/", false},
		{"http_head", "example.com", "https://example.com/a", true}, {"http_head", "example.com", "https://example.org/", false},
		{"web_scrape", "*.example.com", "https://www.example.com/", true},
		{"edit", "src/*", "src/a.go", true}, {"edit", "src/*", "test/a.go", false}, {"read", "~/notes/*", "~/notes/a", true},
		{"plan", `*"name":"a"*`, ` {"name":"a"}`, true}, {"plan", `*"name":"a"*`, `{"name":"b"}`, false},
	} {
		got, err := Rule{Pattern: tt.pattern, Action: Deny}.Matches(subject(tt.tool), tt.example)
		if got != tt.want || err != nil {
			t.Errorf("%s: the rule %q matches %q: %t, %v, want %t", tt.tool, tt.pattern, tt.example, got, err, tt.want)
		}
	}
	for tool, example := range map[string]string{"bash": "ls '", "fetch": "example.com", "web_scrape": "https://", "http_head": "example.com"} {
		if _, err := (Rule{Pattern: "*"}).Matches(subject(tool), example); err == nil {
			t.Errorf("%s: the example %q is accepted", tool, example)
		}
	}
}
