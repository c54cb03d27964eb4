package web

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// markdown converts the readable content of an HTML page to Markdown. The error
// is ctx's cause.
func markdown(ctx context.Context, page webPage) (string, error) {
	doc, err := parse(ctx, page.Text)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return plainText(page.Text), nil
	}
	title := line.Join(titleOf(doc))
	p := pruner{base: baseOf(doc, page.URL), linkBytes: maxLinkBytes}
	body := mainContent(doc)
	if body.Parent != nil {
		body.Parent.RemoveChild(body)
	}
	p.prune(body, 0)
	// Text is not escaped: a model understands snake_case without escapes, and
	// escaping takes time quadratic in the length of a text.
	conv := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false),
			commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve)),
	))
	out, err := conv.ConvertNode(body)
	if err != nil { // impossible for our own plugins: the nodes stay readable
		return plainText(page.Text), nil
	}
	out = bytes.TrimSpace(out)
	if title != "" && !bytes.HasPrefix(out, []byte("# ")) {
		out = append([]byte("# "+title+"\n\n"), out...)
	}
	return string(out), nil
}

// mainContent returns the main part of a page: its only main element, else its only
// article, else the whole page.
func mainContent(doc *html.Node) *html.Node {
	for _, name := range []string{"main", "article", "body"} {
		var found []*html.Node
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && n.Data == name && !isHidden(n) {
				found = append(found, n)
			}
		}
		if len(found) == 1 && hasText(found[0]) {
			return found[0]
		}
	}
	return doc
}

func hasText(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" {
			return true
		}
	}
	return false
}

// firstElement returns the first element of that name, nil if there is none.
func firstElement(doc *html.Node, name string) *html.Node {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			return n
		}
	}
	return nil
}

func titleOf(doc *html.Node) string {
	if t := firstElement(doc, "title"); t != nil && t.FirstChild != nil && len(t.FirstChild.Data) < maxAttribute {
		return t.FirstChild.Data
	}
	return ""
}

// baseOf returns the base URL of the page's links.
func baseOf(doc *html.Node, page *url.URL) *url.URL {
	if b := firstElement(doc, "base"); b != nil {
		if href := attribute(b, "href"); len(href) <= maxURL {
			if u, err := page.Parse(href); err == nil {
				return u
			}
		}
	}
	return page
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Limits on the input of the converter. Its work grows with depth times size
// for nested blocks, and with rows times columns for a table. A colspan in a
// page of 70 bytes could exhaust the memory.
const (
	maxBlocks    = 12      // nesting depth of blocks
	maxCells     = 5000    // rows times columns
	maxAttribute = 2 << 10 // bytes
	maxLinkBytes = 1 << 20 // of all links: each could repeat a long base
	maxStart     = 4       // digits of a list's first number: each line of an item is indented by them
)

// pruner removes unreadable elements from a tree and limits the rest.
type pruner struct {
	base      *url.URL
	linkBytes int // remaining for links
}

// prune prunes the tree below n, which is nested in that many blocks.
func (p *pruner) prune(n *html.Node, blocks int) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.ElementNode && (isNoise(c.Data) || isHidden(c)), c.Type == html.CommentNode:
			n.RemoveChild(c)
		case c.Type == html.ElementNode:
			p.pruneElement(c, blocks)
		}
		c = next
	}
}

// pruneElement prunes an element that is kept. blocks counts the blocks around it. A block
// nested deeper than maxBlocks becomes a plain element.
func (p *pruner) pruneElement(n *html.Node, blocks int) {
	switch n.Data {
	case "blockquote", "ul", "ol", "dl", "pre", "table":
		blocks++
		switch {
		case n.Data == "table" && (blocks > maxBlocks || isLarge(n)):
			flattenTable(n)
		case blocks > maxBlocks:
			rename(n, "div")
		}
	case "li":
		if blocks > maxBlocks {
			rename(n, "div")
		}
	}
	var kept []html.Attribute
	for _, a := range n.Attr {
		if val, ok := p.filterAttribute(n.Data, a); ok {
			kept = append(kept, html.Attribute{Key: a.Key, Val: val})
		}
	}
	n.Attr = kept
	p.prune(n, blocks)
}

// filterAttribute returns an attribute in the form for the converter, and whether to keep
// it.
func (p *pruner) filterAttribute(tag string, a html.Attribute) (string, bool) {
	if len(a.Val) > maxAttribute {
		return "", false
	}
	switch tag + " " + a.Key {
	case "a href", "img src":
		if strings.HasPrefix(a.Val, "#") {
			return "", false
		}
		u, err := p.base.Parse(strings.TrimSpace(a.Val))
		if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto" {
			return "", false
		}
		link := u.String()
		p.linkBytes -= len(link)
		return link, p.linkBytes > 0
	case "img alt", "code class", "pre class":
		return a.Val, true
	case "ol start":
		return a.Val, len(a.Val) <= maxStart
	}
	return "", false
}

func rename(n *html.Node, name string) { n.Data, n.DataAtom = name, atom.Lookup([]byte(name)) }

// isLarge reports whether a table has too many cells for the converter, or
// contains tables.
func isLarge(n *html.Node) bool {
	rows, columns := 0, 0
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		switch d.Data {
		case "table":
			return true
		case "tr":
			rows++
			cells := 0
			for range d.ChildNodes() {
				cells++
			}
			columns = max(columns, cells)
		}
	}
	return rows*columns > maxCells
}

// flattenTable converts a table's rows to lines, with bars between the cells. It
// treats a nested table separately.
func flattenTable(n *html.Node) {
	switch n.Data {
	case "td", "th":
		rename(n, "span")
		n.AppendChild(&html.Node{Type: html.TextNode, Data: " | "})
	case "table", "tr", "tbody", "thead", "tfoot", "caption", "colgroup":
		rename(n, "div")
	}
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && c.Data != "table" {
			flattenTable(c)
		}
	}
}

// isNoise reports whether an element has no content for readers.
func isNoise(tag string) bool {
	switch tag {
	case "script", "style", "noscript", "template", "head", "nav", "iframe", "object", "embed", "svg", "math", "canvas", "audio", "video", "source",
		"button", "input", "select", "textarea", "dialog", "map":
		return true
	}
	return false
}

// isHidden reports whether a browser would not show an element. Hidden text is
// only for programs.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			if len(a.Val) > maxAttribute {
				return true
			}
			style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}
