package wire_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// A request is joined from the forms of its messages. The second request encodes only
// the message that is new.
func ExampleEncoding() {
	encode := func(_ *wire.IDs, m llm.Message) []byte {
		fmt.Println("encode", m.Blocks[0].Text)
		return fmt.Appendf(nil, `{"role":%q,"content":%q}`, m.Role, m.Blocks[0].Text)
	}
	begin := func() wire.IDs { return wire.IDs{MaxLen: 40} }
	send := func(req llm.Request) {
		type chat struct{ model string } // all that the forms depend on
		e := llm.Recall[wire.Encoding[wire.IDs, []byte]](req.Cache, chat{"m"})
		body := wire.Body{[]byte(`{"messages":[`)}.Join(e.Messages(req.Messages, begin, encode))
		text, _ := io.ReadAll(append(body, []byte(`]}`)).Reader())
		fmt.Printf("%s\n", text)
	}

	req := llm.Request{Cache: new(llm.Cache)}
	req.Messages = []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "hi"}}}}
	send(req)
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "hello"}}})
	send(req)
	// Output:
	// encode hi
	// {"messages":[{"role":"user","content":"hi"}]}
	// encode hello
	// {"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}
}

// Messages encodes all after a change of any earlier message, and only what is new
// otherwise.
func TestEncodingMessages(t *testing.T) {
	said := func(texts ...string) (history []llm.Message) {
		for _, text := range texts {
			history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: strings.Clone(text)}}})
		}
		return history
	}
	result := func(text string) []llm.Message {
		return append(said("a"), llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c", Text: text}}}})
	}
	for name, tt := range map[string]struct {
		before, after []llm.Message
		encoded       int
	}{
		"the same":          {said("a", "b"), said("a", "b"), 0},
		"one more":          {said("a", "b"), said("a", "b", "c"), 1},
		"the first":         {nil, said("a", "b"), 2},
		"a shorter history": {said("a", "b", "c"), said("a", "b"), 2},
		"another beginning": {said("a", "b"), said("x", "b", "c"), 3},
		"an equal result":   {result("r"), result("r"), 0},
		"another result":    {result("r"), result("cut"), 2},
		"another role":      {said("a"), []llm.Message{{Role: llm.Assistant, Blocks: []llm.Block{{Text: "a"}}}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var e wire.Encoding[int, string]
			encoded := 0
			encode := func(n *int, m llm.Message) string {
				encoded++
				*n++ // messages since the beginning
				b := m.Blocks[0]
				if b.Result != nil {
					b.Text = b.Result.Text
				}
				return fmt.Sprint(*n, m.Role, b.Text)
			}
			begin := func() int { return 0 }
			e.Messages(tt.before, begin, encode)
			encoded = 0
			got := e.Messages(tt.after, begin, encode)
			want := new(wire.Encoding[int, string]).Messages(tt.after, begin, func(n *int, m llm.Message) string {
				defer func(n int) { encoded = n }(encoded)
				return encode(n, m)
			})
			if diff := cmp.Diff(want, got); diff != "" || encoded != tt.encoded {
				t.Errorf("encoded %d messages, want %d (-want +got)\n%s", encoded, tt.encoded, diff)
			}
		})
	}
}

// A message that is changed in place is encoded again.
func TestEncodingInPlace(t *testing.T) {
	var e wire.Encoding[struct{}, string]
	text := func(_ *struct{}, m llm.Message) string { return m.Blocks[0].Text }
	begin := func() struct{} { return struct{}{} }
	history := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "a"}}}}
	e.Messages(history, begin, text)
	history[0].Blocks[0].Text = "b"
	if got := e.Messages(history, begin, text); got[0] != "b" {
		t.Errorf("got %s", got)
	}
}

// Tools are encoded again only if one of them has changed.
func TestEncodingTools(t *testing.T) {
	var e wire.Encoding[struct{}, string]
	encoded := 0
	names := func(tools []llm.Tool) []byte {
		encoded++
		return fmt.Append(nil, len(tools))
	}
	for i, tt := range []struct {
		tools   []llm.Tool
		encoded int
	}{
		{nil, 1}, {nil, 1}, {[]llm.Tool{{Name: "a"}}, 2}, {[]llm.Tool{{Name: "a"}}, 2},
		{[]llm.Tool{{Name: "a", Schema: []byte("{}")}}, 3}, {[]llm.Tool{{Name: "a"}, {Name: "b"}}, 4},
	} {
		if got := e.Tools(tt.tools, names); string(got) != fmt.Sprint(len(tt.tools)) || encoded != tt.encoded {
			t.Errorf("%d: %s, encoded %d times", i, got, encoded)
		}
	}
}

// A cache keeps one form; a nil cache keeps no form.
func TestRecall(t *testing.T) {
	var c llm.Cache
	a := llm.Recall[int](&c, "a")
	*a = 1
	if got := *llm.Recall[int](&c, "a"); got != 1 {
		t.Errorf("the same key: %d", got)
	}
	if got := *llm.Recall[string](&c, "a"); got != "" {
		t.Errorf("another type: %s", got)
	}
	if got := *llm.Recall[int](&c, "a"); got != 0 {
		t.Errorf("after another form: %d", got)
	}
	if got := *llm.Recall[int](nil, "a"); got != 0 {
		t.Errorf("no cache: %d", got)
	}
}
