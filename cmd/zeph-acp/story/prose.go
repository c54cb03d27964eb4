package story

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/markdown"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// block is a paragraph or a fenced piece of code.
type block struct {
	text   string
	isCode bool
	info   string // of the fence, such as "go"
}

var (
	fence     = lazyregexp.New("^( *)(`{3,}|~{3,})([^`]*)$")
	headline  = lazyregexp.New(`^ {0,3}#{1,6} +(.*?)(?: +#+)? *$`)
	listItem  = lazyregexp.New(`^( *)([-*+]|\d{1,9}[.)]) +(.*)$`)
	quotation = lazyregexp.New(`^ {0,3}> ?`)
)

// blocks splits a text at its fences and blank lines. A fence that is not closed ends with
// the text.
func blocks(text string) (out []block) {
	var open, indent string // the fence of the code
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
		code := strings.TrimPrefix(line, indent)
		switch {
		case open != "" && m != nil && strings.HasPrefix(m[2], open) && strings.TrimSpace(m[3]) == "":
			open, indent, begun = "", "", false
		case open != "" && begun:
			add(code)
		case open != "":
			out[len(out)-1].text, begun = code, true
		case m != nil:
			indent, open, begun = m[1], m[2], false
			out = append(out, block{isCode: true, info: strings.TrimSpace(m[3])})
		case strings.TrimSpace(line) == "":
			begun = false
		default:
			add(line)
		}
	}
	return out
}

// prose returns the Markdown of a model or a person as elements. HTML in it stays text,
// and links show their addresses.
func (p *painter) prose(text string) *html.Node {
	words := page.El("div", "words")
	for _, b := range blocks(text) {
		if b.isCode {
			words.AppendChild(page.El("pre", "", page.El("code", "", p.code(markdown.Language(b.info), b.text)...)))
			continue
		}
		parts(words, strings.Split(b.text, "\n"))
	}
	return words
}

// parts adds the lines between two blank ones: headings, list items, quotes, a table, or a
// paragraph, whose line ends stay.
func parts(words *html.Node, lines []string) {
	for len(lines) > 0 {
		n := 1
		switch {
		case headline.MatchString(lines[0]):
			words.AppendChild(page.El("p", "heading", inline(headline.FindStringSubmatch(lines[0])[1])...))
		case listItem.MatchString(lines[0]):
			n = item(words, lines)
		case quotation.MatchString(lines[0]):
			n = quote(words, lines)
		case len(lines) > 1 && strings.Contains(lines[0], "|") && markdown.IsDelimiter(lines[1]):
			n = table(words, lines)
		default:
			for n < len(lines) && plainLine(lines[n]) {
				n++
			}
			words.AppendChild(page.El("p", "", inline(strings.Join(lines[:n], "\n"))...))
		}
		lines = lines[n:]
	}
}

func plainLine(line string) bool {
	return !headline.MatchString(line) && !listItem.MatchString(line) && !quotation.MatchString(line)
}

// item adds a list item to the list at the end, or begins a list. Its depth comes from its
// indentation, and its mark stays. It returns the number of lines.
func item(words *html.Node, lines []string) int {
	m := listItem.FindStringSubmatch(lines[0])
	n, text := 1, m[3]
	for n < len(lines) && plainLine(lines[n]) {
		text += "\n" + strings.TrimSpace(lines[n])
		n++
	}
	mark := m[2]
	if len(mark) == 1 {
		mark = "•"
	}
	list := words.LastChild
	if list == nil || list.Data != "ul" {
		list = page.El("ul", "list")
		words.AppendChild(list)
	}
	depth := [...]string{"", "deep", "deeper"}[min(len(m[1])/2, 2)]
	list.AppendChild(page.El("li", depth, page.Span("mark", mark), page.El("span", "", inline(text)...)))
	return n
}

// quote adds the lines of a quotation, and returns their number. A quotation in a quotation
// keeps its marks.
func quote(words *html.Node, lines []string) (n int) {
	var inner []string
	for n < len(lines) && quotation.MatchString(lines[n]) {
		inner = append(inner, quotation.ReplaceAllString(lines[n], ""))
		n++
	}
	words.AppendChild(page.El("blockquote", "", page.El("p", "", inline(strings.Join(inner, "\n"))...)))
	return n
}

// maxColumns bounds a table.
const maxColumns = 30

// table adds a table, and returns the number of its lines.
func table(words *html.Node, lines []string) (n int) {
	var columns []page.Column
	for _, cell := range markdown.Cells(lines[0]) {
		title := ""
		for _, p := range cell {
			title += p.Text
		}
		if columns = append(columns, page.Column{Title: title}); len(columns) == maxColumns {
			break
		}
	}
	var rows [][]*html.Node
	for n = 2; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		row := make([]*html.Node, len(columns))
		for i, cell := range markdown.Cells(lines[n]) {
			if i < len(columns) {
				row[i] = page.El("span", "", nodes(cell)...)
			}
		}
		rows = append(rows, row)
	}
	words.AppendChild(page.Table("Table", columns, rows))
	return n
}

// inline returns the markup of a paragraph.
func inline(text string) []*html.Node { return nodes(markdown.Pieces(text)) }

func nodes(pieces []markdown.Piece) (all []*html.Node) {
	for _, p := range pieces {
		n := page.Text(p.Text)
		for _, wrap := range []struct {
			tag string
			on  bool
		}{{"code", p.Code}, {"s", p.Struck}, {"em", p.Italic}, {"strong", p.Bold}, {"u", p.Link}} {
			if wrap.on {
				n = page.El(wrap.tag, "", n)
			}
		}
		all = append(all, n)
	}
	return all
}
