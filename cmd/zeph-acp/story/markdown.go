package story

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Markdown writes the story as a document in CommonMark. It has no HTML but <details> and
// <code>. No text of the session can add any, or an image, which a viewer would request.
func (s *Story) Markdown(w io.Writer) error {
	m := document{out: bufio.NewWriter(w), zone: s.Session.Updated.Location()}
	m.line("# %s\n", plain(line.First(s.heading())))
	m.line("- Session: %s", code(s.Session.ID))
	m.line("- Directory: %s", code(s.Dir))
	m.line("- From %s to %s (%s)", s.Session.Created.Format(when), s.Session.Updated.Format(when), zone(s.Session.Updated))
	if len(s.Models) > 0 {
		m.line("- Model: %s", code(strings.Join(s.Models, ", ")))
	}
	m.line("- %s\n", s.numbersLine())
	for _, t := range s.Turns {
		m.turn(t)
	}
	return m.out.Flush()
}

// numbersLine returns the numbers of the session on one line.
func (s *Story) numbersLine() string {
	parts := []string{fmt.Sprintf("Turns: %d", len(s.Turns)), fmt.Sprintf("tool calls: %d", s.Total.Calls)}
	add := func(format string, n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, text))
		}
	}
	add("%s", s.Total.Failed+s.Total.Denied, s.troubles())
	add("files changed: %s", len(s.Files), page.Count(len(s.Files)))
	add("input tokens: %s", s.Total.Input, page.Count(s.Total.Input))
	add("output tokens: %s", s.Total.Output, page.Count(s.Total.Output))
	if cost := s.Total.cost(); cost != "" {
		parts = append(parts, "cost: "+cost)
	}
	add("saved by filters: %s", int(s.Total.Saved()), quantity.Bytes(s.Total.Saved()))
	return strings.Join(parts, "; ")
}

type document struct {
	out  *bufio.Writer
	zone *time.Location
}

// line writes a line; the last Flush returns the error.
func (m *document) line(format string, args ...any) { fmt.Fprintf(m.out, format+"\n", args...) }

func (m *document) turn(t *Turn) {
	m.line("## %s\n", t.name())
	if t.Rewound {
		m.line("*A rewind undid this turn: it no longer counts.*\n")
	}
	for _, i := range t.Items {
		m.item(i)
	}
	if t.Ending != "" {
		m.line("*%s*\n", plain(t.Ending))
	}
}

// item writes a plan, a message or a tool call.
func (m *document) item(i Item) {
	switch {
	case i.Card != nil:
		m.card(i.Card)
		return
	case i.Plan != nil:
		for _, e := range i.Plan {
			mark := " "
			if e.Status == "completed" {
				mark = "x"
			}
			m.line("- [%s] %s", mark, plain(line.First(e.Content)))
		}
		m.line("")
		return
	}
	switch i.Speaker {
	case User:
		m.line("**User:**\n\n%s", quoted(refenced(i.Text)))
		for _, a := range i.Attachments {
			m.line("> Attached: %s\n", code(a.Name))
		}
	case Thought:
		m.fold("Thought", refenced(i.Text))
	case Notice:
		m.line("*%s*\n", plain(line.Join(i.Text)))
	default:
		m.line("%s", refenced(i.Text))
	}
}

// fold writes a part that is folded where <details> is supported.
func (m *document) fold(title, body string) {
	m.line("<details><summary>%s</summary>\n\n%s</details>\n", visible(escapeHTML(title)), body)
}

// card writes a tool call: its command, who decided, its changes and its output.
func (m *document) card(c *Card) {
	var b strings.Builder
	if c.Command != "" {
		b.WriteString(fenced(c.Command, "sh"))
	}
	outcome := string(c.Status)
	if c.Record != nil {
		outcome = string(c.Record.Result)
		if text := decided(c.Record); text != "" {
			b.WriteString(plain(text) + "\n\n")
		}
	}
	for _, d := range c.Diffs {
		b.WriteString(code(d.Path) + "\n\n" + fenced(strings.Join(d.Lines, "\n"), "diff"))
	}
	for _, out := range c.Outputs {
		b.WriteString(fenced(out, ""))
	}
	title := c.titleLine()
	if verb := c.verb(); verb != "" {
		title = verb + ": " + title
	}
	m.fold(title+" · "+outcome, b.String())
}

