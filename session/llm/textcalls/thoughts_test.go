package textcalls

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTagged(t *testing.T) {
	for text, want := range map[string][2]string{
		"<think>a</think>b":           {"a", "b"},
		"\n <think>a\nb</think>\n\nc": {"a\nb", "c"},
		"<thought>a</thought>b":       {"a", "b"},
		"<think>never ended </thi":    {"never ended </thi", ""},
		"a <think>b</think>":          {"", "a <think>b</think>"},
		"<thin air":                   {"", "<thin air"},
		"<th":                         {"", "<th"},
		"  ":                          {"", "  "},
	} {
		for cut := range len(text) {
			var g ThoughtSplitter
			thought, rest := "", ""
			take := func(a, b string) { thought, rest = thought+a, rest+b }
			take(g.ReadText(text[:cut]))
			take(g.ReadText(text[cut:]))
			take(g.End())
			if diff := cmp.Diff(want, [2]string{thought, rest}); diff != "" {
				t.Errorf("%q cut at %d (-want +got)\n%s", text, cut, diff)
			}
		}
	}
}
