package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// A cost is what one task cost an agent, as "integration/tasks -json" prints it.
type cost struct {
	Task, Agent        string
	Bytes, Facts, Kept int
	Billed             float64
	Notes              []string
}

// tasks lets all agents do whole tasks.
func (o *options) tasks(root, dir string) (string, error) {
	program, err := build(root, "integration/tasks")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(program, "-binary", o.binary, "-peers", dir, "-json")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	failed := cmd.Run() // also if zeph-acp lost a fact
	var all []cost
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		return "", errors.Join(failed, err)
	}
	if len(all) == 0 {
		return "", errors.New("no task was done")
	}
	return tasksTable(all) + versionsOf(dir) + fmt.Sprintf("\nMeasured on %s.\n", machine("")), nil
}

// versionsOf returns the versions of the programs that do tasks.
func versionsOf(dir string) string {
	var all []string
	for _, a := range agents.All {
		if path := agents.Find(dir, a.Program); a.Peer && path != "" {
			if _, version, err := installation(path); err == nil && version != "" {
				all = append(all, version)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "\nVersions: " + strings.Join(all, ", ") + ".\n"
}

// tasksTable writes a row for each agent and a column for each task.
func tasksTable(all []cost) string {
	var names, who []string
	sum := map[string]*cost{}
	by := map[[2]string]cost{}
	for _, c := range all {
		if !slices.Contains(names, c.Task) {
			names = append(names, c.Task)
		}
		s := sum[c.Agent]
		if s == nil {
			who = append(who, c.Agent)
			s = &cost{}
			sum[c.Agent] = s
		}
		s.Bytes, s.Billed, s.Facts, s.Kept = s.Bytes+c.Bytes, s.Billed+c.Billed, s.Facts+c.Facts, s.Kept+c.Kept
		by[[2]string{c.Task, c.Agent}] = c
	}
	var t table
	head := []string{"agent"}
	for _, name := range names {
		head = append(head, "`"+name+"`")
	}
	t.head(append(head, "billed tokens, sum", "kB sent, sum", "facts")...)
	var notes []string
	for _, agent := range who {
		cells := []string{agent}
		for _, name := range names {
			c, ok := by[[2]string{name, agent}]
			if !ok {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, fmt.Sprintf("%s (%d of %d)", thousands(c.Billed), c.Kept, c.Facts))
			for _, note := range c.Notes {
				notes = append(notes, fmt.Sprintf("- %s, `%s`: %s", agent, name, oneLine(note)))
			}
		}
		s, ours := sum[agent], sum[who[0]]
		ratio := func(v, base float64) string {
			if s == ours {
				return ""
			}
			return fmt.Sprintf(" (%s ×)", figure(v/base))
		}
		if slices.Contains(cells, "–") { // the sum of other tasks would mislead
			t.row(append(cells, "–", "–", "–")...)
			continue
		}
		t.row(append(cells, thousands(s.Billed)+ratio(s.Billed, ours.Billed),
			thousands(float64(s.Bytes)/1000)+ratio(float64(s.Bytes), float64(ours.Bytes)), fmt.Sprintf("%d of %d", s.Kept, s.Facts))...)
	}
	if len(notes) > 0 {
		return t.String() + "\n" + strings.Join(notes, "\n") + "\n"
	}
	return t.String()
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted is what tests log about a list of cases.
var counted = regexp.MustCompile(`(facts kept|attacks held): (\d+) of (\d+)`)

// proofs are the tests that log a count.
var proofs = []struct{ what, pkg, run, meaning string }{
	{"facts kept", "./filter", "^TestSamples$", "lines that must stay in recorded outputs are in the shortened ones"},
	{"attacks held", "./integration", "^TestHostile(Calls|Commands|CommandsHeadless|Files|Permissions|Repository|URLs|Effects)$",
		"attempts of a model or a repository had no effect; a command that is tried in several settings counts in each"},
}

// proof runs the tests that count, and adds up what they log.
func (o *options) proof(string, string) (string, error) {
	var text strings.Builder
	for _, p := range proofs {
		cmd := exec.Command("go", "test", p.pkg, "-run", p.run, "-v", "-count=1")
		out, failed := cmd.CombinedOutput()
		held, all := count(string(out), p.what)
		if all == 0 {
			return "", fmt.Errorf("%s logged nothing (%v): %s", strings.Join(cmd.Args, " "), failed, tail(string(out)))
		}
		fmt.Fprintf(&text, "- %s: **%s of %s** %s. `go test %s -run '%s' -v`\n", p.what, thousands(float64(held)), thousands(float64(all)), p.meaning, p.pkg, p.run)
	}
	return text.String(), nil
}

// count adds up the counts in the output of a test.
func count(out, what string) (held, all int) {
	for _, m := range counted.FindAllStringSubmatch(out, -1) {
		if m[1] == what {
			n, _ := strconv.Atoi(m[2]) // digits
			of, _ := strconv.Atoi(m[3])
			held, all = held+n, all+of
		}
	}
	return held, all
}
