// Package findings parses and prints the answer of a review: a list of findings.
package findings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// exitFindings is the exit status if a finding has the level of --fail-on or a worse one.
const exitFindings = 5

// ReviewTitle begins the prompts of reviews, and so the titles of their sessions.
const ReviewTitle = "/review "

// Severities are the levels of findings, the worst first.
var Severities = []string{"error", "warning", "note"}

// Finding is one entry of the answer, see review.schema.json.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // 0 means the whole file
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Text     string `json:"text"`
}

// Format returns the findings of an answer as text, in lines of at most columns, or as
// annotations of GitHub. level is an index in Severities, or -1 for no level; the error has the
// exit status if a finding is of that level or worse.
func Format(answer []byte, level int, github bool, columns int) (text []byte, err error) {
	var review struct{ Findings []Finding }
	if err := json.Unmarshal(answer, &review); err != nil {
		return nil, err
	}
	all := review.Findings
	rank := func(f Finding) int { return slices.Index(Severities, f.Severity) }
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
	var b bytes.Buffer
	count := map[string]int{}
	bad := 0
	for _, f := range all {
		if github {
			f.annotate(&b)
		} else {
			f.print(&b, columns)
		}
		count[f.Severity]++
		if rank(f) <= level {
			bad++
		}
	}
	if !github {
		b.WriteString(countsLine(count) + "\n")
	}
	if bad > 0 {
		words := Severities[level]
		if level > 0 {
			words += " or worse"
		}
		err = &cli.ExitError{Code: exitFindings, Cause: fmt.Errorf("the review has %s of level %s (--fail-on)", quantity.Count(bad, "finding"), words)}
	}
	return b.Bytes(), err
}

// Parse parses a model's answer; it returns nil if the answer is not a list of findings.
func Parse(answer string) []Finding {
	var review struct{ Findings []Finding }
	dec := json.NewDecoder(strings.NewReader(headless.Unfenced(answer)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&review); err != nil || dec.More() {
		return nil
	}
	return slices.Concat([]Finding{}, review.Findings)
}

// Markdown returns the findings of a model's answer as a list in Markdown. ok is false if
// the answer is not a list of findings.
func Markdown(answer string) (text string, ok bool) {
	all := Parse(answer)
	if all == nil {
		return "", false
	}
	var b strings.Builder
	count := map[string]int{}
	for _, f := range all {
		fmt.Fprintf(&b, "- %s\n", f.Headline())
		for line := range strings.Lines(strings.TrimSpace(f.Text)) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n\n")
		count[f.Severity]++
	}
	return b.String() + countsLine(count), true
}

// Headline returns the place, the severity and the title in one line.
func (f Finding) Headline() string {
	return fmt.Sprintf("%s: %s: %s", f.position(), cli.OneLine(f.Severity), cli.OneLine(f.Title))
}

// position returns the file and the line as compilers print them.
func (f Finding) position() string {
	if f.Line == 0 {
		return cli.OneLine(f.File)
	}
	return fmt.Sprintf("%s:%d", cli.OneLine(f.File), f.Line)
}

// print writes the finding for people. A mark before each line of its text keeps GitHub
// and Azure from reading the line as a command in their logs.
func (f Finding) print(b *bytes.Buffer, columns int) {
	const mark = "  | "
	b.WriteString(f.Headline() + "\n")
	for line := range strings.Lines(headless.Visible(strings.TrimSpace(f.Text))) {
		for _, part := range cli.WrapLine(strings.TrimRight(line, "\n"), columns-len(mark)) {
			b.WriteString(mark + part + "\n")
		}
	}
	b.WriteString("\n")
}

// annotate writes the finding as a command of GitHub Actions:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func (f Finding) annotate(b *bytes.Buffer) {
	kind := f.Severity
	if kind == "note" {
		kind = "notice"
	}
	line := ""
	if f.Line > 0 {
		line = fmt.Sprintf(",line=%d", f.Line)
	}
	text := escapeData(headless.Visible(strings.TrimSpace(f.Text)))
	fmt.Fprintf(b, "::%s file=%s%s,title=%s::%s\n", kind, escapeProperty(f.File), line, escapeProperty(f.Title), text)
}

// escapeData escapes the text of a workflow command.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// escapeProperty escapes the value of a property of a workflow command.
func escapeProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(cli.OneLine(text)))
}

// countsLine returns a line with the number of findings by severity.
func countsLine(count map[string]int) string {
	var parts []string
	sum := 0
	for _, s := range Severities {
		if n := count[s]; n > 0 {
			parts = append(parts, quantity.Count(n, s))
			sum += n
		}
	}
	if sum == 0 {
		return "No findings."
	}
	return quantity.Count(sum, "finding") + ": " + strings.Join(parts, ", ")
}
