package mcp

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// with returns a prompt with these arguments; those with "!" are required.
func with(arguments string) prompt {
	p := prompt{name: "p"}
	for name := range strings.FieldsSeq(arguments) {
		name, required := strings.CutSuffix(name, "!")
		p.arguments = append(p.arguments, argument{name, "", required})
	}
	return p
}

func TestValues(t *testing.T) {
	for _, tt := range []struct{ arguments, rest, want string }{
		{"", "", "map[]"},
		{"", "x", "usage"},
		{"a!", "", "usage"},
		{"a", "", "map[]"},
		{"a! b", "x", "map[a:x]"},
		{"a! b", "x  y", "map[a:x b:y]"},
		{"a! b", `"x y" 'it is "z"'`, `map[a:x y b:it is "z"]`},
		{"a! b", `"say \"hi\" \\" z`, `map[a:say "hi" \ b:z]`},
		{"a! b!", "b=y x", "map[a:x b:y]"},
		{"a! b!", `b="y z" x`, "map[a:x b:y z]"},
		{"a! b!", "a=x b=", "map[a:x b:]"},
		{"a! b!", "c=x y", "map[a:c=x b:y]"},
		{"topic!", "what's new in the code?", "map[topic:what's new in the code?]"},
		{"topic!", `the "best" one`, `map[topic:the "best" one]`},
		{"topic!", `"unclosed`, `map[topic:"unclosed]`},
		{"a b", "one two three", "map[a:one b:two three]"},
		{"a", "a=1 2", "usage"},
		{"a!", `""`, "map[a:]"},
		{"größe!", "größe=drei\u00a0Meter", "usage"},
	} {
		values, ok := with(tt.arguments).values(tt.rest)
		got := fmt.Sprint(values)
		if !ok {
			got = "usage"
		}
		if got != tt.want {
			t.Errorf("values(%q) of %q = %s, want %s", tt.rest, tt.arguments, got, tt.want)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	for _, text := range []string{`a "b c" d='e f'`, `"`, `'a'b`, `x="\"`, "a\u00a0b\n\"c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		left := text
		for _, w := range splitWords(text) {
			rest, ok := strings.CutPrefix(strings.TrimLeftFunc(left, unicode.IsSpace), w)
			if w == "" || !ok {
				t.Fatalf("splitWords(%q): %q is not the next word", text, w)
			}
			left = rest
			_ = unquote(w)
		}
		if strings.TrimSpace(left) != "" {
			t.Fatalf("splitWords(%q) loses %q", text, left)
		}
	})
}

func TestPromptNames(t *testing.T) {
	prompts := newPrompts([]*sdk.Prompt{
		{Name: "review"}, {Name: "a b"}, {Name: "a/b"}, {Name: "clear\x1b[2J"}, {Name: ""}, {Name: "review"}, {Name: strings.Repeat("long", 30)},
	})
	names := promptNames("lib", prompts)
	want := []string{"lib:a_b_", "lib:a_b_", "lib:clear__2J", "lib:" + strings.Repeat("long", 12), "lib:review"}
	for i, name := range names {
		if !strings.HasPrefix(name, want[min(i, len(want)-1)]) || len(name) > maxName {
			t.Errorf("%d: got %q, want a short name that begins with %s", i, name, want[min(i, len(want)-1)])
		}
	}
	if len(names) != len(want) || names[0] == names[1] {
		t.Errorf("got the names %q, want %d different ones", names, len(want))
	}
}

func TestUsage(t *testing.T) {
	p := newPrompts([]*sdk.Prompt{{Name: "p", Arguments: []*sdk.PromptArgument{
		{Name: "file", Description: "the \x1bfile", Required: true}, nil, {Name: "why"},
	}}})[0]
	want := "Usage: `/lib:p FILE [WHY]`\n- `file`: the file\n- `why`\n\nPut a value with spaces in quotes; NAME=VALUE works in any order."
	if diff := cmp.Diff(want, p.usage("lib:p")); diff != "" {
		t.Error(diff)
	}
}

// TestMessages checks that the messages of a prompt are bounded, and that no content
// breaks them.
func TestMessages(t *testing.T) {
	f := newFixture(t)
	f.Mask = func(text string) string { return strings.ReplaceAll(text, "secret", "***") }
	s := f.open()
	r := &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{nil, {Role: "user"},
		{Role: "user", Content: &sdk.TextContent{Text: "a secret\x1b\u202e"}},
		{Role: "user", Content: &sdk.TextContent{Text: strings.Repeat("x", maxPromptText+5)}},
		{Role: "assistant", Content: &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("x")}},
		{Role: "user", Content: &sdk.EmbeddedResource{}},
		{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "x:y", MIMEType: "application/zip", Blob: []byte("x")}}},
		{Role: "user", Content: &sdk.ResourceLink{URI: "x:\n"}},
		{Role: "user", Content: &sdk.ImageContent{MIMEType: "image/svg+xml", Data: []byte("x")}},
	}}
	var got []string
	for _, m := range s.messages(r) {
		for _, p := range m.Parts {
			got = append(got, fmt.Sprintf("%v %.70s", m.Assistant, p.Text[max(0, len(p.Text)-70):]))
		}
	}
	want := []string{
		"false a ***␛",
		"false " + strings.Repeat("x", 70-len("\n[5 more bytes left out]")) + "\n[5 more bytes left out]",
		"true [audio, audio/wav, 1 byte: it cannot be heard here]",
		"false [resource x:y, application/zip, 1 byte: it is not text]",
		"false [resource : x:]",
		"false [image, image/svg+xml, 1 byte: its type is not shown]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.Messages = nil
	for range 2 * maxMessages {
		r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: &sdk.ImageContent{MIMEType: "image/png", Data: []byte("x")}})
	}
	images := 0
	for _, m := range s.messages(r) {
		for _, p := range m.Parts {
			if p.Image != nil {
				images++
			}
		}
	}
	if images != maxImages {
		t.Errorf("got %d images, want %d", images, maxImages)
	}
}

// TestPages checks that a list ends whatever its server does.
func TestPages(t *testing.T) {
	calls := 0
	endless, err := pages(func(cursor string) ([]*int, string, error) {
		calls++
		return []*int{&calls, nil}, cursor + "x", nil
	}, 10_000)
	if err != nil || calls != maxPages || len(endless) != maxPages {
		t.Errorf("%d calls, %d items, %v", calls, len(endless), err)
	}
	calls = 0
	circle, err := pages(func(string) ([]*int, string, error) {
		calls++
		return []*int{&calls}, "again", nil
	}, 10_000)
	if err != nil || calls != 2 || len(circle) != 2 {
		t.Errorf("%d calls, %d items, %v", calls, len(circle), err)
	}
	many, err := pages(func(string) ([]*int, string, error) {
		items := make([]*int, 10_000)
		for i := range items {
			items[i] = &calls
		}
		return items, "more", nil
	}, 500)
	if err != nil || len(many) != 500 {
		t.Errorf("%d items, %v", len(many), err)
	}
}
