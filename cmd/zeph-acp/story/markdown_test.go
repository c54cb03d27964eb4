package story

import "testing"

// TestRefenced checks the Markdown of a text. What it does in viewers was tried with 8,000
// random documents in commonmark.js, markdown-it and marked.
func TestRefenced(t *testing.T) {
	for text, want := range map[string]string{
		"a **b** <i> &lt; > c":  "a **b** &lt;i> &amp;lt; > c",
		"> a\n- b":              "> a\n- b",
		"`a` ``b`c`` `d":        "`a` <code>b&#96;c</code> &#96;d",
		"`<i>` and `a\nb`":      "<code>&#60;i&#62;</code> and &#96;a\nb&#96;",
		"```x``` y":             "`x` y",
		"![a](b) ![c]":          "&#33;[a](b) &#33;[c]",
		"`![a](b)`":             "<code>&#33;&#91;a&#93;&#40;b&#41;</code>",
		"~~~ `a`":               `\~\~\~` + " `a`",
		"```go x\na\n```":       "```go\na\n```",
		"```\n````\n``":         "```\n\n```\n\n&#96;&#96;",
		"```<script>\n<i>\n```": "```\n<i>\n```",
		"~~~\n```\nb\n~~~\n<i>": "````\n```\nb\n````\n\n&lt;i>",
		"a\x1b[1m\u202e":        "a<U+001B>[1m<U+202E>",
	} {
		if got := refenced(text); got != want+"\n\n" && got != want {
			t.Errorf("%q\n%q, want\n%q", text, got, want)
		}
	}
}
