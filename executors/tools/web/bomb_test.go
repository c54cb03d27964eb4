package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// bomb answers with that many bytes, which compress to almost nothing.
func bomb(size int) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(make([]byte, size))
	z.Close()
	return write("Content-Type: text/plain\nContent-Encoding: gzip", b.String())
}

// emptyBlocks answers with compressed data that never produces a byte.
func emptyBlocks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Encoding", "gzip")
	w.Write([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	block := bytes.Repeat([]byte("\x00\x00\x00\xff\xff"), 10_000)
	for range 50 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// pages are markup that a careless parser takes long for, or that becomes
// large.
func pages(size int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, size/len(s)+1) }
	nest := func(s, end string, n int) string { return rep(strings.Repeat(s, n) + strings.Repeat(end, n)) }
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	var fonts strings.Builder
	for i := range 400 {
		fmt.Fprintf(&fonts, "<font a%d>", i)
	}
	return map[string]string{
		"paragraphs":  rep("<p>hello <b>bold</b> and <a href='/x'>link</a></p>\n"),
		"open p":      rep("<p>"),
		"open div":    rep("<div>"),
		"deep div":    nest("<div>x", "</div>", 500),
		"open b":      rep("<b>"),
		"b in p":      rep("<b><p>x"),
		"fonts":       "<p>" + fonts.String() + rep("<p>x"),
		"fonts, td":   "<table><td>" + fonts.String() + rep("</table><table><td>x"),
		"fonts, list": fonts.String() + rep("<ul><li>x</ul>"),
		"uniq fonts":  numbered("<font a%d>"),
		"crossed": strings.Repeat("<b a><div><div><div><div><div><div><div><div><div></b></div></div></div></div></div></div></div></div></div>",
			50) + rep("<p>x"),
		"crossed b":   numbered("<b a%d><p></b></p>"),
		"crossed a":   rep("<a href=x><div><p></a></div>"),
		"links":       rep("<a href=x>"),
		"long base":   "<base href='/" + strings.Repeat("x", 1500) + "/'>" + rep("<a href=x>y</a>"),
		"items":       rep("<li>x"),
		"lists":       nest("<ul><li>x", "</ul>", 200),
		"lists open":  rep("<ul><li>x"),
		"quotes":      nest("<blockquote>x", "</blockquote>", 400),
		"pres":        nest("<pre>x\n", "</pre>", 200),
		"rows":        "<table>" + rep("<tr><td>x"),
		"cells":       "<table><tr>" + rep("<td>x"),
		"wide":        "<table><tr>" + strings.Repeat("<td>x", 1000) + rep("<tr><td>"),
		"tables":      nest("<table><tr><td>x", "</table>", 100),
		"tables open": rep("<table><tr><td>x"),
		"fat cell":    "<table><tr><td>" + rep("x ") + "<tr><td>y</table>",
		"colspan":     "<table><tr><td colspan=100000000>x</table>",
		"rowspan":     "<table><tr><td rowspan=100000000 colspan=1000>x</table>",
		"start":       "<ol start=99999999999999999999><li>x</ol>",
		"indented":    strings.Repeat("<ol start=999999999><li>", 12) + rep("x<br>"),
		"special":     "<p>" + rep("*_[]`#!\\ <>"),
		"stars":       rep("*"),
		"brackets":    rep("["),
		"backticks":   "<code>" + rep("`a``"),
		"newlines":    "<pre>" + rep("\n"),
		"spaces":      "<p>" + rep(" ") + "x",
		"br":          rep("<br>"),
		"hr":          rep("<hr>"),
		"img":         rep("<img src=x alt=y>"),
		"alt":         "<img src=x alt='" + rep("[") + "'>",
		"href":        "<a href='" + rep("x") + "'>y</a>",
		"attributes":  "<a " + numbered("a%d=1 ") + ">y</a>",
		"entities":    rep("&lt;&nbsp;"),
		"headings":    nest("<h1>x\n", "</h1>", 50),
		"em":          nest("<em>x<strong>", "</strong></em>", 100),
		"options":     "<select>" + rep("<option>x"),
		"svg":         "<svg>" + rep("<g>"),
		"templates":   rep("<template>"),
		"forms":       rep("<table><form>x"),
		"comments":    rep("<!--x-->"),
		"comment":     "<!--" + rep("-"),
		"tag":         "<" + rep("x"),
		"script":      "<script>" + rep("<!--<script"),
		"doctypes":    rep("<!doctype x>"),
		"ends":        rep("</p>"),
		"br ends":     rep("</br>"),
		"ruby":        nest("<ruby><rt>x", "</ruby>", 100),
		"dl":          rep("<dl><dt>x<dd>y"),
		"frames":      "<frameset>" + rep("<frame>"),
		"mixed":       rep("<p><b><i><u><s><em><a href=q>"),
		"zeros":       rep("<p>\x00"),
		"cr":          rep("<p>\r\n\r"),
	}
}

