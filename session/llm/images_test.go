package llm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pictured(blocks ...Block) Message { return Message{Role: User, Blocks: blocks} }

func picture(size int) Block {
	return Block{Image: &Image{MIME: "image/png", Data: bytes.Repeat([]byte{1}, size)}}
}

func TestSees(t *testing.T) {
	for name, tt := range map[string]struct {
		p    Provider
		want bool
	}{
		"claude":      {Provider{Type: "claude"}, true},
		"claude auto": {Provider{Type: "claude", Images: "auto"}, true},
		"claude no":   {Provider{Type: "claude", Images: "no"}, false},
		"claude yes":  {Provider{Type: "claude", Images: "yes"}, true},
		"direct":      {Provider{Type: "direct"}, false},
		"script":      {Provider{Type: "script", Model: "testdata/text.jsonl"}, true},
		"script no":   {Provider{Type: "script", Model: "testdata/text.jsonl", Images: "no"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Select(Config{Providers: []Provider{tt.p}}, func(string) string { return "" }, nil, "")
			if err != nil || Sees(m) != tt.want {
				t.Errorf("Sees: %v", err)
			}
		})
	}
	// An endpoint that doesn't see, doesn't with another model either.
	m, err := Select(Config{Providers: []Provider{{Type: "claude", Images: "no"}}}, func(string) string { return "" }, nil, "claude:other")
	if err != nil || Sees(m) {
		t.Errorf("another model sees: %v", err)
	}
}

// A conversation with images goes on with a model that takes none.
func TestBlindClaude(t *testing.T) {
	s := serveClaude(t, sse(t, "../anthropic/testdata/text.sse"))
	m := claudeAt(s.URL)
	m.cfg.Blind = true
	history := []Message{pictured(Block{Text: "look"}, picture(34<<10)), {Role: Assistant, Blocks: []Block{{Text: "nice"}}}, pictured(picture(3), picture(5<<19))}
	before := Message{Role: User, Blocks: append([]Block(nil), history[0].Blocks...)}
	if _, err := collect(m, t.Context(), Request{Messages: history}); err != nil {
		t.Fatal(err)
	}
	text := func(s string) any { return map[string]any{"type": "text", "text": s} }
	last := text("[image/png, 2.5 MiB, not shown: claude:claude-sonnet-5-5 takes no images]")
	last.(map[string]any)["cache_control"] = map[string]any{"type": "ephemeral"}
	want := []any{
		map[string]any{"role": "user", "content": []any{text("look"), text("[image/png, 34 KiB, not shown: claude:claude-sonnet-5-5 takes no images]")}},
		map[string]any{"role": "assistant", "content": []any{text("nice")}},
		map[string]any{"role": "user", "content": []any{text("[image/png, 3 bytes, not shown: claude:claude-sonnet-5-5 takes no images]"), last}},
	}
	if diff := cmp.Diff(want, s.bodies[0]["messages"]); diff != "" {
		t.Errorf("messages (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, history[0]); diff != "" {
		t.Errorf("the history changed (-want +got)\n%s", diff)
	}
}

// Direct tells of the images of the last prompt, and takes none for a part of a
// command.
func TestDirectImages(t *testing.T) {
	const note = "\n\n[image/png, 1 KiB, not shown: direct takes no images]"
	help := strings.TrimSpace(connect)
	for name, tt := range map[string]struct {
		history []Message
		calls   []string
		answer  string
	}{
		"a command":      {[]Message{pictured(Block{Text: "/bash ls"}, picture(1024))}, []string{`bash {"command":"ls"}`}, "bash: done." + note},
		"an image alone": {[]Message{said("/bash ls"), pictured(picture(1024))}, nil, help + note},
		"two":            {[]Message{pictured(picture(1024), Block{Text: "hi"}, picture(1024))}, nil, help + note + note},
		"an earlier one": {[]Message{pictured(picture(1024)), {Role: Assistant, Blocks: []Block{{Text: "a"}}}, said("hi")}, nil, help},
	} {
		t.Run(name, func(t *testing.T) {
			calls, answer := converse(t, tt.history)
			if diff := cmp.Diff(tt.calls, calls) + cmp.Diff(tt.answer, answer); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What the API would refuse for its size is left out, so that it does not refuse
// every later request too.
func TestTooLargeImage(t *testing.T) {
	c := newClaude(Provider{Type: TypeClaude}, func(string) string { return "key" })
	most := c.LargestImage()
	if why := Refuses(c, most); why != "" {
		t.Error(why)
	}
	if why := Refuses(c, most+1); why != "takes images up to 3.8 MiB" {
		t.Error(why)
	}
	history := []Message{{Role: User, Blocks: []Block{{Image: &Image{MIME: "image/png", Data: make([]byte, most+1)}}, {Image: &Image{MIME: "image/png", Data: []byte("x")}}}}}
	got := shown(c, history)[0].Blocks
	if got[0].Image != nil || !strings.Contains(got[0].Text, "takes images up to") || got[1].Image == nil || history[0].Blocks[0].Image == nil {
		t.Errorf("%+v", got)
	}
}
