package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// A summary is an outcome in JSON.
type summary struct {
	Task     string   `json:"task"`
	Agent    string   `json:"agent"`
	Requests int      `json:"requests"`
	Bytes    int      `json:"bytes"`
	Tokens   int      `json:"tokens"`
	Billed   float64  `json:"billed"` // tokens at the first price
	Facts    int      `json:"facts"`
	Kept     int      `json:"kept"`
	Notes    []string `json:"notes"`
}

// printJSON writes a list of all outcomes.
func printJSON(w io.Writer, all []*outcome) error {
	list := []summary{}
	for _, o := range all {
		sum := o.total()
		list = append(list, summary{o.task.name, o.agent.Name, len(o.rounds), sum.bytes, sum.sent(), sum.cost(prices[0]), o.facts, o.facts - len(o.lost), o.notes})
	}
	return json.NewEncoder(w).Encode(list)
}

// print writes the tables: the agents of each task, and each task's ratio.
func print(w io.Writer, all []*outcome, rounds bool) error {
	for i := 0; i < len(all); {
		t := all[i].task
		n := i
		for n < len(all) && all[n].task == t {
			n++
		}
		if err := printTask(w, t, all[i:n], rounds); err != nil {
			return err
		}
		i = n
	}
	return nil
}

func printTask(w io.Writer, t *task, all []*outcome, rounds bool) error {
	fmt.Fprintf(w, "\n%s: %d calls\n", t.name, len(t.steps))
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tab, "agent\trequests\tkB\ttokens\t")
	for _, p := range prices {
		fmt.Fprint(tab, p.name, "\t")
	}
	for _, p := range agents.Parts {
		fmt.Fprint(tab, p, "\t")
	}
	fmt.Fprintln(tab, "facts\t")
	best := 0.0
	for _, o := range all {
		sum := o.total()
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t", o.agent.Name, len(o.rounds), sum.bytes/1000, sum.sent())
		for _, p := range prices {
			fmt.Fprintf(tab, "%.0f\t", sum.cost(p))
		}
		for _, p := range agents.Parts { // as billed
			fmt.Fprintf(tab, "%.0f\t", sum.cost(prices[0], p))
		}
		fmt.Fprintf(tab, "%d/%d\t\n", o.facts-len(o.lost), o.facts)
		if cost := sum.cost(prices[0]); o.agent.Peer && (best == 0 || cost < best) {
			best = cost
		}
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, o := range all {
		if !o.agent.Peer && best > 0 {
			fmt.Fprintf(w, "%s is billed %.2f × the best other agent\n", o.agent.Name, o.total().cost(prices[0])/best)
		}
		for _, note := range o.notes {
			fmt.Fprintf(w, "%s %s\n", o.agent.Name, note)
		}
		for i, f := range o.lost {
			if i == 10 {
				fmt.Fprintf(w, "%s lost %d more facts\n", o.agent.Name, len(o.lost)-i)
				break
			}
			fmt.Fprintf(w, "%s lost %s: %s\n", o.agent.Name, f.kind, f.text)
		}
	}
	if !rounds {
		return nil
	}
	for _, o := range all {
		if err := printRounds(w, o); err != nil {
			return err
		}
	}
	return nil
}

// printRounds writes what each request added.
func printRounds(w io.Writer, o *outcome) error {
	fmt.Fprintf(w, "\n%s: %s\n", o.task.name, o.agent.Name)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tab, "request\tbytes\ttokens\tcached\tnew\tbilled\t")
	for _, p := range agents.Parts {
		fmt.Fprint(tab, p, "\t")
	}
	fmt.Fprintln(tab, "new results\t after\t")
	for i, b := range o.rounds {
		fmt.Fprintf(tab, "%d\t%d\t%d\t%d\t%d\t%.0f\t", i+1, b.bytes, b.sent(), b.sent()-b.fresh(), b.fresh(), b.cost(prices[0]))
		for _, p := range agents.Parts {
			fmt.Fprintf(tab, "%d\t", b.sent(p))
		}
		fmt.Fprintf(tab, "%d\t %s\t\n", b.fresh(agents.PartResults), o.before(i))
	}
	return tab.Flush()
}

// before describes the call whose result a request brings.
func (o *outcome) before(i int) string {
	if i == 0 || i > len(o.task.steps) || len(o.rounds) != len(o.task.steps)+1 {
		return ""
	}
	c := o.task.steps[i-1]
	what := string(c.Verb) + " " + c.Command + c.Path + c.Pattern
	return what[:min(len(what), 50)]
}
