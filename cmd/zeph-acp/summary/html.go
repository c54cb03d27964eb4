package summary

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// HTML writes the report as a page. by names the program in its foot. The report must
// have a call, and [Counts.Finish] was called.
func (r *Report) HTML(w io.Writer, by string) error {
	nav := [][2]string{{"numbers", "At a glance"}, {"tools", "Tools"}}
	d := page.Document{Title: r.heading(), Head: r.masthead(), Main: []*html.Node{r.numbers(), r.tools()}}
	for _, s := range []struct {
		id, title string
		body      *html.Node
	}{
		{"denials", "Denied calls", r.denialTable()},
		{"answers", "Decisions", r.answerTable()},
		{"failures", "Failed calls", r.failureTable()},
		{"filters", "Saved by filters", r.filterTable()},
	} {
		nav = append(nav, [2]string{s.id, s.title})
		d.Main = append(d.Main, page.Section(s.id, "", s.title, s.body))
	}
	state := page.El("p", "", r.State.badge(), page.Text(" "+r.State.Text))
	d.Main = append(d.Main, page.Section("record", "", "Audit log", state))
	d.Nav = page.Nav("On this page", append(nav, [2]string{"record", "Audit log"})...)
	d.Foot = fmt.Sprintf("Written by %s. Credentials are redacted. Durations exclude time spent waiting for you.", by)
	return d.Write(w)
}

// badge returns the state of the log in a word.
func (s State) badge() *html.Node {
	if s.Intact {
		return page.Span("badge good", "intact")
	}
	return page.Span("badge bad", "altered")
}

// heading returns the title of the page.
func (r *Report) heading() string {
	return fmt.Sprintf("The agent made %s in %s", quantity.Count(r.All.Calls, "tool call"), quantity.Count(r.Sessions, "session"))
}

func (r *Report) masthead() []*html.Node {
	fact := func(label, value string) *html.Node {
		return page.El("div", "", page.El("dt", "", page.Text(label)), page.El("dd", "", page.Text(value)))
	}
	facts := page.El("dl", "facts", fact("Calls", r.period()))
	if !r.Since.IsZero() {
		facts.AppendChild(fact("Since", r.Since.In(r.zone).Format("2 January 2006, 15:04")))
	}
	return []*html.Node{page.El("p", "label", page.Text("Audit log")), page.El("h1", "", page.Text(r.heading())), facts}
}

// The outcomes that count as failed and as stopped.
var (
	failed  = []audit.Outcome{audit.Failed, audit.RolledBack, audit.TimedOut}
	stopped = []audit.Outcome{audit.Cancelled, audit.Interrupted}
)

func (r *Report) numbers() *html.Node {
	all, saved := r.All, max(r.before-r.after, 0)
	share := func(n int) string { return fmt.Sprintf("%.1f %%", float64(n)*100/float64(all.Calls)) }
	failures, denials := all.Sum(failed...), all.Sum(audit.Denied)
	return page.Section("numbers", "", "At a glance",
		page.Figures(
			page.Figure{Label: "Calls", Value: page.Count(all.Calls), Note: quantity.Count(r.Sessions, "session")},
			page.Figure{Label: "Failed", Value: page.Count(failures), Note: share(failures)},
			page.Figure{Label: "Denied", Value: page.Count(denials), Note: share(denials)},
			page.Figure{Label: "Stopped", Value: page.Count(all.Sum(stopped...)), Note: "cancelled or interrupted"},
			page.Figure{Label: "Running time", Value: took(all.Total), Note: "median " + took(all.Median)},
			page.Figure{Label: "Waiting for you", Value: tookOrEmpty(all.Waited), Note: quantity.Count(sum(r.answers), "answer")},
			page.Figure{Label: "Saved by filters", Value: page.Saved(saved), Note: "of " + quantity.Bytes(r.before)},
		), r.chart())
}

// took formats milliseconds.
func took(ms int64) string { return page.Took(time.Duration(ms) * time.Millisecond) }

// tookOrEmpty formats milliseconds; "" for 0.
func tookOrEmpty(ms int64) string {
	if ms == 0 {
		return ""
	}
	return took(ms)
}

// sum returns the number of calls of all groups.
func sum(groups map[string]*Group) (n int) {
	for _, g := range groups {
		n += g.Calls
	}
	return n
}

