package chat

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
)

// pieces are pieces of messages and of output, which end anywhere.
var pieces = []string{
	"\n", "\n\n", "some words that go on for a while ", "**bold** and `code`", "- an item\n", "  1. an item\n     with more\n", "```go\n",
	"func f() {\n\treturn `raw\n", "```\n", "> quoted\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "# Title\n", "日本語 ", "\x1b[31mred\x1b[0m", "\x1b[", "31m",
	"50 %\r", "[exit 1]\n", "/* a comment ", "*/", "\t", strings.Repeat("line\n", 30),
}

// TestShorten lets a call print more than is kept, in one piece and in many.
func TestShorten(t *testing.T) {
	for name, size := range map[string]int{"many pieces": 5000, "large pieces": 400_000, "one piece": 5 << 20} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, nil)
			p.runs()
			e := p.m.feed.last()
			line := strings.Repeat("x", 49) + "\n"
			for printed := 0; printed < 5<<20; printed += size {
				p.m.feed.print("term-1", strings.Repeat(line, size/len(line)))
				p.m.feed.update(updateOf(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "c1"}))
				if printed%(1<<20) < size {
					p.m.feed.print("term-1", "mark\n")
				}
			}
			kept, last := "", "last\n"
			p.m.feed.print("term-1", last)
			for _, part := range e.parts {
				kept += string(part.output)
			}
			if len(kept) != e.printed || len(kept) > 2*maxOutput+size || !strings.HasPrefix(kept, "=== RUN   TestBuild\n") || !strings.HasSuffix(kept, last) {
				t.Errorf("%d bytes are kept of output that is counted as %d, from %.30q to %q", len(kept), e.printed, kept, kept[len(kept)-30:])
			}
		})
	}
}

// TestPicturesGrow streams messages and output in random pieces. After each piece the rows equal a picture that is drawn from scratch.
func TestPicturesGrow(t *testing.T) {
	for seed := range rounds(150) {
		random := rand.New(rand.NewPCG(seed, 2))
		p := sit(t, func(c *Chat) { c.Styled = random.IntN(2) == 0 })
		p.begin()
		p.call("c1", "Run `make`", "execute")
		p.shown(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: "c1", Content: []acp.ToolContent{{Type: "terminal", TerminalID: "term-1"}}})
		call := p.m.feed.last()
		for range 30 {
			piece := pieces[random.IntN(len(pieces))]
			switch random.IntN(12) {
			case 0:
				p.m.feed.paint.columns = 10 + random.IntN(90)
			case 1:
				call.toggle()
			case 2, 3, 4, 5:
				p.m.feed.print("term-1", piece)
			default:
				p.m.feed.update(updateOf(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: "m", Content: acp.TextBlock(piece)}))
			}
			for _, e := range p.m.feed.entries {
				got, grown := e.lines(p.m.feed.paint), e.picture
				e.drawn, e.picture = nil, nil
				atOnce := e.lines(p.m.feed.paint)
				e.drawn, e.picture = got, grown
				if d := cmp.Diff(atOnce, got); d != "" {
					t.Fatalf("seed %d: a picture of %s that has grown differs (-at once +grown):\n%s", seed, e.kind, d)
				}
			}
		}
	}
}

// TestLongPrompt sends a pasted text, and unfolds it.
func TestLongPrompt(t *testing.T) {
	p := sit(t, nil)
	p.update(tea.PasteMsg{Content: strings.Repeat("row\n", 5000) + "end"})
	p.press("enter")
	e := p.m.feed.last()
	rows := e.lines(p.m.feed.paint)
	want := "… 4,971 more lines (Ctrl-O shows them)"
	if len(rows) != maxPromptRows+1 || rows[20] != want || rows[30] != "> end" {
		t.Errorf("%d rows, with %q and %q; want %q", len(rows), rows[20], rows[len(rows)-1], want)
	}
	p.press("ctrl+o")
	if rows := e.lines(p.m.feed.paint); len(rows) != 5001 {
		t.Errorf("unfolded, %d rows", len(rows))
	}
	p.press("ctrl+o")
	before := p.screen()
	_, of := p.m.window.visible()
	at := slices.Index(strings.Split(before, "\n"), want)
	if at < 0 || of[at] != e {
		t.Fatalf("the mark is not on the screen:\n%s", before)
	}
	p.update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 4, Y: at})
	if after := p.screen(); strings.Split(after, "\n")[at-1] != strings.Split(before, "\n")[at-1] || !strings.Contains(after, "more below") {
		t.Errorf("a click moves the window:\n%s", after)
	}
	p.press("ctrl+o")
	if rows := e.lines(p.m.feed.paint); len(rows) != maxPromptRows+1 {
		t.Errorf("folded again, %d rows", len(rows))
	}
}
