package certify

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer) error {
	p := printer{w: w}
	p.line("%s", r.title())
	p.line("\nCapabilities")
	for _, c := range r.Capabilities {
		p.line("  %-14s %s", c.Result, c.Name)
	}
	p.line("\nScenarios: %s", r.counts())
	for _, s := range r.Scenarios {
		p.line("  %-14s %-18s %s", s.Result, s.Name, cmp.Or(s.Reason, s.About))
	}
	p.line("\nStatements: %s", r.kept())
	for _, f := range r.Broken {
		p.line("\n%s %s: %s", f.Level, f.Statement, f.What)
		p.line("  seen in: %s", strings.Join(f.Scenarios, ", "))
		for _, frame := range f.Frames {
			p.line("  %-6s %s", frame.From, frame.Line)
		}
	}
	return p.err
}

// Markdown writes the report as a page.
func (r *Report) Markdown(w io.Writer) error {
	p := printer{w: w}
	p.line("# %s", r.title())
	p.line("\n## Capabilities\n\n| capability | result |\n|---|---|")
	for _, c := range r.Capabilities {
		p.line("| `%s` | %s |", c.Name, c.Result)
	}
	p.line("\n## Scenarios\n\n%s.\n\n| scenario | result | about |\n|---|---|---|", r.counts())
	for _, s := range r.Scenarios {
		p.line("| `%s` | %s | %s |", s.Name, s.Result, strings.ReplaceAll(cmp.Or(s.Reason, s.About), "|", `\|`))
	}
	p.line("\n## Statements\n\n%s.\n\n| statement | level | result | text |\n|---|---|---|---|", r.kept())
	for _, s := range r.Statements {
		p.line("| `%s` | %s | %s | %s |", s.Name, s.Level, s.Result, s.Text)
	}
	if len(r.Broken) > 0 {
		p.line("\n## Broken statements")
	}
	for _, f := range r.Broken {
		p.line("\n### %s %s: %s\n\nSeen in: %s.\n", f.Level, f.Statement, f.What, strings.Join(f.Scenarios, ", "))
		for _, frame := range f.Frames {
			fence := strings.Repeat("`", 3)
			for strings.Contains(frame.Line, fence) {
				fence += "`"
			}
			p.line("%sjson\n// %s\n%s\n%s", fence, frame.From, frame.Line, fence)
		}
	}
	return p.err
}

// title returns the name of the client and the version of the protocol.
func (r *Report) title() string {
	if r.Protocol == 0 {
		return "No client sent initialize"
	}
	name := strings.TrimSpace(cmp.Or(r.Client.Name, "A client without a name") + " " + r.Client.Version)
	return fmt.Sprintf("%s, version %d of the protocol", name, r.Protocol)
}

// counts returns the numbers of scenarios by result.
func (r *Report) counts() string {
	n := map[string]int{}
	for _, s := range r.Scenarios {
		n[s.Result]++
	}
	return fmt.Sprintf("%d passed, %d broken, %d not tried, %d not declared", n[Passed], n[Broken], n[NotTried], n[NotDeclared])
}

// kept returns the numbers of statements by result.
func (r *Report) kept() string {
	n := map[string]int{}
	for _, s := range r.Statements {
		n[s.Result]++
	}
	return fmt.Sprintf("%d kept, %d broken, %d not tried", n[Kept], n[Broken], n[NotTried])
}

// printer writes lines until one fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
