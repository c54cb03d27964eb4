package lint

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// groupByRule writes the message of each rule once, with all places.
type groupByRule struct {
	location, rule *text.Pattern // patterns of a custom format; nil for the known formats
	noise, echo    *text.Patterns
	table          *text.Patterns
	tableRows      int
	program        *text.Pattern
	except         *text.Patterns
	maxErrors      int
}

// newGroupByRule makes the strategy "group_by_rule". It recognises the formats
// of common compilers and linters; location_pattern and rule_pattern, with a
// group each, describe another one. Errors of compilers come first and stay
// unchanged, the first max_errors with their code. Other diagnostics are
// grouped by severity, rule and message, with all places.
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
	if err := quantity.Check(quantity.Least{Name: "table_rows", Value: c.Rows, Least: 2}, quantity.Least{Name: "max_errors", Value: c.MaxErrors, Least: 0}); err != nil {
		return nil, err
	}
	s := &groupByRule{tableRows: c.Rows, maxErrors: c.MaxErrors}
	for _, one := range []struct {
		name, expr string
		groups     int
		to         **text.Pattern
	}{
		{"location_pattern", c.Location, 1, &s.location},
		{"rule_pattern", c.Rule, 1, &s.rule},
		{"program_pattern", c.Program, 0, &s.program},
	} {
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
	g := &groupingPass{groupByRule: s, run: run, out: out}
	g.body.lines = out
	g.unchanged = s.except.Match([]byte(run.Command))
	if s.location != nil {
		return &customPass{groupingPass: g}
	}
	return g
}

// groupingPass filters the lines of one output. Diagnostics of several lines are
// collected in cur. Errors of compilers go to the body unchanged, other
// diagnostics to the store. Noise is dropped, and other lines stay where they
// are among the errors.
type groupingPass struct {
	*groupByRule
	run strategy.Run
	out *text.Lines

	body    bodyText
	store   findingStore
	current diagnostic
	held    heldText

	heldCommands       [2][]byte // lines not written yet, by heldCommand and heldDirectory
	tableRun           tableRun
	shell              shellcheckState
	dropped            int        // lines
	errorsInBody       int        // errors of compilers, with their code
	linterErrorsInBody int        // errors of linters, with their code
	failureShown       bool       // a line that stays reports a problem
	lastInBody         bool       // the last diagnostic went to the body
	notes              shownNotes // of the last error
	mutedLines         int        // omitted lines of these notes
	unchanged          bool       // the input stays unchanged, mostly as the result of an earlier pass
	inProgram          bool       // the built program is writing

	seenCounts map[string]bool // see countedBefore

	// The result of locate for the current line; place is set if hasPlace.
	place    position
	hasPlace bool
	lookedUp bool // locate was called
}

func (g *groupingPass) Line(l []byte) {
	switch {
	case g.unchanged:
	case isTotalLine(l) || text.IsOmission(l) || text.IsNoiseCount(l):
		g.unchanged = true
	case g.inProgram:
		g.body.add(l)
	default:
		g.handle(l)
	}
}

func (g *groupingPass) handle(l []byte) {
	g.lookedUp = false
	if g.current.layout != closed {
		if g.continueDiagnostic(l) {
			return
		}
		g.endDiagnostic()
	}
	if g.shell.active && g.addShellcheckLine(l) {
		return
	}
	if len(l) == 0 {
		g.endTable()
		g.addText(nil)
		return
	}
	if !g.addTableRow(l) && !g.dropOrHold(l) && !g.beginDiagnostic(l) {
		g.addText(l)
	}
}

