package images

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// net is an address on the net in the tests, and link what an image of it becomes.
const (
	net   = "https://evil.example/?q=1"
	image = "![x](" + net + ")"
	link  = "[image: x](" + net + ")"
)

func TestLinks(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"inline":           {"a " + image + " b", "a " + link + " b"},
		"title":            {`![x](https://e/a "t")`, `[image: x](https://e/a "t")`},
		"angle brackets":   {"![x](<https://e/a b>)", "[image: x](<https://e/a b>)"},
		"no alt":           {"![](https://e/a)", "[image](https://e/a)"},
		"upper case":       {"![x](HTTPS://e/a)", "[image: x](HTTPS://e/a)"},
		"blanks":           {"![x](\n  https://e/a)", "[image: x](\n  https://e/a)"},
		"no host":          {"![x](//e/a)", "[image: x](//e/a)"},
		"backslashes":      {`![x](\\e\a)`, `[image: x](\\e\a)`},
		"https backslash":  {`![x](https:\\e)`, `[image: x](https:\\e)`},
		"escaped slashes":  {`![x](\/\/e/a)`, `[image: x](\/\/e/a)`},
		"escaped colon":    {`![x](https\://e/a)`, `[image: x](https\://e/a)`},
		"entity":           {"![x](&#104;ttps://e)", "[image: x](&#104;ttps://e)"},
		"entities":         {"![x](&sol;&sol;e)", "[image: x](&sol;&sol;e)"},
		"tab in a scheme":  {"![x](<ht\ttps://e>)", "[image: x](<ht\ttps://e>)"},
		"windows share":    {"![x](file://e/share/a.png)", "[image: x](file://e/share/a.png)"},
		"share, 4 slashes": {"![x](file:////e/a.png)", "[image: x](file:////e/a.png)"},
		"nested brackets":  {"![a [b] c](https://e)", "[image: a [b] c](https://e)"},
		"linked":           {"[![a](https://e)](https://v)", "[[image: a](https://e)](https://v)"},
		"two marks":        {"!" + image, "! " + link},
		"image in alt":     {"![a ![b](https://e) c](https://f)", "[image: a [image: b](https://e) c](https://f)"},
		"code in alt":      {"![a `]`(l.png) b](https://e)", "[image: a `]`(l.png) b](https://e)"},
		"escaped bracket":  {`![a\]b](https://e)`, `[image: a\]b](https://e)`},
		"escaped backslash": {
			`\\` + image, `\\` + link,
		},
		"reference":          {"[r]: https://e\n\n![x][r] ![R][] ![r]", "[r]: https://e\n\n[image: x][r] [image: R][R] [image: r][r]"},
		"reference before":   {"![x][r]\n\n[r]: https://e", "![x][r]\n\n[r] : https://e"},
		"collapsed before":   {"![R s][]\n\n> [r  S]: <https://e>", "![R s][]\n\n> [r  S] : <https://e>"},
		"shortcut before":    {"![r]\n\n- [r]:\n  https://e", "![r]\n\n- [r] :\n  https://e"},
		"label beyond ASCII": {"![ß]\n\n[SS]: https://e", "![ß]\n\n[SS] : https://e"},
		"definition of file": {"![r]\n\n[r]: a.png", "![r]\n\n[r]: a.png"},
		"other label":        {"vec![1]\n\n[r]: https://e", "vec![1]\n\n[r]: https://e"},

		"img":            {`a <img src="https://e">`, `a < img src="https://e">`},
		"img, no quotes": {"<img/src=//e/a>", "< img/src=//e/a>"},
		"img, upper":     {"<IMG ALT='>' SRC = 'HTTPS:e'>", "< IMG ALT='>' SRC = 'HTTPS:e'>"},
		"srcset":         {`<source srcset="a.png 1x, https://e 2x">`, `< source srcset="a.png 1x, https://e 2x">`},
		"poster":         {`<video poster=\\e\a>`, `< video poster=\\e\a>`},
		"svg":            {`<svg><image href="//e"/></svg>`, `<svg>< image href="//e"/></svg>`},
		"iframe":         {`<iframe srcdoc="&lt;b">`, `< iframe srcdoc="&lt;b">`},
		"object":         {`<object data="data:text/html,x">`, `< object data="data:text/html,x">`},
		"link":           {`<link rel=stylesheet href=//e>`, `< link rel=stylesheet href=//e>`},
		"meta":           {`<meta http-equiv=refresh content="0;url=//e">`, `< meta http-equiv=refresh content="0;url=//e">`},
		"base":           {`<base href="https://e">`, `< base href="https://e">`},
		"style":          {`<b style="background:url(//e)">`, `< b style="background:url(//e)">`},
		"style, escapes": {`<b style="background:\75rl(\2f\2f e)">`, `< b style="background:\75rl(\2f\2f e)">`},
		"style sheet":    {"<style>a{}</style>", "< style>a{}</style>"},
		"handler":        {`<img src=x onerror="f('ht'+'tp:')">`, `< img src=x onerror="f('ht'+'tp:')">`},
		"script":         {`<script src=//e>`, `< script src=//e>`},
		"line breaks":    {"<img\nsrc=\nhttps://e\n>", "< img\nsrc=\nhttps://e\n>"},
		"reference in it": {
			`<img src="&#x2f;&#47;e">`, `< img src="&#x2f;&#47;e">`,
		},
		"open quotation mark": {"<td title=\"\n\n[x](y)", "< td title=\"\n\n[x](y)"},
		"in HTML block":       {"<div>\n```\n<img src=//e>\n```\n</div>", "<div>\n```\n< img src=//e>\n```\n</div>"},
		"in title of a tag":   {`<a title="` + image + `">`, `<a title="` + link + `">`},

		"open code span":          {"` " + image, "` " + link},
		"span of other length":    {"``` a ` " + image, "``` a ` " + link},
		"span over lines":         {"a `\nb ` " + image + " ` c", "a `\nb ` " + link + " ` c"},
		"escaped backquote":       {"\\`" + image + "`", "\\`" + link + "`"},
		"backquote in a tag":      {"<a title=\"`\">" + image + "`", "<a title=\"`\">" + link + "`"},
		"backquote in an address": {"[a](<`>)" + image + "`", "[a](<`>)" + link + "`"},
		"backquote in math":       {"$`$" + image + "`", "$`$" + link + "`"},
		"cells":                   {"| ` | " + image + " | ` |\n", "| ` | " + link + " | ` |\n"},
		"fence of a quotation":    {"> ```\n" + image, "> ```\n" + link},
		"fence of an item":        {"- ```\n" + image, "- ```\n" + link},
		"fence, indented":         {"a\n    ```\n" + image, "a\n    ```\n" + link},
		"fence in an item":        {"- a\n\n  ```\n" + image, "- a\n\n  ```\n" + link},
		"fence and no item":       {"a\n2. ```\n   " + image, "a\n2. ```\n   " + link},
		"fence closed":            {"```\n```\n" + image, "```\n```\n" + link},
		"fence and lone CR":       {"a\r```\n" + image, "a\r```\n" + link},
		"backquote after a fence": {"``` `\n" + image, "``` `\n" + link},
		"continued paragraph":     {"a\n    " + image, "a\n    " + link},
		"indented in an item":     {"- a\nb\n\n    " + image, "- a\nb\n\n    " + link},
		"indented in a note":      {"[^1]: a\n\n    " + image, "[^1]: a\n\n    " + link},
		"long alt":                {"![" + strings.Repeat("a", 9000) + "](" + net + ")", "[image: " + strings.Repeat("a", 9000) + "](" + net + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Links(tt.text); got != tt.want {
				t.Errorf("Links(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
			for n := range len(tt.text) {
				if got := inPieces(tt.text, func() int { return n + 1 }); got != tt.want {
					t.Fatalf("in pieces of %d bytes\n got %q\nwant %q", n+1, got, tt.want)
				}
				if n > 100 {
					break
				}
			}
		})
	}
}

