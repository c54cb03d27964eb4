package lint

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// groupByRule writes the message of each rule once, with all places.
type groupByRule struct {
	location, rule *text.Pattern // patterns of a custom format; nil for the known formats
	noise, echo    *text.Patterns
	table          *text.Patterns
	rows           int
	program        *text.Pattern
	except         *text.Patterns
	maxErrors      int
}

// newGroupByRule makes the strategy "group_by_rule". It recognises the formats
// of common compilers and linters; location_pattern and rule_pattern, with a
// group each, describe another one. Errors of compilers come first and stay as
// they are, the first max_errors with their code. Other diagnostics are grouped
// by severity, rule and message, with all places.
//
// Lines that match noise are dropped. Commands printed by a build tool, which
// match echo, are dropped unless an error follows. The first and last of
// consecutive lines that match table stay, table_rows in all. Everything after
// a line that matches program_pattern stays, since it is the output of the
// built program. If the command matches except, everything stays, since the
// command asks for it.
func newGroupByRule(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Location  string   `toml:"location_pattern"`
		Rule      string   `toml:"rule_pattern"`
		Noise     []string `toml:"noise"`
		Echo      []string `toml:"echo"`
		Table     []string `toml:"table"`
		Rows      int      `toml:"table_rows"`
		Program   string   `toml:"program_pattern"`
		Except    []string `toml:"except"`
		MaxErrors int      `toml:"max_errors"`
	}{Rows: 16, MaxErrors: 30}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if (c.Location == "") != (c.Rule == "") {
		return nil, errors.New("location_pattern and rule_pattern belong together")
	}
	if c.Rows < 2 || c.MaxErrors < 0 {
		return nil, errors.New("table_rows must be 2 at least, and max_errors not negative")
	}
	s := &groupByRule{rows: c.Rows, maxErrors: c.MaxErrors}
	for _, one := range []struct {
		name, expr string
		groups     int
		to         **text.Pattern
	}{{"location_pattern", c.Location, 1, &s.location}, {"rule_pattern", c.Rule, 1, &s.rule}, {"program_pattern", c.Program, 0, &s.program}} {
		if one.expr == "" {
			continue
		}
		p, err := text.Compile(one.expr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		if p.Regexp.NumSubexp() < one.groups {
			return nil, fmt.Errorf("%s: the pattern %q has no group", one.name, one.expr)
		}
		*one.to = p
	}
	for _, set := range []struct {
		name  string
		exprs []string
		to    **text.Patterns
	}{{"noise", c.Noise, &s.noise}, {"echo", c.Echo, &s.echo}, {"table", c.Table, &s.table}, {"except", c.Except, &s.except}} {
		if len(set.exprs) == 0 {
			continue
		}
		all, err := text.CompileAll(set.exprs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.name, err)
		}
		*set.to = all
	}
	return s, nil
}

func (s *groupByRule) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	g := &grouping{groupByRule: s, run: run, out: out}
	g.body.lines = out
	g.again = s.except.Match([]byte(run.Command))
	if s.location != nil {
		return &customGrouping{grouping: g}
	}
	return g
}

// grouping filters the lines of one output. Diagnostics of several lines are
// collected in cur. Errors of compilers go to the body as they are, other
// diagnostics to the store. Noise is dropped, and other lines stay where they
// are among the errors.
type grouping struct {
	*groupByRule
	run strategy.Run
	out *text.Lines

	body  bodyText
	store findingStore
	cur   diagnostic
	text  textState

	echoed  [2][]byte // the last command and directory that were not written
	tabled  tableRun
	shell   shellState
	dropped int
	fulls   int // errors in the body with their code
	linted  int // errors of linters among them
	failed  bool
	stayed  bool // the last diagnostic went to the body
	notes   int  // notes of the last error
	muted   int  // omitted lines of these notes
	again   bool // the input stays as it is, mostly as the result of an earlier pass
	raw     bool // the built program is writing

	counted map[string]bool // see countedBefore

	place           position // the place at the start of the line, if placed, once located
	located, placed bool
}

// bodyText is text in order. Its last part may come after the groups: the lines
// after the last diagnostic, which are mostly summaries.
type bodyText struct {
	lines *text.Lines
	after []byte // lines with their line feeds
}

// maxAfter limits the text that waits for the groups, in bytes.
const maxAfter = 256 << 10

