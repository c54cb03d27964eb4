package story

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
)

const (
	maxPainted = 1 << 20 // bytes of code that are highlighted in a page
	smallLines = 60      // lines of a small change
	openLines  = 200     // lines of all small changes of a page, if they are open
)

// painter highlights the code of one page.
type painter struct {
	left      int  // bytes that may be highlighted
	openEdits bool // small changes are open; else the reader opens them
}

func (s *Story) painter() *painter {
	lines := 0
	for _, t := range s.Turns {
		for _, i := range t.Items {
			if i.Card != nil && i.Card.isSmallChange() {
				lines += i.Card.diffLines()
			}
		}
	}
	return &painter{left: maxPainted, openEdits: lines <= openLines}
}

// isSmallChange reports whether a call has made a small change.
func (c *Card) isSmallChange() bool {
	return len(c.Diffs) > 0 && c.Status == acp.ToolCompleted && c.diffLines() <= smallLines
}

// diffLines returns the number of lines of the diffs.
func (c *Card) diffLines() (n int) {
	for _, d := range c.Diffs {
		n += len(d.Lines)
	}
	return n
}

// takes reports whether code of a size is highlighted.
func (p *painter) takes(l highlight.Language, size int) bool {
	if l.IsPlain() || size > p.left {
		return false
	}
	p.left -= size
	return true
}

// code returns code in its language.
func (p *painter) code(l highlight.Language, text string) []*html.Node {
	if !p.takes(l, len(text)) {
		return []*html.Node{page.Text(text)}
	}
	var all []*html.Node
	for i, line := range l.Code(text) {
		if i > 0 {
			all = append(all, page.Text("\n"))
		}
		all = append(all, painted(line)...)
	}
	return all
}

// painted returns pieces of code.
func painted(pieces []highlight.Piece) (all []*html.Node) {
	for _, p := range pieces {
		class := p.Class.HTML()
		if p.Changed {
			class = "changed"
		}
		if class != "" {
			all = append(all, page.Span(class, p.Text))
		} else {
			all = append(all, page.Text(p.Text))
		}
	}
	return all
}

// diff returns the lines of a diff, each in its own element. The signs at their beginnings stay, so
// that colours are not needed to read it.
func (p *painter) diff(d Diff) *html.Node {
	size := 0
	for _, l := range d.Lines {
		size += len(l)
	}
	language := highlight.ForFile(d.Path)
	if !p.takes(language, size) {
		language = highlight.Language{}
	}
	code := language.Diff(d.Lines)
	pre := page.El("pre", "diff")
	for i, l := range d.Lines {
		class := ""
		switch {
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		case strings.HasPrefix(l, "@"):
			class = "hunk"
		}
		sign := page.Text(l[:min(len(l), 1)])
		switch {
		case !highlight.IsDiffCode(l):
			sign.Data = l
		case !language.IsPlain():
			class, sign = strings.TrimSpace(class+" code"), page.Span("sign", l[:1])
		}
		pre.AppendChild(page.El("span", class, append(append([]*html.Node{sign}, painted(code[i])...), page.Text("\n"))...))
	}
	return pre
}
