// Package page writes HTML documents that people read offline.
//
// Start with [Document]. [El] and [Text] build its parts; [Figures], [Table] and [Chart]
// are parts that several documents have.
//
// It promises one file without scripts that makes no request: a Content-Security-Policy
// allows nothing but the document's own style sheet. All texts are escaped, and control
// characters, including those that change the direction of text, are written as
// "<U+202E>". The caller redacts credentials.
//
// Why a tree of nodes and no templates? html/template adds 3.6 MB to the program: its
// reflection keeps methods that are otherwise unused. The renderer of x/net/html is already
// there for the web tools, and escapes every text and attribute.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

//go:embed style.css
var style string

// Document is a page. Its parts may contain any text.
type Document struct {
	Title string
	Head  []*html.Node // the masthead, which has the only h1
	Nav   *html.Node   // links within the page; may be nil
	Main  []*html.Node
	Foot  string
}

// Write writes the page.
func (d Document) Write(w io.Writer) error {
	hash := sha256.Sum256([]byte(style))
	policy := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(hash[:]))
	root := El("html", "",
		El("head", "",
			With(El("meta", ""), "charset", "utf-8"),
			With(With(El("meta", ""), "http-equiv", "Content-Security-Policy"), "content", policy),
			namedMeta("viewport", "width=device-width, initial-scale=1"),
			namedMeta("color-scheme", "light dark"),
			namedMeta("referrer", "no-referrer"),
			namedMeta("robots", "noindex"),
			El("title", "", Text(d.Title)),
			El("style", "", Text(style)),
		),
		El("body", d.bodyClass(), d.body()...),
	)
	With(root, "lang", "en")
	escapeControls(root)
	out := bufio.NewWriter(w)
	if _, err := out.WriteString("<!DOCTYPE html>\n"); err != nil {
		return err
	}
	if err := html.Render(out, root); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if err := out.WriteByte('\n'); err != nil {
		return err
	}
	return out.Flush()
}

// bodyClass returns the class of a page with navigation; "" for another page.
func (d Document) bodyClass() string {
	if d.Nav == nil {
		return ""
	}
	return "wide"
}

// body returns the parts of the page.
func (d Document) body() []*html.Node {
	skip := With(El("a", "skip", Text("Skip to the content")), "href", "#main")
	parts := []*html.Node{skip, El("header", "masthead", d.Head...)}
	if d.Nav != nil {
		parts = append(parts, d.Nav)
	}
	return append(parts,
		With(El("main", "", d.Main...), "id", "main"),
		El("footer", "", El("p", "", Text(d.Foot))))
}

// namedMeta returns a meta element.
func namedMeta(name, content string) *html.Node {
	return With(With(El("meta", ""), "name", name), "content", content)
}

// escapeControls replaces control characters in all texts of a tree.
func escapeControls(n *html.Node) {
	if n.Type == html.TextNode {
		n.Data = headless.Visible(n.Data)
	}
	for i, a := range n.Attr {
		n.Attr[i].Val = headless.Visible(a.Val)
	}
	for c := range n.ChildNodes() {
		escapeControls(c)
	}
}
