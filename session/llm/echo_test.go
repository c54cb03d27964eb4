package llm

import (
	"iter"
	"strings"
	"testing"
)

func TestWithoutEcho(t *testing.T) {
	const project = "<zeph_context>\n- Working directory: /w.\n</zeph_context>"
	const line = "[mode: code] You may change files."
	req := Request{Project: project, Messages: []Message{{Role: User, Blocks: []Block{{Text: line + "\n\nFix calc.py."}}}}}
	for name, tt := range map[string]struct{ answer, want string }{
		"an answer":                {"Fixed.", "Fixed."},
		"the line alone":           {line, ""},
		"the line, wrapped":        {"[mode: code] You may\nchange files.", ""},
		"the line and the prompt":  {line + " Fix calc.py.", ""},
		"the context":              {project + "\n\n" + line + "\n\nFix calc.py.\n", ""},
		"the context, cut":         {project[:30], ""},
		"the line, then an answer": {line + "\n\nI fixed it.", "I fixed it."},
		"the context, then text":   {project + "\n\nI fixed it.", "I fixed it."},
		"both, then an answer":     {project + "\n" + line + "\nDone: `a\n b`.", "Done: `a\n b`."},
		"another line in brackets": {"[mode: ask] You may read.", "[mode: ask] You may read."},
		"a bracket":                {"[", "["},
		"the prompt alone":         {"Fix calc.py.", "Fix calc.py."},
		"the mode, then a call":    {"[mode: code]\n\n{\"name\": 1}", `{"name": 1}`},
		"the line, in other words": {"[mode: code] You may not.", "You may not."},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(tt.answer); size++ {
				if got := echoed(req, tt.answer, size); got != tt.want {
					t.Fatalf("in pieces of %d: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
	again := req
	again.Messages = append(again.Messages, Message{Role: User, Blocks: []Block{{Text: "[Your answer was empty. Answer the user.]"}}})
	for _, answer := range []string{line + "\n\nFix calc.py.", "[Your answer was empty. Answer the user.]"} {
		if got := echoed(again, answer, 3); got != "" {
			t.Errorf("after an empty answer: got %q", got)
		}
	}
	after := Request{Project: project, Messages: []Message{{Role: User, Blocks: []Block{{Result: &ToolResult{Text: "x"}}}}}}
	if got := echoed(after, line, 3); got != line {
		t.Errorf("after a result: got %q, want the text as it is", got)
	}
}

// echoed returns the text of an answer in pieces.
func echoed(req Request, answer string, size int) string {
	var events iter.Seq2[Event, error] = func(yield func(Event, error) bool) {
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			if !yield(Event{Text: rest[:n]}, nil) {
				return
			}
			rest = rest[n:]
		}
		yield(Event{Stop: StopEnd}, nil)
	}
	var got strings.Builder
	for ev := range WithoutEcho(req, events) {
		got.WriteString(ev.Text)
	}
	return got.String()
}