func (s *bodyText) text(l []byte) {
	if len(s.after)+len(l) > maxAfter {
		s.settle()
	}
	s.after = append(append(s.after, l...), '\n')
}

// settle moves the last part before the groups.
func (s *bodyText) settle() {
	s.write(s.lines)
	s.after = s.after[:0]
}

// write writes the last part.
func (s *bodyText) write(to *text.Lines) { writeLines(to, s.after) }

// writeLines writes lines with line feeds.
func writeLines(to *text.Lines, text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			end = len(text) - 1
		}
		to.Write(text[:end])
		text = text[end+1:]
	}
}

func (g *grouping) Line(l []byte) {
	switch {
	case g.again:
	case isTotal(l) || text.IsOmission(l) || text.IsNoiseCount(l):
		g.again = true
	case g.raw:
		g.body.text(l)
	default:
		g.line(l)
	}
}

func (g *grouping) line(l []byte) {
	g.located = false
	if g.cur.kind != closed {
		if g.continues(l) {
			return
		}
		g.close()
	}
	if g.shell.on && g.shellcheck(l) {
		return
	}
	if len(l) == 0 {
		g.endTable()
		g.plain(nil)
		return
	}
	if !g.tabular(l) && !g.silenced(l) && !g.begins(l) {
		g.plain(l)
	}
}

// silenced drops noise and holds commands back.
func (g *grouping) silenced(l []byte) bool {
	if g.noise.Match(l) || g.countedBefore(l) {
		g.dropped++
		return true
	}
	if g.echo == nil {
		return false
	}
	command := commandOf(l)
	if command == noCommand && g.echo.Match(l) {
		command = otherCommand
		if bytes.Contains(l, []byte(": Entering directory ")) {
			command = enterCommand
		} else if bytes.Contains(l, []byte(": Leaving directory ")) {
			g.dropped++
			return true
		}
	}
	switch command {
	case noCommand:
		return false
	case enterCommand:
		g.keepBack(1, l)
	default:
		g.keepBack(0, l)
		if command == linkCommand {
			g.flushText()
			g.body.text(commandProduct(l))
			g.echoed[0] = g.echoed[0][:0]
			if len(commandProduct(l)) == len(l) {
				return true
			}
		}
	}
	g.dropped++
	return true
}

// isDiagnosticCount reports whether a line counts the diagnostics of one file: clang's "6
// warnings generated.".
func isDiagnosticCount(l []byte) bool {
	return bytes.HasSuffix(l, []byte(" generated.")) && digitRun(l) > 0
}

// countedBefore reports whether another file had the same count.
func (g *grouping) countedBefore(l []byte) bool {
	if !isDiagnosticCount(l) {
		return false
	}
	if g.counted == nil {
		g.counted = map[string]bool{}
	}
	before := g.counted[string(l)]
	if len(g.counted) < maxCounted {
		g.counted[string(l)] = true
	}
	return before
}

// maxCounted limits the lines that countedBefore remembers.
const maxCounted = 1000

// maxEcho limits the part of a command that is shown, in bytes.
const maxEcho = 1000

func (g *grouping) keepBack(which int, l []byte) {
	g.flushText()
	g.echoed[which] = append(g.echoed[which][:0], l[:runeEnd(l, maxEcho)]...)
	if which == 1 {
		g.echoed[0] = g.echoed[0][:0]
	}
}

// writeHeld writes the held commands before their result.
func (g *grouping) writeHeld() {
	for _, which := range []int{1, 0} {
		if e := g.echoed[which]; len(e) > 0 {
			g.body.text(e)
			g.echoed[which] = e[:0]
			g.dropped--
		}
	}
}

// plain handles a line outside of diagnostics.
func (g *grouping) plain(l []byte) {
	g.flushText()
	g.endMuted()
	if g.program != nil && g.program.Match(l) {
		g.raw = true
	}
	if len(l) == 0 || g.raw {
		g.body.text(l)
		return
	}
	g.text.held = append(g.text.held[:0], l...)
}

// textState holds lines that may turn out to be text.
type textState struct {
	held   []byte // the last line, which may be a heading
	lead   []byte // lines that lead to a diagnostic, with line feeds
	spent  bool   // a diagnostic followed lead
	file   []byte // a file name above diagnostics that name only their lines
	inFile bool
}

// maxLead limits the lines that lead to one diagnostic, in bytes.
const maxLead = 4 << 10