func (r *Report) chart() *html.Node {
	labels, calls, bar := r.byTime()
	c := page.Chart{Title: "Calls by " + strings.ToLower(bar), Bar: bar, Labels: labels, Format: page.Short}
	for _, series := range []struct {
		name     string
		outcomes []audit.Outcome
	}{
		{"success", []audit.Outcome{audit.Success}},
		{"stopped", stopped},
		{"failed", failed},
		{"denied", []audit.Outcome{audit.Denied}},
	} {
		s := page.Series{Name: series.name}
		for _, n := range calls {
			s.Values = append(s.Values, float64(n.Sum(series.outcomes...)))
		}
		c.Series = append(c.Series, s)
	}
	return c.Node()
}

// tools returns a table of the tools, the one with the most calls first.
func (r *Report) tools() *html.Node {
	names := slices.SortedFunc(maps.Keys(r.Tools), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Tools[b].Calls, r.Tools[a].Calls), cmp.Compare(a, b))
	})
	number := func(n int) *html.Node {
		if n == 0 {
			return page.Text("–")
		}
		return page.Text(page.Count(n))
	}
	var rows [][]*html.Node
	for _, name := range names {
		t := r.Tools[name]
		rows = append(rows, []*html.Node{
			page.El("code", "", page.Text(r.mask(name))),
			number(t.Calls),
			number(t.Sum(audit.Success)),
			number(t.Sum(failed...)),
			number(t.Sum(audit.Denied)),
			number(t.Sum(stopped...)),
			page.Text(took(t.Median)),
			page.Text(took(t.Max)),
		})
	}
	columns := []page.Column{{Title: "Tool"}}
	for _, title := range []string{"Calls", "Success", "Failed", "Denied", "Stopped", "Median", "Longest"} {
		columns = append(columns, page.Column{Title: title, Number: true})
	}
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

// tools returns the names of the tools of a group.
func (g *Group) tools() *html.Node { return page.Word(strings.Join(g.Tools, ", ")) }

func (r *Report) denialTable() *html.Node {
	if len(r.denials) == 0 {
		return none("No call was denied.")
	}
	columns := []page.Column{{Title: "Decision and rule"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Last", Number: true}}
	return table("Denied calls by rule", columns, byCalls(r.denials), func(g *Group) []*html.Node {
		return []*html.Node{page.Text(g.Name), g.tools(), page.Text(page.Count(g.Calls)), page.Time(g.Last.In(r.zone), "2 Jan 15:04")}
	})
}

func (r *Report) answerTable() *html.Node {
	if len(r.answers) == 0 {
		return none("You were not asked.")
	}
	columns := []page.Column{{Title: "Answer"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Waited", Number: true}}
	return table("Answers to questions", columns, byCalls(r.answers), func(g *Group) []*html.Node {
		return []*html.Node{page.Text(g.Name), g.tools(), page.Text(page.Count(g.Calls)), page.Text(page.Took(g.Waited))}
	})
}

func (r *Report) failureTable() *html.Node {
	if len(r.failures) == 0 {
		return none("No call failed.")
	}
	columns := []page.Column{{Title: "Cause"}, {Title: "Tools"}, {Title: "Calls", Number: true}, {Title: "Last", Number: true}}
	return table("Calls that failed, by cause", columns, byCalls(r.failures), func(g *Group) []*html.Node {
		cause, last := page.Text(strings.ReplaceAll(g.Name, "_", " ")), page.Time(g.Last.In(r.zone), "2 Jan 15:04")
		return []*html.Node{cause, g.tools(), page.Text(page.Count(g.Calls)), last}
	})
}

func (r *Report) filterTable() *html.Node {
	if len(r.filters) == 0 {
		return none("No filter shortened any output.")
	}
	columns := []page.Column{{Title: "Rule"}}
	for _, title := range []string{"Calls", "Before", "After", "Saved"} {
		columns = append(columns, page.Column{Title: title, Number: true})
	}
	return table("Outputs of commands by filter rule", columns, bySavings(r.filters), func(g *Group) []*html.Node {
		return []*html.Node{
			page.El("code", "", page.Text(g.Name)),
			page.Text(page.Count(g.Calls)),
			page.Text(quantity.Bytes(g.Before)),
			page.Text(quantity.Bytes(g.After)),
			page.Text(fmt.Sprintf("%s (%d %%)", quantity.Bytes(g.Saved()), g.Saved()*100/max(g.Before, 1))),
		}
	})
}
