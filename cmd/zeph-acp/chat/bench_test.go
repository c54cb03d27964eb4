package chat

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
)

// BenchmarkFrame measures one event and the picture after it, in long conversations.
func BenchmarkFrame(b *testing.B) {
	for name, f := range map[string]struct{ before, each func(p *person) }{
		"5000 entries":            {before: (*person).talksLong, each: func(p *person) { p.m.frame++ }},
		"5000 entries, scrolling": {before: (*person).talksLong, each: func(p *person) { p.m.window.scroll(-1) }},
		"message of 100 kB": {
			before: func(p *person) { p.begin(); p.says(strings.Repeat(streamed+"\n\n", 200)) },
			each:   func(p *person) { p.says("more words ") },
		},
		"code of 100 kB": {
			before: func(p *person) {
				p.begin()
				p.says("```go\n" + strings.Repeat("\treturn slices.Collect(names) // all\n", 2700))
			},
			each: func(p *person) { p.says("\tf(\"x\")\n") },
		},
		"output of 1 MiB": {
			before: func(p *person) { p.runs(); p.m.event(printed{"term-1", strings.Repeat("a line of output\n", 62_000)}) },
			each:   func(p *person) { p.m.event(printed{"term-1", "a line of output\n"}) },
		},
		"unfolded output of 1 MiB": {
			before: func(p *person) {
				p.runs()
				p.m.event(printed{"term-1", strings.Repeat("a line of output\n", 62_000)})
				p.press("ctrl+o", "ctrl+end")
			},
			each: func(p *person) { p.m.event(printed{"term-1", "a line of output\n"}) },
		},
	} {
		b.Run(name, func(b *testing.B) {
			p := sit(b, func(c *Chat) { c.Styled = true })
			p.update(tea.WindowSizeMsg{Width: 120, Height: 50})
			f.before(p)
			p.m.View()
			b.ReportAllocs()
			for b.Loop() {
				f.each(p)
				p.m.View()
			}
		})
	}
}

// talksLong has a conversation of 5,000 entries.
func (p *person) talksLong() {
	p.begin()
	for i := range 2500 {
		p.m.feed.update(updateOf(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: fmt.Sprint("m", i), Content: acp.TextBlock(streamed)}))
		id := fmt.Sprint("c", i)
		p.m.feed.update(updateOf(acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: id, Title: "Run `seq 40`", Kind: "execute"}))
		p.m.feed.update(updateOf(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: id, Status: acp.ToolCompleted,
			Content: []acp.ToolContent{acp.BlockContent(acp.TextBlock(lines(40)))}}))
	}
}

// says lets the model say more of one message.
func (p *person) says(text string) {
	p.m.event(updated{updateOf(acp.MessageChunk{Update: acp.UpdateAgentMessage, MessageID: "m", Content: acp.TextBlock(text)})})
}
