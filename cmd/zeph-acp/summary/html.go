package summary

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/executors"
)

// HTML writes the report as a page. by names the program in its foot. The report must
// have a call, and [Counts.Finish] was called.
func (r *Report) HTML(w io.Writer, by string) error {
	nav := [][2]string{{"numbers", "At a glance"}, {"tools", "Tools"}}
	d := page.Document{Title: "Report of tool calls", Head: r.masthead(), Main: []*html.Node{r.numbers(), r.tools()}}
	for _, s := range []struct {
		id, title string
		body      *html.Node
	}{
		{"denials", "Denials", r.denialTable()}, {"answers", "Decisions of people", r.answerTable()},
		{"failures", "Failures", r.failureTable()}, {"filters", "Savings", r.filterTable()},
	} {
		nav = append(nav, [2]string{s.id, s.title})
		d.Main = append(d.Main, page.Section(s.id, "", s.title, s.body))
	}
	d.Main = append(d.Main, page.Section("record", "", "The record", page.El("p", "", page.Span(r.badge(), r.stateName()), page.Text(" "+r.State.Text))))
	d.Nav = page.Nav("On this page", append(nav, [2]string{"record", "The record"})...)
	d.Foot = fmt.Sprintf("Written by %s. Credentials are redacted. Durations do not include the waiting for people.", by)
	return d.Write(w)
}

func (r *Report) badge() string {
	if r.State.Intact {
		return "badge good"
	}
	return "badge bad"
}

func (r *Report) stateName() string {
	if r.State.Intact {
		return "intact"
	}
	return "altered"
}

func (r *Report) masthead() []*html.Node {
	facts := page.El("dl", "facts", page.El("div", "", page.El("dt", "", page.Text("Calls")), page.El("dd", "", page.Text(r.period()))))
	if !r.Since.IsZero() {
		facts.AppendChild(page.El("div", "", page.El("dt", "", page.Text("Since")), page.El("dd", "", page.Text(r.Since.In(r.zone).Format("2 January 2006, 15:04")))))
	}
	return []*html.Node{page.El("p", "label", page.Text("Audit log")), page.El("h1", "", page.Text("Report of tool calls")), facts}
}

func (r *Report) numbers() *html.Node {
	all, saved := r.All, max(r.before-r.after, 0)
	share := func(n int) string { return fmt.Sprintf("%.1f %%", float64(n)*100/float64(all.Calls)) }
	failed := all.Sum(audit.Failed, audit.RolledBack, audit.TimedOut)
	return page.Section("numbers", "", "At a glance",
		page.Figures(
			page.Figure{Label: "Calls", Value: page.Count(all.Calls), Note: plural(r.Sessions, "session")},
			page.Figure{Label: "Failed", Value: page.Count(failed), Note: share(failed)},
			page.Figure{Label: "Denied", Value: page.Count(all.Sum(audit.Denied)), Note: share(all.Sum(audit.Denied))},
			page.Figure{Label: "Stopped", Value: page.Count(all.Sum(audit.Cancelled, audit.Interrupted)), Note: "cancelled or interrupted"},
			page.Figure{Label: "Time of calls", Value: took(all.Total), Note: "median " + took(all.Median)},
			page.Figure{Label: "Waiting for people", Value: positive(all.Waited), Note: plural(sum(r.answers), "answer")},
			page.Figure{Label: "Saved by filters", Value: positiveBytes(saved), Note: "of " + executors.Bytes(r.before)},
		), r.chart())
}

func took(ms int64) string { return page.Took(time.Duration(ms) * time.Millisecond) }

func positive(ms int64) string {
	if ms == 0 {
		return ""
	}
	return took(ms)
}

