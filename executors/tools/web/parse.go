package web

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxNodes is the largest tree that is built for a page, about 100 MiB.
const maxNodes = 500_000

// treeSize returns an upper bound for the number of nodes in the tree of a page,
// computed from its tokens. It stops counting above maxNodes.
//
// The rules for unclosed elements can turn 44 KB of markup into 4 million nodes, and x/net/html
// limits only the depth of its tree. The parser may repeat each open formatting element for every
// text and element that follows. It adds up to 32 more if one is closed across a block.
//
//	https://html.spec.whatwg.org/multipage/parsing.html#the-list-of-active-formatting-elements
func treeSize(page string) int {
	var open openElements
	nodes := 4 // document, html, head, body
	z := html.NewTokenizer(strings.NewReader(page))
	for nodes <= maxNodes {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := string(z.Raw())
		tag, _ := z.TagName()
		name := string(tag)
		switch {
		case kind == html.CommentToken, kind == html.DoctypeToken:
			nodes++
		case kind == html.TextToken:
			nodes += 1 + len(open.list)
		case kind == html.EndTagToken && isFormatting(name):
			nodes += open.end(name)
		case kind == html.EndTagToken:
			nodes++ // </p> and </br> create an element
		case isFormatting(name):
			nodes += 1 + len(open.list)
			open.add(formatting{name, raw})
			if len(open.list) > 512 { // deeper than the parser's limit
				return maxNodes + 1
			}
		default:
			nodes += 1 + len(open.list)
			switch name {
			case "td", "th", "tr", "col": // they imply tbody and tr, or colgroup
				nodes += 2
			case "span", "img", "br":
				continue
			}
			open.crossed = len(open.list)
		}
	}
	return nodes
}

// formatting is one start tag of an element that the parser repeats.
type formatting struct{ name, tag string }

// openElements are the formatting elements that the parser may repeat.
type openElements struct {
	list    []formatting
	crossed int // how many of them are around an open block: an end tag may leave them open
}

// end ends an element. It returns an upper bound for the number of nodes that this adds.
func (e *openElements) end(name string) int {
	same, last := 0, -1
	for i, f := range e.list {
		if f.name == name {
			same, last = same+1, i
		}
	}
	if last < e.crossed {
		return 4 * min(8, same)
	}
	e.list = slices.Delete(e.list, last, last+1)
	return 0
}

// add adds an element. The parser keeps three equal ones, and one link.
func (e *openElements) add(f formatting) {
	same, first := 0, 0
	for i, o := range e.list {
		if o == f || f.name == "a" && o.name == "a" {
			if same == 0 {
				first = i
			}
			same++
		}
	}
	if same == 3 || same == 1 && f.name == "a" {
		e.list = slices.Delete(e.list, first, first+1)
		if first < e.crossed {
			e.crossed--
		}
	}
	e.list = append(e.list, f)
}

func isFormatting(tag string) bool {
	switch tag {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

var errTangled = errors.New("its markup is nested too deeply, or has too many elements")

// parse builds the tree of a page. It stops when ctx ends.
func parse(ctx context.Context, page string) (*html.Node, error) {
	if treeSize(page) > maxNodes {
		return nil, errTangled
	}
	doc, err := html.Parse(&contextReader{ctx, strings.NewReader(page)})
	if ctx.Err() == nil && err != nil {
		return nil, errTangled // the parser's only error for a page: more than 512 levels
	}
	return doc, err
}

// contextReader is a reader that fails when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (e *contextReader) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// plainText returns the text of a page without building its tree, for a page that
// is too large or too deep.
func plainText(page string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	skip := ""
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if skip == "" {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			tag, _ := z.TagName()
			name := string(tag)
			switch {
			case kind == html.EndTagToken && name == skip:
				skip = ""
			case skip == "" && kind == html.StartTagToken && (name == "script" || name == "style" || name == "template" || name == "title"):
				skip = name
			}
			if !isFormatting(name) && name != "span" {
				b.WriteByte('\n')
			}
		}
	}
}

// tidy removes trailing spaces, and joins several empty lines into one.
func tidy(text string) string {
	var b strings.Builder
	empty := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			empty = true
			continue
		}
		if empty && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line + "\n")
		empty = false
	}
	return strings.TrimSuffix(b.String(), "\n")
}
