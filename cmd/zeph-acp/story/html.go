package story

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/summary"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// HTML writes the story as a page. by names the program in its foot.
func (s *Story) HTML(w io.Writer, by string) error {
	d := page.Document{
		Title: s.heading(), Head: s.masthead(), Nav: s.links(),
		Main: []*html.Node{s.numbers()},
		Foot: "Written by " + by + ". Credentials are redacted, long text is shortened, images are left out. " +
			"Times are in " + zone(s.Session.Updated) + ".",
	}
	p := s.painter()
	for _, t := range s.Turns {
		d.Main = append(d.Main, t.article(p))
	}
	d.Main = append(d.Main, s.decisions(), s.otherCalls())
	return d.Write(w)
}

// when is the layout of dates.
const when = "2 January 2006, 15:04"

// zone returns the offset of the times on the page, such as "UTC+01:00".
func zone(t time.Time) string {
	if _, offset := t.Zone(); offset == 0 {
		return "UTC"
	}
	return "UTC" + t.Format("-07:00")
}

// masthead returns the title and the facts above the story.
func (s *Story) masthead() []*html.Node {
	facts := page.El("dl", "facts")
	fact := func(label string, value ...*html.Node) {
		facts.AppendChild(page.El("div", "", page.El("dt", "", page.Text(label)), page.El("dd", "", value...)))
	}
	fact("Directory", page.Text(s.Dir))
	fact("Started", page.Time(s.Session.Created, when))
	fact("Last activity", page.Time(s.Session.Updated, when))
	if len(s.Models) > 0 {
		fact("Model", page.Text(strings.Join(s.Models, ", ")))
	}
	fact("Session", page.Text(s.Session.ID))
	return []*html.Node{page.El("p", "label", page.Text("Session")), page.El("h1", "", page.Text(s.heading())), facts}
}

// links returns the navigation of the page; nil for a single turn.
func (s *Story) links() *html.Node {
	if len(s.Turns) < 2 {
		return nil
	}
	links := [][2]string{{"numbers", "At a glance"}}
	for _, t := range s.Turns {
		links = append(links, [2]string{t.anchor, t.name() + ": " + t.firstLine()})
	}
	return page.Nav("On this page", append(links, [2]string{"decisions", "Decisions"})...)
}

// name returns the heading of a turn.
func (t *Turn) name() string {
	if t.Number == 0 {
		return "Command"
	}
	return fmt.Sprintf("Turn %d", t.Number)
}

// firstLine returns the beginning of the first text of the user.
func (t *Turn) firstLine() string {
	return line.TruncateRunes(line.First(t.prompt()), 60)
}

// numbers returns the section with the figures and charts.
func (s *Story) numbers() *html.Node {
	n, turns, took := s.Total, 0, time.Duration(0)
	for _, t := range s.Turns {
		turns += min(t.Number, 1)
		took += t.took()
	}
	return page.Section("numbers", "", "At a glance",
		page.Figures(
			page.Figure{Label: "Turns", Value: page.Count(turns), Note: page.Took(took)},
			page.Figure{Label: "Tool calls", Value: page.Count(n.Calls), Note: s.troubles()},
			page.Figure{Label: "Files changed", Value: page.Count(len(s.Files))},
			page.Figure{Label: "Input tokens", Value: page.Tokens(n.Input), Note: cached(n)},
			page.Figure{Label: "Output tokens", Value: page.Tokens(n.Output)},
			page.Figure{Label: "Cost", Value: n.cost()},
			page.Figure{Label: "Saved by filters", Value: page.Saved(n.Saved()), Note: "of " + quantity.Bytes(n.Before) + " of output"},
		),
		page.El("div", "charts", s.tokenChart(), s.costChart()), s.files())
}

// cached returns the share of input tokens from the provider's cache.
func cached(n Numbers) string {
	if n.Input == 0 || n.CacheRead == 0 {
		return ""
	}
	return fmt.Sprintf("%d %% from the cache", n.CacheRead*100/n.Input)
}