func positiveBytes(n int64) string {
	if n == 0 {
		return ""
	}
	return executors.Bytes(n)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func sum(groups map[string]*Group) (n int) {
	for _, g := range groups {
		n += g.Calls
	}
	return n
}

func (r *Report) chart() *html.Node {
	labels, calls, bar := r.byTime()
	c := page.Chart{Title: "Calls by " + strings.ToLower(bar), Bar: bar, Labels: labels, Format: page.Short,
		Series: []page.Series{{Name: "success"}, {Name: "stopped"}, {Name: "failed"}, {Name: "denied"}}}
	for _, n := range calls {
		for i, v := range []int{n.Sum(audit.Success), n.Sum(audit.Cancelled, audit.Interrupted), n.Sum(audit.Failed, audit.RolledBack, audit.TimedOut), n.Sum(audit.Denied)} {
			c.Series[i].Values = append(c.Series[i].Values, float64(v))
		}
	}
	return c.Node()
}

// tools is a table of the tools, the one with the most calls first.
func (r *Report) tools() *html.Node {
	names := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(r.Tools))), func(a, b string) int { return r.Tools[b].Calls - r.Tools[a].Calls })
	number := func(n int) *html.Node {
		if n == 0 {
			return page.Text("–")
		}
		return page.Text(page.Count(n))
	}
	var rows [][]*html.Node
	for _, name := range names {
		t := r.Tools[name]
		rows = append(rows, []*html.Node{page.El("code", "", page.Text(r.mask(name))), number(t.Calls), number(t.Sum(audit.Success)), number(t.Sum(audit.Failed, audit.RolledBack, audit.TimedOut)),
			number(t.Sum(audit.Denied)), number(t.Sum(audit.Cancelled, audit.Interrupted)), page.Text(took(t.Median)), page.Text(took(t.Max))})
	}
	columns := []page.Column{{Title: "Tool"}, {Title: "Calls", Number: true}, {Title: "Success", Number: true}, {Title: "Failed", Number: true},
		{Title: "Denied", Number: true}, {Title: "Stopped", Number: true}, {Title: "Median", Number: true}, {Title: "Longest", Number: true}}
	return page.Section("tools", "", "Tools", page.Table("Calls by tool and result", columns, rows))
}

// none returns the text in place of an empty table.
func none(text string) *html.Node { return page.El("p", "facts", page.Text(text)) }

// maxRows bounds a table: rules may be as many as calls.
const maxRows = 100

// table returns a table of groups.
func table(caption string, columns []page.Column, groups []*Group, row func(*Group) []*html.Node) *html.Node {
	if len(groups) > maxRows {
		caption = fmt.Sprintf("%s (the first %d of %d)", caption, maxRows, len(groups))
		groups = groups[:maxRows]
	}
	var rows [][]*html.Node
	for _, g := range groups {
		rows = append(rows, row(g))
	}
	return page.Table(caption, columns, rows)
}

func (r *Report) denialTable() *html.Node {
	if len(r.denials) == 0 {
		return none("No call was denied.")
	}
	return table("Denied calls by rule", []page.Column{{Title: "Decision and rule"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Last", Number: true}}, most(r.denials),
		func(g *Group) []*html.Node {
			return []*html.Node{page.Text(g.Name), page.Word(strings.Join(g.Tools, ", ")), page.Text(page.Count(g.Calls)), page.Time(g.Last.In(r.zone), "2 Jan 15:04")}
		})
}

func (r *Report) answerTable() *html.Node {
	if len(r.answers) == 0 {
		return none("No one was asked.")
	}
	return table("Answers to questions", []page.Column{{Title: "Answer"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Waited", Number: true}}, most(r.answers),
		func(g *Group) []*html.Node {
			return []*html.Node{page.Text(g.Name), page.Word(strings.Join(g.Tools, ", ")), page.Text(page.Count(g.Calls)), page.Text(page.Took(g.Waited))}
		})
}

func (r *Report) failureTable() *html.Node {
	if len(r.failures) == 0 {
		return none("No call failed.")
	}
	return table("Calls without success by category", []page.Column{{Title: "Category"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Last", Number: true}}, most(r.failures),
		func(g *Group) []*html.Node {
			return []*html.Node{page.El("code", "", page.Text(g.Name)), page.Word(strings.Join(g.Tools, ", ")), page.Text(page.Count(g.Calls)), page.Time(g.Last.In(r.zone), "2 Jan 15:04")}
		})
}

func (r *Report) filterTable() *html.Node {
	if len(r.filters) == 0 {
		return none("No rule shortened an output.")
	}
	columns := []page.Column{{Title: "Rule"}, {Title: "Calls", Number: true}, {Title: "Before", Number: true}, {Title: "After", Number: true}, {Title: "Saved", Number: true}}
	return table("Outputs of commands by filter rule", columns, savings(r.filters), func(g *Group) []*html.Node {
		return []*html.Node{page.El("code", "", page.Text(g.Name)), page.Text(page.Count(g.Calls)), page.Text(executors.Bytes(g.Before)), page.Text(executors.Bytes(g.After)),
			page.Text(fmt.Sprintf("%s (%d %%)", executors.Bytes(g.Saved()), g.Saved()*100/max(g.Before, 1)))}
	})
}
