package story

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// node returns a call, folded unless it made one of few small changes.
func (c *Card) node(p *painter) *html.Node {
	title := page.Text(cmp.Or(c.titleLine(), "Tool call"))
	if c.Kind == "execute" {
		title = page.El("code", "", page.Text(c.titleLine()))
	}
	head := []*html.Node{page.El("span", "what", c.titleNodes(title)...), page.El("span", "state", c.facts()...)}
	body := page.El("div", "body")
	if c.Command != "" && strings.TrimSpace(c.Command) != c.Title {
		body.AppendChild(page.El("pre", "", page.El("code", "", p.code(highlight.Named("sh"), c.Command)...)))
	}
	if c.Record != nil {
		if text := decided(c.Record); text != "" {
			body.AppendChild(page.El("p", "decision", page.Text(text)))
		}
	}
	for _, d := range c.Diffs {
		if d.Path != c.Title {
			body.AppendChild(page.El("p", "path", page.El("code", "", page.Text(d.Path))))
		}
		body.AppendChild(p.diff(d))
	}
	for _, out := range c.Outputs {
		body.AppendChild(page.El("pre", "", page.Text(strings.TrimSuffix(out, "\n"))))
	}
	if len(c.Diffs)+len(c.Outputs) == 0 {
		body.AppendChild(page.El("p", "left", page.Text("No output.")))
	}
	fold := page.Fold("card", head, body)
	if p.openEdits && c.isSmallChange() {
		page.With(fold, "open", "")
	}
	return fold
}

// titleNodes returns a title after the verb of its call.
func (c *Card) titleNodes(title *html.Node) []*html.Node {
	if c.verb() == "" {
		return []*html.Node{title}
	}
	return []*html.Node{page.Span("verb", c.verb()), page.Text(" "), title}
}

// verb returns the word for a call whose title may be the name of a file or a page alone.
// It is empty if the title begins with the word.
func (c *Card) verb() string {
	switch c.Kind {
	case "read", "edit", "delete", "move", "search", "fetch":
		if !strings.HasPrefix(strings.ToLower(c.Title), c.Kind) {
			return c.Kind
		}
	}
	return ""
}

// titleLine returns the title on one line.
func (c *Card) titleLine() string { return shortLine(line.Join(c.Title)) }

// shortLine bounds a text for a line.
func shortLine(s string) string { return line.TruncateRunes(s, 160) }

// facts returns outcome, duration and savings of the call.
func (c *Card) facts() []*html.Node {
	facts := []*html.Node{state(c)}
	if r := c.Record; r != nil {
		if took := r.DurationMS - r.WaitedMS; took > 0 {
			facts = append(facts, page.Text(" "+page.Took(time.Duration(took)*time.Millisecond)))
		}
		if saved := page.Saved(int64(r.BytesBefore - r.BytesAfter)); saved != "" {
			facts = append(facts, page.Text(" · "+saved+" saved"))
		}
	}
	return facts
}

// state returns the outcome of a call as a badge.
func state(c *Card) *html.Node {
	if r := c.Record; r != nil {
		text, class := string(r.Result), "badge"
		switch r.Result {
		case audit.Success:
			text, class = "done", "badge good"
		case audit.Denied:
			class = "badge warn"
		case audit.Failed, audit.RolledBack, audit.TimedOut:
			class = "badge bad"
		}
		if r.ExitCode != nil && *r.ExitCode != 0 {
			text += fmt.Sprintf(", exit %d", *r.ExitCode)
		}
		return page.Span(class, text)
	}
	if c.Status == acp.ToolCompleted {
		return page.Span("badge good", "done")
	}
	return page.Span("badge bad", "failed")
}

// decided returns who or which rule decided about the call, after how long, and the filters.
func decided(e *audit.Entry) string {
	text := summary.Decision(e)
	if e.WaitedMS > 0 {
		text += fmt.Sprintf(" (after %s)", page.Took(time.Duration(e.WaitedMS)*time.Millisecond))
	}
	if len(e.Filters) > 0 && page.Saved(int64(e.BytesBefore-e.BytesAfter)) != "" {
		before, after := quantity.Bytes(int64(e.BytesBefore)), quantity.Bytes(int64(e.BytesAfter))
		text += fmt.Sprintf(" · filtered by %s: %s of %s", strings.Join(e.Filters, ", "), after, before)
	}
	return text
}

// subject returns the command, the URL, the paths or the caller of a call on record.
func subject(e *audit.Entry) string {
	return cmp.Or(e.Command, e.URL, strings.Join(e.Paths, ", "), e.Caller)
}