// unchanged are texts without images from the net.
var unchanged = []string{
	"![x](a.png) ![x](./a.png) ![x](/a.png) ![x](file:///a.png) ![x](data:image/png;base64,iV//+=) ![x](C:\\a.png)",
	"[x](https://e) <https://e/a> vec![1] #![allow(x)] println![\"a\"] wow! [a] !\n[x](https://e)",
	"a < b, Vec<T>, <b>x</b> <a href=\"https://e\">x</a> <details>\n<summary>s</summary>\n\nx </details> <br/>",
	"<img src=\"a.png\"> <img src='data:image/png;base64,a//b'> <blockquote cite=\"https://e\">",
	"`" + image + "` and `` ` " + image + "`` and `<img src=https://e>` end",
	"```md\n" + image + "\n```\ntext\n~~~\n<img src=//e>\n~~~\n",
	"a\r\n\r\n```\r\n" + image + "\r\n```\r\n",
	"1. a\n\n   ```\n   " + image + "\n   ```\n\n- b\n\n     ```\n     " + image + "\n     ```\n",
	"- a\n\n    ```sh\n    " + image + "\n    ```\n\n> ```\n> " + image + "\n> ```\n\nb\n",
	"text\n\n    " + image + "\n\n    " + image + "\n\nb $HOME/a\n```\n" + image + "\n```\n",
	"````\n```\n" + image + "\n```\n````\n\\![x](https://e) \\\\ ![ [r]: https://e\n\n[s]: https://e\n| a | b |\n|---|---|\n| ! | < |\n",
	"<script>&amp; ![open\n\nb](https://e)\n\n<b title=\"https://e\">é ☂ \U0001F600!",
}

