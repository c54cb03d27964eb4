package lint

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// groupByRule says what each rule of a linter or compiler complains of once, with
// all places.
type groupByRule struct {
	location, rule *text.Pattern // of one's own format; nil for those known here
	noise, echo    *text.Patterns
	table          *text.Patterns
	rows           int
	program        *text.Pattern
	except         *text.Patterns
	maxErrors      int
}

// newGroupByRule makes the strategy "group_by_rule". What diagnostics look like
// is known for compilers and linters of common use; location_pattern and
// rule_pattern, with a group each, tell it for others. Compilers' errors stay
// as they are, the first max_errors with their code, and come first; other
// diagnostics are grouped by severity, rule and message, with all places.
//
// Besides, lines that match one of noise go; those that match one of echo, which
// are commands that a build tool shows, go unless an error follows; of many
// lines in a row that match one of table, the first and last stay, table_rows in
// all. After a line that matches program_pattern everything stays: it is what
// the program wrote that was built. Of a command that matches one of except all
// stays: it asks for what would be noise.
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

// grouping takes the lines of one output. What becomes of each: diagnostics of
// several lines are collected in cur; errors of compilers go to the body as they
// are, the other diagnostics to the store; noise goes; all else is text, and
// stays where it is among the errors.
type grouping struct {
	*groupByRule
	run strategy.Run
	out *text.Lines

	body  bodyText
	store store
	cur   diagnostic
	text  textState

	echoed  [2][]byte // the last command and the last directory that were not written
	tabled  tableRun
	shell   shellState
	dropped int
	fulls   int // errors of the body with their code
	linted  int // of these, those of linters
	failed  bool
	stayed  bool // the last diagnostic went to the body
	notes   int  // of the last error
	muted   int  // lines of these that are left out here
	again   bool // the input stays as it is: mostly it is the result of an earlier pass
	raw     bool // the program writes

	counted map[string]bool // see countedBefore

	place           position // that the line begins with, if placed, when located
	located, placed bool
}

// bodyText is text in order, whose last part may come behind the groups: what
// stands behind the last diagnostic, summaries mostly.
type bodyText struct {
	lines *text.Lines
	after []byte // lines with their ends
}

// maxAfter bounds what waits to be behind the groups, in bytes.
const maxAfter = 256 << 10

func (s *bodyText) text(l []byte) {
	if len(s.after)+len(l) > maxAfter {
		s.settle()
	}
	s.after = append(append(s.after, l...), '\n')
}

// settle makes the last part one that more will follow.
func (s *bodyText) settle() {
	s.write(s.lines)
	s.after = s.after[:0]
}

// write writes the last part.
func (s *bodyText) write(to *text.Lines) { writeLines(to, s.after) }

// writeLines writes lines with their ends.
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

// silenced drops noise, and keeps commands back.
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
			command = enters
		} else if bytes.Contains(l, []byte(": Leaving directory ")) {
			g.dropped++
			return true
		}
	}
	switch command {
	case noCommand:
		return false
	case enters:
		g.keepBack(1, l)
	default:
		g.keepBack(0, l)
		if command == links {
			g.flushText()
			g.body.text(product(l))
			g.echoed[0] = g.echoed[0][:0]
			if len(product(l)) == len(l) {
				return true
			}
		}
	}
	g.dropped++
	return true
}

// counts reports whether a line tells how much there was of one file: clang's
// "6 warnings generated.".
func counts(l []byte) bool { return bytes.HasSuffix(l, []byte(" generated.")) && digitRun(l) > 0 }

// countedBefore reports whether there was as much of another file.
func (g *grouping) countedBefore(l []byte) bool {
	if !counts(l) {
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

// maxCounted bounds the lines that countedBefore knows.
const maxCounted = 1000

// maxEcho bounds how much of a command is shown, in bytes.
const maxEcho = 1000

func (g *grouping) keepBack(which int, l []byte) {
	g.flushText()
	g.echoed[which] = append(g.echoed[which][:0], l[:runeEnd(l, maxEcho)]...)
	if which == 1 {
		g.echoed[0] = g.echoed[0][:0]
	}
}

// tell writes the commands that were kept back, where what they led to follows.
func (g *grouping) tell() {
	for _, which := range []int{1, 0} {
		if e := g.echoed[which]; len(e) > 0 {
			g.body.text(e)
			g.echoed[which] = e[:0]
			g.dropped--
		}
	}
}

// plain takes a line that is no part of a diagnostic.
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

// textState is what may turn out to be text.
type textState struct {
	held   []byte // the last line, which may be the head of what follows
	lead   []byte // lines that lead to a diagnostic, with their ends
	spent  bool   // a diagnostic followed lead
	file   []byte // heads diagnostics that say only where in it
	inFile bool
}

// maxLead bounds the lines that lead to one diagnostic, in bytes.
const maxLead = 4 << 10

// flushText writes what turned out to be text.
func (g *grouping) flushText() {
	g.flushHeld()
	if t := &g.text; !t.spent {
		writeAll(&g.body, t.lead)
		t.lead = t.lead[:0]
	}
}

// flushHeld writes the last line, which is the head of nothing. It stands
// before the lines that lead to a diagnostic.
func (g *grouping) flushHeld() {
	t := &g.text
	if len(t.held) == 0 {
		return
	}
	if bytes.HasSuffix(t.held, []byte("':")) && bytes.Contains(t.held, []byte(": in function `")) { // of a linker
		g.tell()
	}
	// The look at all words costs the most here, so it is not done for nothing.
	kept := g.run.Exit != 0 && len(g.echoed[0])+len(g.echoed[1]) > 0
	if (kept || !g.failed) && text.Important(t.held) {
		g.failed = true
		if g.run.Exit != 0 && t.held[0] != '>' && (!bytes.HasPrefix(t.held, []byte("make")) || bytes.Contains(t.held, []byte("*** "))) {
			g.tell()
		}
	}
	g.body.text(t.held)
	t.held = t.held[:0]
}

// leads takes a line that says where the next diagnostics come from.
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

// tabular takes rows of tables; those in the middle go.
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
	if g.run.Exit == 0 && len(g.echoed[0]) > 0 && commandOf(g.echoed[0]) != noCommand { // what was made last
		if last := product(g.echoed[0]); len(last) <= 200 {
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

// totalLine is the line that says how much was grouped.
func (s *store) totalLine() []byte {
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