// troubles returns the numbers of failed and denied calls.
func (s *Story) troubles() string {
	var parts []string
	if s.Total.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Total.Failed))
	}
	if s.Total.Denied > 0 {
		parts = append(parts, fmt.Sprintf("%d denied", s.Total.Denied))
	}
	return strings.Join(parts, ", ")
}

func (s *Story) files() *html.Node {
	if len(s.Files) == 0 {
		return nil
	}
	list := page.El("ul", "")
	for _, f := range s.Files {
		list.AppendChild(page.El("li", "", page.El("code", "", page.Text(f))))
	}
	return page.Fold("more", []*html.Node{page.Text("Changed files")}, page.El("div", "body", list))
}

func (s *Story) tokenChart() *html.Node {
	c := page.Chart{
		Title: "Tokens by turn", Bar: "Turn", Format: page.Short,
		Series: []page.Series{{Name: "input"}, {Name: "input from the cache"}, {Name: "output"}},
	}
	for _, t := range s.Turns {
		if t.Number == 0 {
			continue
		}
		c.Labels = append(c.Labels, t.name())
		for i, n := range []int{max(t.Input-t.CacheRead, 0), t.CacheRead, t.Output} {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
		}
	}
	return c.Node()
}

func (s *Story) costChart() *html.Node {
	c := page.Chart{Title: "Cost by turn", Bar: "Turn", Series: []page.Series{{Name: "cost"}}}
	c.Format = func(f float64) string { return page.Money(f, s.Total.Currency) }
	for _, t := range s.Turns {
		if t.Number > 0 {
			c.Labels = append(c.Labels, t.name())
			c.Series[0].Values = append(c.Series[0].Values, t.Cost)
		}
	}
	return c.Node()
}

func (t *Turn) took() time.Duration {
	if t.End.IsZero() {
		return 0
	}
	return max(t.End.Sub(t.Begun), 0)
}

// article returns a turn. A command that no model saw is folded.
func (t *Turn) article(p *painter) *html.Node {
	class := "turn"
	if t.Rewound {
		class = "turn rewound"
	}
	heading := page.With(page.El("h2", "", page.Text(t.name())), "id", t.anchor+"-title")
	head := page.El("header", "", heading, page.El("p", "", t.facts()...))
	var parts []*html.Node
	if t.Rewound {
		parts = append(parts, page.El("p", "ending", page.Text("A rewind undid this turn: it no longer counts.")))
	}
	for _, i := range t.Items {
		parts = append(parts, i.node(p))
	}
	if t.Ending != "" {
		parts = append(parts, page.El("p", "ending", page.Text(t.Ending)))
	}
	var a *html.Node
	if first := t.firstLine(); t.Number == 0 && first != "" {
		heading.AppendChild(page.El("code", "", page.Text(first)))
		a = page.El("article", "turn command", page.Fold("more", []*html.Node{head}, page.El("div", "body", parts...)))
	} else {
		a = page.El("article", class, append([]*html.Node{head}, parts...)...)
	}
	return page.With(page.With(a, "id", t.anchor), "aria-labelledby", t.anchor+"-title")
}

// facts returns time, duration, tokens and cost of the turn.
func (t *Turn) facts() []*html.Node {
	facts := []*html.Node{page.Time(t.Begun, "15:04:05")}
	add := func(text string) { facts = append(facts, page.Text(" · "+text)) }
	if t.took() > 0 {
		add(page.Took(t.took()))
	}
	if n := t.Input + t.Output; n > 0 {
		add(page.Short(float64(n)) + " tokens")
	}
	if t.Cost > 0 {
		add(page.Money(t.Cost, t.Currency))
	}
	return facts
}

// node returns an item as an element.
func (i Item) node(p *painter) *html.Node {
	switch {
	case i.Card != nil:
		return i.Card.node(p)
	case i.Plan != nil:
		return planNode(i.Plan)
	}
	switch i.Speaker {
	case User:
		n := page.El("div", "said prompt", page.El("p", "label", page.Text("User")), p.prose(i.Text))
		for _, a := range i.Attachments {
			n.AppendChild(a.node(p))
		}
		return n
	case Thought:
		return page.Fold("thought", []*html.Node{page.Text("Thought")}, page.El("div", "body", p.prose(i.Text)))
	case Notice:
		return page.El("div", "notice", p.prose(strings.TrimSpace(i.Text)))
	}
	return page.El("div", "said", page.El("p", "label", page.Text("Agent")), p.prose(i.Text))
}