// flushText writes lines that turned out to be text.
func (g *grouping) flushText() {
	g.flushHeld()
	if t := &g.text; !t.spent {
		writeAll(&g.body, t.lead)
		t.lead = t.lead[:0]
	}
}

// flushHeld writes the last line, which is not a heading. It comes before the
// lines that lead to a diagnostic.
func (g *grouping) flushHeld() {
	t := &g.text
	if len(t.held) == 0 {
		return
	}
	if bytes.HasSuffix(t.held, []byte("':")) && bytes.Contains(t.held, []byte(": in function `")) { // a linker's heading
		g.writeHeld()
	}
	// Looking at all words is expensive, so it is done only if needed.
	kept := g.run.Exit != 0 && len(g.echoed[0])+len(g.echoed[1]) > 0
	if (kept || !g.failed) && text.Important(t.held) {
		g.failed = true
		if g.run.Exit != 0 && t.held[0] != '>' && (!bytes.HasPrefix(t.held, []byte("make")) || bytes.Contains(t.held, []byte("*** "))) {
			g.writeHeld()
		}
	}
	g.body.text(t.held)
	t.held = t.held[:0]
}

// leads handles a line that names the source of the next diagnostics.
func (g *grouping) leads(l []byte) {
	t := &g.text
	g.flushHeld()
	if t.spent {
		t.lead, t.spent = t.lead[:0], false
	}
	if len(t.lead)+len(l) > maxLead {
		g.flushText()
	}
	t.lead = append(append(t.lead, l...), '\n')
}

// tableRun is a run of rows of a table.
type tableRun struct {
	n    int
	ring [][]byte
}

// tabular handles rows of tables and drops those in the middle.
func (g *grouping) tabular(l []byte) bool {
	if g.table == nil {
		return false
	}
	if !g.table.Match(l) {
		g.endTable()
		return false
	}
	t, keep := &g.tabled, g.rows/2
	t.n++
	switch {
	case t.n <= keep:
		g.flushText()
		g.body.text(l)
	case len(t.ring) < g.rows-keep:
		t.ring = append(t.ring, bytes.Clone(l))
	default:
		first := t.ring[0]
		copy(t.ring, t.ring[1:])
		t.ring[len(t.ring)-1] = append(first[:0], l...)
	}
	return true
}

func (g *grouping) endTable() {
	t := &g.tabled
	if omitted := t.n - g.rows; omitted > 0 {
		g.body.text(text.Omission(omitted))
		g.dropped += omitted
	}
	for _, row := range t.ring {
		g.body.text(row)
	}
	t.n, t.ring = 0, t.ring[:0]
}

func (g *grouping) End() strategy.Confidence {
	defer g.store.close()
	if g.again {
		return strategy.Fallback
	}
	g.close()
	g.endShell()
	g.flushText()
	g.endMuted()
	g.endTable()
	if g.run.Exit == 0 && len(g.echoed[0]) > 0 && commandOf(g.echoed[0]) != noCommand { // the last product
		if last := commandProduct(g.echoed[0]); len(last) <= 200 {
			g.body.text(last)
			if len(last) == len(g.echoed[0]) {
				g.dropped--
			}
		}
	}
	s := &g.store
	if s.total() > 0 {
		g.failed = true
	}
	if g.dropped == 0 && s.total() == 0 || g.run.Exit != 0 && !g.failed {
		return strategy.Fallback
	}
	if s.total() > 0 {
		g.out.Write(nil)
	}
	if s.write(g.out) != nil {
		return strategy.Fallback
	}
	g.body.write(g.out)
	if g.dropped > 0 {
		g.out.Write(text.NoiseCount(g.dropped))
	}
	return strategy.Full
}

// totalLine returns the line that reports how much was grouped.
func (s *findingStore) totalLine() []byte {
	var b []byte
	for sev, n := range s.count {
		if n > 0 {
			if len(b) > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(append(b, ' '), severity(sev).plural(n)...)
		}
	}
	b = append(b, " grouped ("...)
	b = strconv.AppendInt(b, int64(s.rules), 10)
	if s.rules == 1 {
		return append(b, " rule)"...)
	}
	return append(b, " rules)"...)
}

func isTotal(l []byte) bool {
	return len(l) > 0 && l[0] >= '0' && l[0] <= '9' && l[len(l)-1] == ')' && bytes.Contains(l, []byte(" grouped ("))
}