// No page takes long, produces much text, or has more nodes than predicted.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("large pages on one goroutine: nothing for the race detector")
	}
	for name, page := range pages(32 << 10) {
		t.Run(name, func(t *testing.T) { readAll(t, page) })
	}
}

// The prediction is close to the truth where elements of ordinary pages are not closed, so
// that such pages keep their form.
func TestTreeSizeOfUnclosedElements(t *testing.T) {
	for _, line := range []string{"<p><b>x\n", "<p><a href=x>x\n", "<p><b>x</b> <i>y</i>\n"} {
		page := strings.Repeat(line, 1000)
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		nodes := 1
		for range doc.Descendants() {
			nodes++
		}
		if got := treeSize(page); got > 3*nodes {
			t.Errorf("treeSize of lines %q = %d, want at most three times the %d nodes", line, got, nodes)
		}
	}
}

// readAll reads a page in each way, and checks the common promises.
func readAll(t *testing.T, page string) {
	t.Helper()
	here, _ := url.Parse("https://example.com/")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if most := treeSize(page); most <= maxNodes {
		if doc, err := html.Parse(strings.NewReader(page)); err == nil {
			nodes := 1
			for range doc.Descendants() {
				nodes++
			}
			if nodes > most {
				t.Errorf("the tree has %d nodes, treeSize returned %d", nodes, most)
			}
		}
	}
	text, err := markdown(ctx, webPage{URL: here, Type: "text/html", Text: page})
	if err != nil {
		t.Errorf("markdown: %v", err)
	}
	most := 16*len(page) + 1000
	if strings.Contains(page, "<base") {
		most += maxLinkBytes
	}
	if len(text) > most {
		t.Errorf("a page of %d bytes became a text of %d", len(page), len(text))
	}
	if utf8.ValidString(page) && !utf8.ValidString(text) {
		t.Error("the text of a page in UTF-8 is not UTF-8")
	}
	plainText(page)
	doc, err := parse(ctx, page)
	if err != nil {
		return
	}
	for _, selector := range []string{"nope * * * * * * * *", "nope ~ * ~ * ~ * ~ *", "nope * > * + * ~ * *", "*:nth-last-child(2n)", "*:has(nope)",
		":contains('nope')", "a, b, p"} {
		s, err := parseSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		s.find(ctx, doc)
	}
	if ctx.Err() != nil {
		t.Error("the page takes longer than a minute")
	}
}

func FuzzHTML(f *testing.F) {
	for _, page := range pages(300) {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) > 10_000 {
			t.Skip()
		}
		readAll(t, page)
	})
}

func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a", "a > b, c ~ d + e", `a[href=", >"]:not(.x)`, `:contains("a b")`, `\,a`, "a\\", "[", "(", ":has(a)", "a::before"} {
		f.Add(s)
	}
	doc, err := html.Parse(strings.NewReader("<ul><li><a href=x>1</a><li class=c>2</ul><p><b>3</b>"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSelector(text)
		if err == nil {
			s.find(t.Context(), doc)
		}
	})
}

func BenchmarkFetch(b *testing.B) {
	var page strings.Builder
	for i := 0; page.Len() < 1<<20; i++ {
		fmt.Fprintf(&page, "<h2 id=h%d class='title'>Section %d</h2>\n<p class=\"text\">Some text with <b>bold</b> words, <code>code</code> and <a "+
			"href=\"/page/%d?x=1\">a link</a>.</p>\n<ul><li>one</li><li>two</li></ul>\n", i, i, i)
	}
	text := page.String()[:1<<20]
	c, _ := online(b, write("Content-Type: text/html; charset=utf-8", text))
	b.Run("fetch", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if res := get(b, c, "https://example.com/"); res.Failed {
				b.Fatal(res.ForModel())
			}
		}
	})
	b.Run("web_scrape", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if res := do(b, c, "web_scrape", map[string]any{"url": "https://example.com/", "select": "p.text > a", "extract": "attr:href"}); res.Failed {
				b.Fatal(res.ForModel())
			}
		}
	})
}