func (a Attachment) node(p *painter) *html.Node {
	name := page.El("p", "path", page.Text("Attached: "), page.El("code", "", page.Text(a.Name)))
	if a.Text == "" {
		return name
	}
	return page.Fold("more", []*html.Node{page.Text("Attached: " + a.Name)}, page.El("div", "body", page.El("pre", "", p.code(highlight.ForFile(a.Name), a.Text)...)))
}

// planMark returns the mark of a step, and its state in a word.
func planMark(status string) (mark, state string) {
	switch status {
	case "completed":
		return "✓", "done"
	case "in_progress":
		return "▸", "current"
	}
	return "○", "open"
}

// planNode returns a plan as a list.
func planNode(entries []acp.PlanEntry) *html.Node {
	list := page.With(page.El("ul", "plan"), "aria-label", "Plan")
	for _, e := range entries {
		mark, state := planMark(e.Status)
		list.AppendChild(page.El("li", state,
			page.With(page.Span("", mark), "aria-hidden", "true"),
			page.El("span", "", page.Text(e.Content), page.Span("hidden", " ("+state+")"))))
	}
	return list
}

// decisions lists the calls that a person, a gate or a rule stopped or a person decided.
func (s *Story) decisions() *html.Node {
	var rows [][]*html.Node
	undecided := 0 // calls that no one was asked about
	for _, t := range s.Turns {
		for _, i := range t.Items {
			switch {
			case i.Card == nil || i.Card.Record == nil:
			case summary.Notable(i.Card.Record):
				link := page.With(page.El("a", "", page.Text(t.name())), "href", "#"+t.anchor)
				title := page.El("span", "", i.Card.titleNodes(page.Text(i.Card.Title))...)
				rows = append(rows, []*html.Node{link, title, page.Text(summary.Decision(i.Card.Record)), state(i.Card)})
			default:
				undecided++
			}
		}
	}
	section := page.Section("decisions", "", "Decisions")
	if len(rows) > 0 {
		section.AppendChild(page.Table("Calls that the user decided, and calls that were denied",
			[]page.Column{{Title: "Turn"}, {Title: "Call"}, {Title: "Decision"}, {Title: "Outcome"}}, rows))
	}
	section.AppendChild(page.El("p", "facts", page.Text(s.undecidedSentence(undecided, len(rows)))))
	return section
}

// undecidedSentence returns a sentence about the calls that no one was asked about, next to a
// number of others.
func (s *Story) undecidedSentence(undecided, others int) string {
	switch {
	case !s.Audited:
		return "The audit log has no entry for this session, so it is unknown who decided."
	case undecided+others == 0:
		return "No call needed a decision."
	case others == 0:
		return "No one was asked: the rules and the mode decided " + quantity.Count(undecided, "call") + "."
	}
	return "The rules and the mode decided " + quantity.Count(undecided, "other call") + " without a question. Each card names its rule."
}

// otherCalls lists the calls without a card: calls by sub-agents, hooks and links.
func (s *Story) otherCalls() *html.Node {
	if len(s.Others) == 0 {
		return nil
	}
	var rows [][]*html.Node
	for i := range s.Others[:min(len(s.Others), whole.lines)] {
		e := &s.Others[i]
		rows = append(rows, []*html.Node{
			page.Word(e.When().In(s.Session.Updated.Location()).Format("15:04:05")),
			page.Word(e.Tool),
			page.Text(shortLine(subject(e))),
			page.Text(summary.Decision(e)),
			page.Word(string(e.Result)),
		})
	}
	columns := []page.Column{{Title: "Time"}, {Title: "Tool"}, {Title: "Call"}, {Title: "Decision"}, {Title: "Outcome"}}
	heading := page.Text(quantity.Count(len(s.Others), "more call") + " by sub-agents, by hooks and by zeph-acp itself")
	return page.Fold("more", []*html.Node{heading}, page.El("div", "body", page.Table("Calls that are not shown above", columns, rows)))
}
