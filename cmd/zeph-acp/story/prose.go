package story

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
)

// block is a paragraph or a fenced piece of code.
type block struct {
	text string
	code bool
	info string // of the fence, such as "go"
}

var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})([^`]*)$")

// blocks splits a text at its fences and blank lines. A fence that is not closed ends with
// the text.
func blocks(text string) (out []block) {
	var open string // the fence of the code
	begun := false
	add := func(line string) {
		if !begun {
			out, begun = append(out, block{}), true
		} else {
			out[len(out)-1].text += "\n"
		}
		out[len(out)-1].text += line
	}
	for line := range strings.SplitSeq(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open != "" && m != nil && strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
			open, begun = "", false
		case open != "" && begun:
			add(line)
		case open != "":
			out[len(out)-1].text, begun = line, true
		case m != nil:
			open, begun = m[1], false
			out = append(out, block{code: true, info: strings.TrimSpace(m[2])})
		case strings.TrimSpace(line) == "":
			begun = false
		default:
			add(line)
		}
	}
	return out
}

var inlineCode = regexp.MustCompile("`([^`\n]+)`")

// prose returns a text of a person or a model, with its code set apart. Other Markdown
// stays as it was typed.
func prose(text string) *html.Node {
	words := page.El("div", "words")
	for _, b := range blocks(text) {
		if b.code {
			words.AppendChild(page.El("pre", "", page.El("code", "", page.Text(b.text))))
			continue
		}
		words.AppendChild(paragraph(b.text))
	}
	return words
}

func paragraph(text string) *html.Node {
	p := page.El("p", "")
	if title := strings.TrimLeft(text, "#"); title != text && strings.HasPrefix(title, " ") && !strings.Contains(text, "\n") {
		p, text = page.El("p", "heading"), strings.TrimSpace(title)
	}
	for _, n := range inline(text) {
		p.AppendChild(n)
	}
	return p
}

// inline returns a text with its code spans as elements.
func inline(text string) (nodes []*html.Node) {
	last := 0
	for _, m := range inlineCode.FindAllStringSubmatchIndex(text, -1) {
		nodes = append(nodes, page.Text(text[last:m[0]]), page.El("code", "", page.Text(text[m[2]:m[3]])))
		last = m[1]
	}
	return append(nodes, page.Text(text[last:]))
}