// refenced returns a text with new fences around its code. Outside of code no character begins an
// element of HTML.
func refenced(text string) string {
	var b strings.Builder
	for _, p := range blocks(text) {
		if p.isCode {
			b.WriteString(fenced(p.text, language.FindString(p.info)))
			continue
		}
		b.WriteString(refencedParagraph(p.text) + "\n\n")
	}
	return b.String()
}

// backquotes are runs of them, which begin and end code spans.
var backquotes = lazyregexp.New("`+")

// refencedParagraph returns a paragraph. A code span ends on its line, at a run as long as the one
// that begins it. Other backquotes become character references, so that they begin neither
// a span nor a fence.
func refencedParagraph(text string) string {
	var b strings.Builder
	for {
		m := backquotes.FindStringIndex(text)
		if m == nil {
			b.WriteString(markup(text))
			return b.String()
		}
		b.WriteString(markup(text[:m[0]]))
		run := text[m[0]:m[1]]
		text = text[m[1]:]
		if inner, rest, ok := codeSpanEnd(text, run); ok {
			b.WriteString(codeSpan(inner))
			text = rest
		} else {
			b.WriteString(strings.Repeat("&#96;", len(run)))
		}
	}
}

// codeSpanEnd returns the text before and after a run of backquotes on the same line.
func codeSpanEnd(text, run string) (inner, rest string, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	for _, m := range backquotes.FindAllStringIndex(line, -1) {
		if m[1]-m[0] == len(run) && strings.TrimSpace(line[:m[0]]) != "" {
			return strings.TrimSpace(line[:m[0]]), text[m[1]:], true
		}
	}
	return "", text, false
}

// markup keeps the Markdown of a text, without HTML, images and fences.
func markup(text string) string {
	return visible(strings.NewReplacer("![", "&#33;[", "~~~", `\~\~\~`).Replace(escapeHTML(text)))
}

// codeSpan returns a code span. In one with characters of HTML they show only as an
// element: a viewer that does not recognise the span would render them as tags.
func codeSpan(text string) string {
	if escapeHTML(text) == text && !strings.Contains(text, "![") && !strings.Contains(text, "`") {
		return "`" + visible(text) + "`"
	}
	var b strings.Builder
	for _, r := range visible(text) {
		if r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return "<code>" + b.String() + "</code>"
}

var language = lazyregexp.New(`^[A-Za-z0-9+#-]{1,20}`)

// escapeHTML escapes the characters that begin a tag or a character reference.
func escapeHTML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text)
}

// special are the characters with a meaning in CommonMark.
var special = lazyregexp.New("[\\\\`*_{}\\[\\]()#+!|~^$-]")

// plain returns a text without markup, on one line.
func plain(text string) string {
	return visible(special.ReplaceAllString(escapeHTML(line.Join(text)), `\$0`))
}

// code returns the first line of a text as a code span.
func code(text string) string { return codeSpan(line.First(text)) }

// fenced returns a block of code. Its fence is longer than any in the text.
func fenced(text, info string) string {
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	return fence + info + "\n" + visible(strings.TrimSuffix(text, "\n")) + "\n" + fence + "\n\n"
}

// longest returns the length of the longest run of a character.
func longest(text string, of rune) (length int) {
	n := 0
	for _, r := range text {
		if n++; r != of {
			n = 0
		}
		length = max(length, n)
	}
	return length
}

func quoted(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n")
	return "> " + strings.Join(lines, "\n> ") + "\n"
}

func visible(text string) string { return headless.Visible(text) }
