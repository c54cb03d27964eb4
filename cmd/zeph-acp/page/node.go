package page

import (
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// El returns an element. The tag and the class, which may be empty, come from the
// program and never from a text that is shown. Kids that are nil are left out.
func El(tag, class string, kids ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: tag}
	if class != "" {
		With(n, "class", class)
	}
	for _, k := range kids {
		if k != nil {
			n.AppendChild(k)
		}
	}
	return n
}

// Text returns a text.
func Text(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// With adds an attribute to an element, and returns the element.
func With(n *html.Node, key, value string) *html.Node {
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
	return n
}

// Span returns a text in an element of a class.
func Span(class, text string) *html.Node { return El("span", class, Text(text)) }

// Word returns a text that stays on one line, unless it is long.
func Word(text string) *html.Node {
	if utf8.RuneCountInString(text) > 24 {
		return Text(text)
	}
	return Span("word", text)
}

// Section returns a part of the page with its own heading. Its id is unique in the
// page.
func Section(id, class, title string, kids ...*html.Node) *html.Node {
	heading := With(El("h2", "", Text(title)), "id", id)
	return With(El("section", class, append([]*html.Node{heading}, kids...)...), "aria-labelledby", id)
}

// Fold returns a part that is folded until the reader opens it. In print it is open.
func Fold(class string, summary []*html.Node, body ...*html.Node) *html.Node {
	return El("details", class, append([]*html.Node{El("summary", "", summary...)}, body...)...)
}

// Time returns a time in the given format, and in a form for programs.
func Time(t time.Time, format string) *html.Node {
	return With(El("time", "", Text(t.Format(format))), "datetime", t.UTC().Format(time.RFC3339))
}

// Figure is a number with its label.
type Figure struct{ Label, Value, Note string }

// Figures returns the figures side by side. Those without a value are left out.
func Figures(all ...Figure) *html.Node {
	list := El("dl", "figures")
	for _, f := range all {
		if f.Value == "" {
			continue
		}
		pair := El("div", "", El("dt", "", Text(f.Label)), El("dd", "", Text(f.Value)))
		if f.Note != "" {
			pair.AppendChild(El("dd", "note", Text(f.Note)))
		}
		list.AppendChild(pair)
	}
	return list
}

// Nav returns a list of links within the page. A link has an id and a text.
func Nav(label string, links ...[2]string) *html.Node {
	list := El("ul", "")
	for _, l := range links {
		list.AppendChild(El("li", "", With(El("a", "", Text(l[1])), "href", "#"+l[0])))
	}
	return With(El("nav", "", El("p", "label", Text(label)), list), "aria-label", label)
}

// Column is a column of a table.
type Column struct {
	Title  string
	Number bool // aligned to the right
}

// Table returns a table. On a narrow screen each row becomes a block. Some browsers then
// drop the implicit ARIA roles, so the roles are written out.
func Table(caption string, columns []Column, rows [][]*html.Node) *html.Node {
	cell := func(tag, role string, c Column, kid *html.Node) *html.Node {
		class := ""
		if c.Number {
			class = "number"
		}
		n := With(El(tag, class, kid), "role", role)
		if tag == "th" {
			return With(n, "scope", "col")
		}
		return With(n, "data-label", c.Title)
	}
	head := With(El("tr", ""), "role", "row")
	for _, c := range columns {
		head.AppendChild(cell("th", "columnheader", c, Text(c.Title)))
	}
	body := With(El("tbody", ""), "role", "rowgroup")
	for _, row := range rows {
		r := With(El("tr", ""), "role", "row")
		for i, kid := range row {
			r.AppendChild(cell("td", "cell", columns[i], kid))
		}
		body.AppendChild(r)
	}
	table := El("table", "", El("caption", "", Text(caption)), With(El("thead", "", head), "role", "rowgroup"), body)
	return With(table, "role", "table")
}