func TestUnchanged(t *testing.T) {
	for _, text := range unchanged {
		if got := Links(text); got != text {
			t.Errorf("Links(%q)\n got %q", text, got)
		}
		for n := range 20 {
			if got := inPieces(text, func() int { return n + 1 }); got != text {
				t.Errorf("in pieces of %d bytes\n got %q\nwant %q", n+1, got, text)
			}
		}
	}
}

// inPieces returns a text after a stream of pieces.
func inPieces(text string, size func() int) string {
	var s Stream
	var b strings.Builder
	for text != "" {
		n := min(size(), len(text))
		b.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	return b.String() + s.End()
}

// pieces are what random texts are made of.
var pieces = strings.Split("![|]|(|)|](|][|[r]: |\n|\n\n|\r\n|\r|`|``|```\n|~~~\n|    |  |> |- |1. |<|>|<img |src=|\"|'|https://e|//e|a.png|x|é|\\|!|"+
	"<div>|$| |:|<style>|</b>|data:a|[^1]: |<!-- |\t|-->", "|")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// The result does not depend on the pieces. It is the text itself but for what images add.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bare := strings.NewReplacer("[image: ", "![", " [image: ", "![", "[image", "![", " ", "")
	for range 20000 {
		text := randomText(r, 1+r.IntN(40))
		want := Links(text)
		if got := inPieces(text, func() int { return 1 + r.IntN(5) }); got != want {
			t.Fatalf("%q\nin pieces %q\n    whole %q", text, got, want)
		}
		if again := Links(want); again != want && bare.Replace(again) != bare.Replace(want) {
			t.Fatalf("%q\n once %q\ntwice %q", text, want, again)
		}
		if !strings.Contains(text, "![") && !strings.Contains(text, "<") && want != text {
			t.Fatalf("%q was changed to %q", text, want)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, text := range unchanged {
		f.Add(text, uint64(3))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		if got, want := inPieces(text, func() int { return 1 + r.IntN(9) }), Links(text); got != want {
			t.Errorf("%q\nin pieces %q\n    whole %q", text, got, want)
		}
	})
}

// A text is held back only while it can be the beginning of an image, and never more than maxHeld.
func TestHeld(t *testing.T) {
	var s Stream
	for _, tt := range []struct{ piece, want string }{
		{"Wait", "Wait"}, {"!", ""}, {" a", "! a"}, {"![x", ""}, {"](htt", ""}, {"ps:", ""}, {"//", "[image: x](https://"}, {"e)", "e)"},
		{" <", " "}, {"img src", ""}, {"=a.png>", "<img src=a.png>"}, {" [r]", " [r]"}, {": x", ": x"},
	} {
		if got := s.Write(tt.piece); got != tt.want {
			t.Errorf("Write(%q) = %q, want %q", tt.piece, got, tt.want)
		}
	}
	s.End()
	s.Write("![")
	shown := 0
	for range 3 * maxHeld {
		shown += len(s.Write("a"))
	}
	if shown < 2*maxHeld {
		t.Errorf("%d bytes were shown of %d", shown, 3*maxHeld)
	}
}

// Pieces without "!" and "<" cost no memory.
func TestAllocations(t *testing.T) {
	var s Stream
	s.Write("A first line.\n")
	if n := testing.AllocsPerRun(1000, func() { s.Write("some words, `code` and a [link](https://e)\n") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	var s Stream
	for b.Loop() {
		s.Write("a piece of a text, ")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
}