// dropOrHold drops noise and holds commands back.
func (g *groupingPass) dropOrHold(l []byte) bool {
	if g.run.Selected {
		return false
	}
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
		g.holdCommand(heldDirectory, l)
	default:
		g.holdCommand(heldCommand, l)
		if command == linkCommand {
			g.flushText()
			g.body.add(commandProduct(l))
			g.heldCommands[heldCommand] = g.heldCommands[heldCommand][:0]
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
	return bytes.HasSuffix(l, []byte(" generated.")) && text.DigitsEnd(l, 0) > 0
}

// countedBefore reports whether the line was counted for another file.
func (g *groupingPass) countedBefore(l []byte) bool {
	if !isDiagnosticCount(l) {
		return false
	}
	if g.seenCounts == nil {
		g.seenCounts = map[string]bool{}
	}
	before := g.seenCounts[string(l)]
	if len(g.seenCounts) < maxCounted {
		g.seenCounts[string(l)] = true
	}
	return before
}

// maxCounted limits the lines that countedBefore remembers.
const maxCounted = 1000

// maxEcho limits the part of a command that is shown, in bytes.
const maxEcho = 1000

// The indices of heldCommands.
const (
	heldCommand   = iota // the last command
	heldDirectory        // the line about the last directory that was entered
)

// holdCommand holds a line back until a problem follows. An entered directory drops
// the command before it.
func (g *groupingPass) holdCommand(which int, l []byte) {
	g.flushText()
	g.heldCommands[which] = append(g.heldCommands[which][:0], text.Prefix(l, maxEcho)...)
	if which == heldDirectory {
		g.heldCommands[heldCommand] = g.heldCommands[heldCommand][:0]
	}
}

// writeHeldCommands writes the held commands before their result.
func (g *groupingPass) writeHeldCommands() {
	for _, which := range []int{heldDirectory, heldCommand} {
		if e := g.heldCommands[which]; len(e) > 0 {
			g.body.add(e)
			g.heldCommands[which] = e[:0]
			g.dropped--
		}
	}
}

// addText handles a line outside of diagnostics. It holds the line back, since the
// line may be the heading of a diagnostic.
func (g *groupingPass) addText(l []byte) {
	g.flushText()
	g.writeMutedCount()
	if g.program != nil && g.program.Match(l) {
		g.inProgram = true
	}
	if len(l) == 0 || g.inProgram {
		g.body.add(l)
		return
	}
	g.held.lastLine = append(g.held.lastLine[:0], l...)
}

// tableRun is a run of rows of a table.
type tableRun struct {
	rows int
	ring [][]byte // the last rows, at most half of those that stay
}

// addTableRow handles rows of tables and drops those in the middle.
func (g *groupingPass) addTableRow(l []byte) bool {
	if g.table == nil || g.run.Selected {
		return false
	}
	if !g.table.Match(l) {
		g.endTable()
		return false
	}
	t, keep := &g.tableRun, g.tableRows/2
	t.rows++
	switch {
	case t.rows <= keep:
		g.flushText()
		g.body.add(l)
	case len(t.ring) < g.tableRows-keep:
		t.ring = append(t.ring, bytes.Clone(l))
	default:
		first := t.ring[0]
		copy(t.ring, t.ring[1:])
		t.ring[len(t.ring)-1] = append(first[:0], l...)
	}
	return true
}

func (g *groupingPass) endTable() {
	t := &g.tableRun
	if omitted := t.rows - g.tableRows; omitted > 0 {
		g.body.add(text.Omission(omitted))
		g.dropped += omitted
	}
	for _, row := range t.ring {
		g.body.add(row)
	}
	t.rows, t.ring = 0, t.ring[:0]
}

func (g *groupingPass) End() strategy.Confidence {
	defer g.store.close()
	if g.unchanged {
		return strategy.Fallback
	}
	g.endDiagnostic()
	g.endShell()
	g.flushText()
	g.writeMutedCount()
	g.endTable()
	// After a success the last command shows the product.
	if command := g.heldCommands[heldCommand]; g.run.Exit == 0 && len(command) > 0 && commandOf(command) != noCommand {
		if product := commandProduct(command); len(product) <= 200 {
			g.body.add(product)
			if len(product) == len(command) {
				g.dropped--
			}
		}
	}
	s := &g.store
	if s.grouped() > 0 {
		g.failureShown = true
	}
	if g.dropped == 0 && s.grouped() == 0 || g.run.Exit != 0 && !g.failureShown {
		return strategy.Fallback
	}
	if s.grouped() > 0 {
		g.out.Write(nil)
	}
	if s.write(g.out) != nil {
		return strategy.Fallback
	}
	g.body.writePending(g.out)
	if g.dropped > 0 {
		_, omitted, err := text.Omissions(g.out)
		if err != nil {
			return strategy.Fallback
		}
		if noise := g.dropped - omitted; noise > 0 {
			g.out.Write(text.NoiseCount(noise))
		}
	}
	return strategy.Full
}
