package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// bodyText is the text before the groups, and the pending text after the last
// diagnostic. The latter is mostly a summary, which comes after the groups.
type bodyText struct {
	lines   *text.Lines
	pending []byte // lines with their line feeds
}

// maxPending limits the text that waits for the groups, in bytes.
const maxPending = 256 << 10

func (s *bodyText) add(l []byte) {
	if len(s.pending)+len(l) > maxPending {
		s.flush()
	}
	s.pending = append(append(s.pending, l...), '\n')
}

// flush writes the pending text before the groups, since a diagnostic follows.
func (s *bodyText) flush() {
	s.writePending(s.lines)
	s.pending = s.pending[:0]
}

// writePending writes the pending text.
func (s *bodyText) writePending(to *text.Lines) { writeLines(to, s.pending) }

// writeLines writes lines with line feeds.
func writeLines(to *text.Lines, lines []byte) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		if end < 0 {
			end = len(lines) - 1
		}
		to.Write(lines[:end])
		lines = lines[end+1:]
	}
}

// heldText holds lines that may turn out to be text.
type heldText struct {
	lastLine   []byte // the last line, which may be a heading
	leadIn     []byte // lines that lead to a diagnostic, with line feeds
	leadInUsed bool   // a diagnostic followed leadIn
	fileName   []byte // a file name above diagnostics that name only their lines
	inFile     bool   // such diagnostics may follow
}

// maxLead limits the lines that lead to one diagnostic, in bytes.
const maxLead = 4 << 10

// flushText writes lines that turned out to be text.
func (g *groupingPass) flushText() {
	g.flushLastLine()
	if t := &g.held; !t.leadInUsed {
		addLines(&g.body, t.leadIn)
		t.leadIn = t.leadIn[:0]
	}
}

// flushLastLine writes the last line, which is not a heading. It comes before the
// lines that lead to a diagnostic.
func (g *groupingPass) flushLastLine() {
	t := &g.held
	if len(t.lastLine) == 0 {
		return
	}
	if bytes.HasSuffix(t.lastLine, []byte("':")) && bytes.Contains(t.lastLine, []byte(": in function `")) { // a linker's heading
		g.writeHeldCommands()
	}
	// Looking at all words is expensive, so it is done only if needed.
	holdsCommands := g.run.Exit != 0 && len(g.heldCommands[heldCommand])+len(g.heldCommands[heldDirectory]) > 0
	if (holdsCommands || !g.failureShown) && text.Important(t.lastLine) {
		g.failureShown = true
		if g.run.Exit != 0 && t.lastLine[0] != '>' &&
			(!bytes.HasPrefix(t.lastLine, []byte("make")) || bytes.Contains(t.lastLine, []byte("*** "))) {
			g.writeHeldCommands()
		}
	}
	g.body.add(t.lastLine)
	t.lastLine = t.lastLine[:0]
	if g.run.Exit == 0 { // the held command is not the last line: see End
		g.heldCommands[heldCommand] = g.heldCommands[heldCommand][:0]
	}
}

// addLeadIn handles a line that names the source of the next diagnostics.
func (g *groupingPass) addLeadIn(l []byte) {
	t := &g.held
	g.flushLastLine()
	if t.leadInUsed {
		t.leadIn, t.leadInUsed = t.leadIn[:0], false
	}
	if len(t.leadIn)+len(l) > maxLead {
		g.flushText()
	}
	t.leadIn = append(append(t.leadIn, l...), '\n')
}

func addLines(to *bodyText, lines []byte) {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		to.add(lines[:end])
		lines = lines[end+1:]
	}
}
