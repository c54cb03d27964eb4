package story

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestProse checks the elements of the Markdown that models write.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"":                  ``,
		"a\nb\n\nc":         "<p>a\nb</p><p>c</p>",
		"## Head\ntext":     `<p class="heading">Head</p><p>text</p>`,
		"**a** <b> `<c>`":   "<p><strong>a</strong> &lt;b&gt; <code>&lt;c&gt;</code></p>",
		"[a](javascript:b)": "<p><u>a</u> (javascript:b)</p>",
		"- a\n  more\n  - b\n\n- c": `<ul class="list"><li><span class="mark">•</span><span>a` + "\n" +
			`more</span></li><li class="deep"><span class="mark">•</span><span>b</span></li><li><span class="mark">•</span><span>c</span></li></ul>`,
		"2. a":                       `<ul class="list"><li><span class="mark">2.</span><span>a</span></li></ul>`,
		"> a\n> b\nc":                "<blockquote><p>a\nb</p></blockquote><p>c</p>",
		"```go\nx := 1\n\ny\n```\nz": `<pre><code>x := <span class="hl-n">1</span>` + "\n\ny</code></pre><p>z</p>",
		"- a\n  ```\n  b\n  ```":     `<ul class="list"><li><span class="mark">•</span><span>a</span></li></ul><pre><code>b</code></pre>`,
		"```\nnot closed":            "<pre><code>not closed</code></pre>",
		"~~~\n```\n~~~":              "<pre><code>```</code></pre>",
		"```":                        "<pre><code></code></pre>",
		"a | b\n--|--\nc":            tableOf("") + "<p>c</p>",
		"|a|b|\n|-|-|\n|c|d|e|\n":    tableOf(rowOf("c", "d")),
	} {
		var b strings.Builder
		for n := range (&painter{left: maxPainted}).prose(text).ChildNodes() {
			if err := html.Render(&b, n); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// tableOf is a table with the columns a and b.
func tableOf(rows string) string {
	return `<table role="table"><caption>Table</caption><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">a</th><th role="columnheader" scope="col">b</th></tr></thead><tbody role="rowgroup">` + rows + `</tbody></table>`
}

func rowOf(a, b string) string {
	return `<tr role="row"><td role="cell" data-label="a"><span>` + a + `</span></td><td role="cell" data-label="b"><span>` + b + `</span></td></tr>`
}

// TestLongParagraph reads markup in a long paragraph. Marks that nothing closes are text.
func TestLongParagraph(t *testing.T) {
	if n := len(inline(strings.Repeat("*a ", 30_000))); n != 1 {
		t.Errorf("%d nodes of a long paragraph with open marks, want 1", n)
	}
	if n := len(inline(strings.Repeat("word ", 10_000) + "**end**")); n != 2 {
		t.Errorf("%d nodes of a long paragraph with an emphasis, want 2", n)
	}
}
