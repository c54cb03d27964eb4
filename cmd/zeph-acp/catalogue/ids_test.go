package catalogue

import (
	"regexp"
	"strings"
	"testing"
)

// The form of an id says which tool takes it.
func TestIDs(t *testing.T) {
	for id, want := range map[string]string{
		"bg1": "bash_output bash_stop",
		"overflow:1b4e28ba-2fa1-41d2-883f-0016d3cca427": "read_overflow",
		"1b4e28ba-2fa1-41d2-883f-0016d3cca427":          "read_overflow",
		"entry 3":                                       "memory_search",
		"bash_output_1":                                 "",
		"nightly":                                       "",
		"main.go":                                       "",
	} {
		var takers []string
		for _, tool := range Known() {
			if tool.IDs != "" && regexp.MustCompile(`^(?:`+tool.IDs+`)$`).MatchString(id) {
				takers = append(takers, tool.Name)
			}
		}
		if got := strings.Join(takers, " "); got != want {
			t.Errorf("%s belongs to %q, want %q", id, got, want)
		}
	}
}
