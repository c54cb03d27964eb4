package textcalls

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
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

// Blank lines, or backticks, without end are passed on, since each piece of them would be
// looked at with all earlier ones.
func TestEndlessBeginning(t *testing.T) {
	for _, piece := range []string{"\n", " ", "`", "~"} {
		var g ThoughtSplitter
		a := newAnswerReader(llm.Request{Tools: []llm.Tool{{Name: "bash"}}})
		passed, read := 0, 0
		for range 3 * maxOpening {
			_, text := g.ReadText(piece)
			passed += len(text)
			a.read(llm.Event{Text: piece})
			a.send(func(ev llm.Event, _ error) bool {
				read += len(ev.Text)
				return true
			})
		}
		if passed < 2*maxOpening-1 || read < 2*maxOpening-1 {
			t.Errorf("of %d of %q the first reader passed on %d, the second %d", 3*maxOpening, piece, passed, read)
		}
	}
}
