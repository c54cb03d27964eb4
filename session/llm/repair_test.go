package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// history parses a conversation: each line is a message, "u" or "a" and its
// blocks, where !x is a call with the ID x and ?x its result.
func history(text string) []Message {
	var out []Message
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		m := Message{Role: User}
		if words[0] == "a" {
			m.Role = Assistant
		}
		for _, w := range words[1:] {
			switch {
			case w[0] == '!':
				m.Blocks = append(m.Blocks, Block{Call: &ToolCall{ID: w[1:], Name: "t", Input: json.RawMessage("{}")}})
			case w[0] == '?':
				m.Blocks = append(m.Blocks, Block{Result: &ToolResult{ID: w[1:], Text: "r"}})
			case w[0] == '+':
				m.Blocks = append(m.Blocks, Block{Result: &ToolResult{ID: w[1:], Text: Tombstone, Failed: true}})
			default:
				m.Blocks = append(m.Blocks, Block{Text: w})
			}
		}
		out = append(out, m)
	}
	return out
}

func TestRepair(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":             {"", ""},
		"good":                {"u hi\na x !1 !2\nu ?1 ?2\na done\nu more", "u hi\na x !1 !2\nu ?1 ?2\na done\nu more"},
		"order of the calls":  {"a !1 !2\nu ?2 ?1", "a !1 !2\nu ?1 ?2"},
		"results first":       {"a !1\nu x ?1", "a !1\nu ?1 x"},
		"killed":              {"u hi\na !1 !2", "u hi\na !1 !2\nu +1 +2"},
		"killed, then prompt": {"u hi\na !1\nu again", "u hi\na !1\nu +1 again"},
		"one is missing":      {"a !1 !2\nu ?2", "a !1 !2\nu +1 ?2"},
		"answer after answer": {"a !1\na x\nu ?1", "a !1\nu +1\na x"},
		"in two messages":     {"a !1 !2\nu ?1\nu ?2 x", "a !1 !2\nu ?1 ?2\nu x"},
		"after a prompt":      {"a !1\nu x\nu ?1", "a !1\nu ?1 x"},
		"orphan":              {"u ?9 hi\na x\nu ?8", "u hi\na x"},
		"twice":               {"a !1\nu ?1 ?1", "a !1\nu ?1"},
		"same id later":       {"a !1\nu ?1\na !1\nu hi\na !1\nu ?1", "a !1\nu ?1\na !1\nu +1 hi\na !1\nu ?1"},
		"same id at once":     {"a !1 !1\nu ?1", "a !1 !1\nu ?1 +1"},
		"wrong roles":         {"u !1 hi\na ?1 x", "u hi\na x"},
		"left empty":          {"u\na\nu hi", "u hi"},
	} {
		t.Run(name, func(t *testing.T) {
			in := history(tt.in)
			got := Repair(in)
			opts := cmp.Transformer("empty", func(m []Message) string { b, _ := json.MarshalIndent(m, "", " "); return string(b) })
			if diff := cmp.Diff(append([]Message{}, history(tt.want)...), got, opts); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(got, Repair(got)); diff != "" {
				t.Errorf("repaired twice (-once +twice)\n%s", diff)
			}
			if diff := cmp.Diff(history(tt.in), in); diff != "" {
				t.Errorf("its input changed\n%s", diff)
			}
		})
	}
}

func FuzzRepair(f *testing.F) {
	f.Add("u hi\na !1 !2\nu ?1 x\nu ?2\na !1")
	f.Fuzz(func(t *testing.T, text string) {
		once := Repair(history(text))
		for i, m := range once {
			var want, got []string
			for _, b := range m.Blocks {
				if b.Call != nil {
					want = append(want, b.Call.ID)
				}
			}
			if len(want) > 0 && i+1 < len(once) {
				for _, b := range once[i+1].Blocks {
					if b.Result != nil {
						got = append(got, b.Result.ID)
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("results of message %d (-want +got)\n%s", i, diff)
			}
		}
		if diff := cmp.Diff(once, Repair(once)); diff != "" {
			t.Errorf("repaired twice (-once +twice)\n%s", diff)
		}
	})
}
